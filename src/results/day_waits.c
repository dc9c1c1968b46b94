/* SPDX-License-Identifier: MIT */
#include "results/day_waits.h"

#include <stdlib.h>

#include "core/insight/waits.h"
#include "core/usage/factor_history.h"
#include "results/days.h"
#include "results/key_spool.h"
#include "results/rows.h"
#include "results/stored_state.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * A key has the day, the association, the class and the bucket, from the highest bit to the lowest.
 * A class is a pair of partition and QOS.
 */
#define BUCKET_BITS 4
#define CLASS_BITS 14
#define ASSOCIATION_SHIFT (BUCKET_BITS + CLASS_BITS)
#define DAY_SHIFT (ASSOCIATION_SHIFT + 32)
#define WAIT_DAYS ((size_t)1 << (64 - DAY_SHIFT))

/* Indexes in day_waits.names. */
struct wait_class {
    uint32_t partition, qos;
};

struct day_waits {
    const struct days *days;
    struct key_spool *checkpointed, *open;
    size_t last;      /* index of the day of the last job */
    uint64_t *others; /* starts of the days that are not in `days`, in the order of their index */
    size_t other_count;
    struct names *names;        /* of partitions and QOS, in UTF-8; number 0 is the empty name */
    struct names *partitions;   /* bytes as in the accounting database */
    uint32_t *partition_names;  /* by number in `partitions`: number in `names` */
    struct id_index *qos_names; /* by id: number in `names` */
    struct id_index *class_places;
    struct wait_class *classes;
    size_t class_count;
};

static uint32_t day_waits_name(struct day_waits *waits, const char *name)
{
    struct text converted = { 0 };
    struct db_value value = rows_text(name, &converted);
    uint32_t number = names_add(waits->names, value.text.bytes, value.text.length);
    text_free(&converted);
    return number;
}

struct day_waits *day_waits_create(const struct days *days, const struct qos_row *qos,
                                   size_t qos_count)
{
    struct day_waits *waits = memory_zeroed(1, sizeof *waits);
    waits->days = days;
    waits->checkpointed = key_spool_create();
    waits->open = key_spool_create();
    waits->names = names_create();
    waits->partitions = names_create();
    waits->qos_names = id_index_create();
    waits->class_places = id_index_create();
    names_add(waits->names, "", 0);
    for (size_t i = 0; i < qos_count; i++)
        id_index_add(waits->qos_names, qos[i].id, day_waits_name(waits, qos[i].name));
    return waits;
}

void day_waits_destroy(struct day_waits *waits)
{
    if (!waits)
        return;
    key_spool_destroy(waits->checkpointed);
    key_spool_destroy(waits->open);
    names_destroy(waits->names);
    names_destroy(waits->partitions);
    id_index_destroy(waits->qos_names);
    id_index_destroy(waits->class_places);
    free(waits->others);
    free(waits->partition_names);
    free(waits->classes);
    free(waits);
}

static uint32_t partition_name_of(struct day_waits *waits, const struct started_job *job)
{
    uint32_t known = names_count(waits->partitions);
    uint32_t number = names_add(waits->partitions, job->partition, job->partition_length);
    if (number == known) {
        waits->partition_names =
            memory_grown(waits->partition_names, number, sizeof *waits->partition_names);
        waits->partition_names[number] =
            day_waits_name(waits, names_text(waits->partitions, number));
    }
    return waits->partition_names[number];
}

/* Returns the number of a class, which is 1 << CLASS_BITS or more if there are too many. */
static uint32_t class_of(struct day_waits *waits, const struct wait_class *class)
{
    uint64_t id = (uint64_t) class->partition << 32 | class->qos;
    uint32_t place = id_index_add(waits->class_places, id, (uint32_t)waits->class_count);
    if (place != INDEX_NONE)
        return place;
    *memory_append(&waits->classes, &waits->class_count) = *class;
    return (uint32_t)waits->class_count - 1;
}

static uint64_t wait_key_pack(size_t day, uint64_t association, uint32_t class, size_t bucket)
{
    return (uint64_t)day << DAY_SHIFT | association << ASSOCIATION_SHIFT |
           (uint64_t) class << BUCKET_BITS | bucket;
}

size_t day_waits_day(struct day_waits *waits, uint64_t start)
{
    size_t i = 0, day = days_find(waits->days, start);
    if (day < waits->days->count)
        return day;
    while (i < waits->other_count && waits->others[i] != start)
        i++;
    if (i == waits->other_count)
        *memory_append(&waits->others, &waits->other_count) = start;
    return waits->days->count + i;
}

/* After a change of the time zone, open jobs of the first day are counted on a whole day, as later
 * runs count them. */
