/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "report/priorities.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

struct prio_list *prio_list_create(const char *cluster, int64_t as_of)
{
    struct prio_list *list = memory_zeroed(1, sizeof *list);
    *list = (struct prio_list){
        .cluster = memory_text(cluster),
        .as_of = as_of,
        .weights = { .tres = "" },
        .arena = arena_create(),
    };
    return list;
}

void prio_list_destroy(struct prio_list *list)
{
    if (!list)
        return;
    free(list->cluster);
    arena_destroy(list->arena);
    free(list->rows);
    free(list);
}

const char *prio_list_text(struct prio_list *list, const char *bytes, size_t length)
{
    if (utf8_valid(bytes, length))
        return arena_copy(list->arena, bytes, length);
    struct text text = { 0 };
    text_add_as_utf8(&text, bytes, length);
    const char *copy = arena_copy(list->arena, text.bytes, text.length);
    text_free(&text);
    return copy;
}

void prio_list_add(struct prio_list *list, const struct prio_row *row)
{
    if (list->count == list->room) {
        list->room = list->room ? list->room * 2 : 256;
        list->rows = memory_resized(list->rows, list->room, sizeof *list->rows);
    }
    list->rows[list->count++] = *row;
}

static bool is_listed(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strcspn(at, ",") == length && !strncmp(at, name, length))
            return true;
    }
    return false;
}

static bool is_wanted(const struct prio_filter *filter, const struct prio_row *row)
{
    bool wanted = !filter->job_count;
    for (size_t i = 0; !wanted && i < filter->job_count; i++)
        wanted = filter->jobs[i] == (uint64_t)row->id_job;
    return wanted && (!filter->users || is_listed(filter->users, row->user)) &&
           (!filter->partitions || is_listed(filter->partitions, row->partition));
}

void prio_list_filter(struct prio_list *list, const struct prio_filter *filter)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (is_wanted(filter, &list->rows[i]))
            list->rows[kept++] = list->rows[i];
    list->count = kept;
}

/* The part that a letter of either case stands for; PRIO_PARTS: another one. */
static enum prio_part part_of(char letter)
{
    static const char letters[PRIO_PARTS + 1] = "abfjpq";
    const char *at = strchr(letters, letter | 0x20);
    return letter && at ? (enum prio_part)(at - letters) : PRIO_PARTS;
}

static int by_real(double one, double other)
{
    return (one > other) - (one < other);
}

/* What the TRES of a row add: the numbers behind `=`. */
static double tres_sum(const struct prio_row *row)
{
    double sum = 0;
    for (const char *at = row->tres_weighted; (at = strchr(at, '=')); at++)
        sum += strtod(at + 1, NULL);
    return sum;
}

#define SORT_LETTERS "acijnNopqrStTuyYABFJPQbf"

static int by_letter(const struct prio_row *one, const struct prio_row *other, char letter)
{
    enum prio_part part = part_of(letter);
    if (part != PRIO_PARTS)
        return by_real(one->weighted[part], other->weighted[part]);
    switch (letter) {
    case 'i':
        return (one->id_job > other->id_job) - (one->id_job < other->id_job);
    case 'n':
        return strcmp(one->qos, other->qos);
    case 'N':
        return (one->nice > other->nice) - (one->nice < other->nice);
    case 'o':
        return strcmp(one->account, other->account);
    case 'r':
        return strcmp(one->partition, other->partition);
    case 'S':
        return (one->site > other->site) - (one->site < other->site);
    case 't':
    case 'T':
        return by_real(tres_sum(one), tres_sum(other));
    case 'u':
        return strcmp(one->user, other->user);
    case 'y':
    case 'Y':
        return by_real(one->norm, other->norm);
    default: /* all are of one cluster */
        return 0;
    }
}

static int by_keys(const void *a, const void *b, void *keys)
{
    const struct prio_row *one = a, *other = b;
    int order = 0;
    for (const char *key = keys; !order && *key; key++)
        if (!strchr(",+-", *key))
            order =
                by_letter(one, other, *key) * (key > (const char *)keys && key[-1] == '-' ? -1 : 1);
    order = order ? order : by_letter(one, other, 'i');
    order = order ? order : (one->key > other->key) - (one->key < other->key);
    order = order ? order : by_letter(other, one, 'y');
    order = order ? order : strcmp(one->partition, other->partition);
    return order ? order : strcmp(one->qos, other->qos);
}

int prio_list_sort(struct prio_list *list, const char *keys, struct error *err)
{
    for (const char *key = keys; *key; key++)
        if (!strchr(",+-" SORT_LETTERS, *key))
            return fail(err, ERROR_USAGE, "prio: '%c' is nothing to sort by", *key);
    if (list->count)
        qsort_r(list->rows, list->count, sizeof *list->rows, by_keys, (char *)(uintptr_t)keys);
    return 0;
}
