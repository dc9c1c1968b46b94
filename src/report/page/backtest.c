/* SPDX-License-Identifier: MIT */
#include "report/page/backtest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/file.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

static int page_backtest_text(json_t *object, const char *key, const char **text, struct error *err)
{
    *text = json_string_value(json_object_get(object, key));
    return *text ? 0 : fail(err, ERROR_DATA, "'%s' is missing or not a text", key);
}

/* Reads a number of at least 0; null is NAN. */
static int page_backtest_number(json_t *object, const char *key, double *number, struct error *err)
{
    json_t *value = json_object_get(object, key);
    *number = json_is_null(value) ? NAN : json_number_value(value);
    return json_is_null(value) || (json_is_number(value) && *number >= 0 && *number <= LATEST_TIME)
               ? 0
               : fail(err, ERROR_DATA, "'%s' is missing or not a valid number", key);
}

static size_t page_backtest_variant(const struct page_backtest *backtest, const char *settings)
{
    size_t i = 0;
    while (i < backtest->variant_count && strcmp(backtest->variants[i].settings, settings) != 0)
        i++;
    return i;
}

static int page_backtest_take_variants(struct page_backtest *backtest, json_t *list,
                                       struct error *err)
{
    size_t count = json_array_size(list);
    backtest->variants = memory_zeroed(count + 1, sizeof *backtest->variants);
    for (size_t i = 0; i < count; i++) {
        json_t *from = json_array_get(list, i);
        struct page_variant *variant = &backtest->variants[i];
        if (page_backtest_text(from, "settings", &variant->settings, err) ||
            page_backtest_number(from, "distance", &variant->distance, err) ||
            page_backtest_number(from, "turned", &variant->turned, err))
            return fail_in(err, "settings %zu", i + 1);
        if (page_backtest_variant(backtest, variant->settings) < i)
            return fail(err, ERROR_DATA, "settings '%s' are listed twice", variant->settings);
        backtest->variant_count++;
    }
    return count ? 0 : fail(err, ERROR_DATA, "'settings' is not a list, or is empty");
}

static struct page_backtest_row *page_backtest_row_of(struct page_backtest *backtest, int64_t id)
{
    uint32_t number = id_index_add(backtest->ids, (uint64_t)id, (uint32_t)backtest->row_count);
    if (number != INDEX_NONE)
        return &backtest->rows[number];
    struct page_backtest_row *row = memory_append(&backtest->rows, &backtest->row_count);
    row->tried = memory_zeroed(backtest->variant_count, sizeof *row->tried);
    for (size_t i = 0; i < backtest->variant_count; i++)
        row->tried[i] = (struct page_tried){ .use = NAN, .place = NAN, .turned = NAN };
    return row;
}

const struct page_backtest_row *page_backtest_row(const struct page_backtest *backtest, int64_t id)
{
    uint32_t number = id_index_find(backtest->ids, (uint64_t)id);
    return number == INDEX_NONE ? NULL : &backtest->rows[number];
}

static int page_backtest_take_row(struct page_backtest *backtest, json_t *from, struct error *err)
{
    json_t *id = json_object_get(from, "id_assoc");
    const char *settings;
    if (!json_is_integer(id))
        return fail(err, ERROR_DATA, "'id_assoc' is missing or not an integer");
    if (page_backtest_text(from, "settings", &settings, err))
        return -1;
    size_t variant = page_backtest_variant(backtest, settings);
    if (variant == backtest->variant_count)
        return fail(err, ERROR_DATA, "settings '%s' are not in the list of settings", settings);
    struct page_backtest_row *row = page_backtest_row_of(backtest, json_integer_value(id));
    struct page_tried *tried = &row->tried[variant];
    if (tried->there)
        return fail(err, ERROR_DATA, "association %" JSON_INTEGER_FORMAT " occurs twice",
                    json_integer_value(id));
    tried->there = true;
    return page_backtest_number(from, "share_due", &row->due, err) ||
                   page_backtest_number(from, "use", &tried->use, err) ||
                   page_backtest_number(from, "place", &tried->place, err) ||
                   page_backtest_number(from, "turned", &tried->turned, err)
               ? -1
               : 0;
}

static int page_backtest_take_cluster(struct page_backtest *backtest, json_t *from,
                                      struct error *err)
{
    json_t *rows = json_object_get(from, "associations");
    double since, until;
    if (page_backtest_number(from, "since", &since, err) ||
        page_backtest_number(from, "until", &until, err) ||
        page_backtest_take_variants(backtest, json_object_get(from, "settings"), err))
        return -1;
    if (!json_is_array(rows))
        return fail(err, ERROR_DATA, "'associations' is not a list");
    backtest->since = isnan(since) ? 0 : (int64_t)since;
    backtest->until = isnan(until) ? 0 : (int64_t)until;
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (page_backtest_take_row(backtest, json_array_get(rows, i), err))
            return fail_in(err, "row %zu", i + 1);
    return 0;
}

int backtest_file_read(struct backtest_file *file, const char *path, struct error *err)
{
    *file = (struct backtest_file){ .path = path };
    struct text text = { 0 };
    json_error_t reason;
    int result = file_read(path, &text, NULL, err);
    if (!result)
        file->all = json_loadb(text.bytes, text.length, JSON_REJECT_DUPLICATES, &reason);
    text_free(&text);
    if (result)
        return -1;
    if (!file->all)
        return fail(err, ERROR_DATA, "'%s': invalid JSON in line %d: %s", path,
                    reason.line > 0 ? reason.line : 1, reason.text);
    return json_is_array(json_object_get(file->all, "clusters"))
               ? 0
               : fail(err, ERROR_DATA,
                      "'%s': there is no list 'clusters'; use the output of `backtest --json`",
                      path);
}

int backtest_file_find(const struct backtest_file *file, const char *cluster,
                       struct page_backtest *backtest, struct error *err)
{
    *backtest = (struct page_backtest){ .ids = id_index_create() };
    json_t *clusters = json_object_get(file->all, "clusters");
    for (size_t i = 0; i < json_array_size(clusters); i++) {
        json_t *from = json_array_get(clusters, i);
        const char *name = json_string_value(json_object_get(from, "cluster"));
        if (!name || strcmp(name, cluster) != 0)
            continue;
        return page_backtest_take_cluster(backtest, from, err)
                   ? fail_in(err, "'%s': not the output of `backtest --json`: cluster '%s'",
                             file->path, cluster)
                   : 1;
    }
    return 0;
}

void page_backtest_free(struct page_backtest *backtest)
{
    for (size_t i = 0; i < backtest->row_count; i++)
        free(backtest->rows[i].tried);
    free(backtest->rows);
    free(backtest->variants);
    id_index_destroy(backtest->ids);
}

void backtest_file_free(struct backtest_file *file)
{
    json_decref(file->all);
}
