/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "results/publication.h"
#include "results/rows.h"
#include "sql.h"
#include "util/memory.h"
#include "util/text.h"

/* A row of fairmill_finding. */
struct finding_row {
    char *kind, *subject, *detail;
    int64_t first_seen, last_seen, count;
};

struct finding_rows {
    struct finding_row *rows;
    size_t count;
};

static int finding_rows_read_findings(const struct publisher *publisher, struct finding_rows *found,
                                      struct error *err)
{
    const struct db_value *row;
    struct db_value cluster = db_text(publisher->cluster);
    struct db_rows *rows =
        db_query(publisher->db, sql_query_finding_read, &cluster, 1, "ttiiit", err);
    while (db_fetch(rows, &row, err) > 0)
        *memory_append(&found->rows, &found->count) = (struct finding_row){
            .kind = db_value_text(&row[0]),
            .subject = db_value_text(&row[1]),
            .first_seen = row[2].integer,
            .last_seen = row[3].integer,
            .count = row[4].integer,
            .detail = db_value_text(&row[5]),
        };
    return db_finish(rows);
}

static struct finding_row *finding_row(struct finding_rows *found, const char *kind,
                                       const char *subject)
{
    for (size_t i = 0; i < found->count; i++)
        if (!strcmp(found->rows[i].kind, kind) && !strcmp(found->rows[i].subject, subject))
            return &found->rows[i];
    struct finding_row *fresh = memory_append(&found->rows, &found->count);
    *fresh = (struct finding_row){ .kind = memory_text(kind), .subject = memory_text(subject) };
    return fresh;
}

/* Returns true for the finding that the cluster is missing, unless this run reports it again. */
static bool is_over(const struct finding_row *row, const struct findings *findings)
{
    return !findings->kind[FINDING_CLUSTER_VANISHED].count &&
           !strcmp(row->kind, finding_name(FINDING_CLUSTER_VANISHED));
}

static void merge_findings(struct finding_rows *found, const struct findings *findings,
                           int64_t as_of)
{
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        for (size_t i = 0; i < findings->kind[kind].count; i++) {
            const struct finding *seen = &findings->kind[kind].kept[i];
            bool of_cluster = !seen->subject && kind != FINDING_JOB_WITHOUT_ASSOCIATION;
            char subject[24];
            snprintf(subject, sizeof subject, "%llu", (unsigned long long)seen->subject);
            struct finding_row *row =
                finding_row(found, finding_name(kind), of_cluster ? "" : subject);
            if (!row->count || as_of < row->first_seen)
                row->first_seen = as_of;
            row->last_seen = as_of;
            row->count++;
            free(row->detail);
            char detail[FINDING_DETAIL];
            row->detail = memory_text(finding_detail(seen, detail));
        }
}

/* Orders rows by kind, and by age for each kind, the most recent row first. */
static int by_kind_and_age(const void *a, const void *b)
{
    const struct finding_row *one = a, *other = b;
    int order = strcmp(one->kind, other->kind);
    if (order)
        return order;
    if (one->last_seen != other->last_seen)
        return one->last_seen > other->last_seen ? -1 : 1;
    return strcmp(one->subject, other->subject);
}

static int finding_rows_write_findings(const struct publisher *publisher,
                                       const struct finding_rows *found,
                                       const struct findings *findings, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    if (db_execute(publisher->db, sql_query_finding_clear, &cluster, 1, NULL, err))
        return -1;
    struct row_writer writer = { .db = publisher->db, .table = "fairmill_finding", .keys = 3 };
    size_t of_kind = 0;
    struct text detail = { 0 };
    for (size_t i = 0; i < found->count; i++) {
        const struct finding_row *each = &found->rows[i];
        of_kind = i && !strcmp(each->kind, each[-1].kind) ? of_kind + 1 : 0;
        if (of_kind >= FINDINGS_PER_KIND || is_over(each, findings))
            continue;
        struct row_field row[] = {
            { "cluster", 't', cluster },
            { "kind", 't', db_text(each->kind) },
            { "subject", 't', db_text(each->subject) },
            { "first_seen", 'i', db_integer(each->first_seen) },
            { "last_seen", 'i', db_integer(each->last_seen) },
            { "count", 'i', db_integer(each->count) },
            { "detail", 't', rows_text(each->detail, &detail) },
        };
        rows_add(&writer, row, COUNT(row), err);
    }
    text_free(&detail);
    return rows_end(&writer, 0, err);
}

int finding_rows_write(const struct publisher *publisher, const struct findings *findings,
                       int64_t as_of, struct error *err)
{
    struct finding_rows found = { 0 };
    int result = finding_rows_read_findings(publisher, &found, err);
    if (!result) {
        merge_findings(&found, findings, as_of);
        if (found.count) {
            qsort(found.rows, found.count, sizeof *found.rows, by_kind_and_age);
            result = finding_rows_write_findings(publisher, &found, findings, err);
        }
    }
    for (size_t i = 0; i < found.count; i++) {
        free(found.rows[i].kind);
        free(found.rows[i].subject);
        free(found.rows[i].detail);
    }
    free(found.rows);
    return result;
}

int finding_rows_end_vanished(const struct publisher *publisher, struct error *err)
{
    int64_t one;
    struct db_value arguments[] = { db_text(publisher->cluster),
                                    db_text(finding_name(FINDING_CLUSTER_VANISHED)) };
    /*
     * Query the finding first, because it rarely exists, and a DELETE could wait for rows that
     * another session has locked.
     */
    int found = rows_read_integer(publisher->db, sql_query_finding_find, arguments, 2, &one, err);
    if (found <= 0)
        return found;
    return db_execute(publisher->db, sql_query_finding_end, arguments, 2, NULL, err);
}
