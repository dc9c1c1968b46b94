/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/fairshare/fairshare.h"
#include "report/csv.h"
#include "report/forms.h"
#include "report/shares.h"
#include "report/terminal.h"
#include "util/text.h"

/* For people: sshare's columns, as wide as they need to be; on a terminal that is narrower, those
 * that explain least go first. */

enum column {
    ACCOUNT,
    USER,
    PARTITION,
    RAW_SHARES,
    NORM_SHARES,
    RAW_USAGE,
    NORM_USAGE,
    EFFECTIVE_USAGE,
    FAIRSHARE,
    LEVEL_FS,
    COLUMNS,
};

static const char *const headings[COLUMNS] = {
    "Account",  "User",      "Partition",    "RawShares", "NormShares",
    "RawUsage", "NormUsage", "EffectvUsage", "FairShare", "LevelFS",
};
/* A tree that is deeper than this is not read by its indent. */
#define DEEPEST_INDENT 40u

static const enum column expendable[] = { NORM_USAGE, NORM_SHARES, RAW_USAGE };

static void add_real(struct text *text, double number)
{
    if (isinf(number))
        text_add(text, "inf");
    else if (!isnan(number))
        text_format(text, "%.6f", number);
}

static void add_shares(struct text *text, const struct share_row *row)
{
    if (row->parent_shares)
        text_add(text, "parent");
    else if (row->parent_id)
        text_format(text, "%" PRId64, row->shares);
}

static void add_cell(struct text *text, const struct share_row *row, enum column column)
{
    switch (column) {
    case ACCOUNT:
        text_format(text, "%*s", (int)(row->depth < DEEPEST_INDENT ? row->depth : DEEPEST_INDENT),
                    "");
        text_add_printable(text, row->account);
        break;
    case USER:
        text_add_printable(text, row->user);
        break;
    case PARTITION:
        text_add_printable(text, row->partition);
        break;
    case RAW_SHARES:
        add_shares(text, row);
        break;
    case NORM_SHARES:
        add_real(text, row->norm_shares);
        break;
    case RAW_USAGE:
        text_format(text, "%.0f", floor(row->raw_usage));
        break;
    case NORM_USAGE:
        add_real(text, row->norm_usage);
        break;
    case EFFECTIVE_USAGE:
        add_real(text, row->effective_usage);
        break;
    case FAIRSHARE:
        add_real(text, row->fairshare);
        break;
    case LEVEL_FS:
        add_real(text, row->level_fs);
        break;
    case COLUMNS:
        break;
    }
}

/* How wide each column is; 0 where it is left out. */
static void measure(const struct share_list *list, size_t width[COLUMNS])
{
    struct text cell = { 0 };
    bool used[COLUMNS] = { false };
    for (enum column column = 0; column < COLUMNS; column++)
        width[column] = strlen(headings[column]);
    for (size_t i = 0; i < list->count; i++)
        for (enum column column = 0; list->rows[i].shown && column < COLUMNS; column++) {
            cell.length = 0;
            text_add(&cell, "");
            add_cell(&cell, &list->rows[i], column);
            size_t needed = utf8_width(cell.bytes);
            used[column] |= needed > 0;
            if (needed > width[column])
                width[column] = needed;
        }
    text_free(&cell);
    if (!used[PARTITION])
        width[PARTITION] = 0;
    if (!used[LEVEL_FS])
        width[LEVEL_FS] = 0;

    size_t room = terminal_width();
    if (!room)
        return;
    for (size_t i = 0; i < sizeof expendable / sizeof *expendable; i++) {
        size_t total = 0;
        for (enum column column = 0; column < COLUMNS; column++)
            total += width[column] ? width[column] + 1 : 0;
        if (total - 1 <= room)
            break;
        width[expendable[i]] = 0;
    }
}

/* One line; `row` NULL is the headings. */
static void add_line(struct text *text, const struct share_row *row, const size_t width[COLUMNS])
{
    struct text cell = { 0 };
    size_t start = text->length;
    for (enum column column = 0; column < COLUMNS; column++) {
        if (!width[column])
            continue;
        cell.length = 0;
        text_add(&cell, "");
        if (row)
            add_cell(&cell, row, column);
        else
            text_add(&cell, headings[column]);
        if (text->length > start)
            text_add(text, " ");
        form_add_padded(text, cell.bytes, width[column], column <= PARTITION);
    }
    while (text->length > start && text->bytes[text->length - 1] == ' ')
        text->length--;
    text_add(text, "\n");
    text_free(&cell);
}

static void table_add(struct text *text, const struct share_list *list, bool first)
{
    size_t width[COLUMNS];
    measure(list, width);
    text_add(text, first ? "Cluster " : "\nCluster ");
    text_add_printable(text, list->cluster);
    text_format(text, ", %s, as of ", list->algorithm->name);
    form_add_instant(text, list->as_of);
    text_add(text, "\n");
    size_t start = text->length;
    add_line(text, NULL, width);
    terminal_paint(text, start, PAINT_HEADING);
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].shown)
            add_line(text, &list->rows[i], width);
}

