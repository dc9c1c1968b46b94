/* SPDX-License-Identifier: MIT */
#include "core/priority/slots.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* The replay visits all times at which a wait begins or ends, in ascending order.  At each time,
 * slots_leave() frees the slots of ended waits, arrive() adds new waits, and slots_hand_out() gives
 * free slots to waits.  The heap `ready` contains the counters with a free slot and a wait, by the
 * position of their first wait.  Slots are thus given in the order of slurmctld's list, although
 * each counter has its own heap. */

/* A binary heap of numbers, ordered by their positions, lowest first.  Waits are ordered by their
 * position in slurmctld's list, counters by the position of the first wait that each bounds. */
struct heap_item {
    uint64_t place;
    uint32_t number;
};
struct heap {
    struct heap_item *items;
    size_t count, room;
};

static bool is_before(const struct heap_item *one, const struct heap_item *other)
{
    return one->place < other->place || (one->place == other->place && one->number < other->number);
}

static void heap_push(struct heap *heap, uint64_t place, uint32_t number)
{
    const struct heap_item item = { place, number };
    if (heap->count == heap->room) {
        heap->room = heap->room ? 2 * heap->room : 8;
        heap->items = memory_resized(heap->items, heap->room, sizeof *heap->items);
    }
    size_t at = heap->count++;
    for (; at && is_before(&item, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = item;
}

static uint32_t heap_pop(struct heap *heap)
{
    uint32_t first = heap->items[0].number;
    const struct heap_item last = heap->items[--heap->count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < heap->count) {
        if (child + 1 < heap->count && is_before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!is_before(&heap->items[child], &last))
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = last;
    return first;
}

/* The state of the replay at one time. */
struct replay {
    const struct slots *slots;
    uint64_t now;
    const uint32_t *coming; /* waits by the time when they begin */
    uint64_t *last;         /* indexed as `coming`: the highest position so far */
    uint64_t *used;         /* number of slots taken, indexed by counter */
    struct heap *waiting;   /* indexed by counter: the waits that it bounds */
    struct heap ready;      /* counters that may have room for a wait */
    /* Indexed by counter: its current position in `ready`.  Other entries of that counter are
     * outdated. */
    uint64_t *ready_at;
};

#define NOT_READY UINT64_MAX

/* Returns the highest position of all waits that began before `time`.  There must be at least one.
 */
static uint64_t last_before(const struct replay *batch, uint64_t time)
{
    const struct slots *slots = batch->slots;
    size_t from = 0, to = slots->count;
    while (from + 1 < to) {
        size_t middle = from + (to - from) / 2;
        if (slots->waits[batch->coming[middle]].since < time)
            from = middle;
        else
            to = middle;
    }
    return batch->last[from];
}

/* Returns the current position of a wait. */
static uint64_t place_now(const struct replay *batch, struct slots_wait *wait)
{
    if (wait->moves_at && wait->moves_at <= batch->now) {
        wait->at = last_before(batch, wait->moves_at) + 1;
        wait->moves_at = 0;
    }
    return wait->at;
}

/* Returns true if the first wait of a heap still waits at its position in the heap.  Otherwise
 * removes or moves the wait and returns false. */
static bool settle_first(const struct replay *batch, struct heap *waiting)
{
    const struct heap_item first = waiting->items[0];
    struct slots_wait *wait = &batch->slots->waits[first.number];
    uint64_t place = place_now(batch, wait);
    bool waits = wait->until > batch->now;
    if (waits && place == first.place)
        return true;
    heap_pop(waiting);
    if (waits)
        heap_push(waiting, place, first.number);
    return false;
}

/* Returns true if a counter is below its limit and has a wait, which is then the first in its heap.
 */
static bool has_room(struct replay *batch, uint32_t counter)
{
    struct heap *waiting = &batch->waiting[counter];
    while (waiting->count && !settle_first(batch, waiting))
        continue;
    return waiting->count && batch->used[counter] < batch->slots->limits[counter];
}

static void slots_look_at(struct replay *batch, uint32_t counter)
{
    if (!has_room(batch, counter))
        return;
    uint64_t place = batch->waiting[counter].items[0].place;
    if (place < batch->ready_at[counter])
        heap_push(&batch->ready, place, counter);
    if (place < batch->ready_at[counter])
        batch->ready_at[counter] = place;
}

static void slots_leave(struct replay *batch, uint32_t number)
{
    const struct slots_wait *wait = &batch->slots->waits[number];
    const struct slots_owner *owner = &batch->slots->owners[wait->owner];
    for (uint32_t i = 0; wait->slots && i < owner->count; i++) {
        batch->used[owner->counters[i]] -= wait->slots;
        slots_look_at(batch, owner->counters[i]);
    }
}

static void arrive(struct replay *batch, uint32_t number)
{
    struct slots_wait *wait = &batch->slots->waits[number];
    if (wait->until <= wait->since)
        return;
    uint32_t bound = batch->slots->owners[wait->owner].bound;
    heap_push(&batch->waiting[bound], place_now(batch, wait), number);
    slots_look_at(batch, bound);
}

/* Moves the wait of an array's remaining tasks after all current waits, from the next second on.
 * In the current second, all these tasks keep the position of the array. */
static void move_rest(const struct replay *batch, struct slots_wait *rest)
{
    place_now(batch, rest);
    rest->moves_at = (batch->now > rest->pass ? batch->now : rest->pass) + 1;
}

/* Lets the first wait of a counter begin to age.  The wait of an array's remaining tasks takes all
 * free slots and stays in the heap. */
static void hand_to_first(struct replay *batch, uint32_t counter)
{
    const struct slots *slots = batch->slots;
    struct heap *waiting = &batch->waiting[counter];
    struct slots_wait *wait = &slots->waits[waiting->items[0].number];
    const struct slots_owner *owner = &slots->owners[wait->owner];
    uint32_t count = wait->is_rest ? slots->limits[counter] - (uint32_t)batch->used[counter] : 1;
    if (!wait->is_rest)
        heap_pop(waiting);
    if (!wait->accrues)
        wait->accrues = batch->now;
    wait->slots += count;
    for (uint32_t i = 0; i < owner->count; i++)
        batch->used[owner->counters[i]] += count;
    if (wait->rest != SLOTS_NO_REST)
        move_rest(batch, &slots->waits[wait->rest]);
}

/* Entries of `ready` may be outdated: other waits may have filled the counter, or its first wait
 * may already have a slot. */
static void slots_hand_out(struct replay *batch)
{
    while (batch->ready.count) {
        uint64_t place = batch->ready.items[0].place;
        uint32_t counter = heap_pop(&batch->ready);
        if (place != batch->ready_at[counter])
            continue;
        batch->ready_at[counter] = NOT_READY;
        if (has_room(batch, counter) && batch->waiting[counter].items[0].place == place)
            hand_to_first(batch, counter);
        slots_look_at(batch, counter);
    }
}

static int by_since(const void *a, const void *b, void *waits)
{
    uint64_t one = ((const struct slots_wait *)waits)[*(const uint32_t *)a].since;
    uint64_t other = ((const struct slots_wait *)waits)[*(const uint32_t *)b].since;
    return (one > other) - (one < other);
}

static int by_until(const void *a, const void *b, void *waits)
{
    uint64_t one = ((const struct slots_wait *)waits)[*(const uint32_t *)a].until;
    uint64_t other = ((const struct slots_wait *)waits)[*(const uint32_t *)b].until;
    return (one > other) - (one < other);
}

static uint32_t *sorted(const struct slots *slots,
                        int (*order)(const void *a, const void *b, void *waits))
{
    uint32_t *numbers = memory_zeroed(slots->count + 1, sizeof *numbers);
    for (uint32_t i = 0; i < slots->count; i++)
        numbers[i] = i;
    if (slots->count)
        qsort_r(numbers, slots->count, sizeof *numbers, order, slots->waits);
    return numbers;
}

/* Returns an array for replay.last.  Element i is the highest position of the waits coming[0] to
 * coming[i].  The caller frees it. */
static uint64_t *highest_places(const struct slots *slots, const uint32_t *coming)
{
    uint64_t *last = memory_zeroed(slots->count + 1, sizeof *last);
    for (size_t i = 0; i < slots->count; i++) {
        last[i] = slots->waits[coming[i]].place;
        if (i && last[i - 1] > last[i])
            last[i] = last[i - 1];
    }
    return last;
}

void slots_replay(const struct slots *slots)
{
    uint32_t *coming = sorted(slots, by_since), *going = sorted(slots, by_until);
    struct replay batch = { .slots = slots,
                            .coming = coming,
                            .last = highest_places(slots, coming) };
    size_t come = 0, gone = 0;
    batch.used = memory_zeroed(slots->counter_count + 1, sizeof *batch.used);
    batch.waiting = memory_zeroed(slots->counter_count + 1, sizeof *batch.waiting);
    batch.ready_at = memory_zeroed(slots->counter_count + 1, sizeof *batch.ready_at);
    memset(batch.ready_at, 0xff, (slots->counter_count + 1) * sizeof *batch.ready_at);
    for (size_t i = 0; i < slots->count; i++) {
        struct slots_wait *wait = &slots->waits[i];
        wait->accrues = wait->moves_at = wait->slots = 0;
        wait->at = wait->place;
    }
    for (;;) {
        uint64_t next = come < slots->count ? slots->waits[coming[come]].since : UINT64_MAX;
        uint64_t end = gone < slots->count ? slots->waits[going[gone]].until : UINT64_MAX;
        batch.now = next < end ? next : end;
        if (batch.now == UINT64_MAX)
            break;
        for (; gone < slots->count && slots->waits[going[gone]].until == batch.now; gone++)
            slots_leave(&batch, going[gone]);
        for (; come < slots->count && slots->waits[coming[come]].since == batch.now; come++)
            arrive(&batch, coming[come]);
        slots_hand_out(&batch);
    }
    for (uint32_t i = 0; i < slots->counter_count; i++)
        free(batch.waiting[i].items);
    free(batch.waiting);
    free(batch.ready.items);
    free(batch.ready_at);
    free(batch.used);
    free(batch.last);
    free(coming);
    free(going);
}
