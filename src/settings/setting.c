/* SPDX-License-Identifier: MIT */
#include "settings/setting.h"

#include "settings/values.h"
#include "util/error.h"
#include "util/text.h"

int setting_assign(const struct setting *setting, struct settings *settings, const char *value,
                   struct error *err)
{
    void *field = (char *)settings + setting->offset;
    struct text reason = { 0 };
    bool good = setting->choices ? read_choice(field, value, setting->choices, &reason)
                                 : setting->read(field, value, &reason);
    int result = good ? 0
                      : fail(err, ERROR_SETTINGS, "[%s] %s = '%s': %s", setting->section,
                             setting->key, value, reason.bytes);
    text_free(&reason);
    return result;
}
