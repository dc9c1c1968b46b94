/* SPDX-License-Identifier: MIT */
#include "util/times.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "util/calendar.h"
#include "util/number.h"
#include "util/text.h"

#define DAY_S 86400
#define NO_YEAR INT_MIN

/* The state of the parser, which is the remaining text and the values read so far. */
struct time_reader {
    const char *at;
    struct tm now;
    int year, month, day; /* as in struct tm; year may be NO_YEAR */
    int second_of_day;
    bool has_date, has_time;
};

/* Skips `word`, in either case, if it is next and no letter or digit follows it. */
static bool take_word(struct time_reader *reader, const char *word)
{
    size_t length = strlen(word);
    if (strncasecmp(reader->at, word, length) != 0 || isalnum((unsigned char)reader->at[length]))
        return false;
    reader->at += length;
    return true;
}

static bool take_char(struct time_reader *reader, const char *any)
{
    if (!*reader->at || !strchr(any, *reader->at))
        return false;
    reader->at++;
    return true;
}

/* Parses `least` to `most` digits. */
static bool take_digits(struct time_reader *reader, size_t least, size_t most, int *number)
{
    size_t length = strspn(reader->at, "0123456789");
    uint64_t value;
    length = length > most ? most : length;
    if (length < least || !number_unsigned(reader->at, length, &value))
        return false;
    reader->at += length;
    *number = (int)value;
    return true;
}

static size_t digits_ahead(const struct time_reader *reader)
{
    return strspn(reader->at, "0123456789");
}

static bool set_date(struct time_reader *reader, int year, int month, int day)
{
    if (reader->has_date || month < 0 || month > 11 || day < 1 || day > 31)
        return false;
    reader->has_date = true;
    reader->year = year;
    reader->month = month;
    reader->day = day;
    return true;
}

static bool set_time(struct time_reader *reader, int second_of_day)
{
    if (reader->has_time)
        return false;
    reader->has_time = true;
    reader->second_of_day = second_of_day;
    return true;
}

/* Applies AM or PM to `*hour`.  PM accepts hours up to 12 only, as AM does. */
static bool take_half(struct time_reader *reader, int *hour)
{
    while (take_char(reader, " \t"))
        ;
    if (take_word(reader, "pm")) {
        if (*hour > 12)
            return false;
        *hour = *hour == 12 ? 12 : *hour + 12;
    } else if (take_word(reader, "am")) {
        if (*hour > 12)
            return false;
        *hour = *hour == 12 ? 0 : *hour;
    }
    return true;
}

static bool take_clock(struct time_reader *reader)
{
    int hour, minute, second = 0;
    if (!take_digits(reader, 1, 2, &hour) || !take_char(reader, ":") ||
        !take_digits(reader, 2, 2, &minute) ||
        (take_char(reader, ":") && !take_digits(reader, 2, 2, &second)) || hour > 23 ||
        minute > 59 || second > 59 || !take_half(reader, &hour) || hour > 23)
        return false;
    return set_time(reader, hour * 3600 + minute * 60 + second);
}

/* Parses YYYY-MM-DD. */
static bool take_iso_date(struct time_reader *reader)
{
    int year, month, day;
    return take_digits(reader, 4, 4, &year) && take_char(reader, "-") &&
           take_digits(reader, 1, 2, &month) && take_char(reader, "-") &&
           take_digits(reader, 1, 2, &day) && set_date(reader, year - 1900, month - 1, day);
}

/* Parses MMDD[YY], or MM and DD with points or slashes between them. */
static bool take_american_date(struct time_reader *reader)
{
    int month, day, year = NO_YEAR;
    size_t digits = digits_ahead(reader);
    bool apart = digits <= 2;
    if ((!apart && digits != 4 && digits != 6) || !take_digits(reader, 1, 2, &month) ||
        (apart && !take_char(reader, "/.")) || !take_digits(reader, 1, 2, &day))
        return false;
    if ((apart ? take_char(reader, "/.") : digits == 6)) {
        if (!take_digits(reader, 2, 2, &year) || digits_ahead(reader))
            return false;
        year += 100;
    }
    return set_date(reader, year, month - 1, day);
}

