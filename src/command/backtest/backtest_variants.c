/* SPDX-License-Identifier: MIT */
#include "command/backtest/backtest_variants.h"

#include <stdlib.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* Each costs as much as backfill. */
#define VARIANTS_AT_MOST 16

static int add_variant(struct backtest_variants *variants, const struct settings *settings,
                       const struct name_list values[TRIED_SETTINGS], size_t number,
                       struct error *err)
{
    struct backtest_settings *variant = &variants->list[variants->count];
    struct text label = { 0 };
    struct error reason;
    variant->settings = *settings;
    for (size_t key = 0; key < TRIED_SETTINGS; key++) {
        if (!values[key].count)
            continue;
        const char *value = values[key].values[number % values[key].count];
        number /= values[key].count;
        const struct tried_setting *tried = &tried_settings[key];
        const struct setting *setting = setting_named(tried->section, tried->key);
        if (setting_assign(setting, &variant->settings, value, &reason)) {
            text_free(&label);
            return fail(err, ERROR_USAGE, "backtest: %s", reason.message);
        }
        text_format(&label, "%s%s%s", label.length ? ", " : "", tried->before, value);
    }
    variant->label = label.bytes;
    variants->count++;
    return 0;
}

int backtest_variants_make(struct backtest_variants *variants, const struct settings *settings,
                           const struct name_list values[TRIED_SETTINGS], struct error *err)
{
    size_t count = 1;
    bool any = false;
    for (size_t key = 0; key < TRIED_SETTINGS; key++)
        if (values[key].count) {
            any = true;
            count *= values[key].count;
            if (count > VARIANTS_AT_MOST)
                return fail(err, ERROR_USAGE, "backtest: no more than %d choices of settings",
                            VARIANTS_AT_MOST);
        }
    *variants = (struct backtest_variants){ memory_zeroed(count + 1, sizeof *variants->list), 1 };
    variants->list[0] = (struct backtest_settings){ memory_text("now"), *settings };
    int result = 0;
    for (size_t i = 0; any && !result && i < count; i++)
        result = add_variant(variants, settings, values, i, err);
    if (result)
        backtest_variants_free(variants);
    return result;
}

void backtest_variants_free(struct backtest_variants *variants)
{
    for (size_t i = 0; i < variants->count; i++)
        free(variants->list[i].label);
    free(variants->list);
    *variants = (struct backtest_variants){ 0 };
}
