/* SPDX-License-Identifier: MIT */
#include "import/record.h"

#include <string.h>
#include <time.h>

#include "util/error.h"
#include "util/instant.h"
#include "util/number.h"
#include "util/text.h"

#define STAMP_LENGTH 19 /* MM/DD/YYYY HH:MM:SS */
#define TO_MINUTE 16

/* Of jobs, reservations, provisioning and licences. */
static const char types[] = "ACDELMQRSTaceruszBFKUYkPp";
static const char types_of_runs[] = "ERS";

static bool is_digit(char byte)
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
        if (form[i] == '0' ? !is_digit(line[i]) : line[i] != form[i])
            return false;
    }
    return true;
}

/* When a minute begins: twice, where clocks were put back; else both are the same. */
struct minute {
    int64_t first, second;
};

/* Find the other beginning of a minute.  Clocks are put back by an hour, or by half of one. */
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

/* mktime() is slow, and thousands of lines have the same minute. */
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

/* Lines are in the order of time.  So a minute that comes twice is the second one where the first
 * would lie before `before`, the time of the line above. */
static int read_stamp(const char *line, size_t length, int64_t before, int64_t *epoch,
                      struct error *err)
{
    const struct minute *minute = is_stamp(line, length) ? minute_of(line) : NULL;
    if (!minute || two_digits(line + 17) > 60)
        return fail(err, ERROR_DATA, "it does not begin with a time, MM/DD/YYYY HH:MM:SS;");
    *epoch = (before - minute->first > 60 && before - minute->first < 7200 ? minute->second
                                                                           : minute->first) +
             two_digits(line + 17);
    if (*epoch < 0)
        return fail(err, ERROR_DATA, "it begins with a time before 1970");
    return 0;
}

void record_pass(struct record *record, struct part line)
{
    int64_t time;
    struct error ignored;
    if (!read_stamp(line.bytes, line.length, record->time, &time, &ignored))
        record->time = time;
}

int record_read(struct record *record, struct part line, struct error *err)
{
    record->fields.count = 0;
    if (memchr(line.bytes, '\0', line.length))
        return fail(err, ERROR_DATA, "it has bytes of value 0");
    int64_t time = 0;
    if (read_stamp(line.bytes, line.length, record->time, &time, err))
        return -1;
    record->time = time;
    const char *end = line.bytes + line.length, *at = line.bytes + STAMP_LENGTH + 1;
    struct part rest = { at, (size_t)(end - at) };
    if (rest.length < 2 || !strchr(types, *at) || at[1] != ';')
        return part_refuse(rest, "there is no type of record", err);
    record->type = *at;
    rest = (struct part){ at + 2, rest.length - 2 };
    const char *close = rest.bytes;
    while (close<end && * close> ' ' && *close <= '~' && *close != ';')
        close++;
    if (close == end || *close != ';' || close == rest.bytes)
        return part_refuse(rest, "there is no id", err);
    record->id = (struct part){ rest.bytes, (size_t)(close - rest.bytes) };
    record->text = (struct part){ close + 1, (size_t)(end - close - 1) };
    return strchr(types_of_runs, record->type) ? fields_read(&record->fields, record->text, err)
                                               : 0;
}

void record_free(struct record *record)
{
    fields_free(&record->fields);
}

int record_number(const struct record *record, const char *key, uint64_t *number, struct error *err)
{
    struct part value = fields_value(&record->fields, key);
    *number = 0;
    if (!value.length ||
        (number_unsigned(value.bytes, value.length, number) && *number <= LATEST_INSTANT))
        return 0;
    part_refuse(value, "there is no number up to 253402300799", err);
    return fail_in(err, "'%s'", key);
}

void record_add_resources(const struct record *record, const char *prefix, struct text *text)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < record->fields.count; i++) {
        const struct field *field = &record->fields.fields[i];
        struct part key = field->key;
        if (key.length <= length + 1 || memcmp(key.bytes, prefix, length) != 0 ||
            key.bytes[length] != '.')
            continue;
        text_add_field(text, (struct part){ key.bytes + length + 1, key.length - length - 1 },
                       field->value);
    }
}
