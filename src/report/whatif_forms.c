/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/fairshare/fairshare.h"
#include "report/forms.h"
#include "report/terminal.h"
#include "report/whatif.h"
#include "util/text.h"

/* For people: two tables, and commands to copy. */

#define COLUMNS_AT_MOST 8
struct table {
    const char *headings[COLUMNS_AT_MOST];
    size_t columns, left; /* the first `left` columns are justified left */
    size_t width[COLUMNS_AT_MOST];
    /* Add a cell of a line. */
    void (*cell)(struct text *text, const void *line, size_t column);
};

static void measure(struct table *table, const void *line)
{
    struct text cell = { 0 };
    for (size_t i = 0; i < table->columns; i++) {
        cell.length = 0;
        text_add(&cell, "");
        table->cell(&cell, line, i);
        size_t width = utf8_width(cell.bytes);
        if (width && table->width[i] < strlen(table->headings[i]))
            table->width[i] = strlen(table->headings[i]);
        if (width > table->width[i])
            table->width[i] = width;
    }
    text_free(&cell);
}

/* Columns without a cell are left out; `line` NULL is the headings. */
static void add_line(struct text *text, const struct table *table, const void *line)
{
    struct text cell = { 0 };
    size_t start = text->length;
    for (size_t i = 0; i < table->columns; i++) {
        if (!table->width[i])
            continue;
        cell.length = 0;
        text_add(&cell, "");
        if (line)
            table->cell(&cell, line, i);
        else
            text_add(&cell, table->headings[i]);
        if (text->length > start)
            text_add(text, " ");
        form_add_padded(text, cell.bytes, table->width[i], i < table->left);
    }
    while (text->length > start && text->bytes[text->length - 1] == ' ')
        text->length--;
    text_add(text, "\n");
    if (!line)
        terminal_paint(text, start, PAINT_HEADING);
    text_free(&cell);
}

/* Above 0 where the row climbs.  With fewer users all are renumbered, which is no news. */
static int climb(const struct whatif *whatif, const struct whatif_row *row)
{
    if (whatif->users[BEFORE] != whatif->users[AFTER])
        return 0;
    return (row->rank[AFTER] > row->rank[BEFORE]) - (row->rank[AFTER] < row->rank[BEFORE]);
}

/* A row has a place in the table where people see a difference: users', and accounts' factors. */
static bool is_shown(const struct whatif *whatif, const struct whatif_row *row)
{
    return !row->there[AFTER] || climb(whatif, row) ||
           (row->factor[BEFORE] < row->factor[AFTER] || row->factor[BEFORE] > row->factor[AFTER]) ||
           isnan(row->factor[BEFORE]) != isnan(row->factor[AFTER]);
}

static bool gains(const struct whatif *whatif, const struct whatif_row *row)
{
    return row->there[AFTER] &&
           (row->factor[AFTER] > row->factor[BEFORE] ||
            (!(row->factor[AFTER] < row->factor[BEFORE]) && climb(whatif, row) > 0));
}

static void row_cell(struct text *text, const void *line, size_t column)
{
    const struct whatif_row *row = line;
    enum whatif_side side = column == 4 || column == 7 ? AFTER : BEFORE;
    double change = row->factor[AFTER] - row->factor[BEFORE];
    if (column < 3)
        text_add_printable(text, column == 0   ? row->account
                                 : column == 1 ? row->user
                                               : row->partition);
    else if (column <= 4 && !isnan(row->factor[side]))
        text_format(text, "%.6f", row->factor[side]);
    else if (column == 5 && !isnan(change))
        text_format(text, "%+.6f", change);
    else if (column >= 6 && row->rank[side])
        text_format(text, "%" PRIu32, row->rank[side]);
}

struct counts {
    size_t gainers, losers, shown_gainers, shown_losers;
};

static struct counts count_rows(const struct whatif *whatif, size_t top)
{
    struct counts counts = { 0 };
    for (size_t i = 0; i < whatif->row_count; i++)
        if (is_shown(whatif, &whatif->rows[i]))
            *(gains(whatif, &whatif->rows[i]) ? &counts.gainers : &counts.losers) += 1;
    counts.shown_gainers = counts.gainers < top ? counts.gainers : top;
    counts.shown_losers = counts.losers < top ? counts.losers : top;
    return counts;
}