static size_t day_of_start(struct day_waits *waits, bool checkpointed, uint64_t start)
{
    const struct days *days = waits->days;
    bool skips_first = days->border && days->count && !checkpointed;
    if (start < days->starts[skips_first])
        return day_waits_day(waits, calendar_day(start));
    if (start < days->starts[waits->last] || start >= days->starts[waits->last + 1])
        waits->last = days_search(days, start);
    return waits->last;
}

int day_waits_add(struct day_waits *waits, bool checkpointed, const struct started_job *job,
                  struct error *err)
{
    const struct days *days = waits->days;
    if (job->start > days->now || job->association > UINT32_MAX ||
        (checkpointed && days->anew && job->start < days->starts[0]))
        return 0;
    uint32_t qos = id_index_find(waits->qos_names, job->qos);
    const struct wait_class names = { partition_name_of(waits, job), qos == INDEX_NONE ? 0 : qos };
    uint32_t class = class_of(waits, &names);
    if (class >> CLASS_BITS)
        return fail(err, ERROR_DATA, "jobs have more than %u pairs of partition and QOS",
                    1u << CLASS_BITS);
    size_t day = day_of_start(waits, checkpointed, job->start);
    if (day >= WAIT_DAYS)
        return fail(err, ERROR_DATA, "jobs started on more than %zu days", WAIT_DAYS);
    size_t bucket = wait_bucket_of(job->start > job->since ? job->start - job->since : 0);
    return key_spool_add(checkpointed ? waits->checkpointed : waits->open,
                         wait_key_pack(day, job->association, class, bucket), err);
}

int day_waits_spill_rest(struct day_waits *waits, struct error *err)
{
    return key_spool_spill_rest(waits->checkpointed, err) || key_spool_spill_rest(waits->open, err)
               ? -1
               : 0;
}

size_t day_waits_count(const struct day_waits *waits)
{
    return waits->days->count + waits->other_count;
}

uint64_t day_waits_start(const struct day_waits *waits, size_t day)
{
    const struct days *days = waits->days;
    return day < days->count ? days->starts[day] : waits->others[day - days->count];
}

static uint64_t wait_key_association(uint64_t key)
{
    return key >> ASSOCIATION_SHIFT & UINT32_MAX;
}

int day_waits_take(struct day_waits *waits, bool checkpointed, size_t day,
                   struct key_counts *counts, struct error *err)
{
    const uint64_t last = (uint64_t)day << DAY_SHIFT | (((uint64_t)1 << DAY_SHIFT) - 1);
    return key_spool_take(checkpointed ? waits->checkpointed : waits->open, last, counts, err);
}

void day_waits_rewind(struct day_waits *waits)
{
    key_spool_rewind(waits->checkpointed);
    key_spool_rewind(waits->open);
}

struct wait_key day_waits_key(const struct day_waits *waits, uint64_t key)
{
    const struct wait_class *class =
        &waits->classes[key >> BUCKET_BITS & (((uint64_t)1 << CLASS_BITS) - 1)];
    return (struct wait_key){
        .association = wait_key_association(key),
        .partition = names_text(waits->names, class->partition),
        .partition_length = names_length(waits->names, class->partition),
        .qos = names_text(waits->names, class->qos),
        .qos_length = names_length(waits->names, class->qos),
        .bucket_s = wait_bucket_bound(key & (((uint64_t)1 << BUCKET_BITS) - 1)),
    };
}

size_t day_waits_key_day(uint64_t key)
{
    return (size_t)(key >> DAY_SHIFT);
}

bool day_waits_find(struct day_waits *waits, size_t day, const struct wait_key *parts,
                    uint64_t *key)
{
    const size_t bucket = wait_bucket_at(parts->bucket_s);
    const struct wait_class names = { names_add(waits->names, parts->partition,
                                                parts->partition_length),
                                      names_add(waits->names, parts->qos, parts->qos_length) };
    uint32_t class = class_of(waits, &names);
    if (bucket == WAIT_BUCKETS || class >> CLASS_BITS || parts->association > UINT32_MAX ||
        day >= WAIT_DAYS)
        return false;
    *key = wait_key_pack(day, parts->association, class, bucket);
    return true;
}

void wait_key_add_hash(struct row_hash *hash, const struct wait_key *key, uint64_t jobs)
{
    const uint64_t words[] = {
        key->association,
        row_hash_of_text(key->partition, key->partition_length),
        row_hash_of_text(key->qos, key->qos_length),
        (uint64_t)key->bucket_s,
    };
    hash->rows += jobs;
    hash->hash += jobs * hash_words(words, COUNT(words));
}
