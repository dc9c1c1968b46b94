/* SPDX-License-Identifier: MIT */
#include "source/tres_minutes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/priority/priority.h"
#include "core/tree/tree.h"
#include "core/usage/kept_tres.h"
#include "core/usage/usage.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_settings.h"
#include "source/layout.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

struct tres_minutes_entry {
    struct tres_minutes_texts texts;
    uint64_t *seconds; /* indexed by TRES; NULL if no job runs there */
};

/* The seconds of the running jobs of a QOS. */
struct qos_entry {
    uint64_t id;
    uint64_t *seconds; /* indexed by TRES */
};

struct tres_minutes {
    struct arena *arena;
    struct tres_minutes_entry *entries; /* indexed by node */
    uint32_t count;
    size_t tres_count;
    size_t kept_count, kept[KEPT_TRES_LIMIT]; /* index of each kept TRES, or tres_count */
    struct qos_entry *qos;
    size_t qos_count;
};

/* Returns false if the list has no valid count for this TRES. */
static bool tres_minutes_count_in(const char *list, uint64_t id, uint64_t *count)
{
    return tres_count(list, strlen(list), id, count) == TRES_FOUND;
}

/* Returns true if slurmctld counts this TRES.  slurmctld registers all TRES that it counts. */
static bool is_counted(const struct cluster_facts *limits, uint64_t id)
{
    uint64_t ignored;
    return !*limits->registered || tres_minutes_count_in(limits->registered, id, &ignored);
}

static void tres_minutes_add_number(struct text *text, const char *name, uint64_t number)
{
    text_format(text, "%s%s=%" PRIu64, text->length ? "," : "", name, number);
}

static void take_limit(struct tres_minutes *minutes, const struct cluster_facts *limits,
                       uint32_t node, const char *list)
{
    struct text text = { 0 };
    uint64_t number;
    for (size_t i = 0; i < limits->tres_count; i++)
        if (tres_minutes_count_in(list, limits->tres[i].id, &number))
            tres_minutes_add_number(&text, limits->tres[i].name, number);
    if (text.length)
        minutes->entries[node].texts.group_limit =
            arena_copy(minutes->arena, text.bytes, text.length);
    text_free(&text);
}

static uint64_t tres_minutes_sum_of(uint64_t one, uint64_t other)
{
    return other < UINT64_MAX - one ? one + other : UINT64_MAX;
}

/*
 * Returns the usage factor of a QOS that is in the accounting database now, regardless of the
 * settings.  Returns 1 for a negative factor, because slurmctld ignores such factors.
 */
static double tres_minutes_factor_of(const struct accounting *accounting, uint64_t qos)
{
    for (size_t i = 0; i < accounting->qos_count; i++)
        if (accounting->qos[i].id == qos)
            return accounting->qos[i].factor >= 0 ? accounting->qos[i].factor : 1;
    return 1;
}

/* Returns the seconds until the time limit of a job, multiplied by the usage factor of its QOS. */
static uint64_t tres_minutes_left_of(const struct running_job *job,
                                     const struct accounting *accounting, uint64_t now)
{
    uint64_t ran = now - job->start;
    if (!job->time_limit || job->time_limit >= TIME_LIMIT_NO_VALUE || job->time_limit * 60 <= ran)
        return 0;
    double left =
        (double)(job->time_limit * 60 - ran) * tres_minutes_factor_of(accounting, job->qos);
    return left < 0x1p64 ? (uint64_t)left : UINT64_MAX;
}

static uint64_t *seconds_of(struct tres_minutes *minutes, const struct cluster_facts *limits,
                            uint32_t node)
{
    struct tres_minutes_entry *entry = &minutes->entries[node];
    if (!entry->seconds)
        entry->seconds = memory_zeroed(limits->tres_count, sizeof *entry->seconds);
    return entry->seconds;
}

static uint64_t *seconds_of_qos(struct tres_minutes *minutes, uint64_t qos)
{
    for (size_t i = 0; i < minutes->qos_count; i++)
        if (minutes->qos[i].id == qos)
            return minutes->qos[i].seconds;
    struct qos_entry *entry = memory_append(&minutes->qos, &minutes->qos_count);
    *entry =
        (struct qos_entry){ qos, memory_zeroed(minutes->tres_count + 1, sizeof *entry->seconds) };
    return entry->seconds;
}

static void add_counts(const struct cluster_facts *limits, const char *tres, uint64_t left,
                       uint64_t *seconds)
{
    uint64_t count, product;
    for (size_t i = 0; i < limits->tres_count; i++)
        if (tres_minutes_count_in(tres, limits->tres[i].id, &count))
            seconds[i] = tres_minutes_sum_of(
                seconds[i], __builtin_mul_overflow(count, left, &product) ? UINT64_MAX : product);
}

static void tres_minutes_take_job(struct tres_minutes *minutes, const struct cluster_facts *limits,
                                  const struct tree *tree, const struct running_job *job,
                                  uint64_t left)
{
    uint32_t node = tree_place(tree, job->association);
    if (!left)
        return;
    add_counts(limits, job->tres, left, seconds_of_qos(minutes, job->qos));
    if (node != NO_NODE)
        add_counts(limits, job->tres, left, seconds_of(minutes, limits, node));
}

/*
 * Adds the seconds of each node to all its ancestors.  In the tree, a parent comes before its
 * children.
 */
static void add_to_parents(struct tres_minutes *minutes, const struct cluster_facts *limits,
                           const struct tree *tree)
{
    for (uint32_t node = tree->count; node-- > 1;) {
        const uint64_t *seconds = minutes->entries[node].seconds;
        if (!seconds)
            continue;
        uint64_t *above = seconds_of(minutes, limits, tree->nodes[node].parent);
        for (size_t i = 0; i < limits->tres_count; i++)
            above[i] = tres_minutes_sum_of(above[i], seconds[i]);
    }
}

