/* SPDX-License-Identifier: MIT */
#include "command/check/check_findings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/shares/shares_difference.h"
#include "compute/computation.h"
#include "core/finding.h"
#include "core/tree/tree.h"
#include "report/share_file.h"
#include "report/table.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/index.h"
#include "util/text.h"

static void check_findings_add_finding(struct findings *findings,
                                       const struct share_difference *difference)
{
    const struct share_entry *file = difference->file, *database = difference->database;
    const struct share_entry *entry = database ? database : file;
    struct text who = { 0 };
    text_format(&who, "account '%s'", entry->account);
    if (*entry->user)
        text_format(&who, ", user '%s'", entry->user);
    if (*entry->partition)
        text_format(&who, ", partition '%s'", entry->partition);
    findings_add(findings, FINDING_SHARES_DRIFT, entry->id, "%s: %s",
                 share_difference_word(difference), who.bytes);
    text_free(&who);
}

static int check_findings_compare(struct share_set *file, const struct settings *settings,
                                  struct db *source, const char *cluster, struct findings *findings,
                                  struct error *err)
{
    struct share_set database;
    if (shares_read(&database, settings, source, cluster, err))
        return -1;
    share_set_take_case(file, &database);
    struct share_differences differences = share_differences_find(file, &database);
    for (size_t i = 0; i < differences.count; i++)
        check_findings_add_finding(findings, &differences.rows[i]);
    share_differences_free(&differences);
    share_set_free(&database);
    return 0;
}

int check_shares(struct text *text, const struct settings *settings, struct db *source,
                 const char *cluster, struct findings *findings, struct error *err)
{
    const char *at = settings->shares_file;
    int result = 0;
    if (!source_type_of(settings)->is_slurmdbd)
        return 0;
    for (char *path; !result && (path = list_next(&at)); free(path)) {
        struct share_set file = { 0 };
        struct error unread;
        if (share_file_load(&file, path, &unread)) {
            text_format_printable(text, "  warning: shares_file: %s\n", unread.message);
        } else if (reads_as(cluster, strlen(cluster), file.cluster)) {
            text_format_printable(text, "  shares compared with '%s'\n", path);
            result = check_findings_compare(&file, settings, source, cluster, findings, err);
        }
        share_set_free(&file);
    }
    return result;
}

/* Maximum number of names in a warning. */
#define NAMES_AT_MOST 8

/* Lists the users with 0 shares or, if `users` is false, the accounts. */
static void warn_of_zeros(struct text *text, const struct scheduler *scheduler,
                          const struct computation *computation, bool users)
{
    const struct tree *tree = computation->tree;
    const struct names *names = computation->accounting->names;
    const char *words = users ? scheduler->terms.users : scheduler->terms.accounts;
    size_t count = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        if (node->is_user != users || node->shares || node->id == scheduler->zero_shares)
            continue;
        if (count < NAMES_AT_MOST) {
            text_format(text, count ? ", " : "  warning: %s with 0 shares (%s rank last): ", words,
                        users ? "they" : "their users");
            text_format_printable(text, "'%s%s%s'", names_text(names, node->account),
                                  users ? "/" : "", users ? names_text(names, node->user) : "");
        }
        count++;
    }
    if (count > NAMES_AT_MOST)
        text_format(text, " and %zu more", count - NAMES_AT_MOST);
    text_add(text, count ? "\n" : "");
}

void check_zero_shares(struct text *text, const struct settings *settings,
                       const struct computation *computation)
{
    const struct scheduler *scheduler = scheduler_of(settings);
    warn_of_zeros(text, scheduler, computation, false);
    warn_of_zeros(text, scheduler, computation, true);
}

struct check_finding_row {
    const struct finding *finding;
    enum finding_kind kind;
    uint64_t seen; /* number of findings of this kind */
};

/* Fills the cell with the name of the finding's kind, its meaning or its remedy, depending on the
 * column. */
static void finding_get_word(const void *of, struct cell *cell)
{
    static const char *(*const words[])(enum finding_kind kind) = { finding_name, finding_meaning,
                                                                    finding_remedy };
    cell_text(cell, words[cell->column->index](((const struct check_finding_row *)of)->kind));
}

/* Text, as in fairmill_finding; "" means the whole cluster. */
static void get_subject(const void *of, struct cell *cell)
{
    const struct check_finding_row *row = of;
    if (row->finding->subject)
        cell_format(cell, "%" PRIu64, row->finding->subject);
    else
        cell_text(cell, "");
}

static void get_detail(const void *of, struct cell *cell)
{
    char detail[FINDING_DETAIL];
    cell_format(cell, "%s",
                finding_detail(((const struct check_finding_row *)of)->finding, detail));
}

static const struct column columns[] = {
    { "cluster", "Cluster", COLUMN_TEXT, .stored = STORED_AS_CLUSTER },
    { "kind", "Kind", COLUMN_TEXT, .get = finding_get_word, .index = 0 },
    { "subject", "Subject", COLUMN_TEXT, .get = get_subject, .right = true },
    { "seen", "Seen", COLUMN_INTEGER, MEMBER(struct check_finding_row, seen) },
    { "detail", "Detail", COLUMN_TEXT, .get = get_detail },
    { "meaning", "Meaning", COLUMN_TEXT, .get = finding_get_word, .index = 1 },
    { "remedy", "Remedy", COLUMN_TEXT, .get = finding_get_word, .index = 2 },
    { .name = NULL },
};

const struct table_layout finding_layout = { columns, "findings", .by_cluster = true };

static void check_findings_add_line(struct text *text, const struct check_finding_row *first)
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
            const struct check_finding_row row = { &findings->kind[kind].kept[i], kind,
                                                   findings->kind[kind].seen };
            if (!i)
                check_findings_add_line(text, &row);
            if (table)
                table_add(table, &row);
        }
    if (table)
        table_close(table);
    text_free(&name);
}
