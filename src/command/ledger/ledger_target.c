/* SPDX-License-Identifier: MIT */
#include "command/ledger/ledger_target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "core/usage/checkpoint.h"
#include "core/usage/ledger.h"
#include "report/column.h"
#include "results/ledger_rows.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "source/reading.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/name_list.h"
#include "util/text.h"
#include "util/times.h"

/* The search for the associations of an entry. */
struct target_search {
    const struct source *source;
    struct ledger_record *record;
    struct job_keys *covers;
};

static bool ledger_target_is_named(const struct names *names, uint32_t number, const char *name)
{
    return reads_as(names_text(names, number), names_length(names, number), name);
}

/* A function that target_in_snapshot() calls with the small tables of the source's cluster, such as
 * the associations.  It may read more tables from the same snapshot. */
typedef int target_looker(void *context, struct accounting *accounting, struct error *err);

static int target_in_snapshot(const struct source *source, target_looker *look, void *context,
                              struct error *err)
{
    struct accounting *accounting = NULL;
    if (db_begin(source->db, err))
        return -1;
    int result = source->layout->read(source, &accounting, err);
    if (!result)
        result = look(context, accounting, err);
    if (result)
        db_rollback(source->db);
    else
        result = db_commit(source->db, err);
    accounting_destroy(accounting);
    return result;
}

static bool ledger_target_is_of(const struct accounting *accounting, const struct association *row,
                                const struct ledger_record *record)
{
    return row->user != accounting->empty_name &&
           ledger_target_is_named(accounting->names, row->user, record->user) &&
           (!*record->account ||
            ledger_target_is_named(accounting->names, row->account, record->account));
}

static bool user_is_there(const struct accounting *accounting, const char *user)
{
    for (size_t i = 0; i < accounting->count; i++)
        if (accounting->rows[i].user != accounting->empty_name &&
            ledger_target_is_named(accounting->names, accounting->rows[i].user, user))
            return true;
    return false;
}

static bool account_is_there(const struct accounting *accounting, const char *account)
{
    for (size_t i = 0; i < accounting->count; i++)
        if (ledger_target_is_named(accounting->names, accounting->rows[i].account, account))
            return true;
    return false;
}

static int ledger_target_check_names(const struct target_search *search,
                                     const struct accounting *accounting, struct error *err)
{
    const struct ledger_record *record = search->record;
    const struct terminology *terms = terminology_of(search->source->settings);
    if (!user_is_there(accounting, record->user))
        return name_unknown(terms->user, record->user, err);
    if (*record->account && !account_is_there(accounting, record->account))
        return name_unknown(terms->account, record->account, err);
    return 0;
}

static int no_such(const struct ledger_record *record, struct error *err)
{
    return fail(err, ERROR_USAGE, "there is no association of user '%s'%s%s%s%s%s%s", record->user,
                *record->account ? " in account '" : "", record->account,
                *record->account ? "'" : "", *record->partition ? " with partition '" : "",
                record->partition, *record->partition ? "'" : "");
}

/* Sets the association and, if no account was named, its account in UTF-8. */
static void ledger_target_take_association(struct ledger_record *record, const struct names *names,
                                           const struct association *row)
{
    record->entry.association = row->id;
    if (*record->account)
        return;
    struct text account = { 0 };
    text_add_as_utf8(&account, names_text(names, row->account), names_length(names, row->account));
    free(record->account);
    record->account = memory_text(account.bytes);
    text_free(&account);
}

/* Adds a row as `account/user` or `account/user/partition`. */
static void add_full_name(struct text *text, const struct names *names,
                          const struct association *row)
{
    const uint32_t parts[] = { row->account, row->user, row->partition };
    text_add(text, text->length ? ", '" : "'");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        text_add(text, i && names_length(names, parts[i]) ? "/" : "");
        text_add_as_utf8(text, names_text(names, parts[i]), names_length(names, parts[i]));
    }
    text_add(text, "'");
}

