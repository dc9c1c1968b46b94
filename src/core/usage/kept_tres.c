/* SPDX-License-Identifier: MIT */
#include "core/usage/kept_tres.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/usage/usage.h"
#include "util/memory.h"
#include "util/text.h"

void tres_numbers_free(struct tres_numbers *numbers)
{
    for (size_t i = 0; i < KEPT_TRES_LIMIT; i++)
        free(numbers->names[i]);
    *numbers = (struct tres_numbers){ 0 };
}

unsigned tres_numbers_used(const struct tres_numbers *numbers)
{
    unsigned used = KEPT_TRES_LIMIT;
    while (used && !numbers->names[used - 1])
        used--;
    return used;
}

/* Returns the number of a name, assigning a free one if needed, or 0 if no number is free. */
static unsigned number_of(struct tres_numbers *numbers, const char *name)
{
    unsigned unused = 0;
    for (unsigned i = KEPT_TRES_LIMIT; i-- > 0;) {
        if (!numbers->names[i])
            unused = i + 1;
        else if (!strcasecmp(numbers->names[i], name))
            return i + 1;
    }
    if (!unused)
        return 0;
    numbers->names[unused - 1] = memory_text(name);
    return unused;
}

static void add_lacking(struct text *lacking, const char *name)
{
    text_format(lacking, "%s%s", lacking->length ? ", " : "", name);
}

static void keep(struct kept_tres *kept, const struct tres_name *tres, struct tres_numbers *numbers,
                 struct text *lacking)
{
    unsigned number = number_of(numbers, tres->name);
    size_t at = kept->count;
    if (!number) {
        add_lacking(lacking, tres->name);
        return;
    }
    while (at && kept->tres[at - 1].number > number)
        at--;
    if (at && kept->tres[at - 1].number == number)
        return;
    memmove(&kept->tres[at + 1], &kept->tres[at], (kept->count++ - at) * sizeof *kept->tres);
    kept->tres[at] = (struct kept_tres_one){ tres->id, number, numbers->names[number - 1] };
}

static bool is_automatic(const struct tres_name *tres)
{
    return tres->automatic || !strcasecmp(tres->name, "cpu") || !strcasecmp(tres->name, "node") ||
           !strncasecmp(tres->name, "gres/", 5);
}

void kept_tres_choose(struct kept_tres *kept, const char *wanted, const struct tres_name *all,
                      size_t count, struct tres_numbers *numbers, struct text *lacking)
{
    *kept = (struct kept_tres){ 0 };
    if (!strcasecmp(wanted, "none"))
        return;
    if (!strcasecmp(wanted, "auto")) {
        for (size_t i = 0; i < count; i++)
            if (is_automatic(&all[i]))
                keep(kept, &all[i], numbers, lacking);
        return;
    }
    for (char *name; (name = list_next(&wanted)); free(name)) {
        size_t i = 0;
        while (i < count && strcasecmp(all[i].name, name) != 0)
            i++;
        if (i < count)
            keep(kept, &all[i], numbers, lacking);
        else
            add_lacking(lacking, name);
    }
}

size_t kept_tres_find(const struct kept_tres *kept, uint64_t id)
{
    size_t i = 0;
    while (i < kept->count && kept->tres[i].id != id)
        i++;
    return i;
}

/* Reads digits from `*at` on.  Returns UINT64_MAX if the number is too large. */
static inline uint64_t read_digits(const char **at, const char *end)
{
    uint64_t number = 0;
    bool overflows = false;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        overflows |= number > UINT64_MAX / 10 - 1;
        number = number * 10 + (uint64_t)(**at - '0');
    }
    return overflows ? UINT64_MAX : number;
}

/* Called for each job row, so each byte is looked at once. */
bool kept_tres_counts(const struct kept_tres *kept, const char *list, size_t length,
                      uint64_t *counts)
{
    const char *at = list, *end = list + length;
    bool any = false;
    for (size_t k = 0; k < kept->count; k++)
        counts[k] = 0;
    for (; at < end; at++) {
        uint64_t id = read_digits(&at, end), count = UINT64_MAX;
        if (at < end && *at == '=' && ++at < end && *at != ',')
            count = read_digits(&at, end);
        size_t k = at == end || *at == ',' ? kept_tres_find(kept, id) : kept->count;
        for (; at < end && *at != ','; at++)
            continue;
        if (k == kept->count || counts[k] || count >= TRES_NO_VALUE)
            continue;
        counts[k] = count;
        any |= count > 0;
    }
    return any;
}

static void add_hexadecimal(struct text *text, int128 sum)
{
    uint128 bits = sum < 0 ? -(uint128)sum : (uint128)sum;
    uint64_t high = (uint64_t)(bits >> 64);
    if (high)
        text_format(text, "%s%" PRIx64 "%016" PRIx64, sum < 0 ? "-" : "", high, (uint64_t)bits);
    else
        text_format(text, "%s%" PRIx64, sum < 0 ? "-" : "", (uint64_t)bits);
}

void tres_sums_write(const struct kept_tres *kept, const int128 *sums, struct text *text)
{
    size_t begin = text->length;
    for (size_t k = 0; k < kept->count; k++) {
        if (!sums[k])
            continue;
        text_format(text, "%s%u=", text->length > begin ? "," : "", kept->tres[k].number);
        add_hexadecimal(text, sums[k]);
    }
}

static int hexadecimal_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads up to 16 hexadecimal digits from `*at` on. */
static uint64_t read_word(const char **at, const char *end)
{
    const char *stop = end - *at > 16 ? *at + 16 : end;
    uint64_t word = 0;
    int digit;
    for (; *at < stop && (digit = hexadecimal_digit(**at)) >= 0; ++*at)
        word = word << 4 | (unsigned)digit;
    return word;
}

/* Reads a sum from `at` up to `end` or a comma.  Returns the position after it, or NULL. */
static const char *read_hexadecimal(const char *at, const char *end, int128 *sum)
{
    bool negative = at < end && *at == '-';
    const char *begin = at += negative;
    uint128 bits = read_word(&at, end);
    if (at - begin == 16) {
        const char *middle = at;
        uint64_t low = read_word(&at, end);
        bits = bits << 4 * (at - middle) | low;
    }
    *sum = negative ? -(int128)bits : (int128)bits;
    return at == begin || (at < end && *at != ',') ? NULL : at;
}

bool tres_sums_read(const struct kept_tres *kept, const char *text, size_t length, int128 *sums)
{
    const char *at = text, *end = text + length;
    memset(sums, 0, kept->count * sizeof *sums);
    for (size_t k = 0; at < end; at++) {
        unsigned number = 0;
        int128 sum;
        for (; at < end && *at >= '0' && *at <= '9' && number < 1000; at++)
            number = number * 10 + (unsigned)(*at - '0');
        if (!number || at == end || *at != '=' || !(at = read_hexadecimal(at + 1, end, &sum)))
            return false;
        while (k < kept->count && kept->tres[k].number < number)
            k++;
        if (k < kept->count && kept->tres[k].number == number)
            sums[k] = sum;
    }
    return true;
}