static void nothing(struct text *text)
{
    (void)text;
}

const struct share_form share_table = { "table", nothing, table_add, nothing };

/* For scripts: a header, `|` between fields, 17 digits. */

static void parsable_begin(struct text *text)
{
    text_add(text, "Cluster|Account|User|Partition|RawShares|NormShares|RawUsage|NormUsage|"
                   "EffectvUsage|FairShare|LevelFS\n");
}

static void add_exact(struct text *text, double number, const char *end)
{
    if (isinf(number))
        text_add(text, "inf");
    else if (!isnan(number))
        text_format(text, "%.17g", number);
    text_add(text, end);
}

static void parsable_add(struct text *text, const struct share_list *list, bool first)
{
    (void)first;
    for (size_t i = 0; i < list->count; i++) {
        const struct share_row *row = &list->rows[i];
        if (!row->shown)
            continue;
        const char *const names[] = { list->cluster, row->account, row->user, row->partition };
        for (size_t name = 0; name < 4; name++) {
            form_add_field(text, names[name]);
            text_add(text, "|");
        }
        add_shares(text, row);
        text_add(text, "|");
        add_exact(text, row->norm_shares, "|");
        text_format(text, "%.0f|", floor(row->raw_usage));
        add_exact(text, row->norm_usage, "|");
        add_exact(text, row->effective_usage, "|");
        add_exact(text, row->fairshare, "|");
        add_exact(text, row->level_fs, "\n");
    }
}

const struct share_form share_parsable = { "parsable", parsable_begin, parsable_add, nothing };

/* For spreadsheets: the same columns, separated by commas. */

static void csv_begin(struct text *text)
{
    text_add(text, "Cluster,Account,User,Partition,RawShares,NormShares,RawUsage,NormUsage,"
                   "EffectvUsage,FairShare,LevelFS" CSV_LINE);
}

static void csv_add(struct text *text, const struct share_list *list, bool first)
{
    (void)first;
    for (size_t i = 0; i < list->count; i++) {
        const struct share_row *row = &list->rows[i];
        if (!row->shown)
            continue;
        csv_add_name(text, list->cluster, CSV_NEXT);
        csv_add_name(text, row->account, CSV_NEXT);
        csv_add_name(text, row->user, CSV_NEXT);
        csv_add_name(text, row->partition, CSV_NEXT);
        add_shares(text, row);
        text_add(text, CSV_NEXT);
        csv_add_real(text, row->norm_shares, CSV_NEXT);
        text_format(text, "%.0f" CSV_NEXT, floor(row->raw_usage));
        csv_add_real(text, row->norm_usage, CSV_NEXT);
        csv_add_real(text, row->effective_usage, CSV_NEXT);
        csv_add_real(text, row->fairshare, CSV_NEXT);
        csv_add_real(text, row->level_fs, CSV_LINE);
    }
}

const struct share_form share_csv = { "csv", csv_begin, csv_add, nothing };

/* For programs: one object with a list of clusters, each with a list of associations. */

static void json_begin(struct text *text)
{
    text_add(text, "{\"clusters\": [");
}

static json_t *json_row(const char *cluster, const struct share_row *row)
{
    json_t *shares = row->parent_shares ? json_string("parent")
                     : row->parent_id   ? json_integer(row->shares)
                                        : json_null();
    return json_pack("{s:s, s:I, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
                     "cluster", cluster, "id_assoc", (json_int_t)row->id, "parent_id",
                     row->parent_id ? json_integer(row->parent_id) : json_null(), "account",
                     row->account, "user", row->user, "partition", row->partition, "rawshares",
                     shares, "normshares", form_json_real(row->norm_shares), "rawusage",
                     form_json_real(row->raw_usage), "normusage", form_json_real(row->norm_usage),
                     "effectvusage", form_json_real(row->effective_usage), "fairshare",
                     form_json_real(row->fairshare), "levelfs", form_json_real(row->level_fs),
                     "levelfs_infinite", isinf(row->level_fs) ? 1 : 0);
}

static void json_add(struct text *text, const struct share_list *list, bool first)
{
    text_add(text, first ? "\n{\"cluster\": " : ",\n{\"cluster\": ");
    form_add_json(text, json_string(list->cluster));
    text_format(text, ", \"algorithm\": \"%s\", \"as_of\": %" PRId64 ", \"associations\": [",
                list->algorithm->name, list->as_of);
    const char *between = "\n";
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].shown) {
            text_add(text, between);
            form_add_json(text, json_row(list->cluster, &list->rows[i]));
            between = ",\n";
        }
    text_add(text, "\n]}");
}

static void json_end(struct text *text)
{
    text_add(text, "\n]}\n");
}

const struct share_form share_json = { "json", json_begin, json_add, json_end };