/* Fails with a list of the user's other associations, with a different partition or in a different
 * account. */
static int none_but_others(const struct target_search *search, const struct accounting *accounting,
                           struct error *err)
{
    const struct ledger_record *record = search->record;
    struct text message = { 0 }, others = { 0 };
    if (ledger_target_check_names(search, accounting, err))
        return -1;
    for (size_t i = 0; i < accounting->count; i++) {
        const struct association *row = &accounting->rows[i];
        if (!row->deleted && row->user != accounting->empty_name &&
            ledger_target_is_named(accounting->names, row->user, record->user))
            add_full_name(&others, accounting->names, row);
    }
    no_such(record, err);
    if (others.length) {
        text_format(&message, "%s%s; the user has %s", err->message,
                    *record->partition ? "" : " without a partition", others.bytes);
        fail(err, ERROR_USAGE, "%s", message.bytes);
    }
    text_free(&message);
    text_free(&others);
    return -1;
}

/* Existing associations take precedence over deleted ones.  Without an account, only one
 * association may match. */
static int look_for_association(void *context, struct accounting *accounting, struct error *err)
{
    const struct target_search *search = context;
    struct ledger_record *record = search->record;
    const struct association *found = NULL;
    struct text candidates = { 0 };
    size_t count = 0;
    for (size_t i = 0; i < accounting->count; i++) {
        const struct association *row = &accounting->rows[i];
        if (!ledger_target_is_of(accounting, row, record) ||
            !ledger_target_is_named(accounting->names, row->partition, record->partition) ||
            (found && row->deleted && !found->deleted))
            continue;
        if (!found || row->deleted != found->deleted) {
            found = row;
            count = 0;
            text_free(&candidates);
        }
        count++;
        add_full_name(&candidates, accounting->names, row);
    }
    int result = 0;
    if (!found)
        result = none_but_others(search, accounting, err);
    else if (count > 1 && !*record->account)
        result = fail(err, ERROR_USAGE, "'%s' is ambiguous: %s; select one with --account",
                      record->user, candidates.bytes);
    else
        ledger_target_take_association(record, accounting->names, found);
    text_free(&candidates);
    return result;
}

int target_association(const struct source *source, struct ledger_record *record, struct error *err)
{
    struct target_search search = { .source = source, .record = record };
    return target_in_snapshot(source, look_for_association, &search, err);
}

/* Returns an array, indexed by node, that is true for the account and for all nodes below it.  The
 * caller frees it.  Returns NULL if there is no such account. */
static bool *nodes_below(const struct tree *tree, const struct accounting *accounting,
                         const char *account)
{
    bool *below = memory_zeroed(tree->count, sizeof *below), found = false;
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        below[i] =
            (!node->is_user && ledger_target_is_named(accounting->names, node->account, account)) ||
            (i && below[node->parent]);
        found |= below[i];
    }
    if (found)
        return below;
    free(below);
    return NULL;
}

static int cover_account(const struct target_search *search, struct accounting *accounting,
                         struct error *err)
{
    const char *account = search->record->account;
    struct tree *tree;
    struct findings *ignored = findings_create();
    const struct associations associations = { accounting->rows, accounting->count,
                                               accounting->names, accounting->empty_name, false };
    int result =
        tree_build(&tree, &associations, search->source->settings->on_bad_rows, ignored, err);
    findings_destroy(ignored);
    if (result)
        return -1;
    bool *below = nodes_below(tree, accounting, account);
    for (size_t i = 0; below && i < accounting->count; i++) {
        uint32_t place = tree_place(tree, accounting->rows[i].id);
        if (place != NO_NODE && below[place])
            job_keys_add(search->covers, accounting->rows[i].id);
    }
    tree_destroy(tree);
    if (!below)
        return name_unknown(terminology_of(search->source->settings)->account, account, err);
    free(below);
    return 0;
}

