/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "import/sched_config.h"
#include "util/error.h"

/* Reads qmgr's output about schedulers. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct dated_value values[SERVER_KEYS];
    struct error err;
    write_file("sched", bytes, size);
    if (!scheduler_print_read(values, "sched", &err)) {
        for (size_t i = 0; i < SERVER_KEYS; i++)
            must(values[i].name != NULL, "each value has a name");
        dated_free(values, SERVER_KEYS);
    } else {
        must(err.class == ERROR_DATA && strstr(err.message, "'sched'"), "the error names the file");
    }
    return 0;
}
