/* SPDX-License-Identifier: MIT */
#include "report/whatif_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/fairshare/algorithm.h"
#include "report/answer.h"
#include "report/permissions.h"
#include "report/terminal.h"
#include "report/whatif.h"
#include "settings/scheduler.h"
#include "util/error.h"
#include "util/text.h"
#include "util/times.h"

/* If the algorithm changes, factors have different scales, and only places can be compared. */
static bool is_other_algorithm(const struct whatif *whatif)
{
    return whatif->algorithm[BEFORE] != whatif->algorithm[AFTER];
}

/* If a value has a column before and a column after the changes, the index of each column is its
 * enum whatif_side. */

static void get_user_place(const void *of, struct cell *cell)
{
    const struct whatif *whatif = cell->context;
    const struct whatif_row *row = of;
    int side = cell->column->index;
    cell_integer(cell, place_of_rank(row->rank[side], whatif->users[side]));
}

static void whatif_table_get_infinite(const void *of, struct cell *cell)
{
    const struct whatif_row *row = of;
    if (row->there[cell->column->index])
        cell_integer(cell, isinf(row->level_fs[cell->column->index]) != 0);
}

#define ROW(member) MEMBER(struct whatif_row, member)
static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "id_assoc", "ID", COLUMN_INTEGER, ROW(id), .hidden = NOT_FOR_PEOPLE },
    { "account", "Account", COLUMN_TEXT, ROW(account) },
    { "username", "User", COLUMN_TEXT, ROW(user) },
    { "partition", "Partition", COLUMN_TEXT, ROW(partition), .optional = true },
    { "removed", "Removed", COLUMN_YES_NO, ROW(removed), .hidden = NOT_FOR_PEOPLE },
    { "fairshare_before", "FairShare", COLUMN_REAL, ROW(factor[BEFORE]) },
    { "fairshare_after", "FairShareAfter", COLUMN_REAL, ROW(factor[AFTER]) },
    { "rank_before", "Rank", COLUMN_INTEGER, ROW(rank[BEFORE]), .zero_is_none = true,
      .hidden = NOT_FOR_PEOPLE },
    { "rank_after", "RankAfter", COLUMN_INTEGER, ROW(rank[AFTER]), .zero_is_none = true,
      .hidden = NOT_FOR_PEOPLE },
    { "levelfs_before", "LevelFS", COLUMN_REAL, ROW(level_fs[BEFORE]), .optional = true },
    { "levelfs_after", "LevelFSAfter", COLUMN_REAL, ROW(level_fs[AFTER]), .optional = true },
    { "levelfs_infinite_before", "LevelFSInfinite", COLUMN_YES_NO, .get = whatif_table_get_infinite,
      .index = BEFORE, .hidden = ONLY_IN_JSON },
    { "levelfs_infinite_after", "LevelFSInfiniteAfter", COLUMN_YES_NO,
      .get = whatif_table_get_infinite, .index = AFTER, .hidden = ONLY_IN_JSON },
    { "normshares_before", "NormShares", COLUMN_REAL, ROW(shares_norm[BEFORE]) },
    { "normshares_after", "NormSharesAfter", COLUMN_REAL, ROW(shares_norm[AFTER]) },
    { "rawusage_before", "RawUsage", COLUMN_REAL, ROW(usage[BEFORE]), .decimals = NO_DECIMALS },
    { "rawusage_after", "RawUsageAfter", COLUMN_REAL, ROW(usage[AFTER]), .decimals = NO_DECIMALS },
    { "place_before", "Place", COLUMN_INTEGER, .get = get_user_place, .index = BEFORE,
      .zero_is_none = true },
    { "place_after", "PlaceAfter", COLUMN_INTEGER, .get = get_user_place, .index = AFTER,
      .zero_is_none = true },
    { .name = NULL },
};

const struct table_layout whatif_layout = { columns, "associations", .by_cluster = true,
                                            .has_page = true };

