/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/usage/decay_table.h"
#include "core/fairshare/fairshare.h"
#include "core/finding.h"
#include "core/tree/tree.h"
#include "core/usage/usage.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/*
 * Measures the core's processor time for charging jobs, and for computing all values and ranks from
 * associations in memory.  Some trees have unfavorable shapes.
 *
 * The seed is fixed.  Each result is the median of five runs.  Processor time is less affected by
 * other programs than elapsed time.
 */

#define ROUNDS 5
#define NOW UINT64_C(1750500000)

static uint64_t seed;

static uint64_t random_below(uint64_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % limit;
}

struct site {
    struct association *rows;
    size_t count;
    struct names *names;
    uint32_t empty;
};

static uint32_t add(struct site *site, uint32_t parent, bool is_user, int32_t shares)
{
    char name[24];
    uint32_t id = (uint32_t)site->count + 1;
    int length = snprintf(name, sizeof name, "%c%" PRIu32, is_user ? 'u' : 'a', id);
    uint32_t number = names_add(site->names, name, (size_t)length);
    struct association *row = &site->rows[site->count++];
    *row = (struct association){ .id = id, .shares = shares, .partition = site->empty };
    row->account = is_user ? site->rows[parent - 1].account : number;
    row->user = is_user ? number : site->empty;
    row->parent_account = is_user || !parent ? site->empty : site->rows[parent - 1].account;
    return id;
}

/* A tree like that of a large federation, with accounts five levels deep. */
static void draw_wide(struct site *site, size_t count)
{
    uint32_t accounts[100001];
    size_t account_count = 0;
    accounts[account_count++] = add(site, 0, false, 1);
    while (site->count < count) {
        bool is_user = site->count > 10 && random_below(10) > 0;
        uint32_t parent = accounts[random_below(account_count)];
        int32_t shares = (int32_t)random_below(100);
        uint32_t id = add(site, parent, is_user, shares < 2 ? SHARES_PARENT : shares);
        if (!is_user && account_count < 100000)
            accounts[account_count++] = id;
    }
}

static void draw_chain(struct site *site, size_t count)
{
    uint32_t parent = add(site, 0, false, 1);
    for (size_t i = 0; i < count; i++) {
        uint32_t below = add(site, parent, false, 1);
        add(site, parent, true, 1);
        parent = below;
    }
    add(site, parent, true, 1);
}

static void draw_siblings(struct site *site, size_t count)
{
    uint32_t root = add(site, 0, false, 1);
    for (size_t i = 0; i < count; i++)
        add(site, root, true, (int32_t)random_below(100));
}

/* Tied accounts, which Fair Tree merges, each with one user. */
static void draw_tied(struct site *site, size_t count)
{
    uint32_t root = add(site, 0, false, 1);
    for (size_t i = 0; i < count; i++)
        add(site, add(site, root, false, 7), true, 3);
}

