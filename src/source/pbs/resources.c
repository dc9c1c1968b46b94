/* SPDX-License-Identifier: MIT */
#include "source/pbs/resources.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "util/number.h"

#define WORD_BYTES 8

static bool is_word(struct part text, const char *word)
{
    return text.length == strlen(word) && !strncasecmp(text.bytes, word, text.length);
}

/* What stands behind a size, in kilobytes; 0: it is no size. */
static double unit_of(const char *suffix)
{
    static const char prefixes[] = "kmgtp";
    double unit = 1.0 / 1024;
    const char *prefix = *suffix ? strchr(prefixes, *suffix | 0x20) : NULL;
    if (prefix) {
        unit = ldexp(1, 10 * (int)(prefix - prefixes));
        suffix++;
    }
    if (!strcasecmp(suffix, "w"))
        return unit * WORD_BYTES;
    return !strcasecmp(suffix, "b") || (prefix && !*suffix) ? unit : 0;
}

static double number_of(struct part text)
{
    char copy[64];
    uint64_t seconds;
    double number;
    if (is_word(text, "true"))
        return 1;
    if (clock_span_parse(text.bytes, text.length, &seconds))
        return (double)seconds;
    if (text.length >= sizeof copy)
        return 0;
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = '\0';
    if (number_real(copy, &number))
        return isfinite(number) ? number : 0;
    size_t digits = strspn(copy, "0123456789.");
    double unit = unit_of(copy + digits);
    copy[digits] = '\0';
    /* OpenPBS counts whole kilobytes, a part of one as one. */
    return unit > 0 && number_real(copy, &number) ? ceil(number * unit) : 0;
}

struct formula_value resource_value(struct part text)
{
    double number = number_of(text);
    return (struct formula_value){ number, number == floor(number) };
}
