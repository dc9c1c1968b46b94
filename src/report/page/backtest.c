/* SPDX-License-Identifier: MIT */
#include "report/page/backtest.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

enum page_backtest_kind { BACKTEST_TEXT, BACKTEST_INTEGER, BACKTEST_REAL, BACKTEST_TIME };

static int page_backtest_by_id(const void *a, const void *b)
{
    const struct page_backtest_row *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

const struct page_backtest_row *page_backtest_row(const struct page_backtest *backtest, int64_t id)
{
    const struct page_backtest_row key = { .id = id };
    return backtest->row_count
               ? bsearch(&key, backtest->rows, backtest->row_count, sizeof key, page_backtest_by_id)
               : NULL;
}

/* ---- Reading ---- */

/* Converts a member to a text, an integer, a real number or a time.  A real number or a time may be
 * null: NAN or 0. */
static int page_backtest_take(json_t *object, const char *key, enum page_backtest_kind kind,
                              void *to, struct error *err)
{
    json_t *value = json_object_get(object, key);
    int64_t whole = json_integer_value(value);
    double real = json_is_null(value) ? NAN : json_number_value(value);
    switch (kind) {
    case BACKTEST_TEXT:
        *(const char **)to = json_string_value(value);
        return json_is_string(value) ? 0
                                     : fail(err, ERROR_DATA, "'%s' is missing or not a text", key);
    case BACKTEST_INTEGER:
        *(int64_t *)to = whole;
        return json_is_integer(value)
                   ? 0
                   : fail(err, ERROR_DATA, "'%s' is missing or not an integer", key);
    case BACKTEST_TIME:
        *(int64_t *)to = whole;
        return json_is_null(value) || (json_is_integer(value) && whole > 0 && whole <= LATEST_TIME)
                   ? 0
                   : fail(err, ERROR_DATA, "'%s' is missing or not a valid time", key);
    default:
        *(double *)to = real;
        return json_is_null(value) || (json_is_number(value) && isfinite(real) && real >= 0)
                   ? 0
                   : fail(err, ERROR_DATA, "'%s' is missing or not a number of at least 0", key);
    }
}

static int take_variants(struct page_backtest *backtest, json_t *list, struct error *err)
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
        for (size_t k = 0; k < i; k++)
            if (!strcmp(backtest->variants[k].settings, variant->settings))
                return fail(err, ERROR_DATA, "settings '%s' are listed twice", variant->settings);
    }
    backtest->variant_count = count;
    return count ? 0 : fail(err, ERROR_DATA, "'settings' is not a list, or is empty");
}

static struct page_tried *tried_under(const struct page_backtest *backtest,
                                      const struct page_backtest_row *row, const char *settings)
{
    for (size_t i = 0; i < backtest->variant_count; i++)
        if (!strcmp(backtest->variants[i].settings, settings))
            return &row->tried[i];
    return NULL;
}

/* In the file, the rows of an association are adjacent. */
static struct page_backtest_row *page_backtest_row_of(struct page_backtest *backtest, int64_t id)
{
    struct page_backtest_row *last =
        backtest->row_count ? &backtest->rows[backtest->row_count - 1] : NULL;
    if (last && last->id == id)
        return last;
    last = memory_append(&backtest->rows, &backtest->row_count);
    *last = (struct page_backtest_row){
        .id = id, .tried = memory_zeroed(backtest->variant_count, sizeof *last->tried)
    };
    for (size_t i = 0; i < backtest->variant_count; i++)
        last->tried[i] = (struct page_tried){ .use = NAN, .place = NAN, .turned = NAN };
    return last;
}

static int page_backtest_take_row(struct page_backtest *backtest, json_t *from, struct error *err)
{
    int64_t id;
    const char *settings;
    if (page_backtest_take(from, "id_assoc", BACKTEST_INTEGER, &id, err) ||
        page_backtest_take(from, "settings", BACKTEST_TEXT, &settings, err))
        return -1;
    struct page_backtest_row *row = page_backtest_row_of(backtest, id);
    struct page_tried *tried = tried_under(backtest, row, settings);
    if (!tried)
        return fail(err, ERROR_DATA, "settings '%s' are not in the list of settings", settings);
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

static int page_backtest_take_rows(struct page_backtest *backtest, json_t *list, struct error *err)
{
    if (!json_is_array(list))
        return fail(err, ERROR_DATA, "'associations' is not a list");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (page_backtest_take_row(backtest, json_array_get(list, i), err))
            return fail_in(err, "row %zu", i + 1);
    if (backtest->row_count)
        qsort(backtest->rows, backtest->row_count, sizeof *backtest->rows, page_backtest_by_id);
    for (size_t i = 1; i < backtest->row_count; i++)
        if (backtest->rows[i].id == backtest->rows[i - 1].id)
            return fail(err, ERROR_DATA, "association %" PRId64 " occurs twice",
                        backtest->rows[i].id);
    return 0;
}

static int page_backtest_take_cluster(struct page_backtest *backtest, json_t *from,
                                      struct error *err)
{
    return page_backtest_take(from, "since", BACKTEST_TIME, &backtest->since, err) ||
                   page_backtest_take(from, "until", BACKTEST_TIME, &backtest->until, err) ||
                   take_variants(backtest, json_object_get(from, "settings"), err) ||
                   page_backtest_take_rows(backtest, json_object_get(from, "associations"), err)
               ? -1
               : 0;
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
    *backtest = (struct page_backtest){ 0 };
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
    *backtest = (struct page_backtest){ 0 };
}

void backtest_file_free(struct backtest_file *file)
{
    json_decref(file->all);
}
