/* SPDX-License-Identifier: MIT */
#include "import/record.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"
#include "util/times.h"

#define STAMP_LENGTH 19 /* MM/DD/YYYY HH:MM:SS */
#define TO_MINUTE 16

/*
 * Limits for the resources of a job execution: their number, and the length of a value in bytes.  A
 * longer value cannot be a number, so formulas do not need it.  The limits prevent a user from
 * making a record too long for the database.
 */
#define MOST_RESOURCES 256
#define LONGEST_VALUE 1024
#define MOST_BYTES 20000
#define LETTERS "abcdefghijklmnopqrstuvwxyz"

/* The types of records for jobs, reservations, provisioning and licenses. */
static const char types[] = "ACDELMQRSTaceruszBFKUYkPp";
static const char types_of_runs[] = "ERS";

static bool record_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static int two_digits(const char *at)
{
    return (at[0] - '0') * 10 + (at[1] - '0');
}

static bool is_stamp(const char *line, size_t length)
{
    static const char form[] = "00/00/0000 00:00:00;";
    if (length < sizeof form - 1)
        return false;
    for (size_t i = 0; i < sizeof form - 1; i++) {
        if (form[i] == '0' ? !record_is_digit(line[i]) : line[i] != form[i])
            return false;
    }
    return true;
}

bool record_begins(struct part line)
{
    return is_stamp(line.bytes, line.length);
}

/*
 * The start of a minute, in epoch seconds.  A minute has two starts if clocks were set back;
 * otherwise `first` and `second` are equal.
 */
struct minute {
    int64_t first, second;
};

/* Finds the other start of a minute.  Clocks are set back by an hour or by half an hour. */
static void find_twin(struct minute *minute, const struct tm *shown)
{
    static const int64_t shifts[] = { 3600, 1800, -1800, -3600 };
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        struct tm other;
        time_t at = minute->first + shifts[i];
        if (!localtime_r(&at, &other) || other.tm_min != shown->tm_min ||
            other.tm_hour != shown->tm_hour)
            continue;
        *(shifts[i] > 0 ? &minute->second : &minute->first) = at;
        return;
    }
}

/* Caches the last minute, because mktime() is slow and thousands of lines have the same minute. */
static const struct minute *minute_of(const char *line)
{
    static char known[TO_MINUTE];
    static struct minute minute;
    if (!memcmp(known, line, TO_MINUTE))
        return &minute;
    struct tm time = { .tm_mon = two_digits(line) - 1,
                       .tm_mday = two_digits(line + 3),
                       .tm_year = two_digits(line + 6) * 100 + two_digits(line + 8) - 1900,
                       .tm_hour = two_digits(line + 11),
                       .tm_min = two_digits(line + 14),
                       .tm_isdst = -1 };
    if (time.tm_mon < 0 || time.tm_mon > 11 || time.tm_mday < 1 || time.tm_mday > 31 ||
        time.tm_hour > 23 || time.tm_min > 59)
        return NULL;
    minute.first = minute.second = mktime(&time);
    find_twin(&minute, &time);
    memcpy(known, line, TO_MINUTE);
    return &minute;
}

/*
 * Reads the time of a line.  Lines are in the order of time.  `before` is the time of the previous
 * line.  So in an hour that occurs twice, the second occurrence is meant if the first would be more
 * than a minute before `before`.
 */
static int read_stamp(const char *line, size_t length, int64_t before, int64_t *epoch,
                      struct error *err)
{
    const struct minute *minute = is_stamp(line, length) ? minute_of(line) : NULL;
    if (!minute || two_digits(line + 17) > 60)
        return fail(err, ERROR_DATA, "the line does not begin with a time, MM/DD/YYYY HH:MM:SS;");
    *epoch = (before - minute->first > 60 && before - minute->first < 7200 ? minute->second
                                                                           : minute->first) +
             two_digits(line + 17);
    if (*epoch < 0)
        return fail(err, ERROR_DATA, "the line begins with a time before 1970");
    return 0;
}

void record_pass(struct record *record, struct part line)
{
    int64_t time;
    struct error ignored;
    if (!read_stamp(line.bytes, line.length, record->time, &time, &ignored))
        record->time = time;
}

/* The server writes `user` first, except after gridname, which a user may set to any text. */
static int check_user(const struct record *record, struct error *err)
{
    const struct fields *fields = &record->fields;
    const struct part user = fields_value(fields, "user");
    if (memchr(user.bytes, ';', user.length))
        return part_refuse(user, "the record is cut off and followed by another record", err);
    if (!fields->count || !part_is(&fields->fields[0].key, "gridname"))
        return 0;
    size_t users = 0;
    for (size_t i = 0; i < fields->count; i++)
        users += part_is(&fields->fields[i].key, "user");
    return users > 1 ? part_refuse(record->text, "the record may belong to several users", err) : 0;
}

