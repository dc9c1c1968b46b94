/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "report/differences.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/fairshare/fairshare.h"
#include "report/forms.h"
#include "report/terminal.h"
#include "report/grid.h"
#include "util/text.h"

static const struct {
    const char *name, *meaning;
} causes[CAUSES] = {
    [CAUSE_AGE] = { "age", "what our run saw at another instant than the print" },
    [CAUSE_DELETED] = { "deleted", "slurmctld compares users with deleted ones too" },
    [CAUSE_TIES] = { "ties", "slurmctld does not merge tied accounts, and ties by long doubles" },
    [CAUSE_LEDGER] = { "ledger", "our ledger, which slurmctld does not know" },
    [CAUSE_FACTORS] = { "factors", "factors of our settings, which slurmctld does not know" },
    [CAUSE_SUSPENDED] = { "suspended", "slurmctld charges suspended time" },
    [CAUSE_ROLLUP] = { "rollup", "slurmctld charges jobs, not idle reservations and spread sums" },
    [CAUSE_BILLING] = { "billing", "slurmctld's billing is not cut to whole numbers" },
    [CAUSE_CAPS] = { "caps", "slurmctld knows no open_job_cap and no horizon" },
    [CAUSE_STEPS] = { "steps", "slurmctld decays in steps, with 0.693 for ln 2" },
    [CAUSE_SHARES] = { "shares", "the print has other shares" },
    [CAUSE_SECOND] = { "second", "up to a second of one job, as times are whole seconds" },
};

const char *cause_name(enum cause cause)
{
    return causes[cause].name;
}

const char *cause_meaning(enum cause cause)
{
    return causes[cause].meaning;
}

/* Less than this of a TRES-second, or of a factor, is a rounding. */
#define USAGE_ROUNDING 0.0005
#define FACTOR_ROUNDING 1e-9

static bool is_usage(double number)
{
    return fabs(number) >= USAGE_ROUNDING;
}

static bool is_factor(double number)
{
    return fabs(number) >= FACTOR_ROUNDING;
}

static bool is_left(const struct compared_row *row)
{
    return is_usage(row->usage.left) || is_factor(row->fairshare.left) || row->level_fs_differs;
}

bool differences_are_explained(const struct differences *differences)
{
    for (size_t i = 0; i < differences->count; i++)
        if (is_left(&differences->rows[i]))
            return false;
    return !differences->only_printed;
}

static const struct difference *usage_of(const struct compared_row *row)
{
    return &row->usage;
}

static const struct difference *fairshare_of(const struct compared_row *row)
{
    return &row->fairshare;
}

/* One of the two tables. */
struct view {
    const struct differences *differences;
    const struct difference *(*of)(const struct compared_row *row);
    bool (*counts)(double number);
    double scale; /* of the numbers: ranks of Fair Tree */
    const char *format;
    double whole_from; /* from here on numbers are printed without decimals */
};

static struct view usage_view(const struct differences *differences)
{
    return (struct view){ differences, usage_of, is_usage, 1, "%.1f", 10000 };
}

static struct view fairshare_view(const struct differences *differences)
{
    struct view view = { differences, fairshare_of, is_factor, 1, "%.6f", INFINITY };
    if (differences->algorithm->ranks_users) {
        view.scale = differences->users;
        view.format = "%.0f";
    }
    return view;
}

static bool has_cause(const struct view *view, int cause)
{
    for (size_t i = 0; i < view->differences->count; i++)
        if (view->counts(view->of(&view->differences->rows[i])->cause[cause]))
            return true;
    return false;
}

static bool row_differs(const struct view *view, const struct compared_row *row)
{
    const struct difference *difference = view->of(row);
    bool differs = view->counts(difference->left);
    for (int cause = 0; cause < CAUSES; cause++)
        differs |= view->counts(difference->cause[cause]);
    return differs;
}

static void add_name(struct text *text, const struct compared_row *row)
{
    text_add_printable(text, row->account);
    if (*row->user) {
        text_add(text, "/");
        text_add_printable(text, row->user);
    }
    if (*row->partition) {
        text_add(text, "/");
        text_add_printable(text, row->partition);
    }
}

static const char *number_cell(struct grid *grid, const struct view *view, double number)
{
    number *= view->scale;
    if (isnan(number))
        return "";
    return fabs(number) >= view->whole_from ? grid_cell(grid, "%.0f", number)
           : !strcmp(view->format, "%.0f")  ? grid_cell(grid, "%.0f", number)
           : !strcmp(view->format, "%.1f")  ? grid_cell(grid, "%.1f", number)
                                            : grid_cell(grid, "%.6f", number);
}

