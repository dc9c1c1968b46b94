/* SPDX-License-Identifier: MIT */
#include "source/pbs/refused_lines.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/finding.h"
#include "db/db.h"
#include "source/layout.h"
#include "source/pbs/fields.h"
#include "source/reading.h"
#include "sql.h"

struct refused {
    uint64_t count;
    char first[64];
};

static int take_refused(void *context, const struct db_value *row, struct error *err)
{
    struct refused *refused = context;
    const struct part name = part_of_column(&row[0]);
    (void)err;
    if (!refused->count++)
        snprintf(refused->first, sizeof refused->first, "'%.*s', line %" PRIu64,
                 name.length > 16 ? 16 : (int)name.length, name.bytes, reading_number(&row[1]));
    return 0;
}

/* An import of an older release has not made the table, or the login may not read it. */
static int has_refused(struct db *db, bool *has, struct error *err)
{
    const struct db_value *row, table = db_text("pbs_refused");
    struct db_rows *rows = db_query(db, db->driver->columns_query, &table, 1, "t", err);
    *has = db_fetch(rows, &row, err) > 0;
    return db_finish(rows);
}

int pbs_refused_find(const struct source *source, struct findings *findings, struct error *err)
{
    bool has = false;
    struct refused refused = { 0 };
    const struct db_value cluster = db_text(source->cluster);
    const struct query query = { .sql = sql_query_pbs_refused_lines,
                                 .arguments = &cluster,
                                 .argument_count = 1,
                                 .types = "ti" };
    if (has_refused(source->db, &has, err))
        return -1;
    if (has && reading_each(source->db, &query, take_refused, &refused, err))
        return -1;
    if (refused.count)
        findings_add(findings, FINDING_RECORD_UNREADABLE, 0, "%" PRIu64 ", the first: %s",
                     refused.count, refused.first);
    return 0;
}