int record_read(struct record *record, struct part line, struct error *err)
{
    record->fields.count = 0;
    if (memchr(line.bytes, '\0', line.length))
        return fail(err, ERROR_DATA, "the line contains a NUL byte");
    int64_t time = 0;
    if (read_stamp(line.bytes, line.length, record->time, &time, err))
        return -1;
    record->time = time;
    const char *end = line.bytes + line.length, *at = line.bytes + STAMP_LENGTH + 1;
    struct part rest = { at, (size_t)(end - at) };
    if (rest.length < 2 || !strchr(types, *at) || at[1] != ';')
        return part_refuse(rest, "unknown or missing record type", err);
    record->type = *at;
    rest = (struct part){ at + 2, rest.length - 2 };
    const char *close = rest.bytes;
    while (close<end && * close> ' ' && *close <= '~' && *close != ';')
        close++;
    if (close == end || *close != ';' || close == rest.bytes)
        return part_refuse(rest, "invalid or missing ID", err);
    record->id = (struct part){ rest.bytes, (size_t)(close - rest.bytes) };
    record->text = (struct part){ close + 1, (size_t)(end - close - 1) };
    if (!strchr(types_of_runs, record->type))
        return 0;
    return fields_read(&record->fields, record->text, err) || check_user(record, err) ? -1 : 0;
}

void record_free(struct record *record)
{
    fields_free(&record->fields);
}

/*
 * Returns the index of the last field with a key, from `from` to before `to`.  If `value` is not
 * empty, the field must have that value.  Returns `to` if no field matches.
 */
static size_t last_field(const struct record *record, const char *key, struct part value,
                         size_t from, size_t to)
{
    for (size_t i = to; i-- > from;) {
        const struct field *field = &record->fields.fields[i];
        if (part_is(&field->key, key) &&
            (!value.length || (field->value.length == value.length &&
                               !memcmp(field->value.bytes, value.bytes, value.length))))
            return i;
    }
    return to;
}

/*
 * Returns the index of the last field with a key and this time.  Without such a field, returns the
 * index of the last field with the key, or fields.count.
 */
static size_t field_of_time(const struct record *record, const char *key, uint64_t time,
                            size_t from)
{
    char digits[24];
    size_t count = record->fields.count;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, time);
    size_t at = last_field(record, key, (struct part){ digits, (size_t)length }, from, count);
    return at < count ? at : last_field(record, key, (struct part){ "", 0 }, from, count);
}

void record_locate(struct record *record, uint64_t start)
{
    size_t count = record->fields.count;
    record->start = field_of_time(record, "start", start, 0);
    if (record->type == 'S') {
        record->session = count; /* a start has no usage yet */
        return;
    }
    record->session = record->start < count ? record->start : 0;
    size_t session = last_field(record, "session", (struct part){ "", 0 }, record->session, count);
    if (session < count)
        record->session = session;
}

/* Returns true for fields that the server writes before users' texts. */
static bool record_is_first(const char *key)
{
    return !strcmp(key, "user") || !strcmp(key, "group") || !strcmp(key, "account");
}

/* Returns the value of one of the server's own fields, or an empty value. */
static struct part record_value(const struct record *record, const char *key)
{
    const struct part any = { "", 0 };
    size_t count = record->fields.count, at = count;
    if (record_is_first(key))
        return fields_value(&record->fields, key);
    if (!strcmp(key, "start"))
        at = record->start;
    else if (!strcmp(key, "end"))
        at = field_of_time(record, key, (uint64_t)record->time, record->session);
    else if (!strcmp(key, "Exit_status"))
        at = last_field(record, key, any, record->session, count);
    else if ((at = last_field(record, key, any, 0, record->start)) == record->start)
        at = last_field(record, key, any, 0, count);
    return at < count ? record->fields.fields[at].value : any;
}

/*
 * Reads the value of one of the server's own fields as a time up to the year 9999.  Sets *number to
 * 0 if the field is missing.
 */
static int record_number(const struct record *record, const char *key, uint64_t *number,
                         struct error *err)
{
    struct part value = record_value(record, key);
    *number = 0;
    if (!value.length ||
        (number_unsigned(value.bytes, value.length, number) && *number <= LATEST_TIME))
        return 0;
    part_refuse(value, "invalid time", err);
    return fail_in(err, "'%s'", key);
}

/* The selected fields with one prefix, one for each resource. */
struct resources {
    const struct field *kept[MOST_RESOURCES];
    size_t count;
};

