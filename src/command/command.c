/* SPDX-License-Identifier: MIT */
#include "command/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/file.h"

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

int command_output(const char *path, const struct text *text, struct error *err)
{
    return !path || !strcmp(path, "-") ? command_print(text, err) : file_write(path, text, err);
}

int command_confirm(const char *question, const char *refusal, struct error *err)
{
    char answer[16];
    fputs(question, stdout);
    fflush(stdout);
    if (fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y'))
        return 0;
    return fail(err, ERROR_OTHER, "%s", refusal);
}