static int cover_user(const struct target_search *search, struct accounting *accounting,
                      struct error *err)
{
    const struct ledger_record *record = search->record;
    bool any_partition = record->entry.kind == LEDGER_RESET && !*record->partition;
    for (size_t i = 0; i < accounting->count; i++) {
        const struct association *row = &accounting->rows[i];
        if (ledger_target_is_of(accounting, row, record) &&
            (any_partition ||
             ledger_target_is_named(accounting->names, row->partition, record->partition)))
            job_keys_add(search->covers, row->id);
    }
    if (ledger_target_check_names(search, accounting, err))
        return -1;
    return search->covers->count ? 0 : no_such(record, err);
}

static int look_for_covers(void *context, struct accounting *accounting, struct error *err)
{
    const struct target_search *search = context;
    int result = *search->record->user ? cover_user(search, accounting, err)
                                       : cover_account(search, accounting, err);
    job_keys_sort(search->covers);
    return result;
}

int target_covers(const struct source *source, struct ledger_record *record, struct error *err)
{
    struct target_search search = { source, record, &record->covers };
    return target_in_snapshot(source, look_for_covers, &search, err);
}

struct ledger_target_search {
    const struct source *source;
    const struct refund *refund;
    uint64_t time;
    struct ledger_state *state;
    struct text *told;
    struct job_keys *jobs;
    /* number of jobs that were omitted because they are already refunded */
    uint64_t refunded_before;
};

/* Totals of the rows of one job. */
struct ledger_target_rows {
    uint64_t all, begun, refunded;
    bool runs; /* a row has not ended */
    /* of the rows that had begun; `association` is that of the last row */
    uint64_t association, begin, seconds;
};

static int take_numbers(struct job_keys *jobs, const char *list, struct error *err)
{
    const char *at = list;
    int result = 0;
    for (char *item; !result && (item = list_next(&at)); free(item)) {
        uint64_t number;
        if (!number_unsigned(item, strlen(item), &number) || !number || number > INT64_MAX)
            result = fail(err, ERROR_USAGE, "'%s': must be a job number", item);
        else
            job_keys_add(jobs, number);
    }
    if (!result && !jobs->count)
        return fail(err, ERROR_USAGE, "'%s': must be a job number", list);
    job_keys_sort(jobs);
    return result;
}

static void note_row(const struct ledger_target_search *search, const struct job_row *row,
                     struct ledger_target_rows *rows)
{
    const struct job *job = &row->job;
    uint64_t begin = job->time_start > job->time_submit ? job->time_start : job->time_submit;
    rows->all++;
    rows->runs |= !job->time_end;
    if (begin > search->time)
        return;
    rows->refunded += ledger_refunds(search->state, row->id_job, begin);
    if (!rows->begun++ || begin < rows->begin)
        rows->begin = begin;
    rows->association = row->association;
    if (job->time_end > begin)
        rows->seconds += job->time_end - begin;
}

static int ledger_target_read_rows(const struct ledger_target_search *search,
                                   const struct accounting *accounting, uint64_t job,
                                   struct ledger_target_rows *rows, struct error *err)
{
    const struct source *source = search->source;
    struct job_range range = { .to = INT64_MAX, .open = true, .ids = &job, .id_count = 1 };
    struct job_reading *reading = source->layout->jobs(source, accounting, &range);
    struct job_row row;
    int got;
    *rows = (struct ledger_target_rows){ 0 };
    while ((got = job_reading_next(reading, &row, err)) > 0)
        note_row(search, &row, rows);
    job_reading_end(reading);
    return got;
}

static const struct association *ledger_target_association_of(const struct accounting *accounting,
                                                              uint64_t id)
{
    for (size_t i = 0; i < accounting->count; i++)
        if (accounting->rows[i].id == id)
            return &accounting->rows[i];
    return NULL;
}