static const char *part_cell(struct grid *grid, const struct view *view, double number)
{
    return view->counts(number) ? number_cell(grid, view, number) : ".";
}

/* sshare's value, ours, and what makes the one of the other. */
static void add_row(struct grid *grid, const struct view *view, const struct compared_row *row)
{
    const struct difference *difference = view->of(row);
    const char **cells = grid_row(grid);
    struct text name = { 0 };
    size_t column = 0;
    add_name(&name, row);
    cells[column++] = grid_cell(grid, "%s", name.bytes);
    text_free(&name);
    cells[column++] = number_cell(grid, view, difference->ours);
    for (int cause = 0; cause < CAUSES; cause++)
        if (has_cause(view, cause))
            cells[column++] = part_cell(grid, view, difference->cause[cause]);
    cells[column++] = part_cell(grid, view, difference->left);
    cells[column] = number_cell(grid, view, difference->printed);
}

static void add_view(struct text *text, const struct view *view)
{
    struct grid *grid = grid_create(CAUSES + 4);
    const char **cells = grid_row(grid);
    size_t column = 0, same = 0;
    cells[column++] = "Association";
    cells[column++] = "ours";
    for (int cause = 0; cause < CAUSES; cause++)
        if (has_cause(view, cause))
            cells[column++] = causes[cause].name;
    cells[column++] = "left";
    cells[column] = "sshare";
    for (size_t i = 0; i < view->differences->count; i++) {
        const struct compared_row *row = &view->differences->rows[i];
        if (row_differs(view, row))
            add_row(grid, view, row);
        else
            same++;
    }
    if (grid->rows > 1)
        grid_add(text, grid);
    if (same)
        text_format(text, "%s%zu of %zu associations do not differ\n",
                    grid->rows > 1 ? "... and " : "", same, view->differences->count);
    grid_destroy(grid);
}

/* What a cause does to all users' usage: accounts have it too. */
static double sum_of(const struct differences *differences, int cause, size_t *users)
{
    double sum = 0;
    *users = 0;
    for (size_t i = 0; i < differences->count; i++) {
        const struct compared_row *row = &differences->rows[i];
        double part = cause < CAUSES ? row->usage.cause[cause] : row->usage.left;
        if (!row->is_user || !is_usage(part))
            continue;
        sum += fabs(part);
        ++*users;
    }
    return sum;
}

static double sum_printed(const struct differences *differences)
{
    double sum = 0;
    for (size_t i = 0; i < differences->count; i++)
        if (differences->rows[i].is_user)
            sum += differences->rows[i].usage.printed;
    return sum;
}

static size_t count_moved(const struct differences *differences, int cause)
{
    size_t users = 0;
    for (size_t i = 0; i < differences->count; i++) {
        const struct compared_row *row = &differences->rows[i];
        users += is_factor(cause < CAUSES ? row->fairshare.cause[cause] : row->fairshare.left);
    }
    return users;
}

static void add_cause(struct text *text, const struct differences *differences, int cause)
{
    size_t users, moved = count_moved(differences, cause);
    double sum = sum_of(differences, cause, &users);
    if (!users && !moved)
        return;
    text_format(text, "%-9s  %s:\n          ", causes[cause].name, causes[cause].meaning);
    if (users)
        text_format(text, " %.1f TRES-seconds of %zu user%s", sum, users, users > 1 ? "s" : "");
    if (moved)
        text_format(text, "%s the FairShare of %zu", users ? "," : "", moved);
    text_add(text, "\n");
}

static void add_left(struct text *text, const struct differences *differences)
{
    size_t start = text->length;
    size_t users, moved = count_moved(differences, CAUSES), levels = 0;
    double sum = sum_of(differences, CAUSES, &users);
    if (differences_are_explained(differences)) {
        text_add(text, "left unexplained: nothing\n");
        terminal_paint(text, start, PAINT_GOOD);
        return;
    }
    for (size_t i = 0; i < differences->count; i++)
        levels += differences->rows[i].level_fs_differs;
    text_format(text, "left unexplained: %.1f TRES-seconds of %zu user%s", sum, users,
                users == 1 ? "" : "s");
    double printed = sum_printed(differences);
    if (printed > 0)
        text_format(text, " (%.3g %%)", 100 * sum / printed);
    text_format(text, ",\n  the FairShare of %zu, the LevelFS of %zu\n", moved, levels);
    if (differences->only_printed) {
        text_format(text, "only in the print: %zu associations, first ", differences->only_printed);
        text_add_printable(text, differences->first_only_printed);
        text_add(text, "\n");
    }
    terminal_paint(text, start, PAINT_BAD);
}