#define JOB(member) MEMBER(struct whatif_job, member)
static const struct column job_columns[] = {
    { "id_job", "JobID", COLUMN_INTEGER, JOB(id) },
    { "username", "User", COLUMN_TEXT, JOB(user) },
    { "account", "Account", COLUMN_TEXT, JOB(account) },
    { "partition_before", "Partition", COLUMN_TEXT, JOB(partition[BEFORE]) },
    { "partition_after", "PartitionAfter", COLUMN_TEXT, JOB(partition[AFTER]) },
    { "priority_before", "Priority", COLUMN_INTEGER, JOB(priority[BEFORE]) },
    { "priority_after", "PriorityAfter", COLUMN_INTEGER, JOB(priority[AFTER]) },
    { "priority_norm_before", "PriorityNorm", COLUMN_REAL, JOB(norm[BEFORE]) },
    { "priority_norm_after", "PriorityNormAfter", COLUMN_REAL, JOB(norm[AFTER]) },
    { "place_before", "Place", COLUMN_INTEGER, JOB(place[BEFORE]), .zero_is_none = true },
    { "place_after", "PlaceAfter", COLUMN_INTEGER, JOB(place[AFTER]), .zero_is_none = true },
    { "pool_before", "Pool", COLUMN_TEXT, JOB(pool[BEFORE]) },
    { "pool_after", "PoolAfter", COLUMN_TEXT, JOB(pool[AFTER]) },
    { "reason", "Reason", COLUMN_TEXT, JOB(reason) },
    { .name = NULL },
};

static json_t *json_lines(const struct name_list *lines)
{
    json_t *list = json_array();
    for (size_t i = 0; i < lines->count; i++)
        json_array_append_new(list, json_string(lines->values[i]));
    return list;
}

static json_t *json_side(const struct whatif *whatif, enum whatif_side side)
{
    return json_pack("{s:s, s:I}", "algorithm", whatif->algorithm[side]->name, "users",
                     (json_int_t)whatif->users[side]);
}

static json_t *json_passing(const struct whatif_passing *passing)
{
    json_t *names = json_array();
    for (size_t i = 0; i < passing->shown; i++)
        json_array_append_new(names, json_string(passing->names[i]));
    return json_pack("{s:I, s:o}", "users", (json_int_t)passing->count, "names", names);
}

/* Returns the associations of the requesting user, with the users who pass. */
static json_t *json_own(const struct whatif *whatif)
{
    const struct table_rows rows = { .rows = whatif->own,
                                     .count = whatif->own_count,
                                     .size = sizeof *whatif->own,
                                     .context = whatif,
                                     .cluster = whatif->cluster };
    json_t *list = table_rows_json(columns, &rows);
    for (size_t i = 0; i < whatif->own_count; i++) {
        json_t *row = json_array_get(list, i);
        json_object_set_new(row, "passed_by", json_passing(&whatif->own[i].passed_by));
        json_object_set_new(row, "passes", json_passing(&whatif->own[i].passes));
    }
    return list;
}

static json_t *whatif_table_facts_of(const struct whatif *whatif, size_t top)
{
    const struct table_rows jobs = { .rows = whatif->jobs,
                                     .count = whatif->job_count < top ? whatif->job_count : top,
                                     .size = sizeof *whatif->jobs };
    size_t changed = 0;
    for (size_t i = 0; i < whatif->row_count; i++)
        changed += whatif->rows[i].changed;
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:b}", "as_of",
                     (json_int_t)whatif->as_of, "before", json_side(whatif, BEFORE), "after",
                     json_side(whatif, AFTER), "changes", json_lines(&whatif->changes), "own",
                     json_own(whatif), "changed", (json_int_t)changed, "waiting",
                     (json_int_t)whatif->job_count, "jobs", table_rows_json(job_columns, &jobs),
                     "commands", json_lines(&whatif->commands), "rounded", whatif->rounded);
}

/* ---- The page ---- */

/*
 * Returns 1 if the row ranks higher than before, -1 if lower.  Returns 0 if the number of users
 * changes, because all ranks change in that case.
 */
static int climb(const struct whatif *whatif, const struct whatif_row *row)
{
    if (whatif->users[BEFORE] != whatif->users[AFTER])
        return 0;
    return (row->rank[AFTER] > row->rank[BEFORE]) - (row->rank[AFTER] < row->rank[BEFORE]);
}

