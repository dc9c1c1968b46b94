/* SPDX-License-Identifier: MIT */
#include "command/option_values.h"

#include <string.h>

#include "util/calendar.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/number.h"

int64_t option_time_or_now(const struct option_time *time)
{
    return time->text ? time->at : clock_now();
}

int option_list_one(const struct name_list *list, const char *what, const char **one,
                    struct error *err)
{
    *one = list->count ? list->values[0] : NULL;
    for (size_t i = 1; i < list->count; i++)
        if (strcmp(list->values[i], *one) != 0)
            return fail(err, ERROR_USAGE, "--%s accepts one name here, not '%s' and '%s'", what,
                        *one, list->values[i]);
    return 0;
}

int option_count(const char *option, const char *text, uint64_t *count, struct error *err)
{
    if (!text || (number_unsigned(text, strlen(text), count) && *count))
        return 0;
    return fail(err, ERROR_USAGE, "--%s '%s': must be a whole number above 0", option, text);
}

int option_duration(const char *option, const char *text, const char *fallback, uint64_t *seconds,
                    struct error *err)
{
    if (duration_parse(text ? text : fallback, seconds) && *seconds && *seconds <= INT32_MAX)
        return 0;
    return fail(err, ERROR_USAGE, "--%s '%s': must be a duration, such as 90s, 30m, 12h or 7d",
                option, text);
}

const struct option_period *option_period(const char *option, const char *text, struct error *err)
{
    static const struct option_period periods[] = { { "month", calendar_end_of_month },
                                                    { "week", calendar_end_of_week },
                                                    { "day", calendar_end_of_day } };
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
        if (!strcmp(periods[i].name, text))
            return &periods[i];
    fail(err, ERROR_USAGE, "--%s '%s': must be month, week or day", option, text);
    return NULL;
}
