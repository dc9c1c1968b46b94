/* SPDX-License-Identifier: MIT */
#include "core/usage/factor_history.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree/transaction.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* Tolerance in seconds between the clocks of the database and of the runs. */
#define SKEW_S 300
/*
 * Each run starts to read txn_table this many seconds before the last run that recorded factors,
 * because transactions may be committed late.
 */
#define OVERLAP_S 86400

struct factor_event {
    int64_t at;
    enum factor_evidence told;
    double factor;
    uint64_t id;      /* id of the QOS, or 0 if only its name is known */
    const char *name; /* name of the QOS */
};

static const char *const evidence_names[] = { "added", "changed", "seen" };

const char *factor_evidence_name(enum factor_evidence told)
{
    return evidence_names[told];
}

bool factor_evidence_of(const char *name, enum factor_evidence *told)
{
    for (size_t i = 0; i < sizeof evidence_names / sizeof *evidence_names; i++)
        if (!strcmp(name, evidence_names[i])) {
            *told = (enum factor_evidence)i;
            return true;
        }
    return false;
}

struct factor_history *factor_history_create(void)
{
    struct factor_history *history = memory_zeroed(1, sizeof *history);
    history->last_seen = history->distrusted = FACTOR_UNSEEN;
    history->names = arena_create();
    history->texts = arena_create();
    return history;
}

void factor_history_destroy(struct factor_history *history)
{
    if (!history)
        return;
    free(history->notes);
    free(history->events);
    free(history->points);
    arena_destroy(history->names);
    arena_destroy(history->texts);
    free(history);
}

void factor_history_note(struct factor_history *history, const struct factor_point *note)
{
    struct factor_point *added = memory_append(&history->notes, &history->note_count);
    *added = *note;
    added->name = arena_copy(history->names, note->name, strlen(note->name));
}

int64_t factor_history_since(const struct factor_history *history)
{
    return history->note_count && history->last_seen > OVERLAP_S ? history->last_seen - OVERLAP_S
                                                                 : 0;
}

static void forget_points(struct factor_history *history)
{
    free(history->points);
    history->points = NULL;
    history->point_count = 0;
    history->undated = false;
}

void factor_history_forget_source(struct factor_history *history)
{
    history->event_count = history->row_count = 0;
    history->rows = NULL;
    history->complete = history->whole = false;
    free(history->events);
    history->events = NULL;
    forget_points(history);
}

/* Evidence from txn_table. */

struct event_reader {
    struct factor_history *history;
    struct factor_event event;
};

static void add_event(const struct event_reader *reader, uint64_t id, const char *name)
{
    struct factor_history *history = reader->history;
    history->events = memory_grown(history->events, history->event_count, sizeof *history->events);
    history->events[history->event_count] = reader->event;
    history->events[history->event_count].id = id;
    history->events[history->event_count++].name = arena_copy(history->texts, name, strlen(name));
}

static bool factor_history_take_term(void *context, const struct txn_pair *term)
{
    const struct event_reader *reader = context;
    struct text name = { 0 };
    uint64_t id = 0;
    bool good = txn_is_column(term, "name")
                    ? txn_text_of(term, &name)
                    : txn_is_column(term, "id") && txn_number_of(term, UINT32_MAX, &id) && id;
    if (good)
        add_event(reader, id, id ? "" : name.bytes);
    text_free(&name);
    return good;
}

/*
 * Reads the factor from the column `info`.  Returns 1 if found, 0 if not, and -1 if the text cannot
 * be interpreted.
 */
static int factor_history_read_factor(const char *info, double *factor)
{
    struct txn_pair pair;
    int got, found = 0;
    while ((got = txn_next_pair(&info, &pair)) > 0)
        if (txn_is_column(&pair, "usage_factor")) {
            char *value = memory_bytes(pair.value, pair.value_length);
            found = number_real(value, factor) && *factor >= 0 ? 1 : -1;
            free(value);
        }
    return got < 0 ? -1 : found;
}

bool factor_history_add(struct factor_history *history, const struct transaction *transaction)
{
    struct event_reader reader = { history, { .at = transaction->at, .factor = 1 } };
    int found = factor_history_read_factor(transaction->info, &reader.event.factor);
    if (found < 0)
        return false;
    if (transaction->action == TRANSACTION_ADD_QOS) {
        reader.event.told = FACTOR_ADDED;
        add_event(&reader, 0, transaction->name);
        return true;
    }
    size_t before = history->event_count;
    reader.event.told = FACTOR_CHANGED;
    if (!found || txn_each_term(transaction->name, factor_history_take_term, &reader))
        return true;
    history->event_count = before;
    return false;
}

/* Points of one QOS. */

struct maker {
    struct factor_history *history;
    int64_t now, time;
    uint64_t id;
    const struct qos_row *row; /* NULL if the QOS no longer exists */
    const struct factor_point *notes;
    size_t note_count;
    struct factor_point *points; /* in ascending order of time */
    size_t count;
};

