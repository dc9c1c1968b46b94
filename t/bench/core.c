/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/clock.h"
#include "core/fairshare.h"
#include "core/finding.h"
#include "core/tree.h"
#include "util/error.h"
#include "util/index.h"
#include "util/log.h"
#include "util/memory.h"

/* How long the core takes: from rows in memory to every value and rank, for trees of the shapes
 * that hurt.  A fixed seed; the median of three. */

#define ROUNDS 3
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

/* A million associations as a large federation would have them: accounts five deep. */
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

/* Accounts that are all tied, and so merge, each with a user. */
static void draw_tied(struct site *site, size_t count)
{
    uint32_t root = add(site, 0, false, 1);
    for (size_t i = 0; i < count; i++)
        add(site, add(site, root, false, 7), true, 3);
}

static void compute(const struct site *site, bool tied, const struct clock *clock,
                    struct values **values)
{
    struct error err;
    struct findings *findings = findings_create();
    struct tree *tree;
    if (tree_build(&tree, site->rows, site->count, site->names, site->empty, BAD_ROWS_FAIL,
                   findings, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].is_user)
            wide_add_product(
                &tree->nodes[i].usage, (uint128)UNITS_PER_TRES * 16,
                clock_weight(clock, NOW - 7200 - (tied ? 0 : tree->nodes[i].id % 9999), NOW - 600),
                false);
    if (tree_roll_up_usage(tree, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    struct fairshare_options options = { CONFORMANCE_DOCUMENTS, 1, 0, 1e12, clock };
    *values = memory_zeroed(tree->count, sizeof **values);
    fairshare_compute(tree, &options, *values);
    tree_destroy(tree);
    findings_destroy(findings);
}

static int by_time(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

static void measure(const char *what, void (*draw)(struct site *, size_t), size_t count, bool tied)
{
    seed = 88172645463325252u;
    struct site site = { .names = names_create() };
    site.rows = memory_zeroed(2 * count + 3, sizeof *site.rows);
    site.empty = names_add(site.names, "", 0);
    draw(&site, count);
    struct clock *clock = clock_create(604800, NOW, 0);
    int64_t took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        struct values *values;
        int64_t began = clock_milliseconds();
        compute(&site, tied, clock, &values);
        took[i] = clock_milliseconds() - began;
        free(values);
    }
    qsort(took, ROUNDS, sizeof *took, by_time);
    printf("%-44s %9zu %8" PRId64 " %12.0f\n", what, site.count, took[ROUNDS / 2],
           (double)took[ROUNDS / 2] * 1e6 / (double)site.count);
    fflush(stdout);
    clock_destroy(clock);
    names_destroy(site.names);
    free(site.rows);
}

int main(void)
{
    printf("%-44s %9s %8s %12s\n", "tree, all values and ranks", "rows", "ms", "ns a row");
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
