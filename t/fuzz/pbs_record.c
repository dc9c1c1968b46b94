/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "import/logs.h"
#include "import/record.h"
#include "util/error.h"
#include "util/text.h"

/* Reads lines of OpenPBS's accounting logs, which contain texts from users. */

static void read_resources(const char *resources)
{
    struct fields fields = { 0 }, again = { 0 };
    struct error err;
    struct text text = { 0 };
    must(!fields_read(&fields, (struct part){ resources, strlen(resources) }, &err),
         "stored resources can be read");
    text_add(&text, "");
    for (size_t i = 0; i < fields.count; i++)
        text_add_field(&text, fields.fields[i].key, fields.fields[i].value);
    must(!fields_read(&again, (struct part){ text.bytes, text.length }, &err) &&
             again.count == fields.count,
         "read resources can be stored again");
    for (size_t i = 0; i < fields.count; i++) {
        const struct part *one = &fields.fields[i].value, *other = &again.fields[i].value;
        must(one->length == other->length && !memcmp(one->bytes, other->bytes, one->length),
             "resources stored again are unchanged");
    }
    fields_free(&fields);
    fields_free(&again);
    text_free(&text);
}

static int take(void *context, const struct log_file *log, uint64_t number, struct part line,
                struct error *err)
{
    struct record *record = context;
    struct run run;
    (void)log;
    must(number > 0, "a line has a number");
    char *copy = exact_copy((const uint8_t *)line.bytes, line.length);
    if (!record_read(record, (struct part){ copy, line.length }, err)) {
        record_locate(record, 1793491205);
        if (strchr("SER", record->type) && !run_read(&run, record, err)) {
            must(*run.texts[RUN_EUSER] && strlen(run.texts[RUN_ACCOUNT]) <= LONGEST_NAME,
                 "a run has a user, and its texts fit the columns");
            must(record->type != 'S' || (!run.end && !*run.used), "a run that starts has no usage");
            read_resources(run.requested);
            read_resources(run.used);
            run_free(&run);
        }
    }
    free(copy);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct record record = { 0 };
    struct log_file log = { .name = "20261101" };
    struct error err;
    struct line_queue *queue = line_queue_create(take, &record);
    uint64_t number = 0;
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(bytes + at, '\n', size - at);
        size_t length = end ? (size_t)(end - bytes) - at : size - at;
        char *line = exact_copy(bytes + at, length);
        must(!line_queue_add(queue, &log, ++number, (struct part){ line, length }, &err),
             "each line is accepted");
        free(line);
        at += length + 1;
    }
    must(!line_queue_flush(queue, &log, &err), "all lines are accepted");
    line_queue_destroy(queue);
    record_free(&record);
    return 0;
}
