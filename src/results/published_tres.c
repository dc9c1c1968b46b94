/* SPDX-License-Identifier: MIT */
#include "results/published_tres.h"

#include <string.h>
#include <strings.h>

#include "results/published.h"
#include "results/tres_names.h"
#include "util/error.h"
#include "util/name_list.h"
#include "util/text.h"

/* Adds the names of a cluster's TRES, and returns true if the TRES that was asked for is one. */
static bool published_tres_add(struct name_list *kept, const struct tres_numbers *numbers,
                               const char *asked)
{
    bool found = false;
    for (size_t i = 0; i < KEPT_TRES_LIMIT; i++) {
        const char *name = numbers->names[i];
        if (!name)
            continue;
        found |= !strcasecmp(name, asked);
        if (!kept->count || !name_list_wants(kept, name))
            name_list_add(kept, name, strlen(name));
    }
    return found;
}

static int published_tres_reject(const struct name_list *kept, const char *asked, struct error *err)
{
    struct text names = { 0 };
    text_add(&names, "");
    for (size_t i = 0; i < kept->count; i++)
        text_format(&names, "%s%s", i ? ", " : "", kept->values[i]);
    int result =
        kept->count
            ? fail(err, ERROR_USAGE,
                   "the usage of TRES '%s' is not kept; kept are: %s (setting [usage] tres)", asked,
                   names.bytes)
            : fail(err, ERROR_USAGE,
                   "the usage of TRES '%s' is not kept; the setting [usage] tres names the TRES to "
                   "keep",
                   asked);
    text_free(&names);
    return result;
}

int published_check_tres(const struct published *published, const char *asked, struct error *err)
{
    struct name_list kept = { 0 };
    bool found = false;
    int result = 0;
    for (size_t i = 0; !result && i < published->count; i++) {
        struct tres_numbers numbers = { 0 };
        result = tres_names_read(published->db, published->clusters[i].name, &numbers, err);
        found |= published_tres_add(&kept, &numbers, asked);
        tres_numbers_free(&numbers);
    }
    if (!result && !found) {
        name_list_sort(&kept);
        result = published_tres_reject(&kept, asked, err);
    }
    name_list_free(&kept);
    return result;
}