static void add_table(struct text *text, const struct differences *differences)
{
    struct view usage = usage_view(differences), fairshare = fairshare_view(differences);
    text_add_printable(text, differences->cluster);
    text_add(text, ", printed ");
    form_add_instant(text, differences->printed_at);
    text_add(text, ", our run as of ");
    form_add_instant(text, differences->as_of);
    if (differences->newest_step) {
        text_format(text, "\nsteps of %" PRIu64 " s, the newest ", differences->period);
        form_add_instant(text, (int64_t)differences->newest_step);
    }
    text_add(text, "\n\nRawUsage, in TRES-seconds:\n");
    add_view(text, &usage);
    text_format(text, "\n%s:\n",
                differences->algorithm->ranks_users ? "Rank, of which FairShare is made"
                                                    : "FairShare");
    add_view(text, &fairshare);
    text_add(text, "\n");
    for (int cause = 0; cause < CAUSES; cause++)
        add_cause(text, differences, cause);
    for (size_t i = 0; differences->unknown[i]; i++)
        text_format(text, "note: %s\n", differences->unknown[i]);
    if (differences->only_ours)
        text_format(text, "not in the print: %zu associations\n", differences->only_ours);
    add_left(text, differences);
}

const struct differences_form differences_table = { add_table };

static json_t *json_of(const struct difference *difference)
{
    json_t *parts = json_object();
    for (int cause = 0; cause < CAUSES; cause++)
        json_object_set_new(parts, causes[cause].name, form_json_real(difference->cause[cause]));
    return json_pack("{s:o, s:o, s:o, s:o}", "ours", form_json_real(difference->ours), "sshare",
                     form_json_real(difference->printed), "causes", parts, "left",
                     form_json_real(difference->left));
}

static json_t *json_of_row(const struct compared_row *row)
{
    return json_pack("{s:I, s:s, s:s, s:s, s:o, s:o, s:b}", "id_assoc", (json_int_t)row->id,
                     "account", row->account, "user", row->user, "partition", row->partition,
                     "rawusage", json_of(&row->usage), "fairshare", json_of(&row->fairshare),
                     "levelfs_differs", row->level_fs_differs);
}

static json_t *json_of_causes(const struct differences *differences)
{
    json_t *list = json_array();
    for (int cause = 0; cause < CAUSES; cause++) {
        size_t users;
        double sum = sum_of(differences, cause, &users);
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:f, s:I, s:I}", "cause", causes[cause].name, "meaning",
                            causes[cause].meaning, "usage", sum, "users", (json_int_t)users,
                            "fairshares", (json_int_t)count_moved(differences, cause)));
    }
    return list;
}

static void add_json(struct text *text, const struct differences *differences)
{
    json_t *rows = json_array(), *notes = json_array();
    size_t users;
    for (size_t i = 0; i < differences->count; i++)
        json_array_append_new(rows, json_of_row(&differences->rows[i]));
    for (size_t i = 0; differences->unknown[i]; i++)
        json_array_append_new(notes, json_string(differences->unknown[i]));
    json_t *step =
        differences->newest_step ? json_integer((json_int_t)differences->newest_step) : json_null();
    form_add_json(
        text,
        json_pack("{s:s, s:I, s:I, s:I, s:o, s:b, s:f, s:I, s:I, s:o, s:o, s:o}", "cluster",
                  differences->cluster, "as_of", (json_int_t)differences->as_of, "printed_at",
                  (json_int_t)differences->printed_at, "period", (json_int_t)differences->period,
                  "newest_step", step, "explained", differences_are_explained(differences),
                  "usage_left", sum_of(differences, CAUSES, &users), "only_printed",
                  (json_int_t)differences->only_printed, "only_ours",
                  (json_int_t)differences->only_ours, "causes", json_of_causes(differences),
                  "notes", notes, "associations", rows));
    text_add(text, "\n");
}

const struct differences_form differences_json = { add_json };