static int compare_keys(const struct field *one, const struct field *other)
{
    size_t least = one->key.length < other->key.length ? one->key.length : other->key.length;
    int order = strncasecmp(one->key.bytes, other->key.bytes, least);
    return order ? order
                 : (one->key.length > other->key.length) - (one->key.length < other->key.length);
}

/*
 * Adds a field, or replaces the field of the same resource.  The server sorts the resources of a
 * job.  If two fields are out of order, one of them comes from a value that a user set.  In this
 * case the larger value is used, so that the user gains nothing.
 */
static void record_take_resource(struct resources *resources, const struct field *field,
                                 bool in_order)
{
    for (size_t i = 0; i < resources->count; i++) {
        if (compare_keys(resources->kept[i], field))
            continue;
        if (in_order ||
            resource_value(field->value).number > resource_value(resources->kept[i]->value).number)
            resources->kept[i] = field;
        return;
    }
    if (resources->count < MOST_RESOURCES)
        resources->kept[resources->count++] = field;
}

/* Returns true for `prefix.NAME` if NAME begins with a letter. */
static bool is_resource(const struct part *key, const char *prefix, size_t length)
{
    return key->length > length + 1 && !memcmp(key->bytes, prefix, length) &&
           key->bytes[length] == '.' && strchr(LETTERS, key->bytes[length + 1] | 0x20);
}

/* Adds the server's own fields `prefix.NAME=VALUE` to a text, as fields `NAME=VALUE`. */
static void record_add_resources(const struct record *record, const char *prefix, struct text *text)
{
    struct resources resources = { .count = 0 };
    const struct field *fields = record->fields.fields, *before = NULL;
    size_t length = strlen(prefix), count = record->fields.count;
    bool used = !strcmp(prefix, "resources_used");
    size_t from = used ? record->session : record->start < count ? record->start : 0;
    for (size_t i = from; i < count; i++) {
        const struct part *key = &fields[i].key;
        if (!is_resource(key, prefix, length))
            continue;
        record_take_resource(&resources, &fields[i],
                             used || !before || compare_keys(before, &fields[i]) <= 0);
        before = &fields[i];
    }
    for (size_t i = 0; i < resources.count; i++) {
        struct part key = resources.kept[i]->key, value = resources.kept[i]->value;
        key = (struct part){ key.bytes + length + 1, key.length - length - 1 };
        if (value.length <= LONGEST_VALUE && text->length + key.length + value.length < MOST_BYTES)
            text_add_field(text, key, value);
    }
}

static char *resources(const struct record *record, const char *prefix)
{
    struct text text = { 0 };
    text_add(&text, "");
    record_add_resources(record, prefix, &text);
    char *copy = utf8_copy(text.bytes, text.length);
    text_free(&text);
    return copy;
}

static int record_read_numbers(struct run *run, const struct record *record, struct error *err)
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

/* Fails with ERROR_DATA if a text is too long for one of the supported database systems. */
static int check_lengths(const struct run *run, const struct record *record, struct error *err)
{
    /* egroup and euser are also stored as one name, egroup:euser. */
    bool fits = record->id.length <= LONGEST_NAME &&
                strlen(run->texts[RUN_QUEUE]) <= LONGEST_NAME &&
                strlen(run->texts[RUN_EGROUP]) + strlen(run->texts[RUN_EUSER]) < LONGEST_NAME &&
                strlen(run->requested) <= LONGEST_TEXT && strlen(run->used) <= LONGEST_TEXT;
    return fits ? 0 : fail(err, ERROR_DATA, "a name is longer than %d bytes", LONGEST_NAME);
}

static int record_check(struct run *run, const struct record *record, struct error *err)
{
    if (!*run->texts[RUN_EUSER])
        return fail(err, ERROR_DATA, "user is missing");
    if (!run->start && record->type != 'R')
        return fail(err, ERROR_DATA, "start is missing");
    if (!run->end && record->type != 'S')
        run->end = (uint64_t)record->time;
    if (run->end && run->end < run->start)
        return fail(err, ERROR_DATA, "end is before start");
    return check_lengths(run, record, err);
}

int run_read(struct run *run, const struct record *record, struct error *err)
{
    *run = (struct run){ 0 };
    if (record_read_numbers(run, record, err))
        return -1;
    read_texts(run, record);
    run->state = record->type == 'S' ? "running" : record->type == 'E' ? "ended" : "rerun";
    run->job_id = memory_bytes(record->id.bytes, record->id.length);
    run->requested = resources(record, "Resource_List");
    run->used = resources(record, "resources_used");
    if (!record_check(run, record, err))
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
