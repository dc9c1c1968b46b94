/* SPDX-License-Identifier: MIT */
#include "settings/scan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* iniparser rejects a file with a longer line. */
#define LINE_BYTES 1000

struct scan {
    const char *path;
    unsigned line;
    const char *section; /* NULL before the first section */
    struct names *names; /* the sections and keys that were read, to find duplicates */
    struct settings_lines *lines;
    struct error *err;
};

static int refuse_line(const struct scan *scan, const char *what, const char *name)
{
    return fail(scan->err, ERROR_SETTINGS, "'%s', line %u: %s%s%s%s", scan->path, scan->line, what,
                name ? " '" : "", name ? name : "", name ? "'" : "");
}

static const char *keep_name(const struct scan *scan, const char *name)
{
    return ascii_lower(arena_copy(scan->lines->arena, name, strlen(name)));
}

/*
 * Returns true at the first occurrence of the key in the current section.  The key "" stands for
 * the section header.
 */
static bool settings_scan_is_first(const struct scan *scan, const char *key)
{
    struct text name = { 0 };
    uint32_t count = names_count(scan->names);
    text_format(&name, "%s:%s", scan->section, key); /* unambiguous: names have no colon */
    bool first = names_add(scan->names, name.bytes, name.length) == count;
    text_free(&name);
    return first;
}

static void keep_line(struct scan *scan, const char *key, const char *value)
{
    struct settings_lines *lines = scan->lines;
    *memory_append(&lines->each, &lines->count) =
        (struct settings_line){ scan->line, scan->section, key, value };
}

static int scan_section(struct scan *scan, char *text)
{
    char *end = strchr(text, ']');
    if (!end)
        return refuse_line(scan, "missing ']' after the section's name", NULL);
    const char *behind = end + 1 + strspn(end + 1, " \t");
    /* After a section header, iniparser does not accept a comment in the same line. */
    if (*behind)
        return refuse_line(
            scan,
            "unexpected text after the section's ']' (a comment needs its own line):", behind);
    *end = '\0';
    const char *name = trim_blanks(text + 1);
    if (!*name)
        return refuse_line(scan, "the section has no name", NULL);
    if (strchr(name, ':'))
        return refuse_line(scan, "the section's name contains a colon:", name);
    scan->section = keep_name(scan, name);
    if (!settings_scan_is_first(scan, ""))
        return refuse_line(scan, "duplicate section", name);
    keep_line(scan, NULL, NULL);
    return 0;
}

/*
 * Sets `*meaning` to the text between the quotes.  iniparser silently drops text after the closing
 * quote, and releases from 4.2 on remove backslashes between quotes.
 */
static int scan_quoted(const struct scan *scan, char *value, const char **meaning)
{
    char *end = strchr(value + 1, *value);
    if (!end)
        return refuse_line(scan, "missing closing quote:", value);
    if (memchr(value, '\\', (size_t)(end - value)))
        return refuse_line(scan, "a value with a backslash must not be in quotes:", value);
    const char *behind = end + 1 + strspn(end + 1, " \t");
    if (*behind && *behind != '#' && *behind != ';')
        return refuse_line(scan, "unexpected text after the closing quote:", behind);
    *meaning = arena_copy(scan->lines->arena, value + 1, (size_t)(end - value - 1));
    return 0;
}

/*
 * iniparser ends an unquoted value at the first # or ;.  If white space precedes this character, a
 * comment begins.  Otherwise the user probably meant the character as a part of the value, so the
 * line is rejected.
 */
static int scan_value(const struct scan *scan, char *value, const char **meaning)
{
    value = trim_blanks(value);
    if (*value == '"' || *value == '\'')
        return scan_quoted(scan, value, meaning);
    size_t length = strcspn(value, "#;");
    if (value[length] && length && !strchr(" \t", value[length - 1]))
        return refuse_line(scan, "a value with # or ; needs double quotes:", value);
    while (length && strchr(" \t", value[length - 1]))
        length--;
    *meaning = arena_copy(scan->lines->arena, value, length);
    return 0;
}

