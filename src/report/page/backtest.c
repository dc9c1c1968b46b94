/* SPDX-License-Identifier: MIT */
#include "report/page/backtest.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/file.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

enum page_backtest_kind { BACKTEST_TEXT, BACKTEST_INTEGER, BACKTEST_REAL, BACKTEST_TIME };

/* Converts a member of an object.  A real number or a time may be null, which is NAN or 0. */
static int page_backtest_take(json_t *object, const char *key, enum page_backtest_kind kind,
                              void *to, struct error *err)
{
    static const char *const words[] = { "text", "integer", "number of at least 0", "time" };
    json_t *value = json_object_get(object, key);
    bool is_null = json_is_null(value), is_good;
    int64_t whole = json_integer_value(value);
    double real = is_null ? NAN : json_number_value(value);
    if (kind == BACKTEST_TEXT) {
        *(const char **)to = json_string_value(value);
        is_good = json_is_string(value);
    } else if (kind == BACKTEST_REAL) {
        *(double *)to = real;
        is_good = is_null || (json_is_number(value) && isfinite(real) && real >= 0);
    } else {
        *(int64_t *)to = whole;
        is_good = kind == BACKTEST_INTEGER
                      ? json_is_integer(value)
                      : is_null || (json_is_integer(value) && whole > 0 && whole <= LATEST_TIME);
    }
    return is_good ? 0
                   : fail(err, ERROR_DATA, "'%s' is missing or not a valid %s", key, words[kind]);
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
        if (page_backtest_take(from, "settings", BACKTEST_TEXT, &variant->settings, err) ||
            page_backtest_take(from, "points", BACKTEST_INTEGER, &variant->points, err) ||
            page_backtest_take(from, "distance", BACKTEST_REAL, &variant->distance, err) ||
            page_backtest_take(from, "turned", BACKTEST_REAL, &variant->turned, err))
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
    int64_t id;
    const char *settings;
    if (page_backtest_take(from, "id_assoc", BACKTEST_INTEGER, &id, err) ||
        page_backtest_take(from, "settings", BACKTEST_TEXT, &settings, err))
        return -1;
    size_t variant = page_backtest_variant(backtest, settings);
    if (variant == backtest->variant_count)
        return fail(err, ERROR_DATA, "settings '%s' are not in the list of settings", settings);
    struct page_backtest_row *row = page_backtest_row_of(backtest, id);
    struct page_tried *tried = &row->tried[variant];
    if (tried->there)
        return fail(err, ERROR_DATA, "association %" PRId64 " occurs twice", id);
    tried->there = true;
    return page_backtest_take(from, "share_due", BACKTEST_REAL, &row->due, err) ||
                   page_backtest_take(from, "use", BACKTEST_REAL, &tried->use, err) ||
                   page_backtest_take(from, "place", BACKTEST_REAL, &tried->place, err) ||
                   page_backtest_take(from, "turned", BACKTEST_REAL, &tried->turned, err)
               ? -1
               : 0;
}

static int page_backtest_take_cluster(struct page_backtest *backtest, json_t *from,
                                      struct error *err)
{
    json_t *rows = json_object_get(from, "associations");
    if (page_backtest_take(from, "since", BACKTEST_TIME, &backtest->since, err) ||
        page_backtest_take(from, "until", BACKTEST_TIME, &backtest->until, err) ||
        page_backtest_take_variants(backtest, json_object_get(from, "settings"), err))
        return -1;
    if (!json_is_array(rows))
        return fail(err, ERROR_DATA, "'associations' is not a list");
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
