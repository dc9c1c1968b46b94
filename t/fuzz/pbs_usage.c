/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <math.h>

#include "import/usage_file.h"
#include "util/error.h"

/* Reads the usage file of OpenPBS's scheduler. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct usage_list list;
    struct error err;
    write_file("usage", bytes, size);
    if (!usage_file_read(&list, "usage", &err)) {
        must(list.count == size / 24 || list.count == (size - 32) / 64, "each record is a line");
        for (size_t i = 0; i < list.count; i++)
            must(*list.lines[i].name && strlen(list.lines[i].name) < 50 &&
                     list.lines[i].usage >= 0 && isfinite(list.lines[i].usage),
                 "a line has a name and a usage");
        usage_list_free(&list);
    } else {
        must(err.class == ERROR_DATA && strstr(err.message, "'usage', byte "),
             "the error shows the position");
    }
    return 0;
}
