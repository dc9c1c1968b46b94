/* SPDX-License-Identifier: MIT */
#include "command/notify/mail.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/retry.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/program.h"

/* The quoted-printable body contains no `=_`, so this is never the start of one of its lines. */
#define BOUNDARY "=_fairmill"
/* Longest line of encoded text, without its end. */
#define ENCODED_LINE 76u
/* The number of bytes whose base64 has one such line. */
#define BASE64_LINE_BYTES 57u
/* Number of bytes in an encoded word, which must have at most 75 characters. */
#define WORD_BYTES 42u
/* Maximum length of a header that is written as it is. */
#define PLAIN_HEADER 200u

void mail_free(struct mail *mail)
{
    text_free(&mail->subject);
    text_free(&mail->body);
    text_free(&mail->page);
    text_free(&mail->name);
}

/* ---- Encodings ---- */

static void mail_add_base64(struct text *text, const char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        size_t count = length - i < 3 ? length - i : 3;
        uint32_t bits = 0;
        char four[] = "====";
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < count ? (unsigned char)bytes[i + k] : 0);
        for (size_t k = 0; k <= count; k++)
            four[k] = digits[bits >> (18 - 6 * k) & 63];
        text_add(text, four);
    }
}

static void mail_add_base64_lines(struct text *text, const struct text *page)
{
    for (size_t i = 0; i < page->length; i += BASE64_LINE_BYTES) {
        size_t left = page->length - i;
        mail_add_base64(text, page->bytes + i, left < BASE64_LINE_BYTES ? left : BASE64_LINE_BYTES);
        text_add(text, "\n");
    }
}

/* Adds a byte of the body as quoted-printable (RFC 2045).  A space or a dot may get lost at the end
 * or the start of a line, and some programs change `From ` at the start. */
static void mail_add_quoted_byte(struct text *text, const char *at, size_t column)
{
    bool is_plain = *at >= ' ' && *at <= '~' && *at != '=';
    if (!is_plain || (*at == ' ' && at[1] == '\n') || (!column && strchr(".F", *at)))
        text_format(text, "=%02X", (unsigned)(unsigned char)*at);
    else
        text_add_bytes(text, at, 1);
}

static void mail_add_quoted(struct text *text, const char *body)
{
    size_t start = text->length;
    for (const char *at = body; *at; at++) {
        if (*at == '\n') {
            text_add(text, "\n");
            start = text->length;
            continue;
        }
        if (text->length - start + 4 > ENCODED_LINE) {
            text_add(text, "=\n");
            start = text->length;
        }
        mail_add_quoted_byte(text, at, text->length - start);
    }
}

/* Adds a header.  Encodes the text as words of RFC 2047, each with whole characters, unless it is
 * short ASCII that does not look like such a word. */
static void mail_add_header(struct text *text, const char *name, const char *value)
{
    bool plain = strlen(value) <= PLAIN_HEADER && !strstr(value, "=?");
    for (const char *at = value; plain && *at; at++)
        plain = *at >= ' ' && *at <= '~';
    text_format(text, "%s: %s", name, plain ? value : "");
    for (const char *at = value; !plain && *at;) {
        char *word = memory_bytes(at, strnlen(at, WORD_BYTES));
        utf8_drop_cut(word);
        size_t length = *word ? strlen(word) : 1;
        text_add(text, at == value ? "=?UTF-8?B?" : "\n =?UTF-8?B?");
        mail_add_base64(text, at, length);
        text_add(text, "?=");
        at += length;
        free(word);
    }
    text_add(text, "\n");
}

/* ---- The message ---- */

static void mail_add_headers(struct text *text, const struct mail *mail)
{
    char date[64] = "";
    struct tm parts;
    time_t at = (time_t)mail->date;
    if (localtime_r(&at, &parts))
        strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S %z", &parts);
    mail_add_header(text, "From", mail->from);
    mail_add_header(text, "To", mail->to);
    mail_add_header(text, "Subject", mail->subject.bytes);
    mail_add_header(text, "Date", date);
    text_add(text, "Auto-Submitted: auto-generated\nMIME-Version: 1.0\n");
}

void mail_add(struct text *text, const struct mail *mail)
{
    static const char text_part[] = "Content-Type: text/plain; charset=UTF-8\n"
                                    "Content-Transfer-Encoding: quoted-printable\n\n";
    mail_add_headers(text, mail);
    if (mail->page.length)
        text_add(text, "Content-Type: multipart/mixed; boundary=\"" BOUNDARY "\"\n\n"
                       "--" BOUNDARY "\n");
    text_add(text, text_part);
    mail_add_quoted(text, mail->body.bytes);
    if (!mail->page.length)
        return;
    text_format(text,
                "\n--" BOUNDARY "\nContent-Type: text/html; charset=UTF-8;\n name=\"%s\"\n"
                "Content-Disposition: attachment;\n filename=\"%s\"\n"
                "Content-Transfer-Encoding: base64\n\n",
                mail->name.bytes, mail->name.bytes);
    mail_add_base64_lines(text, &mail->page);
    text_add(text, "--" BOUNDARY "--\n");
}

void mail_add_preview(struct text *text, const struct mail *mail)
{
    text_format(text, "From: %s\nTo: %s\nSubject: %s\n\n%s", mail->from, mail->to,
                mail->subject.bytes, mail->body.bytes);
    if (mail->page.length)
        text_format(text, "\n[attached: %s, %zu kB]\n", mail->name.bytes,
                    (mail->page.length + 999) / 1000);
}

/* ---- The mailer ---- */

struct mailer {
    char *words;
    const char **arguments; /* point into `words`; ended by NULL */
    struct text last;       /* line of its messages */
};

static void mailer_split(struct mailer *mailer, const char *command)
{
    size_t count = 0;
    char *rest = NULL;
    *mailer = (struct mailer){ .words = memory_text(command) };
    for (char *word = strtok_r(mailer->words, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest))
        *memory_append(&mailer->arguments, &count) = word;
    *memory_append(&mailer->arguments, &count) = NULL;
}

static void mailer_free(struct mailer *mailer)
{
    free(mailer->words);
    free(mailer->arguments);
    text_free(&mailer->last);
}

static bool mailer_take_message(void *context, char *line)
{
    struct mailer *mailer = context;
    text_free(&mailer->last);
    text_add_printable(&mailer->last, line);
    return true;
}

int mail_send(const struct mail *mail, const struct settings *settings, struct error *err)
{
    struct mailer mailer;
    struct text message = { 0 };
    int status = 0;
    mailer_split(&mailer, settings->mailer);
    if (access(mailer.arguments[0], X_OK)) {
        fail(err, ERROR_SETTINGS, "cannot start '%s', see [notify] mailer: %s", mailer.arguments[0],
             strerror(errno));
        mailer_free(&mailer);
        return -1;
    }
    mail_add(&message, mail);
    const struct program program = { .arguments = mailer.arguments,
                                     .conf = "",
                                     .input = &message,
                                     .deadline_ms = deadline_of(settings),
                                     .has_children = true,
                                     .take_message = mailer_take_message,
                                     .context = &mailer };
    int result = program_run(&program, &status, err);
    if (!result && status)
        result = fail(err, ERROR_OTHER, "'%s' ended with status %d", mailer.arguments[0], status);
    if (result && mailer.last.length) {
        const struct error reason = *err;
        fail(err, reason.class, "%.1000s: %.500s", reason.message, mailer.last.bytes);
    }
    mailer_free(&mailer);
    text_free(&message);
    return result;
}
