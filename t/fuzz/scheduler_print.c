/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "import/sched_config.h"
#include "util/error.h"

/* What qmgr prints of schedulers. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct dated_value values[SERVER_KEYS];
    struct error err;
    write_file("sched", bytes, size);
    if (!scheduler_print_read(values, "sched", &err)) {
        for (size_t i = 0; i < SERVER_KEYS; i++)
            must(values[i].name != NULL, "a value has its name");
        dated_free(values, SERVER_KEYS);
    } else {
        must(err.class == ERROR_DATA && strstr(err.message, "'sched'"),
             "a rejection names the file");
    }
    return 0;
}
