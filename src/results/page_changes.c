/* SPDX-License-Identifier: MIT */
#include "results/page_changes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "report/page/cluster.h"
#include "sql.h"
#include "util/memory.h"
#include "util/text.h"

/* Maximum number of changes on a page (the newest are shown), and of bytes in a value. */
#define CHANGES_AT_MOST 30u
#define VALUE_AT_MOST 40u

/* The first run with some settings. */
struct page_changes_step {
    int64_t at;
    char *digest;
};
struct page_changes_steps {
    struct page_changes_step *steps;
    size_t count;
};

static bool page_changes_is_of_values(const char *line)
{
    static const char *const sections[] = { "usage.", "fairshare.", "priority.", "pbs." };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (!strncmp(line, sections[i], strlen(sections[i])))
            return true;
    return false;
}

/* Returns the value of a line `NAME = VALUE`, and sets `*length` to its length, or to 0 if there is
 * no such line. */
static const char *page_changes_value_in(const char *text, const char *name, size_t name_length,
                                         size_t *length)
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

static void page_changes_add_value(struct text *words, const char *value, size_t length)
{
    char *shown = memory_bytes(value, length < VALUE_AT_MOST ? length : VALUE_AT_MOST);
    utf8_drop_cut(shown);
    text_format(words, "%s%s", *shown ? shown : "nothing", length > VALUE_AT_MOST ? "..." : "");
    free(shown);
}

/* Adds text such as `half_life: 7-0 → 14-0`. */
static void page_changes_add_differences(struct text *words, const char *before, const char *after)
{
    for (const char *line = after; *line;) {
        const char *end = line + strcspn(line, "\n");
        size_t name_length = strcspn(line, " "), old_length, new_length;
        const char *value = page_changes_value_in(after, line, name_length, &new_length);
        const char *old = page_changes_value_in(before, line, name_length, &old_length);
        if (page_changes_is_of_values(line) &&
            (old_length != new_length || memcmp(old, value, new_length) != 0)) {
            const char *name = strchr(line, '.') + 1;
            text_add(words, words->length ? "; " : "");
            text_add_bytes(words, name, (size_t)(line + name_length - name));
            text_add(words, ": ");
            page_changes_add_value(words, old, old_length);
            text_add(words, " → ");
            page_changes_add_value(words, value, new_length);
        }
        line = *end ? end + 1 : end;
    }
}

/* Sets `*text` to NULL if the text of these settings is no longer stored. */
static int page_changes_read_text(struct db *db, const char *digest, char **text, struct error *err)
{
    const struct db_value *row, argument = db_text(digest);
    struct db_rows *rows = db_query(db, sql_query_settings_text, &argument, 1, "t", err);
    *text = NULL;
    while (db_fetch(rows, &row, err) > 0)
        if (!*text)
            *text = db_value_text(&row[0]);
    return db_finish(rows);
}

/* Adds the differences between the texts of two consecutive settings, which may be NULL. */
static void page_changes_add(struct page_cluster *cluster, int64_t at, const char *before,
                             const char *after)
{
    struct text words = { 0 };
    if (before && after)
        page_changes_add_differences(&words, before, after);
    if (words.length)
        *memory_append(&cluster->changes, &cluster->change_count) =
            (struct page_change){ at, words.bytes };
}

static int page_changes_read_steps(struct db *db, const struct page_cluster *cluster,
                                   struct page_changes_steps *steps, struct error *err)
{
    struct db_value span[] = { db_text(cluster->name), db_integer(cluster->from),
                               db_integer(cluster->to) };
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_report_settings, span, 3, "it", err);
    while (db_fetch(rows, &row, err) > 0) {
        char *digest = db_value_text(&row[1]);
        if (steps->count && !strcmp(steps->steps[steps->count - 1].digest, digest))
            free(digest);
        else
            *memory_append(&steps->steps, &steps->count) =
                (struct page_changes_step){ row[0].integer, digest };
    }
    return db_finish(rows);
}

int page_changes_read(struct db *db, struct page_cluster *cluster, struct error *err)
{
    struct page_changes_steps steps = { 0 };
    char *before = NULL, *after = NULL;
    int result = page_changes_read_steps(db, cluster, &steps, err);
    size_t first = steps.count > CHANGES_AT_MOST + 1 ? steps.count - CHANGES_AT_MOST - 1 : 0;
    for (size_t i = first; !result && i < steps.count; i++) {
        result = page_changes_read_text(db, steps.steps[i].digest, &after, err);
        if (!result)
            page_changes_add(cluster, steps.steps[i].at, before, after);
        free(before);
        before = after;
    }
    free(before);
    for (size_t i = 0; i < steps.count; i++)
        free(steps.steps[i].digest);
    free(steps.steps);
    return result;
}