/* Inserts a point after all points with the same or an earlier time. */
static void insert(struct maker *maker, struct factor_point point)
{
    maker->points = memory_grown(maker->points, maker->count, sizeof *maker->points);
    size_t at = maker->count++;
    for (; at && maker->points[at - 1].at > point.at; at--)
        maker->points[at] = maker->points[at - 1];
    point.id = maker->id;
    point.name = maker->row ? maker->row->name : maker->note_count ? maker->notes->name : "";
    maker->points[at] = point;
}

static bool factor_history_is_same(double one, double other)
{
    return !(one < other) && !(one > other);
}

static bool factor_history_is_of(const struct factor_event *event, const struct maker *maker)
{
    return event->id ? event->id == maker->id
                     : maker->row && !strcmp(event->name, maker->row->name);
}

/* Adds all points with a known time.  Keeps only the last of several points in the same second. */
static void add_dated(struct maker *maker)
{
    const struct factor_history *history = maker->history;
    for (size_t i = 0; i < maker->note_count; i++)
        if (maker->notes[i].told != FACTOR_SEEN)
            insert(maker, maker->notes[i]);
    for (size_t i = 0; i < history->event_count; i++) {
        const struct factor_event *event = &history->events[i];
        if (factor_history_is_of(event, maker))
            insert(maker, (struct factor_point){ .at = event->at,
                                                 .told = event->told,
                                                 .seen_before = FACTOR_UNSEEN,
                                                 .factor = event->factor });
    }
    size_t kept = 0;
    for (size_t i = 0; i < maker->count; i++) {
        struct factor_point *point = &maker->points[i];
        if (kept && maker->points[kept - 1].at == point->at) {
            if (maker->points[--kept].told == FACTOR_ADDED)
                point->told = FACTOR_ADDED;
        }
        maker->points[kept++] = *point;
    }
    maker->count = kept;
}

/*
 * A QOS that slurmdbd itself created has no transaction that adds it.  Such a QOS began with the
 * default factor.
 */
static void add_default(struct maker *maker)
{
    const struct factor_history *history = maker->history;
    if (history->complete && history->whole && maker->count &&
        maker->points->told == FACTOR_CHANGED)
        insert(maker, (struct factor_point){
                          .told = FACTOR_ADDED, .seen_before = FACTOR_UNSEEN, .factor = 1 });
}

/*
 * Returns true if a row of txn_table explains the change that two runs observed.  The clocks of the
 * two hosts may differ, so the first change shortly after the later run is accepted, too, if it has
 * the observed factor.
 */
static bool is_dated(const struct maker *maker, const struct factor_point *seen)
{
    for (size_t i = 0; i < maker->count; i++) {
        const struct factor_point *point = &maker->points[i];
        if (point->told != FACTOR_SEEN && point->at > seen->seen_before)
            return point->at <= seen->at || (point->at <= seen->at + SKEW_S &&
                                             factor_history_is_same(point->factor, seen->factor));
    }
    return false;
}

/* Returns the point that applies at `time`, or NULL if none is known. */
static const struct factor_point *point_at(const struct maker *maker, int64_t time)
{
    const struct factor_point *found = NULL;
    for (size_t i = 0; i < maker->count && maker->points[i].at <= time; i++)
        found = &maker->points[i];
    return found;
}

/*
 * Returns true if the recorded point is an observation at the time of this run.  This run replaces
 * such a point.
 */
static bool is_seen_again(const struct maker *maker, const struct factor_point *note)
{
    return note->told == FACTOR_SEEN && note->at == maker->now && maker->row &&
           !maker->row->deleted;
}

/*
 * Adds observed factors that txn_table does not explain.  These are a factor from before its first
 * row, and a factor that differs from the factor of an earlier run.  The run that first observed a
 * factor found no row in txn_table.  If the first row has a slightly earlier time, it was
 * nevertheless added after that run, so the observed factor is placed before it.
 */
static void add_seen(struct maker *maker)
{
    for (size_t i = 0; i < maker->note_count; i++) {
        struct factor_point note = maker->notes[i];
        if (note.told != FACTOR_SEEN || is_seen_again(maker, &note) || factor_is_overruled(&note))
            continue;
        if (note.seen_before == FACTOR_UNSEEN) {
            if (maker->count && maker->points->at <= note.at - SKEW_S)
                continue;
            if (maker->count && maker->points->at <= note.at)
                note.at = maker->points->at - 1;
            insert(maker, note);
        } else if (!is_dated(maker, &note)) {
            const struct factor_point *held = point_at(maker, note.at);
            if (!held || (held->at < note.at && !factor_history_is_same(held->factor, note.factor)))
                insert(maker, note);
        }
    }
}

/*
 * Records a change of unknown time.  Sets `seen->seen_before` to the last time at which the factor
 * was different.  Sets history->undated, unless an earlier run as of the same time observed the
 * change, too.
 */
