/* SPDX-License-Identifier: MIT */
#include "command/whatif/new_jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/fairshare/ratio.h"
#include "core/fairshare/release.h"
#include "core/finding.h"
#include "core/priority/queue.h"
#include "compute/priorities.h"
#include "report/priorities.h"
#include "results/published.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/* Nobody waits longer than this for what need not be there. */
#define DEADLINE_S 5

/* The published jobs by key, and the queue to add from. */
struct adder {
    struct prio_list *list;
    const struct release *release; /* NULL: not known */
    const struct queue *queue;
    struct id_index *known;
};

static bool is_new(const void *context, const struct priority_job *job)
{
    const struct adder *adder = context;
    return id_index_find(adder->known, job->key) == INDEX_NONE;
}

/* What is read of the accounting database. */
struct reading {
    struct names *names; /* of the queue */
    struct queue *queue;
    struct accounting *accounting;
    struct tree *tree;
    struct findings *findings;
};

static void reading_free(struct reading *reading)
{
    queue_destroy(reading->queue);
    names_destroy(reading->names);
    tree_destroy(reading->tree);
    accounting_destroy(reading->accounting);
    findings_destroy(reading->findings);
}

static bool any_new(const struct adder *adder)
{
    for (size_t i = 0; adder->queue && i < adder->queue->count; i++)
        if (is_new(adder, &adder->queue->jobs[i]))
            return true;
    return false;
}

/* The queue first: where all of it is published there is nothing else to read. */
static int read_snapshot(struct reading *reading, struct adder *adder,
                         const struct settings *settings, struct db *db, struct error *err)
{
    const struct source source = source_of(settings, db, adder->list->cluster);
    if (!source.layout->queue)
        return 0;
    reading->queue = queue_create(reading->names);
    reading->queue->options.leaves_spec_cpus =
        release_follows(adder->release, RULE_SPEC_CPUS_LEFT_OUT);
    if (priorities_read(reading->queue, &source, (uint64_t)time(NULL), (uint64_t)adder->list->as_of,
                        reading->findings, err))
        return -1;
    adder->queue = reading->queue;
    if (!any_new(adder))
        return 0;
    if (source.layout->read(&source, &reading->accounting, err))
        return -1;
    struct accounting *accounting = reading->accounting;
    const struct associations associations = { accounting->rows, accounting->count,
                                               accounting->names, accounting->empty_name, false };
    return tree_build(&reading->tree, &associations, settings->on_bad_rows, reading->findings, err);
}

/* -1 where it cannot be read, whatever the reason is. */
static int read_source(struct reading *reading, struct adder *adder,
                       const struct settings *settings)
{
    struct error ignored;
    struct db_settings connection = settings->source;
    struct db *source;
    if (connection.deadline_s > DEADLINE_S)
        connection.deadline_s = DEADLINE_S;
    if (db_open(&source, &connection, DB_SOURCE, &ignored))
        return -1;
    *reading = (struct reading){ .names = names_create(), .findings = findings_create() };
    int result = db_begin(source, &ignored);
    if (!result)
        result = read_snapshot(reading, adder, settings, source, &ignored);
    db_rollback(source);
    db_close(source);
    if (result)
        reading_free(reading);
    return result;
}

/* By node. */
static double fairshare_of(const void *fairshare, uint32_t node)
{
    return ((const double *)fairshare)[node];
}

/* The factors that a run published, by node of a tree. */
struct factors {
    const struct tree *tree;
    const struct published_cluster *cluster;
    double *fairshare;
};

static void take_factor(void *context, const struct published_row *row)
{
    const struct factors *factors = context;
    const struct tree *tree = factors->tree;
    uint32_t place = tree_place(tree, (uint64_t)row->id);
    if (place != NO_NODE && tree->nodes[place].id == row->id)
        factors->fairshare[place] =
            factor_of_jobs(factors->cluster->algorithm, &factors->cluster->options,
                           &tree->nodes[place], &row->values);
}

/* NAN where there is none, or they cannot be read. */
static double *read_fairshare(struct published *published, const struct published_cluster *cluster,
                              const struct tree *tree)
{
    struct error ignored;
    struct factors factors = { tree, cluster, memory_zeroed(tree->count, sizeof(double)) };
    for (uint32_t i = 0; i < tree->count; i++)
        factors.fairshare[i] = NAN;
    published_read_rows(published, cluster, take_factor, &factors, &ignored);
    return factors.fairshare;
}

void new_jobs_add(struct prio_list *list, const struct settings *settings,
                  struct published *published, const struct published_cluster *cluster)
{
    struct reading reading;
    struct adder adder = { .list = list,
                           .release = cluster->options.release,
                           .known = id_index_create() };
    for (uint32_t i = 0; i < list->count; i++)
        id_index_add(adder.known, list->rows[i].key, i);
    if (!read_source(&reading, &adder, settings)) {
        if (reading.tree) {
            double *fairshare = read_fairshare(published, cluster, reading.tree);
            priorities_complete(reading.queue, settings, reading.accounting, reading.tree,
                                fairshare_of, fairshare);
            prio_list_add_queue(list, reading.queue, is_new, &adder);
            free(fairshare);
        }
        reading_free(&reading);
    }
    id_index_destroy(adder.known);
}