/* Returns 1 if the row is a user who gains, or -1 if it is a user who loses.  Returns 0 if it is an
 * account, if the user is the requesting user, or if the user neither gains nor loses. */
static int change_of(const struct whatif *whatif, const struct whatif_row *row)
{
    if (!*row->user || row->is_own)
        return 0;
    int change = (row->gain > 0) - (row->gain < 0);
    return change || is_other_algorithm(whatif) ? change : climb(whatif, row);
}

/* Returns true if a change names the row, and it is of another user than the requesting one. */
static bool is_named_user(const struct whatif_row *row)
{
    return row->named && *row->user && !row->is_own;
}

static struct table *whatif_table_begin_table(struct answer *answer, const struct whatif *whatif,
                                              const struct table_layout *layout)
{
    static const struct table_options for_people = { 0 };
    struct error ignored;
    struct table *table = table_create(answer_text(answer), layout, &for_people, &ignored);
    table_open(table,
               &(struct table_cluster){ .title = "\n", .context = whatif, .terms = whatif->terms });
    return table;
}

static const struct column user_columns[] = {
    { "account", "Account", COLUMN_TEXT, ROW(account) },
    { "username", "User", COLUMN_TEXT, ROW(user), .optional = true },
    { "partition", "Partition", COLUMN_TEXT, ROW(partition), .optional = true },
    { "before", "FairShare", COLUMN_REAL, ROW(factor[BEFORE]), .optional = true },
    { "after", "would be", COLUMN_REAL, ROW(factor[AFTER]), .optional = true },
    { "change", "Change", COLUMN_REAL, ROW(change), .optional = true, .plus = true },
    { "place_before", "Place", COLUMN_INTEGER, .get = get_user_place, .index = BEFORE,
      .zero_is_none = true, .optional = true },
    { "place_after", "would be", COLUMN_INTEGER, .get = get_user_place, .index = AFTER,
      .zero_is_none = true, .optional = true },
    { .name = NULL },
};
static const struct table_layout user_layout = { user_columns, .by_cluster = true,
                                                 .as_paragraph = true };

/* Adds the number of users who pass, which includes hidden users, and names. */
static void whatif_table_add_passing(struct text *text, const struct whatif_passing *passing)
{
    if (!passing->count)
        text_add(text, "no user");
    else
        text_format(text, "%zu user%s", passing->count, passing->count == 1 ? "" : "s");
    for (size_t i = 0; i < passing->shown; i++)
        text_format(text, "%s%s", i ? ", " : " (", passing->names[i]);
    if (passing->shown)
        text_add(text, passing->shown < passing->count ? ", ...)" : ")");
}

static void whatif_table_say_passing(struct text *text, const struct whatif_own *own, bool is_only)
{
    struct text sentence = { 0 };
    if (!is_only)
        text_format(&sentence, "In %s%s%s, you", own->row.account, *own->row.partition ? "/" : "",
                    own->row.partition);
    text_add(&sentence, is_only ? "You would pass " : " would pass ");
    whatif_table_add_passing(&sentence, &own->passes);
    text_add(&sentence, ", and ");
    whatif_table_add_passing(&sentence, &own->passed_by);
    terminal_say(text, 0, "%s would pass you.", sentence.bytes);
    text_free(&sentence);
}

/* Adds the associations of the requesting user, and who passes them.  Says nothing of one among
 * several if no user passes. */
static void whatif_table_add_own(struct answer *answer, const struct whatif *whatif)
{
    if (!whatif->own_count || whatif->unknown[BEFORE] || whatif->unknown[AFTER])
        return;
    answer_say(answer, "\nYou are %s '%s':\n", whatif->terms->user, whatif->login);
    struct table *table = whatif_table_begin_table(answer, whatif, &user_layout);
    for (size_t i = 0; i < whatif->own_count; i++)
        table_add(table, &whatif->own[i].row);
    table_close(table);
    table_destroy(table);
    bool is_only = whatif->own_count == 1, any = false;
    for (size_t i = 0; i < whatif->own_count; i++) {
        const struct whatif_own *own = &whatif->own[i];
        if (is_only ? own->row.removed : !own->passes.count && !own->passed_by.count)
            continue;
        answer_say(answer, any ? "" : "\n");
        whatif_table_say_passing(answer_text(answer), own, is_only);
        any = true;
    }
}