static void note_undated(struct maker *maker, struct factor_point *seen, int64_t last)
{
    int64_t before = maker->history->last_seen;
    bool noted = false;
    for (size_t i = 0; i < maker->note_count; i++)
        if (is_seen_again(maker, &maker->notes[i])) {
            before = maker->notes[i].seen_before;
            noted = factor_history_is_same(maker->notes[i].factor, seen->factor);
        }
    seen->seen_before = before > last && before < maker->now ? before : last;
    maker->history->undated |= !noted;
}

/*
 * Returns true if the last run observed the same factor as this run.  Then a row of txn_table that
 * contradicts the factor is late-arriving.
 */
static bool saw_no_change(const struct maker *maker, double factor)
{
    for (size_t i = maker->note_count; i-- > 0;)
        if (!is_seen_again(maker, &maker->notes[i]) || factor_is_overruled(&maker->notes[i]))
            return factor_history_is_same(maker->notes[i].factor, factor);
    return maker->now < maker->time;
}

/*
 * Adds the current factor as the last point.  A run as of a past time cannot know when the factor
 * was set.
 */
static void add_present(struct maker *maker)
{
    const struct factor_history *history = maker->history;
    struct factor_point seen = { .at = maker->now,
                                 .told = FACTOR_SEEN,
                                 .seen_before = FACTOR_UNSEEN };
    if (!maker->row || maker->row->deleted)
        return;
    seen.factor = maker->row->factor;
    if (maker->count) {
        const struct factor_point *last = &maker->points[maker->count - 1];
        if (factor_history_is_same(last->factor, seen.factor) || maker->now < history->last_seen ||
            maker->now <= last->at)
            return;
        if (saw_no_change(maker, seen.factor))
            seen.seen_before = seen.at;
        else
            note_undated(maker, &seen, last->at);
    }
    insert(maker, seen);
}

static void keep_points(struct maker *maker)
{
    struct factor_history *history = maker->history;
    for (size_t i = 0; i < maker->count; i++)
        *memory_append(&history->points, &history->point_count) = maker->points[i];
    free(maker->points);
}

static int factor_history_by_id(const void *a, const void *b)
{
    const struct qos_row *one = *(const struct qos_row *const *)a,
                         *other = *(const struct qos_row *const *)b;
    return (one->id > other->id) - (one->id < other->id);
}

static const struct qos_row **sorted_rows(const struct qos_row *rows, size_t count)
{
    const struct qos_row **sorted = memory_zeroed(count + 1, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &rows[i];
    qsort(sorted, count, sizeof *sorted, factor_history_by_id);
    return sorted;
}

void factor_history_make(struct factor_history *history, const struct qos_row *rows, size_t count,
                         struct factor_times times)
{
    const struct qos_row **sorted = sorted_rows(rows, count);
    forget_points(history);
    for (size_t row = 0, note = 0; row < count || note < history->note_count;) {
        struct maker maker = {
            .history = history, .now = times.now, .time = times.time, .id = UINT64_MAX
        };
        if (row < count)
            maker.id = sorted[row]->id;
        if (note < history->note_count && history->notes[note].id < maker.id)
            maker.id = history->notes[note].id;
        if (row < count && sorted[row]->id == maker.id)
            maker.row = sorted[row++];
        maker.notes = &history->notes[note];
        for (; note < history->note_count && history->notes[note].id == maker.id; note++)
            maker.note_count++;
        add_dated(&maker);
        add_seen(&maker);
        add_default(&maker);
        add_present(&maker);
        keep_points(&maker);
    }
    free(sorted);
}

bool factor_is_overruled(const struct factor_point *point)
{
    return point->told == FACTOR_SEEN && point->seen_before == point->at;
}

bool factor_points_change(const struct factor_points *points, size_t i)
{
    const struct factor_point *point = &points->points[i];
    return !factor_is_overruled(point) &&
           (!i || !factor_history_is_same(point[-1].factor, point->factor));
}

/*
 * The time of a QOS's first factor is not hashed, because that factor applies to all earlier times.
 */
uint64_t factor_history_hash(const struct factor_history *history, int64_t reach)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < history->point_count;) {
        const struct factor_points points = factor_history_next(history, &at);
        for (size_t i = 0; i < points.count; i++) {
            const struct factor_point *point = &points.points[i];
            if (!factor_points_change(&points, i) || (i && point->at >= reach))
                continue;
            uint64_t words[] = { point->id, i ? (uint64_t)point->at : 0, 0 };
            memcpy(&words[2], &point->factor, sizeof words[2]);
            hash += hash_words(words, sizeof words / sizeof *words);
        }
    }
    return hash;
}

struct factor_points factor_history_next(const struct factor_history *history, size_t *at)
{
    struct factor_points points = { history->points + *at, 0 };
    for (; *at < history->point_count && history->points[*at].id == points.points->id; ++*at)
        points.count++;
    return points;
}