static void compute(const struct site *site, bool tied, const struct decay_table *decay,
                    struct values **values)
{
    struct error err;
    struct findings *findings = findings_create();
    struct tree *tree;
    if (tree_build(
            &tree,
            &(struct associations){ site->rows, site->count, site->names, site->empty, false },
            BAD_ROWS_FAIL, findings, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].is_user)
            wide_add_product(&tree->nodes[i].usage, (uint128)UNITS_PER_TRES * 16,
                             decay_table_weight(decay,
                                                NOW - 7200 - (tied ? 0 : tree->nodes[i].id % 9999),
                                                NOW - 600),
                             false);
    if (tree_roll_up_usage(tree, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    struct fairshare_options options = { CONFORMANCE_DOCUMENTS, 1, 0, 1e12, decay, NULL };
    *values = memory_zeroed(tree->count, sizeof **values);
    fairshare_compute(tree, &options, *values);
    tree_destroy(tree);
    findings_destroy(findings);
}

static int64_t milliseconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static int by_time(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

static void show(const char *what, size_t count, int64_t *took)
{
    qsort(took, ROUNDS, sizeof *took, by_time);
    printf("%-44s %9zu %8" PRId64 " %12.0f\n", what, count, took[ROUNDS / 2],
           (double)took[ROUNDS / 2] * 1e6 / (double)count);
    fflush(stdout);
}

static void measure(const char *what, void (*draw)(struct site *, size_t), size_t count, bool tied)
{
    seed = 88172645463325252u;
    struct site site = { .names = names_create() };
    site.rows = memory_zeroed(2 * count + 3, sizeof *site.rows);
    site.empty = names_add(site.names, "", 0);
    draw(&site, count);
    struct decay_table *decay = decay_table_create(604800, NOW, 0);
    int64_t took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        struct values *values;
        int64_t began = milliseconds();
        compute(&site, tied, decay, &values);
        took[i] = milliseconds() - began;
        free(values);
    }
    show(what, site.count, took);
    decay_table_destroy(decay);
    names_destroy(site.names);
    free(site.rows);
}

/* Measures the time for a row of the job table after it was read: computing its charge and adding
 * it to the association. */

#define JOBS 1000000
#define ASSOCIATIONS 100000

struct drawn_job {
    struct job job;
    uint32_t association;
    char tres[64];
};

static void draw_jobs(struct drawn_job *jobs)
{
    for (size_t i = 0; i < JOBS; i++) {
        uint64_t start = NOW - 1 - random_below(60 * 86400), cpus = UINT64_C(1) << random_below(9);
        struct drawn_job *drawn = &jobs[i];
        int length = snprintf(drawn->tres, sizeof drawn->tres,
                              "1=%" PRIu64 ",2=%" PRIu64 ",3=18446744073709551614,4=1,5=%" PRIu64,
                              cpus, cpus * 4000, cpus);
        drawn->association = 1 + (uint32_t)random_below(ASSOCIATIONS);
        drawn->job = (struct job){
            .time_submit = start,
            .time_start = start,
            .time_end = start + 1 + random_below(86400),
            .time_limit = 1440,
            .tres_alloc = drawn->tres,
            .tres_alloc_length = (size_t)length,
        };
    }
}

static const struct charge_rate charge_rate = { .rate = UNITS_PER_TRES };

static void charge_jobs(const struct charging *charging, const struct drawn_job *jobs,
                        struct wide *sums, const struct id_index *places)
{
    for (size_t i = 0; i < JOBS; i++) {
        struct charge_term term;
        struct wide *sum = &sums[id_index_find(places, jobs[i].association)];
        __builtin_prefetch(sum, 1);
        const struct job_span span = job_span(charging, &jobs[i].job);
        job_charge(charging, &jobs[i].job, &span, &charge_rate, &term);
        wide_add_product(sum, term.units, term.weight, false);
    }
}

static void measure_jobs(void)
{
    struct drawn_job *jobs = memory_zeroed(JOBS, sizeof *jobs);
    struct wide *sums = memory_zeroed(ASSOCIATIONS, sizeof *sums);
    struct decay_table *decay = decay_table_create(604800, NOW, 0);
    struct charging charging = { decay, CHARGE_BILLING, 86400, false, 0, UINT64_MAX };
    struct id_index *places = id_index_create();
    int64_t took[ROUNDS];
    seed = 88172645463325252u;
    for (uint32_t i = 0; i < ASSOCIATIONS; i++)
        id_index_add(places, i + 1, (i * 7919) % ASSOCIATIONS);
    draw_jobs(jobs);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t began = milliseconds();
        charge_jobs(&charging, jobs, sums, places);
        took[i] = milliseconds() - began;
    }
    show("a million jobs, charged and added", JOBS, took);
    id_index_destroy(places);
    decay_table_destroy(decay);
    free(sums);
    free(jobs);
}

int main(void)
{
    printf("%-44s %9s %8s %12s\n", "the core", "rows", "ms", "ns a row");
    measure_jobs();
    measure("a hundred thousand associations", draw_wide, 100000, false);
    measure("a million associations", draw_wide, 1000000, false);
    measure("a chain ten thousand deep", draw_chain, 10000, false);
    measure("a hundred thousand siblings", draw_siblings, 100000, false);
    measure("a hundred thousand tied siblings", draw_siblings, 100000, true);
    measure("a hundred thousand tied accounts", draw_tied, 100000, true);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory: %ld MiB\n", usage.ru_maxrss / 1024);
    return 0;
}
