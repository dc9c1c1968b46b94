/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <strings.h>

#include "settings/slurm/slurm_value.h"
#include "util/number.h"
#include "util/times.h"

/* Reads short texts as durations, times, numbers and lists of hosts. */

static void take_name(void *context, const char *name, size_t length)
{
    must(length > 0 && strlen(name) == length, "a host has a name");
    ++*(size_t *)context;
}

static void spans(const char *text)
{
    uint64_t seconds, minutes;
    bool ours = time_string_parse(text, &seconds), slurms = slurm_minutes(text, &minutes);
    must(!ours || strpbrk(text, " smhdw") || (slurms && minutes == seconds / 60),
         "Slurm accepts all of fairmill's time strings without a unit");
    must(!slurms || minutes == SLURM_UNLIMITED || minutes <= UINT64_MAX / 60 + 1,
         "no duration overflows");
    duration_parse(text, &seconds);
    int64_t epoch;
    time_parse(text, &epoch);
}

/* Sunday, 2026-11-22T19:03:35 UTC. */
#define NOW INT64_C(1795374215)

static void times(const char *text)
{
    int64_t time, again;
    setenv("TZ", "UTC", 1); /* in other zones, a printed time may occur twice */
    if (!time_read(text, NOW, &time))
        return;
    must(time >= 0 && time <= LATEST_TIME, "a time is from 1970 to 9999");
    must(time_read(time_text(time).bytes, NOW, &again) && again == time,
         "a printed time is read as itself");
    if (!strncasecmp(text, "last", 4) || !strncasecmp(text, "this", 4))
        must(time <= NOW && time % 86400 == 0, "a period begins at a midnight before now");
}

static void numbers(const char *text)
{
    uint64_t number = 0, count;
    int64_t integer;
    double real;
    bool yes;
    char again[32];
    size_t length = strlen(text);
    bool natural = number_unsigned(text, length, &number);
    bool digits = length && !text[strspn(text, "0123456789")];
    const char *first = text + strspn(text, "0");
    snprintf(again, sizeof again, "%" PRIu64, number);
    must(natural ? digits && !strcmp(again, *first ? first : "0") : !digits || strlen(first) >= 20,
         "a number equals its digits");
    must(!natural || number > INT64_MAX ||
             (number_signed(text, length, &integer) && integer == (int64_t)number),
         "an unsigned number is read as a positive signed one");
    must(!natural || (slurm_count(text, length, &count) && count == number),
         "every number is a count");
    must(!number_real(text, &real) || isfinite(real), "real numbers are finite");
    must(!slurm_number(text, 1000, &number) || number <= 1000, "numbers are within their limits");
    slurm_boolean(text, &yes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = text_of(bytes, size);
    size_t names = 0, left = 10000;
    struct slurm_hosts hosts = { take_name, &names, &left };
    slurm_hosts_expand(&hosts, text);
    must(names + left == 10000, "the number of hosts matches the count");
    spans(text);
    times(text);
    numbers(text);
    free(text);
    return 0;
}