/* Text that may be a password must not be quoted in messages, because cron mails them. */
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
        return refuse_line(scan, "expected [section] or key = value", NULL);
    if (!end)
        return refuse_line(scan, "expected [section] or key = value, found", text);
    *end = '\0';
    text = trim_blanks(text);
    if (!*text)
        return refuse_line(scan, "missing key before the '='", NULL);
    if (!scan->section)
        return refuse_line(scan, "key before the first [section]:", text);
    if (strchr(text, ':'))
        return refuse_line(scan, "the key contains a colon:", text);
    const char *key = keep_name(scan, text), *value = NULL;
    if (!settings_scan_is_first(scan, key))
        return refuse_line(scan, "duplicate key", text);
    if (is_secret(text))
        return refuse_line(
            scan, "the settings must not contain passwords; see LOGIN in fairmill.conf(5):", text);
    if (scan_value(scan, end + 1, &value))
        return -1;
    keep_line(scan, key, value);
    return 0;
}

/* iniparser treats these characters as white space, also within a line. */
static const char other_blanks[] = "\v\f\r";

static int scan_line(struct scan *scan, char *text, size_t length)
{
    if (strlen(text) != length)
        return refuse_line(scan, "the line contains a NUL byte", NULL);
    if (scan->line == 1 && !strncmp(text, "\xef\xbb\xbf", 3))
        return refuse_line(scan, "the file begins with a byte-order mark; save it without one",
                           NULL);
    if (length > LINE_BYTES)
        return refuse_line(scan, "the line is longer than 1000 bytes", NULL);
    /* Accept lines that end with \r\n. */
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    if (strpbrk(text, other_blanks))
        return refuse_line(
            scan, "the line contains a carriage return, vertical tab or form feed; use a blank",
            NULL);
    if (length && text[length - 1] == '\\')
        return refuse_line(
            scan, "a line must not end with a backslash; write the value in one line", NULL);
    text += strspn(text, " \t");
    if (!*text || *text == '#' || *text == ';')
        return 0;
    return *text == '[' ? scan_section(scan, text) : scan_key(scan, text);
}

static int scan_file(struct scan *scan, FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int result = 0;
    while (!result && (length = getline(&line, &room, file)) >= 0) {
        scan->line++;
        result = scan_line(scan, line, (size_t)length);
    }
    if (!result && ferror(file))
        result =
            fail(scan->err, ERROR_SETTINGS, "cannot read '%s': %s", scan->path, strerror(errno));
    free(line);
    return result;
}

/* Reject pipes: iniparser opens the file again, and opening a pipe may block. */
static int check_file(const char *path, struct error *err)
{
    struct stat status;
    if (stat(path, &status))
        return fail(err, ERROR_SETTINGS, "cannot open '%s': %s%s", path, strerror(errno),
                    errno == ENOENT ? "; name the settings with -c or FAIRMILL_CONF, or create "
                                      "them with `fairmill setup`"
                                    : "");
    if (!S_ISREG(status.st_mode))
        return fail(err, ERROR_SETTINGS, "'%s' is not a regular file", path);
    if (status.st_mode & (S_IWGRP | S_IWOTH))
        return fail(err, ERROR_SETTINGS, "'%s' is writable by other users; run `chmod go-w` on it",
                    path);
    return 0;
}

int settings_scan(struct settings_lines *lines, const char *path, struct error *err)
{
    *lines = (struct settings_lines){ .arena = arena_create() };
    struct scan scan = { .path = path, .lines = lines, .err = err };
    if (check_file(path, err))
        return -1;
    FILE *file = fopen(path, "re");
    if (!file)
        return fail(err, ERROR_SETTINGS, "cannot open '%s': %s", path, strerror(errno));
    scan.names = names_create();
    int result = scan_file(&scan, file);
    names_destroy(scan.names);
    fclose(file);
    return result;
}

void settings_lines_free(struct settings_lines *lines)
{
    free(lines->each);
    arena_destroy(lines->arena);
}
