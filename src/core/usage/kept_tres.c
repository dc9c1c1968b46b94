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

/* A number of this many digits always fits into 64 bits. */
#define SAFE_DIGITS 19

/* Reads digits from `*at` on.  Returns UINT64_MAX if the number is too large. */
static inline uint64_t read_digits(const char **at, const char *end)
{
    const char *next = *at;
    uint64_t number = 0;
    unsigned digit;
    for (; next < end && (digit = (unsigned)*next - '0') < 10; next++)
        number = number * 10 + digit;
    if (next - *at > SAFE_DIGITS) {
        number = 0;
        for (const char *each = *at; each < next && number != UINT64_MAX; each++)
            number =
                number > UINT64_MAX / 10 - 1 ? UINT64_MAX : number * 10 + (uint64_t)(*each - '0');
    }
    *at = next;
    return number;
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

/* Writes the number and the sum in front of `end`.  Returns the beginning. */
static char *write_tres_sum(char *end, unsigned number, int128 sum)
{
    uint128 bits = sum < 0 ? -(uint128)sum : (uint128)sum;
    uint64_t low = (uint64_t)bits, high = (uint64_t)(bits >> 64);
    for (unsigned digits = 0; high ? digits < 16 : low > 0; digits++, low >>= 4)
        *--end = "0123456789abcdef"[low & 15];
    for (; high; high >>= 4)
        *--end = "0123456789abcdef"[high & 15];
    if (sum < 0)
        *--end = '-';
    *--end = '=';
    for (; number; number /= 10)
        *--end = (char)('0' + number % 10);
    return end;
}

/* Called for each association, for which text_format() would be too slow. */
void tres_sums_write(const struct kept_tres *kept, const int128 *sums, struct text *text)
{
    size_t begin = text->length;
    char room[64], *end = room + sizeof room;
    for (size_t k = 0; k < kept->count; k++) {
        if (!sums[k])
            continue;
        char *from = write_tres_sum(end, kept->tres[k].number, sums[k]);
        if (text->length > begin)
            *--from = ',';
        text_add_bytes(text, from, (size_t)(end - from));
    }
}

/* The value of a hexadecimal digit plus 1; 0 for all other characters. */
static const unsigned char digit_values[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

/* Reads up to 16 hexadecimal digits from `*at` on. */
static uint64_t read_word(const char **at, const char *end)
{
    const char *next = *at, *stop = end - next > 16 ? next + 16 : end;
    uint64_t word = 0;
    unsigned value;
    for (; next < stop && (value = digit_values[(unsigned char)*next]); next++)
        word = word << 4 | (value - 1);
    *at = next;
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
