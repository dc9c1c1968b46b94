/* SPDX-License-Identifier: MIT */
#include "results/witness_causes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/witness_parts.h"
#include "util/error.h"
#include "util/instant.h"
#include "util/memory.h"
#include "util/text.h"

static void add_hash(struct text *text, const struct kept_rows *kept)
{
    text_format(text, "%" PRIu64 " rows, %016" PRIx64, kept->rows, kept->hash);
}

/* The hash does not fit rows that are as they should be, or rows that cannot be made anew. */
static void report_hash(struct witness *witness, const struct witness_shape *shape,
                        const struct computed_part *computed, const struct kept_rows *known)
{
    struct text key = { 0 }, stored = { 0 }, wanted = { 0 };
    add_hash(computed->is_found ? &wanted : &stored, known);
    add_hash(computed->is_found ? &stored : &wanted, &computed->part.kept);
    text_add(&key, "");
    if (computed->is_found) {
        text_add(&key, "day ");
        instant_add_day(&key, computed->part.part);
    } else {
        text_format(&key, "table_name %s, part %" PRId64, computed->table, computed->part.part);
    }
    row_differences_add(&witness->differences,
                        &(struct row_difference){
                            computed->is_found ? shape->name : KEPT_TABLE_NAME, key.bytes, NULL,
                            stored.bytes, wanted.bytes, computed->part.part, CAUSE_ROWS });
    text_free(&key);
    text_free(&stored);
    text_free(&wanted);
}

/* By the hashes of what was stored, is stored, and was computed. */
static void explain_part(struct witness *witness, const struct witness_shape *shape,
                         const struct computed_part *computed, const struct kept_rows *known)
{
    const struct kept_rows *found = &witnessed(witness, shape)->found;
    bool as_computed = kept_same(known, &computed->part.kept);
    bool changed = shape->in_order ? !kept_same(known, found) : as_computed;
    row_differences_set_cause(&witness->differences, shape->name, computed->part.part,
                              changed ? CAUSE_ROWS : CAUSE_SOURCE);
    if (!as_computed &&
        !row_differences_have(&witness->differences, shape->name, computed->part.part))
        report_hash(witness, shape, computed, known);
}

static void explain_table(struct witness *witness, const struct witness_shape *shape,
                          const struct kept_parts *known)
{
    /* Of other parts a run would not write the hash again: it is as computed. */
    for (size_t i = 0; i < known->count; i++)
        row_differences_set_cause(&witness->differences, shape->name, known->parts[i].part,
                                  CAUSE_ROWS);
    for (size_t i = 0; i < witness->part_count; i++) {
        struct kept_rows there = kept_of(known, witness->parts[i].part.part);
        if (!strcmp(witness->parts[i].table, shape->name))
            explain_part(witness, shape, &witness->parts[i], &there);
    }
}

/* Where the cluster has any hash, the tables that have none have lost it. */
static int explain_tables(struct witness *witness, struct error *err)
{
    struct kept_parts *known = memory_zeroed(witness_shape_count, sizeof *known);
    bool any = false;
    int result = 0;
    for (size_t i = 0; !result && i < witness_shape_count; i++) {
        result =
            kept_read(witness->stored, witness->cluster, witness_shapes[i].name, &known[i], err);
        any |= known[i].count != 0;
    }
    for (size_t i = 0; i < witness_shape_count; i++) {
        if (!result && any)
            explain_table(witness, &witness_shapes[i], &known[i]);
        kept_parts_free(&known[i]);
    }
    free(known);
    return result;
}

/* The seal's own row has the hashes of its sums and keys. */
static void explain_seal(struct witness *witness, bool damaged)
{
    bool any = false;
    for (size_t i = 0; i < witness->differences.count; i++) {
        struct table_differences *of = &witness->differences.tables[i];
        const struct witness_shape *shape = witness_shape_named(of->table);
        bool of_sums = !strcmp(of->table, "fairmill_seal_usage"),
             of_open = !strcmp(of->table, "fairmill_seal_open");
        any |= shape && shape->kind == OF_SEAL;
        damaged |= shape == witness_seal_shape && !of->list[0].stored;
        for (size_t k = 0; shape && shape->kind == OF_SEAL && k < of->listed; k++)
            if (damaged || (of_sums && !witness->sums_differ) || (of_open && !witness->open_differ))
                of->list[k].cause = CAUSE_ROWS;
            else if (of_sums || of_open || shape == witness_seal_shape)
                of->list[k].cause = CAUSE_SOURCE;
    }
    if (damaged && !any)
        row_differences_add(&witness->differences,
                            &(struct row_difference){ .table = witness_seal_shape->name,
                                                      .key = (char[]){ "" },
                                                      .stored = (char[]){ "not what was stored" },
                                                      .cause = CAUSE_ROWS });
}

/* What cannot be made anew has its hash only. */
static void report_record(void *context, const struct kept_table *table, int64_t part,
                          const struct kept_rows *known, const struct kept_rows *found)
{
    struct witness *witness = context;
    struct text key = { 0 }, stored = { 0 }, wanted = { 0 };
    text_add(&key, "");
    if (table != &kept_share_state)
        instant_add(&key, part);
    add_hash(&stored, found);
    add_hash(&wanted, known);
    row_differences_add(&witness->differences,
                        &(struct row_difference){ table->name, key.bytes, NULL, stored.bytes,
                                                  wanted.bytes, part, CAUSE_ROWS });
    text_free(&key);
    text_free(&stored);
    text_free(&wanted);
}

int witness_explain(struct witness *witness, bool seal_damaged, struct error *err)
{
    if (explain_tables(witness, err))
        return -1;
    explain_seal(witness, seal_damaged);
    for (size_t i = 0; kept_records[i]; i++)
        if (kept_compare(witness->stored, witness->cluster, kept_records[i], report_record, witness,
                         err))
            return -1;
    /* It hangs on when the source touched associations last, so that it is not as then any more. */
    return kept_compare(witness->stored, witness->cluster, &kept_share_state, report_record,
                        witness, err);
}