/* Hand those that gain most and those that lose most to `take`. */
static void each_shown(const struct whatif *whatif, const struct counts *counts,
                       void (*take)(void *context, const struct whatif_row *row, bool gap),
                       void *context)
{
    size_t gainer = 0, loser = 0;
    for (size_t i = 0; i < whatif->row_count; i++) {
        const struct whatif_row *row = &whatif->rows[i];
        if (!is_shown(whatif, row))
            continue;
        bool gains_some = gains(whatif, row);
        size_t at = gains_some ? gainer++ : loser++;
        size_t skipped = counts->losers - counts->shown_losers;
        if (gains_some ? at < counts->shown_gainers : at >= skipped)
            take(context, row, !gains_some && skipped && at == skipped);
    }
}

struct writing {
    struct text *text;
    struct table *table;
    bool measuring;
};

static void take_row(void *context, const struct whatif_row *row, bool gap)
{
    struct writing *writing = context;
    if (writing->measuring) {
        measure(writing->table, row);
        return;
    }
    if (gap)
        text_add(writing->text, "...\n");
    add_line(writing->text, writing->table, row);
}

static void add_rows(struct text *text, const struct whatif *whatif, size_t top)
{
    struct table table = {
        .headings = { "Account", "User", "Partition", "FairShare", "would be", "Change", "Rank",
                      "would be" },
        .columns = 8,
        .left = 3,
        .cell = row_cell,
    };
    struct counts counts = count_rows(whatif, top);
    struct writing writing = { text, &table, true };
    if (!counts.gainers && !counts.losers) {
        text_add(text, "\nNobody's fairshare would change.\n");
        return;
    }
    text_format(text, "\n%zu would gain and %zu lose", counts.gainers, counts.losers);
    bool all = counts.shown_gainers == counts.gainers && counts.shown_losers == counts.losers;
    text_add(text, all ? ".  " : "; here those who gain or lose most.\n");
    text_format(text, "The best rank is %" PRIu32, whatif->users[BEFORE]);
    if (whatif->users[AFTER] != whatif->users[BEFORE])
        text_format(text, ", then %" PRIu32, whatif->users[AFTER]);
    text_add(text, ".\n\n");
    each_shown(whatif, &counts, take_row, &writing);
    add_line(text, &table, NULL);
    writing.measuring = false;
    each_shown(whatif, &counts, take_row, &writing);
}

static void job_cell(struct text *text, const void *line, size_t column)
{
    const struct whatif_job *job = line;
    switch (column) {
    case 0:
        text_format(text, "%" PRId64, job->id);
        break;
    case 1:
    case 2:
        text_add_printable(text, column == 1 ? job->user : job->account);
        break;
    case 3:
        text_add_printable(text, job->partition[AFTER]);
        break;
    case 4:
    case 5:
        text_format(text, "%" PRId64, job->priority[column == 5]);
        break;
    default:
        text_format(text, "%zu", job->place[column == 7]);
        break;
    }
}

static void add_jobs(struct text *text, const struct whatif *whatif, size_t top)
{
    struct table table = {
        .headings = { "JobID", "User", "Account", "Partition", "Priority", "would be", "Place",
                      "would be" },
        .columns = 8,
        .left = 4,
        .cell = job_cell,
    };
    size_t moved = 0, shown = 0;
    if (!whatif->job_count)
        return;
    for (size_t i = 0; i < whatif->job_count; i++)
        moved += whatif->jobs[i].place[BEFORE] != whatif->jobs[i].place[AFTER];
    if (!moved) {
        text_format(text, "\nNo job that waits would change its place (there %s %zu).\n",
                    whatif->job_count == 1 ? "is" : "are", whatif->job_count);
        return;
    }
    text_format(text, "\n%zu of %zu jobs that wait would change places%s:\n\n", moved,
                whatif->job_count, moved > top ? "; here the first of them" : "");
    for (int measuring = 1; measuring >= 0; measuring--, shown = 0) {
        if (!measuring)
            add_line(text, &table, NULL);
        for (size_t i = 0; i < whatif->job_count && shown < top; i++) {
            const struct whatif_job *job = &whatif->jobs[i];
            if (job->place[BEFORE] == job->place[AFTER])
                continue;
            shown++;
            if (measuring)
                measure(&table, job);
            else
                add_line(text, &table, job);
        }
    }
}

