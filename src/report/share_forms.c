/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "core/fairshare.h"
#include "report/shares.h"
#include "util/memory.h"
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

static size_t terminal_width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
        return SIZE_MAX;
    return size.ws_col;
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
    for (size_t i = 0; i < sizeof expendable / sizeof *expendable; i++) {
        size_t total = 0;
        for (enum column column = 0; column < COLUMNS; column++)
            total += width[column] ? width[column] + 1 : 0;
        if (total - 1 <= room)
            break;
        width[expendable[i]] = 0;
    }
}

static void add_padded(struct text *text, const char *cell, size_t width, bool left)
{
    int blanks = (int)(width - utf8_width(cell));
    if (left)
        text_add(text, cell);
    text_format(text, "%*s", blanks, "");
    if (!left)
        text_add(text, cell);
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
        add_padded(text, cell.bytes, width[column], column <= PARTITION);
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
    char date[64];
    time_t as_of = (time_t)list->as_of;
    struct tm day;
    localtime_r(&as_of, &day);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &day);
    text_add(text, first ? "Cluster " : "\nCluster ");
    text_add_printable(text, list->cluster);
    text_format(text, ", %s, as of %s\n", list->algorithm->name, date);
    add_line(text, NULL, width);
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

/* A name, in which a bar would be taken for the end of the field. */
static void add_field(struct text *text, const char *name)
{
    size_t start = text->length;
    text_add_printable(text, name);
    char *bar = strchr(name, '|') ? text->bytes + start : NULL;
    if (!bar)
        return;
    char *printable = memory_text(bar);
    text->length = start;
    for (const char *at = printable; *at; at++)
        text_add_bytes(text, *at == '|' ? "\\x7C" : at, *at == '|' ? 4 : 1);
    free(printable);
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
            add_field(text, names[name]);
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

/* For programs: one object with a list of clusters, each with a list of associations. */

static void json_begin(struct text *text)
{
    text_add(text, "{\"clusters\": [");
}

static json_t *real_or_null(double number)
{
    return isnan(number) || isinf(number) ? json_null() : json_real(number);
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
                     shares, "normshares", real_or_null(row->norm_shares), "rawusage",
                     real_or_null(row->raw_usage), "normusage", real_or_null(row->norm_usage),
                     "effectvusage", real_or_null(row->effective_usage), "fairshare",
                     real_or_null(row->fairshare), "levelfs", real_or_null(row->level_fs),
                     "levelfs_infinite", isinf(row->level_fs) ? 1 : 0);
}

/* Of the control characters jansson leaves one as it is, DEL. */
static int add_chunk(const char *bytes, size_t length, void *text)
{
    const char *found;
    while (length && (found = memchr(bytes, '\x7f', length))) {
        size_t before = (size_t)(found - bytes);
        text_add_bytes(text, bytes, before);
        text_add(text, "\\u007f");
        bytes += before + 1;
        length -= before + 1;
    }
    text_add_bytes(text, bytes, length);
    return 0;
}

/* A name with what a terminal should not get has everything beyond ASCII as \uXXXX. */
static void dump(struct text *text, json_t *json, bool printable)
{
    json_dump_callback(json, add_chunk, text,
                       JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17) |
                           (printable ? 0 : JSON_ENSURE_ASCII));
    json_decref(json);
}

static bool is_printable(const struct share_row *row)
{
    return utf8_is_printable(row->account) && utf8_is_printable(row->user) &&
           utf8_is_printable(row->partition);
}

static void json_add(struct text *text, const struct share_list *list, bool first)
{
    text_add(text, first ? "\n{\"cluster\": " : ",\n{\"cluster\": ");
    bool printable = utf8_is_printable(list->cluster);
    dump(text, json_string(list->cluster), printable);
    text_format(text, ", \"algorithm\": \"%s\", \"as_of\": %" PRId64 ", \"associations\": [",
                list->algorithm->name, list->as_of);
    const char *between = "\n";
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].shown) {
            text_add(text, between);
            dump(text, json_row(list->cluster, &list->rows[i]),
                 printable && is_printable(&list->rows[i]));
            between = ",\n";
        }
    text_add(text, "\n]}");
}

static void json_end(struct text *text)
{
    text_add(text, "\n]}\n");
}

const struct share_form share_json = { "json", json_begin, json_add, json_end };
