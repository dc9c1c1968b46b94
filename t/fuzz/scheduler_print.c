/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "import/sched_config.h"
#include "util/error.h"

/* What qmgr prints of schedulers. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct scheduler_print print;
    struct error err;
    write_file("sched", bytes, size);
    if (!scheduler_print_read(&print, "sched", &err)) {
        must(print.is_there, "the scheduler is there");
        for (size_t i = 0; i < SERVER_KEYS; i++)
            must(print.values[i].name != NULL, "a value has its name");
        scheduler_print_free(&print);
    } else {
        must(err.class == ERROR_DATA && strstr(err.message, "'sched'"),
             "a rejection names the file");
    }
    return 0;
}
