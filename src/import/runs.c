/* SPDX-License-Identifier: MIT */
#include "import/runs.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

#define LONGEST_WALLTIME 64 /* bytes */

/*
 * Open job executions are in an open-addressing hash table with the job ID as key.  When the table
 * is half full, it is rebuilt without the places of executions that ended.
 */
struct open_run {
    struct run run; /* job_id is NULL if the place is not in use */
    bool gone;      /* the place was in use before */
    bool stored;
    bool restarted;     /* from a checkpoint */
    bool changed;       /* its row is outdated */
    uint64_t suspended; /* time from which the execution is suspended; 0 if it is not */
};

struct runs {
    struct run_taker taker;
    uint64_t next_key;
    struct open_run *places;
    size_t room, used; /* used: open executions and places with `gone` */
    size_t open;
};

struct runs *runs_create(uint64_t next_key, const struct run_taker *taker)
{
    struct runs *runs = memory_zeroed(1, sizeof *runs);
    runs->taker = *taker;
    runs->next_key = next_key;
    runs->room = 64;
    runs->places = memory_zeroed(runs->room, sizeof *runs->places);
    return runs;
}

void runs_destroy(struct runs *runs)
{
    if (!runs)
        return;
    for (size_t i = 0; i < runs->room; i++)
        run_free(&runs->places[i].run);
    free(runs->places);
    free(runs);
}

/* Returns the place of a job's open execution, or a free place for it. */
static struct open_run *import_runs_place_of(const struct runs *runs, struct part id)
{
    struct open_run *free_place = NULL;
    for (size_t at = XXH3_64bits(id.bytes, id.length) & (runs->room - 1);;
         at = (at + 1) & (runs->room - 1)) {
        struct open_run *place = &runs->places[at];
        if (!place->run.job_id) {
            if (!place->gone)
                return free_place ? free_place : place;
            if (!free_place)
                free_place = place;
        } else if (part_is(&id, place->run.job_id)) {
            return place;
        }
    }
}

static struct open_run *import_runs_find(const struct runs *runs, struct part id)
{
    struct open_run *place = import_runs_place_of(runs, id);
    return place->run.job_id ? place : NULL;
}

static void import_runs_grow(struct runs *runs)
{
    struct open_run *old = runs->places;
    size_t count = runs->room;
    while (runs->room < 4 * (runs->open + 1))
        runs->room *= 2;
    runs->places = memory_zeroed(runs->room, sizeof *runs->places);
    runs->used = runs->open;
    for (size_t i = 0; i < count; i++) {
        if (old[i].run.job_id)
            *import_runs_place_of(
                runs, (struct part){ old[i].run.job_id, strlen(old[i].run.job_id) }) = old[i];
    }
    free(old);
}

static void import_runs_add(struct runs *runs, const struct open_run *run)
{
    if (2 * (runs->used + 1) > runs->room)
        import_runs_grow(runs);
    struct open_run *place =
        import_runs_place_of(runs, (struct part){ run->run.job_id, strlen(run->run.job_id) });
    runs->used += !place->gone;
    runs->open++;
    *place = *run;
}

void runs_add_stored(struct runs *runs, struct run *run, uint64_t suspended)
{
    import_runs_add(runs, &(struct open_run){ .run = *run,
                                              .stored = true,
                                              .restarted = !strcmp(run->state, "restarted"),
                                              .suspended = suspended });
    *run = (struct run){ 0 };
}

static int end_suspension(struct runs *runs, struct open_run *open, uint64_t end, struct error *err)
{
    struct suspension_told told = { open->run.key, open->suspended, end };
    if (!open->suspended)
        return 0;
    open->suspended = 0;
    return runs->taker.suspension(runs->taker.context, &told, err);
}

/* Passes an execution, of which all records are known, to the taker and removes it from the table.
 */
static int close_run(struct runs *runs, struct open_run *open, struct error *err)
{
    int result = end_suspension(runs, open, open->run.end, err);
    if (!result)
        result = runs->taker.run(runs->taker.context, &open->run, open->stored, err);
    run_free(&open->run);
    *open = (struct open_run){ .gone = true };
    runs->open--;
    return result;
}

/* Closes an execution that ended at `time` or earlier.  No record of type E or R describes its end.
 */
static int close_unseen(struct runs *runs, struct open_run *open, uint64_t time, struct error *err)
{
    open->run.state = "aborted";
    open->run.end = time > open->run.start ? time : open->run.start;
    return close_run(runs, open, err);
}

/*
 * Processes the end of an execution that is not open.  Either its start was not recorded, or the
 * record is a repetition.  store_remove_twins() later removes the row of a repetition.
 */
static int add_ended(struct runs *runs, struct open_run *open, struct run *end, struct error *err)
{
    int result = 0;
    if (open && open->run.start < end->start)
        result = close_unseen(runs, open, end->start, err);
    if (!result && end->start) {
        end->key = runs->next_key++;
        result = runs->taker.run(runs->taker.context, end, false, err);
    }
    run_free(end);
    return result;
}

/*
 * Processes the end of an execution.  The execution that the record describes replaces the open
 * execution and is closed.
 */