static void ledger_target_tell(const struct ledger_target_search *search,
                               const struct accounting *accounting, uint64_t job,
                               const struct ledger_target_rows *rows)
{
    const struct association *association =
        ledger_target_association_of(accounting, rows->association);
    const struct names *names = accounting->names;
    text_format(search->told, "  job %" PRIu64, job);
    if (association)
        text_format_printable(search->told, " of '%s' in '%s'",
                              names_text(names, association->user),
                              names_text(names, association->account));
    text_add(search->told, ", from ");
    time_add(search->told, (int64_t)rows->begin);
    text_add(search->told, ", ran ");
    text_add_duration(search->told, (int64_t)rows->seconds);
    text_add(search->told, "\n");
}

/* Returns 1 to refund the job, 0 to omit it, or -1 on error. */
static int check_job(struct ledger_target_search *search, const struct accounting *accounting,
                     uint64_t job, struct error *err)
{
    struct ledger_target_rows rows;
    if (ledger_target_read_rows(search, accounting, job, &rows, err))
        return -1;
    bool refunded = rows.begun && rows.refunded == rows.begun;
    if (search->refund->node && (!rows.begun || rows.runs || refunded)) {
        search->refunded_before += refunded;
        return 0;
    }
    if (!rows.begun)
        return fail(err, ERROR_USAGE, "job %" PRIu64 " %s", job,
                    rows.all ? "had not started by then"
                             : "has not run, or is no longer in the accounting database");
    if (refunded)
        return fail(err, ERROR_USAGE, "job %" PRIu64 " is already refunded", job);
    ledger_target_tell(search, accounting, job, &rows);
    return 1;
}

static int find_on_node(struct ledger_target_search *search, struct error *err)
{
    const struct refund *refund = search->refund;
    const struct source *source = search->source;
    if (!source->layout->past)
        return fail(
            err, ERROR_USAGE,
            "[source] layout = %s does not record the nodes of jobs; refund job numbers instead",
            source->settings->layout);
    return source->layout->past->jobs_on_node(source, refund->node, (uint64_t)refund->from,
                                              (uint64_t)refund->to, search->jobs, err);
}

static int ledger_target_look(void *context, struct accounting *accounting, struct error *err)
{
    struct ledger_target_search *search = context;
    struct job_keys *jobs = search->jobs;
    size_t kept = 0;
    if (search->refund->node && find_on_node(search, err))
        return -1;
    for (size_t i = 0; i < jobs->count; i++) {
        int wanted = check_job(search, accounting, jobs->keys[i], err);
        if (wanted < 0)
            return -1;
        if (wanted)
            jobs->keys[kept++] = jobs->keys[i];
    }
    jobs->count = kept;
    if (kept)
        return 0;
    return search->refunded_before
               ? fail(err, ERROR_USAGE,
                      "all %" PRIu64
                      " jobs that ran on node '%s' in that period are already refunded",
                      search->refunded_before, search->refund->node)
               : fail(err, ERROR_USAGE, "no finished job ran on node '%s' in that period",
                      search->refund->node);
}

int refund_find(struct refund *refund, uint64_t time, const struct source *source,
                const struct ledger *ledger, struct error *err)
{
    const struct settings *settings = source->settings;
    bool by_rollups = settings->usage_source == USAGE_OF_ROLLUPS;
    if (!source->layout->past || by_rollups)
        return fail(err, ERROR_USAGE,
                    "with %s%s there are no jobs to refund; use `fairmill ledger credit` instead",
                    by_rollups ? "[usage] source = rollup" : "[source] layout = ",
                    by_rollups ? "" : settings->layout);
    if (!refund->node && take_numbers(&refund->found, refund->jobs, err))
        return -1;
    struct ledger_target_search search = { .source = source,
                                           .refund = refund,
                                           .time = time,
                                           .state = ledger_at(ledger, INT64_MAX),
                                           .told = &refund->told,
                                           .jobs = &refund->found };
    int result = target_in_snapshot(source, ledger_target_look, &search, err);
    ledger_state_destroy(search.state);
    return result;
}