static bool take_named(struct time_reader *reader)
{
    static const struct {
        const char *word;
        int hour;
    } hours[] = {
        { "midnight", 0 }, { "noon", 12 }, { "elevenses", 11 }, { "fika", 15 }, { "teatime", 16 },
    };
    for (size_t i = 0; i < sizeof hours / sizeof *hours; i++)
        if (take_word(reader, hours[i].word))
            return set_time(reader, hours[i].hour * 3600);
    static const char *const days[] = { "yesterday", "today", "tomorrow" };
    int i = 0;
    while (i < 3 && !take_word(reader, days[i]))
        i++;
    if (i == 3)
        return false;
    struct tm day = reader->now;
    day.tm_mday += i - 1;
    day.tm_hour = 12;
    day.tm_isdst = -1;
    mktime(&day);
    return set_date(reader, day.tm_year, day.tm_mon, day.tm_mday);
}

static bool time_take_part(struct time_reader *reader)
{
    size_t digits = digits_ahead(reader);
    if (!digits)
        return take_named(reader);
    if (digits <= 2 && reader->at[digits] == ':')
        return take_clock(reader);
    const char *month = reader->at + digits + 1;
    bool iso = reader->at[digits] == '-' && month[strspn(month, "0123456789")] == '-';
    return iso ? take_iso_date(reader) : take_american_date(reader);
}

static bool time_finish(struct time_reader *reader, int64_t *time)
{
    if (!reader->has_date)
        set_date(reader, reader->now.tm_year, reader->now.tm_mon, reader->now.tm_mday);
    if (reader->year == NO_YEAR)
        reader->year = reader->now.tm_year - (reader->month > reader->now.tm_mon);
    struct tm date = { .tm_year = reader->year,
                       .tm_mon = reader->month,
                       .tm_mday = reader->day,
                       .tm_hour = reader->has_time ? reader->second_of_day / 3600 : 12,
                       .tm_min = reader->second_of_day / 60 % 60,
                       .tm_sec = reader->second_of_day % 60,
                       .tm_wday = -1, /* unchanged if mktime() fails */
                       .tm_isdst = -1 };
    *time = mktime(&date);
    /* mktime() turns 31 June into 1 July; reject such dates. */
    if (date.tm_wday < 0 || date.tm_mday != reader->day || date.tm_mon != reader->month)
        return false;
    if (!reader->has_time)
        *time = calendar_date_start(date);
    return true;
}

/* Parses the text after `now`: `+COUNT[UNIT]`, `-COUNT[UNIT]` or nothing. */
static bool add_delta(const char *text, int64_t now, int64_t *time)
{
    static const struct {
        const char *unit;
        int64_t seconds;
    } units[] = {
        { "", 1 },
        { "s", 1 },
        { "second", 1 },
        { "seconds", 1 },
        { "m", 60 },
        { "minute", 60 },
        { "minutes", 60 },
        { "h", 3600 },
        { "hour", 3600 },
        { "hours", 3600 },
        { "d", DAY_S },
        { "day", DAY_S },
        { "days", DAY_S },
        { "week", 7 * DAY_S },
        { "weeks", 7 * DAY_S },
    };
    text += strspn(text, " \t");
    *time = now;
    if (!*text)
        return true;
    if (*text != '+' && *text != '-')
        return false;
    bool before = *text == '-';
    text += 1 + strspn(text + 1, " \t");
    size_t digits = strspn(text, "0123456789");
    uint64_t count;
    if (!number_unsigned(text, digits, &count) || count > INT32_MAX)
        return false;
    text += digits + strspn(text + digits, " \t");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(text, units[i].unit)) {
            int64_t delta = (int64_t)count * units[i].seconds;
            *time = before ? now - delta : now + delta;
            return true;
        }
    return false;
}

static bool read_epoch(const char *text, int64_t *time)
{
    uint64_t epoch;
    if (!number_unsigned(text, strlen(text), &epoch) || epoch > (uint64_t)LATEST_TIME)
        return false;
    *time = (int64_t)epoch;
    return true;
}

