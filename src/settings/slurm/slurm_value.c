/* SPDX-License-Identifier: MIT */
#include "settings/slurm/slurm_value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/number.h"

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (!strcasecmp(text, *words))
            return true;
    return false;
}

static bool is_unlimited(const char *text)
{
    static const char *const words[] = { "infinite", "unlimited", NULL };
    return is_one_of(text, words);
}

/* Read numbers with colons between them.  Returns how many there are; 0 where the text is wrong. */
static size_t numbers(const char *text, uint64_t *found, size_t at_most)
{
    for (size_t count = 0; count < at_most;) {
        size_t length = strspn(text, "0123456789");
        if (!number_unsigned(text, length, &found[count++]))
            return 0;
        text += length;
        if (!*text)
            return count;
        if (*text++ != ':')
            return 0;
    }
    return 0;
}

bool slurm_minutes(const char *text, uint64_t *minutes)
{
    static const uint64_t with_days[] = { 3600, 60, 1 };
    static const uint64_t alone[] = { 60, 1 };
    if (is_unlimited(text) || !strcmp(text, "-1")) {
        *minutes = SLURM_UNLIMITED;
        return true;
    }
    uint64_t seconds = 0, found[3];
    const uint64_t *each = with_days;
    size_t count = 0, length = strspn(text, "0123456789");
    if (text[length] == '-') {
        uint64_t days;
        if (!number_unsigned(text, length, &days) || !add_product(&seconds, days, 86400))
            return false;
        text += length + 1;
        /* `7-` is seven days, too. */
        if (*text && !(count = numbers(text, found, 3)))
            return false;
    } else {
        count = numbers(text, found, 3);
        if (!count)
            return false;
        if (count < 3)
            each = alone;
    }
    for (size_t i = 0; i < count; i++)
        if (!add_product(&seconds, found[i], each[i]))
            return false;
    *minutes = seconds / 60 + (seconds % 60 != 0);
    return true;
}

bool slurm_number(const char *text, uint64_t limit, uint64_t *number)
{
    if (is_unlimited(text)) {
        *number = limit;
        return true;
    }
    text += *text == '+';
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    if (errno)
        return false;
    if (limit == UINT32_MAX && (*end == 'k' || *end == 'K')) {
        end++;
        if (__builtin_mul_overflow(value, UINT64_C(1024), &value))
            return false;
    }
    *number = value;
    return !*end && value <= limit;
}

bool slurm_weight(const char *text, struct slurm_weight *weight)
{
    static const char units[] = "KMGTP";
    char *end;
    errno = 0;
    weight->number = strtod(text, &end);
    weight->length = (size_t)(end - text);
    if (errno || end == text || !isfinite(weight->number))
        return false;
    const char *unit = strchr(units, toupper((unsigned char)*end));
    weight->steps = *end && unit ? (unsigned)(unit + 1 - units) : 0;
    return unit != NULL;
}

bool slurm_boolean(const char *text, bool *value)
{
    static const char *const yes[] = { "yes", "up", "true", "1", NULL };
    static const char *const no[] = { "no", "down", "false", "0", NULL };
    *value = is_one_of(text, yes);
    return *value || is_one_of(text, no);
}

bool slurm_count(const char *bytes, size_t length, uint64_t *count)
{
    unsigned shift = 10 * binary_suffix(bytes, &length);
    return number_unsigned(bytes, length, count) &&
           !__builtin_mul_overflow(*count, UINT64_C(1) << shift, count);
}
