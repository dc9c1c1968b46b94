/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <stdbool.h>

#include "core/usage/usage.h"

/* Reads a list of TRES.  The first byte determines the id. */

/* A second implementation of tres_count(). */
static enum tres_reading count_again(char *list, uint64_t id, uint64_t *count)
{
    for (char *item = list, *next; item; item = next) {
        next = strchr(item, ',');
        if (next)
            *next++ = '\0';
        size_t length = strspn(item, "0123456789"), noughts = strspn(item, "0");
        char *value = item + length;
        if (!length || length - noughts > 9 || strtoull(item, NULL, 10) != id ||
            (*value && *value != '='))
            continue;
        if (!*value || !value[1] || value[1 + strspn(value + 1, "0123456789")])
            return TRES_UNREADABLE;
        value++;
        value += strspn(value, "0");
        static const char limit[] = "18446744073709551614";
        if (strlen(value) > strlen(limit) ||
            (strlen(value) == strlen(limit) && strcmp(value, limit) >= 0))
            return TRES_UNREADABLE;
        *count = strtoull(value, NULL, 10);
        return TRES_FOUND;
    }
    return TRES_ABSENT;
}

/* Checks that a weighted charge results from the counts of its TRES. */
static void charge_again(const char *list, size_t length)
{
    static const struct tres_rate rates[] = { { 1, false, 5, 5 },
                                              { 2, true, 7, 7 },
                                              { 4, true, 1, 1 } };
    const struct charge_rate rate = { .tres_count = 3, .tres = rates };
    uint128 highest = 0, sum = 0;
    bool readable = true;
    for (size_t i = 0; i < rate.tres_count; i++) {
        uint64_t count = 0;
        readable = tres_count(list, length, rates[i].id, &count) != TRES_UNREADABLE && readable;
        uint128 part = rates[i].rate * count;
        if (!rates[i].in_maximum)
            sum += part;
        else if (part > highest)
            highest = part;
    }
    enum job_outcome outcome;
    uint128 units = tres_charge(CHARGE_TRES, &rate, list, length, &outcome);
    must((outcome == JOB_CHARGED) == readable, "a charge requires that all counts are readable");
    must(units == (readable ? sum + highest : 0), "both computations of weighted TRES agree");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1 || memchr(bytes, '\0', size))
        return 0;
    /* A copy without a terminating NUL, so that the sanitizer detects reads beyond its length. */
    size_t length = size - 1;
    char *exact = malloc(length ? length : 1), *list = text_of(bytes + 1, length);
    uint64_t id = bytes[0] % 12 + 1, count = 0, again = 0;
    must(exact != NULL, "memory is available");
    memcpy(exact, list, length);
    enum tres_reading reading = tres_count(exact, length, id, &count);
    must(reading == count_again(list, id, &again), "both parsers of a TRES list agree");
    must(reading != TRES_FOUND || count == again, "both parsers of a TRES count agree");
    charge_again(exact, length);
    free(exact);
    free(list);
    return 0;
}