/* Truncates the seconds to minutes, separately for each association. */
static void write_running(struct tres_minutes *minutes, const struct cluster_facts *limits,
                          struct tres_minutes_entry *entry)
{
    struct text text = { 0 };
    for (size_t i = 0; i < limits->tres_count; i++)
        if (is_counted(limits, limits->tres[i].id))
            tres_minutes_add_number(&text, limits->tres[i].name,
                                    entry->seconds ? entry->seconds[i] / 60 : 0);
    if (text.length)
        entry->texts.running = arena_copy(minutes->arena, text.bytes, text.length);
    text_free(&text);
}

static void tres_minutes_take_limits(struct tres_minutes *minutes,
                                     const struct cluster_facts *limits,
                                     const struct accounting *accounting, const struct tree *tree)
{
    for (size_t i = 0; i < accounting->limit_count; i++) {
        const struct association_limit *limit = &accounting->limits[i];
        uint32_t node = tree_place(tree, limit->id);
        if (node != NO_NODE && tree->nodes[node].id == limit->id)
            take_limit(minutes, limits, node, names_text(accounting->names, limit->grp_tres_mins));
    }
}

static void take_jobs(struct tres_minutes *minutes, const struct cluster_facts *limits,
                      const struct accounting *accounting, const struct tree *tree, uint64_t now)
{
    for (size_t i = 0; i < limits->job_count; i++)
        tres_minutes_take_job(minutes, limits, tree, &limits->jobs[i],
                              tres_minutes_left_of(&limits->jobs[i], accounting, now));
    add_to_parents(minutes, limits, tree);
}

static void write_all_running(struct tres_minutes *minutes, const struct cluster_facts *limits)
{
    for (uint32_t i = 0; i < minutes->count; i++)
        if (minutes->entries[i].seconds || !i)
            write_running(minutes, limits, &minutes->entries[i]);
}

/* Finds the index of each kept TRES among those of the limits. */
static void find_kept(struct tres_minutes *minutes, const struct cluster_facts *limits,
                      const struct kept_tres *kept)
{
    minutes->tres_count = limits->tres_count;
    for (size_t k = 0; kept && k < kept->count; k++) {
        size_t i = 0;
        while (i < limits->tres_count && limits->tres[i].id != kept->tres[k].id)
            i++;
        minutes->kept[minutes->kept_count++] = i;
    }
}

int tres_minutes_read(struct tres_minutes **read, const struct source *source,
                      const struct accounting *accounting, const struct tree *tree, uint64_t now,
                      struct error *err)
{
    const struct slurm_conf *conf = source->settings->slurm;
    bool enforced = conf && slurm_enforces_limits(conf);
    struct cluster_facts limits;
    *read = NULL;
    bool counts_jobs = enforced || source->kept;
    if (!counts_jobs && !accounting->limit_count)
        return 0;
    if (source->layout->queue->read_limits(source, now, counts_jobs, &limits, err))
        return -1;
    struct tres_minutes *minutes = memory_zeroed(1, sizeof *minutes);
    *minutes = (struct tres_minutes){ .arena = arena_create(),
                                      .entries = memory_zeroed(tree->count,
                                                               sizeof(struct tres_minutes_entry)),
                                      .count = tree->count };
    find_kept(minutes, &limits, source->kept);
    tres_minutes_take_limits(minutes, &limits, accounting, tree);
    if (counts_jobs)
        take_jobs(minutes, &limits, accounting, tree, now);
    if (enforced)
        write_all_running(minutes, &limits);
    cluster_facts_free(&limits);
    *read = minutes;
    return 0;
}

void tres_minutes_destroy(struct tres_minutes *minutes)
{
    if (!minutes)
        return;
    for (uint32_t i = 0; i < minutes->count; i++)
        free(minutes->entries[i].seconds);
    for (size_t i = 0; i < minutes->qos_count; i++)
        free(minutes->qos[i].seconds);
    free(minutes->qos);
    arena_destroy(minutes->arena);
    free(minutes->entries);
    free(minutes);
}

struct tres_minutes_texts tres_minutes_of(const struct tres_minutes *minutes, uint32_t node)
{
    return minutes && node < minutes->count ? minutes->entries[node].texts
                                            : (struct tres_minutes_texts){ NULL, NULL };
}

void tres_minutes_fetch(const struct tres_minutes *minutes, uint32_t node)
{
    if (minutes && node < minutes->count)
        __builtin_prefetch(&minutes->entries[node]);
}

/* Returns an element of `seconds`, which may be NULL. */
static uint64_t kept_seconds(const struct tres_minutes *minutes, const uint64_t *seconds,
                             size_t tres)
{
    size_t i = tres < minutes->kept_count ? minutes->kept[tres] : minutes->tres_count;
    return seconds && i < minutes->tres_count ? seconds[i] : 0;
}

uint64_t tres_minutes_running(const struct tres_minutes *minutes, uint32_t node, size_t tres)
{
    return minutes && node < minutes->count
               ? kept_seconds(minutes, minutes->entries[node].seconds, tres)
               : 0;
}

uint64_t tres_minutes_running_in_qos(const struct tres_minutes *minutes, uint64_t qos, size_t tres)
{
    for (size_t i = 0; minutes && i < minutes->qos_count; i++)
        if (minutes->qos[i].id == qos)
            return kept_seconds(minutes, minutes->qos[i].seconds, tres);
    return 0;
}
