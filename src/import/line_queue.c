/* SPDX-License-Identifier: MIT */
#include "import/line_queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "import/record.h"
#include "util/instant.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

#define MOST_BYTES (1024u * 1024)

struct held_line {
    uint64_t number;
    char *bytes;
    size_t length;
};

struct line_queue {
    line_taker *take;
    void *context;
    struct held_line *lines; /* from `first` to `count` */
    size_t first, count, bytes;
};

struct line_queue *line_queue_create(line_taker *take, void *context)
{
    struct line_queue *queue = memory_zeroed(1, sizeof *queue);
    queue->take = take;
    queue->context = context;
    return queue;
}

void line_queue_destroy(struct line_queue *queue)
{
    if (!queue)
        return;
    for (size_t i = queue->first; i < queue->count; i++)
        free(queue->lines[i].bytes);
    free(queue->lines);
    free(queue);
}

static int take_first(struct line_queue *queue, const struct log_file *log, struct error *err)
{
    struct held_line line = queue->lines[queue->first++];
    queue->bytes -= line.length;
    int result = queue->take(queue->context, log, line.number,
                             (struct part){ line.bytes, line.length }, err);
    free(line.bytes);
    return result;
}

int line_queue_flush(struct line_queue *queue, const struct log_file *log, struct error *err)
{
    while (queue->first < queue->count) {
        if (take_first(queue, log, err))
            return -1;
    }
    queue->first = queue->count = 0;
    return 0;
}

static void push(struct line_queue *queue, uint64_t number, struct part line)
{
    if (queue->first && 2 * queue->first >= queue->count) {
        queue->count -= queue->first;
        memmove(queue->lines, queue->lines + queue->first, queue->count * sizeof *queue->lines);
        queue->first = 0;
    }
    queue->lines = memory_grown(queue->lines, queue->count, sizeof *queue->lines);
    struct held_line *held = &queue->lines[queue->count++];
    *held = (struct held_line){ number, memory_resized(NULL, line.length + 1, 1), line.length };
    memcpy(held->bytes, line.bytes, line.length);
    queue->bytes += line.length;
}

/* A possible beginning of a record, according to a time among its fields. */
struct beginning {
    const char *types, *key;
    uint64_t time;
    char stamp[sizeof "MM/DD/YYYY HH:MM:SS;"];
};

/* Find the last number of the key in the first *at bytes of a rest, and move *at there. */
static bool find_time(struct part rest, size_t *at, struct beginning *beginning)
{
    size_t length = strlen(beginning->key);
    while (*at > 0) {
        --*at;
        if (rest.length - *at <= length || memcmp(rest.bytes + *at, beginning->key, length) != 0)
            continue;
        const char *digits = rest.bytes + *at + length, *end = rest.bytes + rest.length;
        size_t count = 0;
        while (digits + count < end && digits[count] >= '0' && digits[count] <= '9')
            count++;
        struct tm shown;
        time_t time;
        if (!number_unsigned(digits, count, &beginning->time) || beginning->time > LATEST_INSTANT)
            continue;
        time = (time_t)beginning->time;
        if (localtime_r(&time, &shown) &&
            strftime(beginning->stamp, sizeof beginning->stamp, "%m/%d/%Y %H:%M:%S;", &shown))
            return true;
    }
    return false;
}

/* A record that has its time is whole, or a user knew the second when it would be written. */
static bool begins(const struct held_line *line, const struct beginning *beginning, bool whole)
{
    size_t length = strlen(beginning->stamp);
    if (line->length < length + 2 || memcmp(line->bytes, beginning->stamp, length) != 0 ||
        !strchr(beginning->types, line->bytes[length]))
        return false;
    char own[32];
    snprintf(own, sizeof own, "%s%" PRIu64, beginning->key, beginning->time);
    return whole == (memmem(line->bytes, line->length, own, strlen(own)) != NULL);
}

/* Returns the line in which the record of a rest begins; queue->count if there is no such line. */
static size_t find_beginning(const struct line_queue *queue, struct part rest)
{
    /* Users know the second in which they submit a job. */
    static const struct {
        struct beginning beginning;
        bool whole;
    } kinds[] = { { { .types = "ER", .key = " end=" }, false },
                  { { .types = "S", .key = " start=" }, false },
                  { { .types = "Q", .key = " qtime=" }, false },
                  { { .types = "Q", .key = " qtime=" }, true } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct beginning beginning = kinds[i].beginning;
        for (size_t from = rest.length; find_time(rest, &from, &beginning);) {
            for (size_t at = queue->first; at < queue->count; at++) {
                if (begins(&queue->lines[at], &beginning, kinds[i].whole))
                    return at;
            }
        }
    }
    return queue->count;
}

/* Append a rest to its record, with all lines between.  Returns false if no record fits. */
static bool join(struct line_queue *queue, struct part rest)
{
    size_t at = find_beginning(queue, rest);
    if (at == queue->count)
        return false;
    struct text joined = { 0 };
    for (size_t i = at; i < queue->count; i++) {
        text_add_bytes(&joined, queue->lines[i].bytes, queue->lines[i].length);
        text_add(&joined, "\n");
        free(queue->lines[i].bytes);
    }
    text_add_bytes(&joined, rest.bytes, rest.length);
    queue->bytes += joined.length;
    for (size_t i = at; i < queue->count; i++)
        queue->bytes -= queue->lines[i].length;
    queue->lines[at].bytes = joined.bytes;
    queue->lines[at].length = joined.length;
    queue->count = at + 1;
    return true;
}

int line_queue_add(struct line_queue *queue, const struct log_file *log, uint64_t number,
                   struct part line, struct error *err)
{
    if (record_begins(line) || !join(queue, line))
        push(queue, number, line);
    while (queue->bytes > MOST_BYTES && queue->first + 1 < queue->count) {
        if (take_first(queue, log, err))
            return -1;
    }
    return 0;
}
