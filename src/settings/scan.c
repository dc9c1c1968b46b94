/* SPDX-License-Identifier: MIT */
#include "settings/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/error.h"
#include "util/text.h"

/* iniparser gives up on a file with a longer line. */
#define LINE_BYTES 1000

struct scan {
    const char *path;
    unsigned line;
    char section[LINE_BYTES];
    struct text seen; /* "\nsection\n" and "\nsection:key\n" of what was there */
    struct error *err;
};

static bool seen_before(struct scan *scan, const char *section, const char *key)
{
    struct text entry = { 0 };
    text_format(&entry, "\n%s%s%s\n", section, key ? ":" : "", key ? key : "");
    for (char *at = entry.bytes; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at + ('a' - 'A'));
    bool before = scan->seen.bytes && strstr(scan->seen.bytes, entry.bytes);
    text_add(&scan->seen, entry.bytes);
    text_free(&entry);
    return before;
}

static int refuse_line(const struct scan *scan, const char *what, const char *name)
{
    return fail(scan->err, ERROR_SETTINGS, "'%s', line %u: %s%s%s%s", scan->path, scan->line, what,
                name ? " '" : "", name ? name : "", name ? "'" : "");
}

static int scan_section(struct scan *scan, char *text)
{
    char *end = strchr(text, ']');
    if (!end)
        return refuse_line(scan, "a section without its ']'", NULL);
    const char *behind = end + 1 + strspn(end + 1, " \t");
    /* iniparser wants a comment to have a line of its own here. */
    if (*behind)
        return refuse_line(scan, "something behind the section's ']'", NULL);
    *end = '\0';
    snprintf(scan->section, sizeof scan->section, "%s", trim_blanks(text + 1));
    if (strchr(scan->section, ':'))
        return refuse_line(scan, "a colon in the section's name", scan->section);
    if (seen_before(scan, scan->section, NULL))
        return refuse_line(scan, "there is another section", scan->section);
    return 0;
}

/* iniparser cuts a value at the first # or ; that is not in quotes, and behind a closing quote.
 * Where a blank stands before the # or ; it begins a comment.  Elsewhere a part of the value would
 * be lost without a message, so that is refused. */
static int scan_value(const struct scan *scan, const char *value)
{
    value += strspn(value, " \t");
    if (*value == '"' || *value == '\'') {
        const char *end = strchr(value + 1, *value);
        if (!end)
            return refuse_line(scan, "a quote that is not closed", NULL);
        /* From its release 4.2 on iniparser takes away backslashes in quotes, and only there. */
        if (memchr(value, '\\', (size_t)(end - value)))
            return refuse_line(scan,
                               "a backslash in quotes, which not every iniparser keeps:", value);
        end++;
        end += strspn(end, " \t");
        if (*end && *end != '#' && *end != ';')
            return refuse_line(scan, "something behind the closing quote:", end);
        return 0;
    }
    const char *cut = value + strcspn(value, "#;");
    if (*cut && cut > value && !strchr(" \t", cut[-1]))
        return refuse_line(scan, "a value with # or ; needs double quotes:", value);
    return 0;
}

/* Whether the text may be a password.  Messages quote the text that is wrong, and cron mails them.
 */
static bool is_secret(const char *text)
{
    static const char *const words[] = { "passw", "pwd", "secret" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(text, words[i]))
            return true;
    return false;
}

static int scan_key(struct scan *scan, char *text)
{
    char *end = strchr(text, '=');
    if (!end && is_secret(text))
        return refuse_line(scan, "neither a [section] nor key = value", NULL);
    if (!end)
        return refuse_line(scan, "neither a [section] nor key = value:", text);
    const char *value = end + 1;
    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    if (!*scan->section)
        return refuse_line(scan, "a key before the first [section]:", text);
    if (strchr(text, ':'))
        return refuse_line(scan, "a colon in the key", text);
    if (seen_before(scan, scan->section, text))
        return refuse_line(scan, "this key was there before:", text);
    if (is_secret(text))
        return refuse_line(scan, "no password belongs here, fairmill.conf(5) says where:", text);
    return scan_value(scan, value);
}

static int scan_line(struct scan *scan, char *text, size_t length)
{
    if (strlen(text) != length)
        return refuse_line(scan, "a NUL byte", NULL);
    if (scan->line == 1 && !strncmp(text, "\xef\xbb\xbf", 3))
        return refuse_line(scan, "a byte-order mark; save the file without it", NULL);
    if (length > LINE_BYTES)
        return refuse_line(scan, "longer than 1000 bytes", NULL);
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    if (length && text[length - 1] == '\\')
        return refuse_line(scan, "a value does not go on in the next line", NULL);
    text += strspn(text, " \t");
    if (!*text || *text == '#' || *text == ';')
        return 0;
    return *text == '[' ? scan_section(scan, text) : scan_key(scan, text);
}

static int scan_file(FILE *file, const char *path, struct error *err)
{
    struct scan scan = { .path = path, .err = err };
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int result = 0;
    while (!result && (length = getline(&line, &room, file)) >= 0) {
        scan.line++;
        result = scan_line(&scan, line, (size_t)length);
    }
    if (!result && ferror(file))
        result = fail(err, ERROR_SETTINGS, "cannot read '%s': %s", path, strerror(errno));
    free(line);
    text_free(&scan.seen);
    return result;
}

int settings_scan(const char *path, struct error *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return fail(err, ERROR_SETTINGS, "cannot open '%s': %s", path, strerror(errno));
    struct stat status;
    int result = 0;
    if (fstat(fileno(file), &status) || S_ISDIR(status.st_mode))
        result = fail(err, ERROR_SETTINGS, "cannot read '%s': it is no file", path);
    else if (status.st_mode & (S_IWGRP | S_IWOTH))
        result = fail(err, ERROR_SETTINGS,
                      "'%s' may be written by others than its owner: chmod go-w it", path);
    else
        result = scan_file(file, path, err);
    fclose(file);
    return result;
}