static int import_runs_take_end(struct runs *runs, struct run *end, struct error *err)
{
    struct open_run *open =
        import_runs_find(runs, (struct part){ end->job_id, strlen(end->job_id) });
    /* The record of a rerun may lack the start.  After a restart, a record has the time of the
     * restart as its start. */
    if (open && (!end->start || (open->restarted && end->start > open->run.start)))
        end->start = open->run.start;
    if (!open || open->run.start != end->start)
        return add_ended(runs, open, end, err);
    end->key = open->run.key;
    run_free(&open->run);
    open->run = *end;
    return close_run(runs, open, err);
}

/*
 * Opens an execution, unless it is already open.  If the job has another open execution, closes
 * that execution, because its end was not recorded.
 */
static int import_runs_take_start(struct runs *runs, struct run *start, struct error *err)
{
    struct open_run *open =
        import_runs_find(runs, (struct part){ start->job_id, strlen(start->job_id) });
    if (open && open->run.start == start->start) {
        run_free(start);
        return 0;
    }
    if (open && close_unseen(runs, open, start->start, err)) {
        run_free(start);
        return -1;
    }
    start->key = runs->next_key++;
    import_runs_add(runs, &(struct open_run){ .run = *start });
    return 0;
}

static int import_runs_take_run(struct runs *runs, struct record *record, struct error *err)
{
    struct run run;
    /* An array itself is never executed; only its jobs are. */
    if (record->id.length > 2 && memmem(record->id.bytes, record->id.length, "[]", 2))
        return 0;
    bool starts = record->type == 'S';
    const struct open_run *open = starts ? NULL : import_runs_find(runs, record->id);
    record_locate(record, starts ? (uint64_t)record->time : open ? open->run.start : 0);
    if (run_read(&run, record, err))
        return 1;
    return starts ? import_runs_take_start(runs, &run, err) : import_runs_take_end(runs, &run, err);
}

static int take_suspend(struct runs *runs, struct open_run *open, uint64_t time, struct error *err)
{
    struct suspension_told told = { open->run.key, time, 0 };
    if (open->suspended)
        return 0;
    open->suspended = time;
    return runs->taker.suspension(runs->taker.context, &told, err);
}

/*
 * Sets `restarted`, because the end record of a restarted execution has the time of the restart as
 * its start.
 */
static int take_restart(struct runs *runs, struct open_run *open, uint64_t time, struct error *err)
{
    open->run.state = "restarted";
    open->restarted = open->changed = true;
    return end_suspension(runs, open, time, err);
}

/*
 * An administrator may change the walltime of an execution.  The walltime limits the execution
 * while it is open.
 */
static void take_alteration(struct open_run *open, struct record *record)
{
    struct error ignored;
    struct fields requested = { 0 };
    struct text text = { 0 };
    const struct part walltime = { "walltime", strlen("walltime") };
    if (fields_read(&record->fields, record->text, &ignored))
        return;
    const struct part value = fields_value(&record->fields, "Resource_List.walltime");
    if (!value.length || value.length > LONGEST_WALLTIME ||
        !utf8_valid(value.bytes, value.length) ||
        fields_read(&requested, (struct part){ open->run.requested, strlen(open->run.requested) },
                    &ignored))
        return;
    for (size_t i = 0; i < requested.count; i++) {
        if (!part_is(&requested.fields[i].key, walltime.bytes))
            text_add_field(&text, requested.fields[i].key, requested.fields[i].value);
    }
    text_add_field(&text, walltime, value);
    fields_free(&requested);
    free(open->run.requested);
    open->run.requested = text.bytes;
    open->changed = true;
}

int runs_take(struct runs *runs, struct record *record, struct error *err)
{
    if (record->type == 'S' || record->type == 'E' || record->type == 'R')
        return import_runs_take_run(runs, record, err);
    struct open_run *open =
        strchr("ACTazr", record->type) ? import_runs_find(runs, record->id) : NULL;
    uint64_t time = (uint64_t)record->time;
    if (!open)
        return 0;
    switch (record->type) {
    case 'A':
        return close_unseen(runs, open, time, err);
    case 'C': /* the execution continues only after a restart */
    case 'z':
        return take_suspend(runs, open, time, err);
    case 'a':
        take_alteration(open, record);
        return 0;
    case 'T':
        return take_restart(runs, open, time, err);
    default:
        return end_suspension(runs, open, time, err);
    }
}

uint64_t runs_next_key(const struct runs *runs)
{
    return runs->next_key;
}

void runs_drop(struct runs *runs, uint64_t key)
{
    for (size_t i = 0; i < runs->room; i++) {
        struct open_run *open = &runs->places[i];
        if (!open->run.job_id || open->run.key != key)
            continue;
        run_free(&open->run);
        *open = (struct open_run){ .gone = true };
        runs->open--;
    }
}

int runs_store_open(struct runs *runs, struct error *err)
{
    for (size_t i = 0; i < runs->room; i++) {
        struct open_run *open = &runs->places[i];
        if (!open->run.job_id || (open->stored && !open->changed))
            continue;
        if (runs->taker.run(runs->taker.context, &open->run, open->stored, err))
            return -1;
        open->stored = true;
        open->changed = false;
    }
    return 0;
}
