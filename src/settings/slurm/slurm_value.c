/* SPDX-License-Identifier: MIT */
#include "settings/slurm/slurm_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/number.h"
#include "util/text.h"

static bool slurm_value_is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (!strcasecmp(text, *words))
            return true;
    return false;
}

static bool is_unlimited(const char *text)
{
    static const char *const words[] = { "infinite", "unlimited", NULL };
    return slurm_value_is_one_of(text, words);
}

/*
 * Parses numbers separated by colons.  Returns the count of numbers, or 0 if the text is invalid.
 */
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
        /* Slurm accepts `7-` as seven days. */
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
    *value = slurm_value_is_one_of(text, yes);
    return *value || slurm_value_is_one_of(text, no);
}

bool slurm_count(const char *bytes, size_t length, uint64_t *count)
{
    unsigned shift = 10 * binary_suffix(bytes, &length);
    return number_unsigned(bytes, length, count) &&
           !__builtin_mul_overflow(*count, UINT64_C(1) << shift, count);
}

#define SEPARATORS ", \t\r\n\v\f"
#define DIGITS "0123456789"

/* Maximum number of names that Slurm accepts in one range. */
#define RANGE_AT_MOST 65536
#define BRACKETS_AT_MOST 8

static const char too_many[] = "names too many hosts";

/* A range such as `1-4` or `007`.  Names are padded with zeros to the width of the first number. */
struct slurm_value_range {
    uint64_t first, last;
    int width;
};

static bool range_parse(const char **at, struct slurm_value_range *range)
{
    size_t length = strspn(*at, DIGITS);
    if (length > 18 || !number_unsigned(*at, length, &range->first))
        return false;
    range->width = (int)length;
    range->last = range->first;
    *at += length;
    if (**at == '-') {
        ++*at;
        length = strspn(*at, DIGITS);
        if (!number_unsigned(*at, length, &range->last) || range->last < range->first)
            return false;
        *at += length;
    }
    return range->last - range->first < RANGE_AT_MOST;
}

/* Advances `*at` over the brackets.  Returns how many numbers they contain, or 0 if invalid. */
static size_t brackets_count(const char **at)
{
    size_t count = 0;
    struct slurm_value_range range;
    do {
        ++*at;
        if (!range_parse(at, &range))
            return 0;
        count += range.last - range.first + 1;
    } while (**at == ',');
    return *(*at)++ == ']' ? count : 0;
}

/*
 * Counts the names in one item of a list and sets `*end` to the end of the item.  Returns NULL or
 * an error, like slurm_hosts_expand().
 */
static const char *count_names(const char *part, const char **end, size_t *count)
{
    unsigned brackets = 0;
    *count = 1;
    for (;;) {
        part += strcspn(part, SEPARATORS "[]");
        if (*part != '[')
            break;
        size_t each = brackets_count(&part);
        if (!each)
            return "brackets must contain ranges such as [1-4,7], each with at most 65536 hosts";
        if (++brackets > BRACKETS_AT_MOST || __builtin_mul_overflow(*count, each, count))
            return too_many;
    }
    *end = part;
    return *part == ']' ? "contains a ']' without a '['" : NULL;
}

/*
 * Recursively expands the remaining text of a list item.  `name` holds the expanded text before it.
 */
static void slurm_value_take_names(struct slurm_hosts *hosts, const char *part, const char *end,
                                   struct text *name)
{
    size_t plain = strcspn(part, SEPARATORS "["); /* stops at `end`, which is a separator or NUL */
    text_add_bytes(name, part, plain);
    part += plain;
    if (part == end) {
        hosts->take(hosts->context, name->bytes, name->length);
        return;
    }
    const char *behind = part + strcspn(part, "]") + 1;
    size_t length = name->length;
    struct slurm_value_range range;
    do {
        part++;
        range_parse(&part, &range);
        for (uint64_t number = range.first; number <= range.last; number++) {
            text_format(name, "%0*" PRIu64, range.width, number);
            slurm_value_take_names(hosts, behind, end, name);
            name->length = length;
        }
    } while (*part == ',');
}

const char *slurm_hosts_expand(struct slurm_hosts *hosts, const char *list)
{
    struct text name = { 0 };
    const char *wrong = NULL;
    while (!wrong && *(list += strspn(list, SEPARATORS))) {
        const char *end;
        size_t count;
        wrong = count_names(list, &end, &count);
        if (!wrong && count > *hosts->left)
            wrong = too_many;
        if (wrong)
            break;
        *hosts->left -= count;
        name.length = 0;
        slurm_value_take_names(hosts, list, end, &name);
        list = end;
    }
    text_free(&name);
    return wrong;
}
