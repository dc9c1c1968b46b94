/* SPDX-License-Identifier: MIT */
#include "report/printed.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

struct span span_trimmed(struct span span)
{
    while (span.length && (*span.bytes == ' ' || *span.bytes == '\t'))
        span = (struct span){ span.bytes + 1, span.length - 1 };
    while (span.length && strchr(" \t\r", span.bytes[span.length - 1]))
        span.length--;
    return span;
}

bool span_begins(struct span span, const char *text)
{
    return span.length >= strlen(text) && !memcmp(span.bytes, text, strlen(text));
}

bool span_is(struct span span, const char *text)
{
    return span.length == strlen(text) && !strncasecmp(span.bytes, text, span.length);
}

struct span span_find(struct span span, const char *text)
{
    const char *at = span.length ? memmem(span.bytes, span.length, text, strlen(text)) : NULL;
    return at ? (struct span){ at, span.length - (size_t)(at - span.bytes) }
              : (struct span){ NULL, 0 };
}

struct span span_until(struct span span, char end, struct span *rest)
{
    const char *at = span.length ? memchr(span.bytes, end, span.length) : NULL;
    size_t length = at ? (size_t)(at - span.bytes) : span.length;
    size_t taken = length + (at != NULL);
    *rest = (struct span){ span.bytes + taken, span.length - taken };
    return (struct span){ span.bytes, length };
}

const char *span_copy(struct arena *arena, struct span span)
{
    return arena_copy(arena, span.bytes, span.length);
}

const char *span_utf8(struct arena *arena, struct span span)
{
    return utf8_copy_in(arena, span.bytes, span.length);
}

struct span span_word(struct span span, struct span *rest)
{
    span = span_trimmed(span);
    size_t length = 0;
    while (length < span.length && span.bytes[length] != ' ' && span.bytes[length] != '\t')
        length++;
    *rest = (struct span){ span.bytes + length, span.length - length };
    return (struct span){ span.bytes, length };
}

/* Returns half a unit of the last digit; 0 if the number was printed in full precision. */
static double rounding_of(struct span span, int decimals)
{
    const char *point = memchr(span.bytes, '.', span.length);
    const char *exponent = memchr(span.bytes, 'e', span.length);
    const char *end = exponent ? exponent : span.bytes + span.length;
    int behind = point && point < end ? (int)(end - point) - 1 : 0;
    /* If a number is too wide for its column, Slurm prints as many digits as fit. */
    double power = 0;
    if ((exponent || decimals == PRINTED_CUT) && (!behind || behind > 13))
        return 0;
    if (exponent)
        (void)number_real(exponent + 1 + (exponent[1] == '+'), &power);
    else if (decimals != PRINTED_CUT && behind != decimals)
        return 0;
    return 0.5 * pow(10, power - behind);
}

bool printed_number_read(struct printed_number *number, struct span span, int decimals)
{
    char text[64];
    double value;
    *number = NOT_PRINTED;
    if (!span.length)
        return true;
    if (span.length >= sizeof text)
        return false;
    memcpy(text, span.bytes, span.length);
    text[span.length] = '\0';
    if (span_is(span, "inf"))
        value = INFINITY;
    else if (!number_real(text, &value))
        return false;
    *number = (struct printed_number){ value, value };
    if (isinf(value))
        return true;
    double error =
        fmax(rounding_of((struct span){ text, span.length }, decimals), fabs(value) * 4e-16);
    if (decimals == PRINTED_CUT && strspn(text, "0123456789") == span.length)
        number->high = value + 1;
    else
        *number = (struct printed_number){ value - error, value + error };
    if (*text != '-')
        number->low = fmax(number->low, 0);
    return isfinite(number->low) && isfinite(number->high);
}

bool printed_is_there(const struct printed_number *number)
{
    return !isnan(number->low);
}

double printed_middle(const struct printed_number *number)
{
    return isinf(number->low) ? number->low : number->low + (number->high - number->low) / 2;
}

static bool is_digits(struct span span)
{
    for (size_t i = 0; i < span.length; i++)
        if (span.bytes[i] < '0' || span.bytes[i] > '9')
            return false;
    return span.length != 0;
}

static enum print_kind kind_of_line(struct span line)
{
    struct span rest, word = span_word(line, &rest);
    if (span_begins(line, "Current Association Manager state") ||
        span_begins(line, "Association Records") || span_begins(line, "User Records") ||
        span_begins(word, "ClusterName="))
        return PRINT_OF_ASSOC_MGR;
    if (span_begins(line, "Fairshare usage units are in:") ||
        span_begins(line, "fairshare entity:") || span_find(line, ": Grp: ").bytes)
        return PRINT_OF_PBSFS;
    if (*line.bytes == '{' || *line.bytes == '[' || span_is(line, "---") ||
        span_begins(line, "%YAML") || span_is(line, "shares:"))
        return PRINT_OF_JSON;
    bool bars = memchr(line.bytes, '|', line.length) != NULL;
    struct span first = bars ? span_trimmed(span_until(line, '|', &rest)) : word;
    if ((bars && is_digits(first)) || span_is(first, "Weights"))
        return PRINT_OF_SPRIO;
    for (struct span left = line; left.length;) {
        struct span cell = span_until(left, '|', &left);
        for (word = span_word(cell, &cell); word.length; word = span_word(cell, &cell))
            if (span_is(word, "JOBID"))
                return PRINT_OF_SPRIO;
    }
    return PRINT_OF_SSHARE;
}

enum print_kind print_kind_of(struct span text)
{
    while (text.length) {
        struct span line = span_trimmed(span_until(text, '\n', &text));
        if (line.length && !span_begins(line, "CLUSTER:"))
            return kind_of_line(line);
    }
    return PRINT_OF_SSHARE;
}

int printed_wrong(unsigned line, const char *what, struct error *err)
{
    return fail(err, ERROR_DATA, "line %u: %s", line, what);
}

int printed_no_such(unsigned line, struct span span, const char *what, struct error *err)
{
    return fail(err, ERROR_DATA, "line %u: '%.*s' is not a valid %s", line,
                (int)(span.length < 100 ? span.length : 100), span.bytes, what);
}
