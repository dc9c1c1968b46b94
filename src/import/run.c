/* SPDX-License-Identifier: MIT */
#include "import/run.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

static char *resources(const struct record *record, const char *prefix)
{
    struct text text = { 0 };
    text_add(&text, "");
    record_add_resources(record, prefix, &text);
    char *copy = utf8_copy(text.bytes, text.length);
    text_free(&text);
    return copy;
}

static int read_numbers(struct run *run, const struct record *record, struct error *err)
{
    const struct {
        const char *key;
        uint64_t *number;
    } numbers[] = {
        { "ctime", &run->ctime }, { "qtime", &run->qtime }, { "etime", &run->etime },
        { "start", &run->start }, { "end", &run->end },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (record_number(record, numbers[i].key, numbers[i].number, err))
            return -1;
    }
    struct part status = record_value(record, "Exit_status");
    if (!number_signed(status.bytes, status.length, &run->exit_status))
        run->exit_status = NO_EXIT_STATUS;
    return 0;
}

void run_text_cut(char *text)
{
    if (strlen(text) <= LONGEST_NAME)
        return;
    text[LONGEST_NAME] = '\0';
    utf8_drop_cut(text);
}

static void read_texts(struct run *run, const struct record *record)
{
    static const char *const keys[RUN_TEXTS] = { "user", "group", "account", "project", "queue" };
    for (size_t i = 0; i < RUN_TEXTS; i++) {
        struct part value = record_value(record, keys[i]);
        run->texts[i] = utf8_copy(value.bytes, value.length);
    }
    run_text_cut(run->texts[RUN_ACCOUNT]);
    run_text_cut(run->texts[RUN_PROJECT]);
}

/* Whether every database can hold the texts. */
static int check_lengths(const struct run *run, const struct record *record, struct error *err)
{
    /* The two are one name, egroup:euser. */
    bool fits = record->id.length <= LONGEST_NAME &&
                strlen(run->texts[RUN_QUEUE]) <= LONGEST_NAME &&
                strlen(run->texts[RUN_EGROUP]) + strlen(run->texts[RUN_EUSER]) < LONGEST_NAME &&
                strlen(run->requested) <= LONGEST_TEXT && strlen(run->used) <= LONGEST_TEXT;
    return fits ? 0 : fail(err, ERROR_DATA, "a name is longer than %d bytes", LONGEST_NAME);
}

static int check(struct run *run, const struct record *record, struct error *err)
{
    if (!*run->texts[RUN_EUSER])
        return fail(err, ERROR_DATA, "it has no user");
    if (!run->start && record->type != 'R')
        return fail(err, ERROR_DATA, "it has no start");
    if (!run->end && record->type != 'S')
        run->end = (uint64_t)record->time;
    if (run->end && run->end < run->start)
        return fail(err, ERROR_DATA, "its end is before its start");
    return check_lengths(run, record, err);
}

int run_read(struct run *run, const struct record *record, struct error *err)
{
    *run = (struct run){ 0 };
    if (read_numbers(run, record, err))
        return -1;
    read_texts(run, record);
    run->state = record->type == 'S' ? "running" : record->type == 'E' ? "ended" : "rerun";
    run->job_id = memory_bytes(record->id.bytes, record->id.length);
    run->requested = resources(record, "Resource_List");
    run->used = resources(record, "resources_used");
    if (!check(run, record, err))
        return 0;
    run_free(run);
    return -1;
}

void run_free(struct run *run)
{
    for (size_t i = 0; i < RUN_TEXTS; i++)
        free(run->texts[i]);
    free(run->job_id);
    free(run->requested);
    free(run->used);
    *run = (struct run){ 0 };
}
