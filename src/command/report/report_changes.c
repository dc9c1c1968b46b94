/* SPDX-License-Identifier: MIT */
#include "command/report/report_changes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "report/page/cluster.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* The last changes are in the page, and of each so many settings. */
#define CHANGES_AT_MOST 30u
#define SETTINGS_AT_MOST 5u
#define VALUE_AT_MOST 40u

/* Two runs that had not the same settings. */
struct step {
    int64_t at;
    char *before, *after; /* digests */
};
struct steps {
    struct step *steps;
    size_t count;
};

static bool is_of_values(const char *line)
{
    static const char *const sections[] = { "usage.", "fairshare.", "priority.", "pbs." };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (!strncmp(line, sections[i], strlen(sections[i])))
            return true;
    return false;
}

/* The value of a line `NAME = VALUE`; *length gets its length, 0 where the text has no such line.
 */
static const char *value_in(const char *text, const char *name, size_t name_length, size_t *length)
{
    for (const char *at = text; *at;) {
        const char *end = at + strcspn(at, "\n");
        if (!strncmp(at, name, name_length) && !strncmp(at + name_length, " = ", 3)) {
            at += name_length + 3;
            *length = at < end ? (size_t)(end - at) : 0;
            return at;
        }
        at = *end ? end + 1 : end;
    }
    *length = 0;
    return text;
}

static void add_value(struct text *words, const char *value, size_t length)
{
    char *shown = memory_bytes(value, length < VALUE_AT_MOST ? length : VALUE_AT_MOST);
    utf8_drop_cut(shown);
    text_format(words, "%s%s", *shown ? shown : "nothing", length > VALUE_AT_MOST ? "..." : "");
    free(shown);
}

/* Add `half_life 7-0 → 14-0`, and so on. */
static void add_differences(struct text *words, const char *before, const char *after)
{
    size_t count = 0;
    for (const char *line = after; *line;) {
        const char *end = line + strcspn(line, "\n");
        size_t name_length = strcspn(line, " "), old_length, new_length;
        const char *value = value_in(after, line, name_length, &new_length);
        const char *old = value_in(before, line, name_length, &old_length);
        if (is_of_values(line) &&
            (old_length != new_length || memcmp(old, value, new_length) != 0)) {
            const char *name = strchr(line, '.') + 1;
            if (count++ < SETTINGS_AT_MOST) {
                text_add(words, count > 1 ? "; " : "");
                text_add_bytes(words, name, (size_t)(line + name_length - name));
                text_add(words, ": ");
                add_value(words, old, old_length);
                text_add(words, " → ");
                add_value(words, value, new_length);
            }
        }
        line = *end ? end + 1 : end;
    }
    if (count > SETTINGS_AT_MOST)
        text_format(words, "; %zu more", count - SETTINGS_AT_MOST);
}

/* NULL in *text: no run has these settings any more. */
static int read_text(struct db *db, const char *digest, char **text, struct error *err)
{
    const struct db_value *row, argument = db_text(digest);
    struct db_rows *rows = db_query(db, sql_query_settings_text, &argument, 1, "t", err);
    *text = NULL;
    while (db_fetch(rows, &row, err) > 0)
        if (!*text)
            *text = db_value_text(&row[0]);
    return db_finish(rows);
}

static int add_change(struct db *db, struct page_cluster *cluster, const struct step *step,
                      struct error *err)
{
    struct text words = { 0 };
    char *before = NULL, *after = NULL;
    int result =
        read_text(db, step->before, &before, err) || read_text(db, step->after, &after, err) ? -1
                                                                                             : 0;
    if (before && after)
        add_differences(&words, before, after);
    free(before);
    free(after);
    if (result || !words.length) {
        text_free(&words);
        return result;
    }
    cluster->changes =
        memory_grown(cluster->changes, cluster->change_count, sizeof *cluster->changes);
    cluster->changes[cluster->change_count++] = (struct page_change){ step->at, words.bytes };
    return 0;
}

static void add_step(struct steps *steps, int64_t at, char *before, char *after)
{
    steps->steps = memory_grown(steps->steps, steps->count, sizeof *steps->steps);
    steps->steps[steps->count++] = (struct step){ at, before, after };
}

static int read_steps(struct db *db, const struct page_cluster *cluster, struct steps *steps,
                      struct error *err)
{
    struct db_value span[] = { db_text(cluster->name), db_integer(cluster->from),
                               db_integer(cluster->to) };
    const struct db_value *row;
    char *last = NULL;
    struct db_rows *rows = db_query(db, sql_query_report_settings, span, 3, "it", err);
    while (db_fetch(rows, &row, err) > 0) {
        char *digest = db_value_text(&row[1]);
        if (last && strcmp(last, digest) != 0)
            add_step(steps, row[0].integer, memory_text(last), memory_text(digest));
        free(last);
        last = digest;
    }
    free(last);
    return db_finish(rows);
}

int report_changes_read(struct db *db, struct page_cluster *cluster, struct error *err)
{
    struct steps steps = { 0 };
    int result = read_steps(db, cluster, &steps, err);
    size_t first = steps.count > CHANGES_AT_MOST ? steps.count - CHANGES_AT_MOST : 0;
    for (size_t i = first; !result && i < steps.count; i++)
        result = add_change(db, cluster, &steps.steps[i], err);
    for (size_t i = 0; i < steps.count; i++) {
        free(steps.steps[i].before);
        free(steps.steps[i].after);
    }
    free(steps.steps);
    return result;
}
