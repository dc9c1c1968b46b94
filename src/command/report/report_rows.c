/* SPDX-License-Identifier: MIT */
#include "command/report/report_rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "report/page/cluster.h"
#include "results/published.h"
#include "results/published_find.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/name_list.h"
#include "util/text.h"

/* Maximum number of changes on a page (the newest are shown), of settings in a change, and of bytes
 * in a value. */
#define CHANGES_AT_MOST 30u
#define SETTINGS_AT_MOST 5u
#define VALUE_AT_MOST 40u

/* Two consecutive runs with different settings. */
struct step {
    int64_t at;
    char *before, *after; /* digests of the settings */
};
struct report_rows_steps {
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

/* Returns the value of a line `NAME = VALUE`, and sets `*length` to its length, or to 0 if there is
 * no such line. */
static const char *report_rows_value_in(const char *text, const char *name, size_t name_length,
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

static void report_rows_add_value(struct text *words, const char *value, size_t length)
{
    char *shown = memory_bytes(value, length < VALUE_AT_MOST ? length : VALUE_AT_MOST);
    utf8_drop_cut(shown);
    text_format(words, "%s%s", *shown ? shown : "nothing", length > VALUE_AT_MOST ? "..." : "");
    free(shown);
}

/* Adds text such as `half_life: 7-0 → 14-0`. */
static void add_differences(struct text *words, const char *before, const char *after)
{
    size_t count = 0;
    for (const char *line = after; *line;) {
        const char *end = line + strcspn(line, "\n");
        size_t name_length = strcspn(line, " "), old_length, new_length;
        const char *value = report_rows_value_in(after, line, name_length, &new_length);
        const char *old = report_rows_value_in(before, line, name_length, &old_length);
        if (is_of_values(line) &&
            (old_length != new_length || memcmp(old, value, new_length) != 0)) {
            const char *name = strchr(line, '.') + 1;
            if (count++ < SETTINGS_AT_MOST) {
                text_add(words, count > 1 ? "; " : "");
                text_add_bytes(words, name, (size_t)(line + name_length - name));
                text_add(words, ": ");
                report_rows_add_value(words, old, old_length);
                text_add(words, " → ");
                report_rows_add_value(words, value, new_length);
            }
        }
        line = *end ? end + 1 : end;
    }
    if (count > SETTINGS_AT_MOST)
        text_format(words, "; %zu more", count - SETTINGS_AT_MOST);
}

/* Sets `*text` to NULL if the text of these settings is no longer stored. */
static int report_rows_read_text(struct db *db, const char *digest, char **text, struct error *err)
{
    const struct db_value *row, argument = db_text(digest);
    struct db_rows *rows = db_query(db, sql_query_settings_text, &argument, 1, "t", err);
    *text = NULL;
    while (db_fetch(rows, &row, err) > 0)
        if (!*text)
            *text = db_value_text(&row[0]);
    return db_finish(rows);
}

static int report_rows_add_change(struct db *db, struct page_cluster *cluster,
                                  const struct step *step, struct error *err)
{
    struct text words = { 0 };
    char *before = NULL, *after = NULL;
    int result = report_rows_read_text(db, step->before, &before, err) ||
                         report_rows_read_text(db, step->after, &after, err)
                     ? -1
                     : 0;
    if (before && after)
        add_differences(&words, before, after);
    free(before);
    free(after);
    if (result || !words.length) {
        text_free(&words);
        return result;
    }
    *memory_append(&cluster->changes, &cluster->change_count) =
        (struct page_change){ step->at, words.bytes };
    return 0;
}

static void add_step(struct report_rows_steps *steps, int64_t at, char *before, char *after)
{
    *memory_append(&steps->steps, &steps->count) = (struct step){ at, before, after };
}

static int read_steps(struct db *db, const struct page_cluster *cluster,
                      struct report_rows_steps *steps, struct error *err)
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
    struct report_rows_steps steps = { 0 };
    int result = read_steps(db, cluster, &steps, err);
    size_t first = steps.count > CHANGES_AT_MOST ? steps.count - CHANGES_AT_MOST : 0;
    for (size_t i = first; !result && i < steps.count; i++)
        result = report_rows_add_change(db, cluster, &steps.steps[i], err);
    for (size_t i = 0; i < steps.count; i++) {
        free(steps.steps[i].before);
        free(steps.steps[i].after);
    }
    free(steps.steps);
    return result;
}

/* The direct children of each node, in ascending order of id. */
struct below {
    uint32_t *first, *next; /* NO_NODE: none */
};

static struct below below_of(const struct tree *tree)
{
    struct below below = { memory_zeroed(tree->count, sizeof(uint32_t)),
                           memory_zeroed(tree->count, sizeof(uint32_t)) };
    for (uint32_t i = 0; i < tree->count; i++)
        below.first[i] = below.next[i] = NO_NODE;
    for (uint32_t i = tree->count; i-- > 0;) {
        uint32_t node = tree->by_id[i];
        if (!node)
            continue;
        uint32_t parent = tree->nodes[node].parent;
        below.next[node] = below.first[parent];
        below.first[parent] = node;
    }
    return below;
}

static struct page_row report_row_of(const struct published_cluster *published, uint32_t node)
{
    const struct node *association = &published->tree->nodes[node];
    const struct values *values = &published->values[node];
    const struct algorithm *algorithm = published->algorithm;
    struct association_name name = published_name(published, node);
    double whole = published->values[0].usage_raw;
    bool own = !node_has_parent_shares(association);
    double share = own ? algorithm->norm_shares(values) : NAN;
    double used = whole > 0 ? values->usage_raw / whole : 0;
    return (struct page_row){
        .id = association->id,
        .account = name.account,
        .user = name.user,
        .partition = name.partition,
        .own_share = own,
        .share = share,
        .used = used,
        .ratio = !own ? NAN : share > 0 ? used / share : INFINITY,
        .factor = algorithm->factor(values),
        .place = published->order[node],
        .level_ratio = NAN,
    };
}

static int report_rows_by_number(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* Converts places among associations to places among users.  Tied users share a place. */
static void give_places(struct page_cluster *cluster)
{
    uint32_t *orders = memory_zeroed(cluster->row_count, sizeof *orders);
    for (size_t i = 0; i < cluster->row_count; i++)
        if (*cluster->rows[i].user && cluster->rows[i].place && !isnan(cluster->rows[i].factor))
            orders[cluster->users++] = cluster->rows[i].place;
    qsort(orders, cluster->users, sizeof *orders, report_rows_by_number);
    for (size_t i = 0; i < cluster->row_count; i++) {
        struct page_row *row = &cluster->rows[i];
        uint32_t low = 0, high = cluster->users;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (orders[middle] < row->place)
                low = middle + 1;
            else
                high = middle;
        }
        row->place = *row->user && row->place && !isnan(row->factor) ? low + 1 : 0;
    }
    free(orders);
}

void report_rows_add(struct page_cluster *cluster, const struct published_cluster *published,
                     struct id_index *places)
{
    const struct tree *tree = published->tree;
    struct below below = below_of(tree);
    uint32_t *nodes = memory_zeroed(tree->count, sizeof *nodes);
    cluster->rows = memory_zeroed(tree->count, sizeof *cluster->rows);
    cluster->rows[0] = report_row_of(published, 0);
    cluster->row_count = 1;
    id_index_add(places, tree->nodes[0].id, 0);
    for (uint32_t i = 0; i < cluster->row_count; i++) {
        cluster->rows[i].first_child = (uint32_t)cluster->row_count;
        for (uint32_t node = below.first[nodes[i]]; node != NO_NODE; node = below.next[node]) {
            bool hidden = cluster->hides_users && tree->nodes[node].is_user;
            id_index_add(places, tree->nodes[node].id, hidden ? i : (uint32_t)cluster->row_count);
            if (hidden)
                continue;
            nodes[cluster->row_count] = node;
            cluster->rows[cluster->row_count] = report_row_of(published, node);
            cluster->rows[cluster->row_count++].parent = i;
        }
        cluster->rows[i].children = (uint32_t)cluster->row_count - cluster->rows[i].first_child;
    }
    free(below.first);
    free(below.next);
    free(nodes);
    give_places(cluster);
}

uint32_t report_row_of_account(const struct page_cluster *cluster, const char *asked)
{
    for (uint32_t i = 0; i < cluster->row_count; i++)
        if (!*cluster->rows[i].user && name_is(asked, cluster->rows[i].account))
            return i;
    return INDEX_NONE;
}
