/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "import/qstat.h"
#include "util/error.h"

/* Reads arbitrary bytes as qstat's JSON output. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct waiting waiting = { .complain = NULL };
    struct error err;
    write_file("qstat", bytes, size);
    if (!qstat_read(&waiting, "qstat", &err)) {
        must(waiting.as_of > 0, "the output has a time");
        for (size_t i = 0; i < waiting.job_count; i++) {
            const struct waiting_job *job = &waiting.jobs[i];
            must(*job->texts[RUN_EUSER] && strchr("QHWTB", *job->state),
                 "a job has a user and waits");
        }
        waiting_free(&waiting);
    } else {
        must(err.class == ERROR_DATA && strstr(err.message, "'qstat'"), "the error names the file");
    }
    return 0;
}
