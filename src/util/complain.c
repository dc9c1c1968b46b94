/* SPDX-License-Identifier: MIT */
#include "util/complain.h"

#include <stdio.h>

#include "util/error.h"
#include "util/log.h"
#include "util/text.h"

static int first_status;

void keep_quiet_about(const struct error *err)
{
    if (!first_status)
        first_status = error_exit_status(err->class);
}

void complain(const struct error *err)
{
    struct text message = { 0 };
    text_add_printable(&message, err->message);
    log_progress_done();
    fprintf(stderr, "fairmill: %s\n", message.bytes);
    text_free(&message);
    keep_quiet_about(err);
}

int first_failure(void)
{
    return first_status;
}

void forget_failures(void)
{
    first_status = 0;
}
