/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "import/sched_config.h"
#include "util/error.h"
#include "util/text.h"

/* Reads OpenPBS's sched_config. */

static char quote_of(const char *value)
{
    return strchr(value, '"') ? '\'' : '"';
}

/* Writes the values as new lines, and checks that they are read as the same values. */
static void read_again(const struct dated_value *values)
{
    struct text text = { 0 };
    struct dated_value again[PBS_SCHED_KEYS];
    struct error err;
    text_add(&text, "#\n");
    for (size_t i = 0; i < PBS_SCHED_KEYS; i++) {
        const struct dated_value *value = &values[i];
        must(value->name != NULL, "each value has a name");
        if (value->value)
            text_format(&text, "%s:%c%s%c\n", value->name, quote_of(value->value), value->value,
                        quote_of(value->value));
    }
    write_file("again", text.bytes, text.length);
    must(!sched_config_read(again, "again", &err), "written values can be read");
    for (size_t i = 0; i < PBS_SCHED_KEYS; i++) {
        const char *one = values[i].value, *other = again[i].value;
        must(one ? other && !strcmp(one, other) : !other,
             "values are the same after writing and reading");
    }
    dated_free(again, PBS_SCHED_KEYS);
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct dated_value values[PBS_SCHED_KEYS];
    struct error err;
    write_file("sched_config", bytes, size);
    if (!sched_config_read(values, "sched_config", &err)) {
        read_again(values);
        dated_free(values, PBS_SCHED_KEYS);
    } else {
        must(err.class == ERROR_DATA && strstr(err.message, "'sched_config', line "),
             "the error shows the line");
    }
    return 0;
}
