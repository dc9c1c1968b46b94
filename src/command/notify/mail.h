/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_NOTIFY_MAIL_H
#define FAIRMILL_COMMAND_NOTIFY_MAIL_H

#include <stdint.h>

#include "util/text.h"

struct error;
struct settings;

/* A message, and the site's program that sends it. */

struct mail {
    const char *from;    /* a plain address (util/mail_address.h) */
    const char *to;      /* a plain address */
    struct text subject; /* UTF-8, printable */
    struct text body;    /* UTF-8, lines that end with a newline */
    struct text page;    /* an HTML page to attach; empty: none */
    struct text name;    /* its file name: letters, digits and `-_.~` */
    int64_t date;        /* epoch seconds */
};

void mail_free(struct mail *mail);

/* Adds the message as `sendmail -t` reads it: headers, and the body with the page as MIME. */
void mail_add(struct text *text, const struct mail *mail);
/* Adds the addresses, the subject, the body and the name and size of the page, for people. */
void mail_add_preview(struct text *text, const struct mail *mail);

/*
 * Starts [notify] mailer and passes it the message.  Fails if the mailer cannot be started
 * (ERROR_SETTINGS), does not finish within [source] deadline (ERROR_GONE), or ends with a status
 * other than 0 (ERROR_OTHER).  The error names the mailer and has the last line of its messages.
 */
int mail_send(const struct mail *mail, const struct settings *settings, struct error *err);

#endif