/* Adds the users with the largest gains and losses, and the users in the changes.  Those of the
 * requesting user precede them. */
static void add_ends(struct answer *answer, const struct whatif *whatif, size_t losers, size_t top)
{
    struct table *table = whatif_table_begin_table(answer, whatif, &user_layout);
    size_t gainer = 0, loser = 0;
    bool any = false, left_out = false;
    for (size_t i = 0; i < whatif->row_count; i++) {
        const struct whatif_row *row = &whatif->rows[i];
        int change = change_of(whatif, row);
        bool is_end = change > 0 ? gainer++ < top : change < 0 && losers - loser++ <= top;
        if (!is_end && !is_named_user(row)) {
            left_out |= change != 0;
            continue;
        }
        if (any && left_out)
            table_add_gap(table);
        table_add(table, row);
        any = true;
        left_out = false;
    }
    table_close(table);
    table_destroy(table);
}

/* Returns the phrase that ends a sentence with a count of users or jobs, such as `among the
 * selected users`. */
static const char *of_whom(const struct whatif *whatif)
{
    return whatif->is_chosen ? " among the selected users"
           : whatif->is_part ? " among the users you may see"
                             : "";
}

/* If one side has no values to compare, adds a sentence about this and returns true. */
static bool whatif_table_add_unknown(struct answer *answer, const struct whatif *whatif)
{
    for (enum whatif_side side = BEFORE; side < SIDES; side++)
        if (whatif->unknown[side]) {
            answer_say(answer,
                       "\n%s cannot be computed, because the cluster's capacity is unknown.\n",
                       whatif->algorithm[side]->name);
            return true;
        }
    return false;
}

static bool shows_named(const struct whatif *whatif)
{
    for (size_t i = 0; i < whatif->row_count; i++)
        if (is_named_user(&whatif->rows[i]))
            return true;
    return false;
}

static void whatif_table_add_rows(struct answer *answer, const struct whatif *whatif, size_t top)
{
    size_t gainers = 0, losers = 0;
    bool places = is_other_algorithm(whatif);
    if (whatif_table_add_unknown(answer, whatif))
        return;
    for (size_t i = 0; i < whatif->row_count; i++) {
        int change = change_of(whatif, &whatif->rows[i]);
        gainers += change > 0;
        losers += change < 0;
    }
    bool is_whole = gainers || losers ? gainers <= top && losers <= top : shows_named(whatif);
    if (!gainers && !losers)
        answer_say(answer, "\nNo %s%s would change%s.", whatif->own_count ? "other " : "",
                   places ? "place" : "fairshare", of_whom(whatif));
    else
        answer_say(answer, "\n%zu%s would gain and %zu lose%s%s%s", gainers,
                   !whatif->own_count ? ""
                   : gainers == 1     ? " other"
                                      : " others",
                   losers, places ? " places" : "", of_whom(whatif),
                   is_whole ? "." : "; the list has the largest changes.");
    answer_say(answer, is_whole ? "  " : "\n");
    if (!gainers && !losers && !shows_named(whatif))
        return;
    answer_say(answer, "There are %" PRIu32 " places", whatif->users[BEFORE]);
    if (whatif->users[AFTER] != whatif->users[BEFORE])
        answer_say(answer, ", %" PRIu32 " after the change", whatif->users[AFTER]);
    answer_say(answer, "; 1 is next.\n");
    add_ends(answer, whatif, losers, top);
}

static bool is_moved(const struct whatif_job *job)
{
    return job->place[BEFORE] != job->place[AFTER] || strcmp(job->pool[BEFORE], job->pool[AFTER]);
}

static bool whatif_table_is_own_job(const struct whatif *whatif, const struct whatif_job *job)
{
    return whatif->own_count && !strcmp(job->user, whatif->login);
}

