/* SPDX-License-Identifier: MIT */
#include "settings/slurm/slurm_hosts.h"

#include <inttypes.h>
#include <string.h>

#include "util/number.h"
#include "util/text.h"

#define SEPARATORS ", \t\r\n\v\f"
#define DIGITS "0123456789"

/* The most numbers that Slurm accepts in one range. */
#define RANGE_AT_MOST 65536
#define BRACKETS_AT_MOST 8

static const char too_many[] = "names too many hosts";

/* `1-4` or `007`; names get as many digits as the first number has. */
struct range {
    uint64_t first, last;
    int width;
};

static bool range_parse(const char **at, struct range *range)
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

/* Step over the ranges in brackets and count their numbers; 0 where they are none. */
static size_t brackets_count(const char **at)
{
    size_t count = 0;
    struct range range;
    do {
        ++*at;
        if (!range_parse(at, &range))
            return 0;
        count += range.last - range.first + 1;
    } while (**at == ',');
    return *(*at)++ == ']' ? count : 0;
}

/* How many names there are in one part of a list; *end is where the part ends. */
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
            return "has brackets without ranges such as [1-4,7], of 65536 hosts at most";
        if (++brackets > BRACKETS_AT_MOST || __builtin_mul_overflow(*count, each, count))
            return too_many;
    }
    *end = part;
    return *part == ']' ? "has a ] without its [" : NULL;
}

/* Expand the rest of a part, whose beginning is in `name`. */
static void take_names(struct slurm_hosts *hosts, const char *part, const char *end,
                       struct text *name)
{
    size_t plain = strcspn(part, SEPARATORS "["); /* no further than the end */
    text_add_bytes(name, part, plain);
    part += plain;
    if (part == end) {
        hosts->take(hosts->context, name->bytes, name->length);
        return;
    }
    const char *behind = part + strcspn(part, "]") + 1;
    size_t length = name->length;
    struct range range;
    do {
        part++;
        range_parse(&part, &range);
        for (uint64_t number = range.first; number <= range.last; number++) {
            text_format(name, "%0*" PRIu64, range.width, number);
            take_names(hosts, behind, end, name);
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
        take_names(hosts, list, end, &name);
        list = end;
    }
    text_free(&name);
    return wrong;
}
