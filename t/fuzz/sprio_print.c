/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <math.h>

#include "report/sprio_print.h"
#include "util/error.h"

/* Reads arbitrary bytes as the output of sprio. */

static void check_number(const struct printed_number *number)
{
    must(!printed_is_there(number) || number->low <= number->high,
         "the bounds of a number are ordered");
    must(isnan(number->low) == isnan(number->high),
         "both bounds of a number are present or absent");
    must(!isinf(number->low) && !isinf(number->high), "no number of a job is infinite");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct sprio_print print;
    struct error err;
    if (memchr(bytes, '\0', size))
        return 0;
    char *exact = exact_copy(bytes, size);
    if (!sprio_print_read(&print, (struct span){ exact, size }, "c", &err)) {
        for (size_t i = 0; i < print.count; i++) {
            const struct printed_job *job = &print.rows[i];
            must(job->id > 0, "each row has a job");
            check_number(&job->priority);
            check_number(&job->norm);
            check_number(&job->site);
            check_number(&job->nice);
            for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
                check_number(&job->factor[part]);
                check_number(&job->weighted[part]);
            }
        }
        sprio_print_free(&print);
    }
    free(exact);
    return 0;
}