void whatif_add_table(struct text *text, const struct whatif *whatif, size_t top)
{
    text_add(text, "Cluster ");
    text_add_printable(text, whatif->cluster);
    text_format(text, ", %s, as of ", whatif->algorithm[BEFORE]->name);
    form_add_instant(text, whatif->as_of);
    text_add(text, whatif->change_count ? ".  What if:\n" : "; nothing is changed.\n");
    for (size_t i = 0; i < whatif->change_count; i++) {
        text_add(text, "- ");
        text_add_printable(text, whatif->changes[i]);
        text_add(text, "\n");
    }
    add_rows(text, whatif, top);
    add_jobs(text, whatif, top);
    if (whatif->command_count)
        text_add(text, "\nThis would make it so:\n\n");
    for (size_t i = 0; i < whatif->command_count; i++) {
        text_add_printable(text, whatif->commands[i]);
        text_add(text, "\n");
    }
}

/* For programs. */

static json_t *json_number(uint64_t number)
{
    return number ? json_integer((json_int_t)number) : json_null();
}

static json_t *json_side(const struct whatif_row *row, enum whatif_side side)
{
    if (!row->there[side])
        return json_null();
    return json_pack(
        "{s:o, s:o, s:o, s:b, s:o, s:o}", "fairshare", form_json_real(row->factor[side]), "rank",
        json_number(row->rank[side]), "levelfs", form_json_real(row->level_fs[side]),
        "levelfs_infinite", isinf(row->level_fs[side]) ? 1 : 0, "normshares",
        form_json_real(row->shares_norm[side]), "rawusage", form_json_real(row->usage[side]));
}

static json_t *json_row(const struct whatif_row *row)
{
    return json_pack("{s:I, s:s, s:s, s:s, s:o, s:o}", "id_assoc", (json_int_t)row->id, "account",
                     row->account, "user", row->user, "partition", row->partition, "before",
                     json_side(row, BEFORE), "after", json_side(row, AFTER));
}

static json_t *json_place(const struct whatif_job *job, enum whatif_side side)
{
    return json_pack("{s:s, s:I, s:o, s:I}", "partition", job->partition[side], "priority",
                     (json_int_t)job->priority[side], "priority_norm",
                     form_json_real(job->norm[side]), "place", (json_int_t)job->place[side]);
}

static json_t *json_lines(char *const *lines, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(lines[i]));
    return list;
}

void whatif_add_json(struct text *text, const struct whatif *whatif, size_t top)
{
    size_t count = whatif->row_count, ends = top < count / 2 + 1 ? top : count;
    json_t *rows = json_array(), *jobs = json_array();
    for (size_t i = 0; i < count; i++)
        if (i < ends || i + ends >= count)
            json_array_append_new(rows, json_row(&whatif->rows[i]));
    for (size_t i = 0; i < whatif->job_count && i < top; i++)
        json_array_append_new(
            jobs, json_pack("{s:I, s:s, s:s, s:o, s:o}", "id_job", (json_int_t)whatif->jobs[i].id,
                            "user", whatif->jobs[i].user, "account", whatif->jobs[i].account,
                            "before", json_place(&whatif->jobs[i], BEFORE), "after",
                            json_place(&whatif->jobs[i], AFTER)));
    form_add_json(
        text, json_pack("{s:s, s:I, s:{s:s, s:I}, s:{s:s, s:I}, s:o, s:I, s:o, s:I, s:o, s:o}",
                        "cluster", whatif->cluster, "as_of", (json_int_t)whatif->as_of, "before",
                        "algorithm", whatif->algorithm[BEFORE]->name, "users",
                        (json_int_t)whatif->users[BEFORE], "after", "algorithm",
                        whatif->algorithm[AFTER]->name, "users", (json_int_t)whatif->users[AFTER],
                        "changes", json_lines(whatif->changes, whatif->change_count), "changed",
                        (json_int_t)whatif->row_count, "associations", rows, "waiting",
                        (json_int_t)whatif->job_count, "jobs", jobs, "commands",
                        json_lines(whatif->commands, whatif->command_count)));
    text_add(text, "\n");
}
