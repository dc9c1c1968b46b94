/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <math.h>

#include "report/pbsfs_print.h"
#include "util/error.h"
#include "util/text.h"

/* Reads arbitrary bytes as the output of `pbsfs -p` or `pbsfs -g`. */

static void check_number(const struct printed_number *number)
{
    must(number->low <= number->high, "each number is present and its bounds are ordered");
    must(isfinite(number->low) && isfinite(number->high), "no number is infinite");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pbsfs_print print;
    struct error err;
    if (memchr(bytes, '\0', size))
        return 0;
    char *exact = exact_copy(bytes, size);
    if (!pbsfs_print_read(&print, (struct span){ exact, size }, &err)) {
        must(print.count > 0, "the output has at least one member");
        for (size_t i = 0; i < print.count; i++) {
            const struct printed_member *row = &print.rows[i];
            must(*row->name && utf8_valid(row->name, strlen(row->name)), "each row has a name");
            check_number(&row->usage);
            check_number(&row->percentage);
            must(print.whole || row->path_count, "an entity has a path");
            if (!print.whole)
                check_number(&row->tree_usage);
            for (size_t k = 0; k < row->path_count; k++) {
                check_number(&row->path[k].usage);
                check_number(&row->path[k].part);
            }
        }
        pbsfs_print_free(&print);
    }
    free(exact);
    return 0;
}
