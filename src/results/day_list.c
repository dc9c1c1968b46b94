/* SPDX-License-Identifier: MIT */
#include "results/day_list.h"

#include "core/usage/clock.h"
#include "core/number/wide.h"
#include "results/rows.h"

struct day_list day_list_of(struct day_sums *sums)
{
    struct day_list list = { 0 };
    list.rows = day_sums_sorted(sums, &list.count);
    return list;
}

bool day_list_next_pair(struct day_list *old, struct day_list *new, const struct day_sum **one,
                        const struct day_sum **other)
{
    *one = old->next < old->count ? &old->rows[old->next] : NULL;
    *other = new->next < new->count ? &new->rows[new->next] : NULL;
    if (*one && *other && (*one)->id < (*other)->id)
        *other = NULL;
    else if (*one && *other && (*one)->id > (*other)->id)
        *one = NULL;
    old->next += *one != NULL;
    new->next += *other != NULL;
    return *one || *other;
}

bool day_sum_is_same(const struct day_sum *one, const struct day_sum *other)
{
    if (!one || !other)
        return false;
    struct wide difference = one->sum;
    return wide_subtract(&difference, &other->sum) && wide_is_zero(&difference);
}

bool day_lists_mostly_differ(struct day_list old, struct day_list new)
{
    const struct day_sum *one, *other;
    size_t same = 0, count = old.count;
    while (day_list_next_pair(&old, &new, &one, &other))
        same += day_sum_is_same(one, other);
    return count && same < count / 4;
}

double day_tres_seconds(const struct wide *sum)
{
    struct natural units = natural_of_wide(sum), unit = natural_of(UNITS_PER_TRES);
    return natural_quotient(&units, &unit);
}

bool day_sum_has_row(const struct day_sum *sum)
{
    return sum && !wide_is_zero(&sum->sum) && !wide_is_negative(&sum->sum);
}

void day_sum_keep(struct kept_rows *kept, uint64_t id, const struct wide *sum)
{
    const uint64_t words[] = { id, sum->word[0], sum->word[1], sum->word[2] };
    kept_add(kept, words, COUNT(words));
}

struct kept_rows day_list_kept(const struct day_list *list)
{
    struct kept_rows kept = { 0 };
    for (size_t i = 0; i < list->count; i++)
        if (day_sum_has_row(&list->rows[i]))
            day_sum_keep(&kept, list->rows[i].id, &list->rows[i].sum);
    return kept;
}