static void whatif_table_add_jobs(struct answer *answer, const struct whatif *whatif, size_t top)
{
    static const struct column shown[] = {
        { "id_job", "JobID", COLUMN_TEXT, JOB(id) },
        { "username", "User", COLUMN_TEXT, JOB(user) },
        { "account", "Account", COLUMN_TEXT, JOB(account) },
        { "partition", "Partition", COLUMN_TEXT, JOB(partition[AFTER]) },
        { "pool", "Pool", COLUMN_TEXT, JOB(pool[AFTER]), .optional = true },
        { "priority_before", "Priority", COLUMN_INTEGER, JOB(priority[BEFORE]) },
        { "priority_after", "would be", COLUMN_INTEGER, JOB(priority[AFTER]) },
        { "place_before", "Place", COLUMN_INTEGER, JOB(place[BEFORE]), .zero_is_none = true },
        { "place_after", "would be", COLUMN_INTEGER, JOB(place[AFTER]), .zero_is_none = true },
        { .name = NULL },
    };
    static const struct table_layout layout = { shown, .by_cluster = true, .as_paragraph = true };
    size_t moved = 0, own = 0, count = 0;
    if (!whatif->job_count)
        return;
    for (size_t i = 0; i < whatif->job_count; i++) {
        moved += is_moved(&whatif->jobs[i]);
        own += is_moved(&whatif->jobs[i]) && whatif_table_is_own_job(whatif, &whatif->jobs[i]);
    }
    if (!moved) {
        answer_say(answer, "\nNo pending job would change its place (there %s %zu%s).\n",
                   whatif->job_count == 1 ? "is" : "are", whatif->job_count, of_whom(whatif));
        return;
    }
    answer_say(answer, "\n%zu of %zu pending jobs would change places%s%s:\n", moved,
               whatif->job_count, of_whom(whatif),
               moved <= top ? ""
               : own        ? "; these are the first, and yours"
                            : "; these are the first");
    struct table *table = whatif_table_begin_table(answer, whatif, &layout);
    for (size_t i = 0; i < whatif->job_count; i++) {
        const struct whatif_job *job = &whatif->jobs[i];
        if (is_moved(job) && (count++ < top || whatif_table_is_own_job(whatif, job)))
            table_add(table, job);
    }
    table_close(table);
    table_destroy(table);
}

static void whatif_table_add_page(struct answer *answer, const struct whatif *whatif, size_t top)
{
    answer_say(answer, "Cluster %s, %s, as of %s%s\n", whatif->cluster,
               whatif->algorithm[BEFORE]->name, time_text(whatif->as_of).bytes,
               whatif->changes.count ? ".  What if:" : "; nothing is changed.");
    for (size_t i = 0; i < whatif->changes.count; i++)
        answer_say(answer, "- %s\n", whatif->changes.values[i]);
    if (whatif->definition)
        answer_say(answer, "%s\n", whatif->definition);
    whatif_table_add_own(answer, whatif);
    whatif_table_add_rows(answer, whatif, top);
    if (whatif->rounded)
        text_add(answer_text(answer), "\n" ROUNDED_NOTE);
    whatif_table_add_jobs(answer, whatif, top);
    if (whatif->commands.count)
        answer_say(answer, "\nCommands for these changes:\n\n");
    for (size_t i = 0; i < whatif->commands.count; i++)
        answer_say(answer, "%s\n", whatif->commands.values[i]);
    if (whatif->note && (whatif->commands.count || whatif->no_commands))
        answer_say(answer, "\n%s\n", whatif->note);
}

void whatif_print(const struct whatif *whatif, size_t top, struct answer *answer)
{
    size_t count = whatif->row_count;
    answer_cluster(answer,
                   &(struct table_cluster){ .name = whatif->cluster,
                                            .context = whatif,
                                            .terms = whatif->terms,
                                            .facts = answer_wants_facts(answer)
                                                         ? whatif_table_facts_of(whatif, top)
                                                         : NULL });
    if (answer_wants_page(answer))
        whatif_table_add_page(answer, whatif, top);
    for (size_t i = 0; i < count && !answer_wants_page(answer); i++)
        if (i < top || count - i <= top || whatif->rows[i].named)
            answer_row(answer, &whatif->rows[i]);
}
