/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/text.h"

int command_print(const struct text *text, struct error *err)
{
    if ((text->length && fwrite(text->bytes, 1, text->length, stdout) != text->length) ||
        fflush(stdout))
        /* Who closed the pipe has read what was wanted. */
        return errno == EPIPE
                   ? 0
                   : fail(err, ERROR_OTHER, "cannot write the output: %s", strerror(errno));
    return 0;
}