/* Parses a date, a time of day, or both. */
static bool read_parts(const char *text, int64_t now, int64_t *time)
{
    struct time_reader reader = { .at = text };
    time_t clock = now;
    if (!localtime_r(&clock, &reader.now))
        return false;
    for (;;) {
        while (
            take_char(&reader, " \t-") ||
            (*reader.at == 'T' && isdigit((unsigned char)reader.at[1]) && take_char(&reader, "T")))
            ;
        if (!*reader.at)
            break;
        if (!time_take_part(&reader))
            return false;
    }
    return (reader.has_date || reader.has_time) && time_finish(&reader, time);
}

/* Parses `YYYY` or `YYYY-MM`.  East of Greenwich, 1970 begins before the first time. */
static bool read_month(const char *text, int64_t *time)
{
    struct time_reader reader = { .at = text };
    int year, month = 1;
    if (!take_digits(&reader, 4, 4, &year) || year < 1970 ||
        (take_char(&reader, "-") && !take_digits(&reader, 1, 2, &month)) || *reader.at ||
        !set_date(&reader, year - 1900, month - 1, 1) || !time_finish(&reader, time))
        return false;
    *time = *time < 0 ? 0 : *time;
    return true;
}

/* Parses `this UNIT` or `last UNIT`. */
static bool read_period(const char *text, int64_t now, int64_t *time)
{
    static const struct {
        const char *word;
        enum calendar_unit unit;
    } units[] = {
        { "day", CALENDAR_DAY },         { "week", CALENDAR_WEEK }, { "month", CALENDAR_MONTH },
        { "quarter", CALENDAR_QUARTER }, { "year", CALENDAR_YEAR },
    };
    struct time_reader reader = { .at = text };
    bool last = take_word(&reader, "last");
    if (!last && !take_word(&reader, "this"))
        return false;
    while (take_char(&reader, " \t-"))
        ;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(reader.at, units[i].word)) {
            *time = calendar_start(units[i].unit, now, last ? -1 : 0);
            return true;
        }
    return false;
}

static bool time_read_any(const char *text, int64_t now, int64_t *time)
{
    size_t digits = strspn(text, "0123456789");
    if (!strncasecmp(text, "uts", 3))
        return read_epoch(text + 3, time);
    if (!strncasecmp(text, "now", 3))
        return add_delta(text + 3, now, time);
    if (text[digits] || digits == 4 || digits == 6)
        return read_month(text, time) || read_period(text, now, time) ||
               read_parts(text, now, time) || (!text[digits] && read_epoch(text, time));
    return read_epoch(text, time);
}

bool time_read(const char *text, int64_t now, int64_t *time)
{
    return time_read_any(text, now, time) && *time >= 0 && *time <= LATEST_TIME;
}

bool time_parse(const char *text, int64_t *epoch)
{
    static const char form[] = "0000-00-00T00:00:00";
    size_t length = strlen(text);
    if (number_signed(text, length, epoch))
        return true;
    if (length != strlen("0000-00-00") && length != strlen("0000-00-00T00:00") &&
        length != strlen(form))
        return false;
    for (size_t i = 0; i < length; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return read_parts(text, 0, epoch);
}

static struct instant_text time_format(int64_t instant, const char *format)
{
    struct instant_text shown;
    struct tm date;
    time_t time = instant;
    if (!localtime_r(&time, &date) || !strftime(shown.bytes, sizeof shown.bytes, format, &date))
        snprintf(shown.bytes, sizeof shown.bytes, "%" PRId64, instant);
    return shown;
}

struct instant_text time_text(int64_t time)
{
    return time_format(time, "%Y-%m-%dT%H:%M:%S");
}

struct instant_text time_day_text(int64_t time)
{
    return time_format(time, "%Y-%m-%d");
}

void time_add(struct text *text, int64_t time)
{
    text_add(text, time_text(time).bytes);
}

void time_add_day(struct text *text, int64_t time)
{
    text_add(text, time_day_text(time).bytes);
}
