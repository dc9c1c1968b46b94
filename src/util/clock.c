/* SPDX-License-Identifier: MIT */
#include "util/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/error.h"
#include "util/number.h"
#include "util/times.h"

static bool stopped;
static int64_t stopped_at;

static bool clock_parse(const char *text, int64_t *time)
{
    static const char format[] = "%Y-%m-%dT%H:%M:%SZ";
    struct tm date = { 0 };
    char again[32] = "";
    if (number_signed(text, strlen(text), time))
        return *time >= 0 && *time <= LATEST_TIME;
    const char *end = strptime(text, format, &date);
    if (!end || *end)
        return false;
    *time = timegm(&date);
    /* timegm() turns 31 June into 1 July; reject such dates. */
    return *time >= 0 && strftime(again, sizeof again, format, &date) && !strcmp(again, text);
}

int clock_begin(struct error *err)
{
    const char *given = getenv("FAIRMILL_NOW");
    if (!given || clock_parse(given, &stopped_at)) {
        stopped = given != NULL;
        return 0;
    }
    return fail(err, ERROR_SETTINGS,
                "FAIRMILL_NOW='%s': must be a time such as 2025-06-21T10:00:00Z, or epoch seconds",
                given);
}

int64_t clock_now(void)
{
    return stopped ? stopped_at : (int64_t)time(NULL);
}

bool clock_is_stopped(void)
{
    return stopped;
}
