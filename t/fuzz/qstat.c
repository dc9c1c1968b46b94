/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "import/qstat.h"
#include "util/error.h"

/* What qstat printed as JSON, or anybody says it did. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct waiting waiting = { .complain = NULL };
    struct error err;
    write_file("qstat", bytes, size);
    if (!qstat_read(&waiting, "qstat", &err)) {
        must(waiting.as_of > 0, "a print has its time");
        for (size_t i = 0; i < waiting.job_count; i++) {
            const struct waiting_job *job = &waiting.jobs[i];
            must(*job->texts[RUN_EUSER] && strchr("QHWTB", *job->state),
                 "a job waits for somebody");
        }
        waiting_free(&waiting);
    } else {
        must(err.class == ERROR_DATA && strstr(err.message, "'qstat'"), "a refusal says where");
    }
    return 0;
}
