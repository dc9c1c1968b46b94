/* SPDX-License-Identifier: MIT */
#include "command/check/check_findings.h"

#include <inttypes.h>
#include <string.h>

#include "core/finding.h"
#include "report/table.h"
#include "util/text.h"

struct finding_row {
    const struct finding *finding;
    enum finding_kind kind;
    uint64_t seen; /* of its kind */
};

static void get_kind(const void *of, struct cell *cell)
{
    cell_text(cell, finding_name(((const struct finding_row *)of)->kind));
}

static void get_meaning(const void *of, struct cell *cell)
{
    cell_text(cell, finding_meaning(((const struct finding_row *)of)->kind));
}

static void get_remedy(const void *of, struct cell *cell)
{
    cell_text(cell, finding_remedy(((const struct finding_row *)of)->kind));
}

/* A text, as in fairmill_finding; "" is the cluster. */
static void get_subject(const void *of, struct cell *cell)
{
    const struct finding_row *row = of;
    if (row->finding->subject)
        cell_format(cell, "%" PRIu64, row->finding->subject);
    else
        cell_text(cell, "");
}

static void get_detail(const void *of, struct cell *cell)
{
    char detail[FINDING_DETAIL];
    cell_format(cell, "%s", finding_detail(((const struct finding_row *)of)->finding, detail));
}

static const struct column columns[] = {
    { "cluster", "Cluster", COLUMN_TEXT, .stored = STORED_AS_CLUSTER },
    { "kind", "Kind", COLUMN_TEXT, .get = get_kind },
    { "subject", "Subject", COLUMN_TEXT, .get = get_subject, .right = true },
    { "seen", "Seen", COLUMN_INTEGER, MEMBER(struct finding_row, seen) },
    { "detail", "Detail", COLUMN_TEXT, .get = get_detail },
    { "meaning", "Meaning", COLUMN_TEXT, .get = get_meaning },
    { "remedy", "Remedy", COLUMN_TEXT, .get = get_remedy },
    { .name = NULL },
};

const struct table_layout finding_layout = { columns, "findings", .by_cluster = true };

static void add_line(struct text *text, const struct finding_row *first)
{
    text_format(text, "  finding %s, %" PRIu64 "x (%s), first ", finding_name(first->kind),
                first->seen, finding_meaning(first->kind));
    if (first->finding->subject)
        text_format(text, "%" PRIu64 ": ", first->finding->subject);
    char detail[FINDING_DETAIL];
    text_add_printable(text, finding_detail(first->finding, detail));
    text_format(text, "\n    what to do: %s\n", finding_remedy(first->kind));
}

void check_findings(struct text *text, const char *cluster, const struct findings *findings,
                    struct table *table)
{
    struct text name = { 0 };
    text_add_as_utf8(&name, cluster, strlen(cluster));
    if (table)
        table_open(table, &(struct table_cluster){ .name = name.bytes });
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        for (size_t i = 0; i < findings->kind[kind].count; i++) {
            const struct finding_row row = { &findings->kind[kind].kept[i], kind,
                                             findings->kind[kind].seen };
            if (!i)
                add_line(text, &row);
            if (table)
                table_add(table, &row);
        }
    if (table)
        table_close(table);
    text_free(&name);
}
