/* SPDX-License-Identifier: MIT */
#include "command/ledger/ledger_refund.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/ledger/ledger_target.h"
#include "core/usage/ledger.h"
#include "core/usage/seal.h"
#include "report/column.h"
#include "settings/settings.h"
#include "source/reading.h"
#include "util/error.h"
#include "util/index.h"
#include "util/instant.h"
#include "util/text.h"

struct search {
    const struct source *source;
    const struct refund *refund;
    uint64_t instant;
    struct ledger_state *state;
    struct text *told;
    struct job_keys *jobs;
    uint64_t refunded_before; /* so many jobs, which were left out */
};

/* The rows of one job. */
struct rows {
    uint64_t all, begun, refunded;
    bool runs;                            /* one has not ended */
    uint64_t association, begin, seconds; /* of those that begun; the association of the last one */
};

static int take_numbers(struct job_keys *jobs, const char *list, struct error *err)
{
    const char *at = list;
    int result = 0;
    for (char *item; !result && (item = list_next(&at)); free(item)) {
        uint64_t number;
        if (!number_unsigned(item, strlen(item), &number) || !number || number > INT64_MAX)
            result = fail(err, ERROR_USAGE, "'%s': must be the number of a job", item);
        else
            job_keys_add(jobs, number);
    }
    if (!result && !jobs->count)
        return fail(err, ERROR_USAGE, "'%s': must be the number of a job", list);
    job_keys_sort(jobs);
    return result;
}

static void note_row(const struct search *search, const struct job_row *row, struct rows *rows)
{
    const struct job *job = &row->job;
    uint64_t begin = job->time_start > job->time_submit ? job->time_start : job->time_submit;
    rows->all++;
    rows->runs |= !job->time_end;
    if (begin > search->instant)
        return;
    rows->refunded += ledger_refunds(search->state, row->id_job, begin);
    if (!rows->begun++ || begin < rows->begin)
        rows->begin = begin;
    rows->association = row->association;
    if (job->time_end > begin)
        rows->seconds += job->time_end - begin;
}

static int read_rows(const struct search *search, const struct accounting *accounting, uint64_t job,
                     struct rows *rows, struct error *err)
{
    const struct source *source = search->source;
    struct job_range range = { .to = INT64_MAX, .open = true, .ids = &job, .id_count = 1 };
    struct job_reading *reading = source->layout->jobs(source, accounting, &range);
    struct job_row row;
    int got;
    *rows = (struct rows){ 0 };
    while ((got = job_reading_next(reading, &row, err)) > 0)
        note_row(search, &row, rows);
    job_reading_end(reading);
    return got;
}

static const struct association *association_of(const struct accounting *accounting, uint64_t id)
{
    for (size_t i = 0; i < accounting->count; i++)
        if (accounting->rows[i].id == id)
            return &accounting->rows[i];
    return NULL;
}

static void tell(const struct search *search, const struct accounting *accounting, uint64_t job,
                 const struct rows *rows)
{
    const struct association *association = association_of(accounting, rows->association);
    const struct names *names = accounting->names;
    struct text whose = { 0 };
    text_format(search->told, "  job %" PRIu64, job);
    if (association) {
        text_format(&whose, " of '%s' in '%s'", names_text(names, association->user),
                    names_text(names, association->account));
        text_add_printable(search->told, whose.bytes);
    }
    text_add(search->told, ", from ");
    instant_add(search->told, (int64_t)rows->begin);
    text_add(search->told, ", ran ");
    text_add_span(search->told, (int64_t)rows->seconds);
    text_add(search->told, "\n");
    text_free(&whose);
}

/* 1: it is to be refunded; 0: it is left out. */
static int check_job(struct search *search, const struct accounting *accounting, uint64_t job,
                     struct error *err)
{
    struct rows rows;
    if (read_rows(search, accounting, job, &rows, err))
        return -1;
    bool refunded = rows.begun && rows.refunded == rows.begun;
    if (search->refund->node && (!rows.begun || rows.runs || refunded)) {
        search->refunded_before += refunded;
        return 0;
    }
    if (!rows.begun)
        return fail(err, ERROR_USAGE, "job %" PRIu64 " %s", job,
                    rows.all ? "had not begun by then"
                             : "has not run, or the accounting database has it no more");
    if (refunded)
        return fail(err, ERROR_USAGE, "job %" PRIu64 " was refunded already", job);
    tell(search, accounting, job, &rows);
    return 1;
}

static int find_on_node(struct search *search, struct error *err)
{
    const struct refund *refund = search->refund;
    const struct source *source = search->source;
    if (!source->layout->jobs_on_node)
        return fail(err, ERROR_USAGE,
                    "with [source] layout = %s nobody tells on which nodes jobs ran",
                    source->settings->layout);
    return source->layout->jobs_on_node(source, refund->node, (uint64_t)refund->from,
                                        (uint64_t)refund->to, search->jobs, err);
}

static int look(void *context, struct accounting *accounting, struct error *err)
{
    struct search *search = context;
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
                      "all %" PRIu64 " jobs that ran on node '%s' then were refunded already",
                      search->refunded_before, search->refund->node)
               : fail(err, ERROR_USAGE, "no job that has ended ran on node '%s' then",
                      search->refund->node);
}

int refund_find(struct refund *refund, uint64_t instant, const struct source *source,
                const struct ledger *ledger, struct error *err)
{
    const struct settings *settings = source->settings;
    bool by_rollups = settings->usage_source == USAGE_OF_ROLLUPS;
    if (!source->layout->read_open_keys || by_rollups)
        return fail(err, ERROR_USAGE, "with %s%s there are no jobs to refund; a credit will do",
                    by_rollups ? "[usage] source = rollup" : "[source] layout = ",
                    by_rollups ? "" : settings->layout);
    if (!refund->node && take_numbers(&refund->found, refund->jobs, err))
        return -1;
    struct search search = { .source = source,
                             .refund = refund,
                             .instant = instant,
                             .state = ledger_at(ledger, INT64_MAX),
                             .told = &refund->told,
                             .jobs = &refund->found };
    int result = target_in_snapshot(source, look, &search, err);
    ledger_state_destroy(search.state);
    return result;
}
