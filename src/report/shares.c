/* SPDX-License-Identifier: MIT */
#include "report/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/fairshare/fairshare.h"
#include "report/answer.h"
#include "report/permissions.h"
#include "report/selection.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/times.h"

struct share_list *share_list_create(const char *cluster, const struct algorithm *algorithm,
                                     int64_t as_of)
{
    struct share_list *list = memory_zeroed(1, sizeof *list);
    *list = (struct share_list){ .algorithm = algorithm, .as_of = as_of, .arena = arena_create() };
    list->cluster = utf8_copy_in(list->arena, cluster, strlen(cluster));
    return list;
}

void share_list_destroy(struct share_list *list)
{
    if (!list)
        return;
    arena_destroy(list->arena);
    free(list->rows);
    free(list);
}

static const char *text_copy(struct share_list *list, const char *text)
{
    return text ? utf8_copy_in(list->arena, text, strlen(text)) : NULL;
}

/* Returns the same list of TRES with a count of 0 for each. */
static const char *without_numbers(struct share_list *list, const char *counts)
{
    struct text text = { 0 };
    text_add(&text, "");
    for (const char *at = counts; *at;) {
        size_t name = strcspn(at, "=");
        text_add_bytes(&text, at, name);
        text_add(&text, at[name] ? "=0" : "");
        at += name;
        at += strcspn(at, ",");
        text_add(&text, *at ? "," : "");
        at += *at != '\0';
    }
    const char *copy = arena_copy(list->arena, text.bytes, text.length);
    text_free(&text);
    return copy;
}

void share_list_add(struct share_list *list, const struct share_association *association)
{
    const struct values *values = association->values;
    *memory_append(&list->rows, &list->count) = (struct share_row){
        .id = association->id,
        .parent_id = association->parent_id,
        .account = utf8_copy_in(list->arena, association->names[0], association->lengths[0]),
        .user = utf8_copy_in(list->arena, association->names[1], association->lengths[1]),
        .partition = utf8_copy_in(list->arena, association->names[2], association->lengths[2]),
        .parent_shares = association->parent_shares,
        .shares = association->shares,
        .norm_shares = list->algorithm->norm_shares(values),
        .raw_usage = values->usage_raw,
        .norm_usage = values->usage_norm,
        .effective_usage = list->algorithm->effective_usage(values),
        .fairshare = list->algorithm->factor(values),
        .level_fs = list->algorithm->ranks_users ? values->level_fs : NAN,
        .grp_tres_mins = text_copy(list, association->grp_tres_mins),
        .tres_run_mins = text_copy(list, association->tres_run_mins),
        .grp_tres_raw = text_copy(list, association->grp_tres_raw),
        .place = association->place,
        .shown = true,
    };
    if (!association->parent_id && association->tres_run_mins)
        list->nothing_runs = without_numbers(list, association->tres_run_mins);
}

/*
 * Adds the TRES that `minutes` lacks with a count of 0.  Both lists have the same order, and `all`
 * has each TRES of `minutes`.
 */
static const char *with_all_tres(struct share_list *list, const char *all, const char *minutes)
{
    struct text text = { 0 };
    for (const char *at = all; *at; at += *at == ',') {
        size_t name = strcspn(at, "="), length = name + strcspn(at + name, ",");
        text_add(&text, text.length ? "," : "");
        if (minutes && !strncmp(minutes, at, name + 1)) {
            size_t own = strcspn(minutes, ",");
            text_add_bytes(&text, minutes, own);
            minutes += own + (minutes[own] == ',');
        } else {
            text_add_bytes(&text, at, name);
            text_add(&text, "=0");
        }
        at += length;
    }
    const char *copy = arena_copy(list->arena, text.bytes, text.length);
    text_free(&text);
    return copy;
}

/* Like sshare, shows each TRES for each association.  The root, the first row, has all TRES. */
static void share_list_add_unused_tres(struct share_list *list)
{
    const char *all = list->count ? list->rows[0].grp_tres_raw : NULL;
    for (size_t i = 1; all && i < list->count; i++)
        list->rows[i].grp_tres_raw = with_all_tres(list, all, list->rows[i].grp_tres_raw);
}

void share_list_set_usage(struct share_list *list, size_t row, const char *grp_tres_raw)
{
    list->rows[row].grp_tres_raw = text_copy(list, grp_tres_raw);
}

void share_list_set_seconds(struct share_list *list, size_t row, const double *used,
                            const int64_t *running)
{
    size_t count = list->tres_count;
    double *used_copy = arena_take(list->arena, (count + 1) * sizeof *used);
    int64_t *running_copy = arena_take(list->arena, (count + 1) * sizeof *running);
    for (size_t i = 0; i < count; i++) {
        used_copy[i] = used[i];
        running_copy[i] = running[i];
    }
    list->rows[row].tres_used = used_copy;
    list->rows[row].tres_running = running_copy;
}

/* Puts siblings together, in the order of the output. */
static int report_shares_by_parent_and_name(const void *a, const void *b)
{
    const struct share_row *one = a, *other = b;
    if (one->parent_id != other->parent_id)
        return one->parent_id < other->parent_id ? -1 : 1;
    if (one->place != other->place)
        return one->place < other->place ? -1 : 1;
    if (!*one->user != !*other->user)
        return *one->user ? -1 : 1;
    int order = strcmp(one->user, other->user);
    order = order ? order : strcmp(one->account, other->account);
    order = order ? order : strcmp(one->partition, other->partition);
    return order ? order : (one->id > other->id) - (one->id < other->id);
}

void share_list_sort(struct share_list *list)
{
    if (!list->count)
        return;
    qsort(list->rows, list->count, sizeof *list->rows, report_shares_by_parent_and_name);
    /* Maps an id to its first child. */
    struct id_index *first_child = id_index_create();
    for (uint32_t i = 0; i < list->count; i++)
        if (!i || list->rows[i].parent_id != list->rows[i - 1].parent_id)
            id_index_add(first_child, (uint64_t)list->rows[i].parent_id, i);

    struct share_row *sorted = memory_zeroed(list->count, sizeof *sorted);
    /* Indexed by depth: the next sibling. */
    uint32_t *path = memory_zeroed(list->count + 1, sizeof *path);
    size_t placed = 0;
    uint32_t depth = 0;
    path[0] = id_index_find(first_child, 0);
    while (placed < list->count) {
        uint32_t at = path[depth];
        bool sibling =
            at != INDEX_NONE && at < list->count &&
            (depth == 0 ? list->rows[at].parent_id == 0
                        : list->rows[at].parent_id == list->rows[path[depth - 1] - 1].id);
        if (!sibling) {
            if (depth == 0)
                break;
            depth--;
            continue;
        }
        sorted[placed] = list->rows[at];
        sorted[placed++].depth = depth;
        path[depth]++;
        uint32_t child = id_index_find(first_child, (uint64_t)list->rows[at].id);
        if (child != INDEX_NONE)
            path[++depth] = child;
    }
    free(path);
    free(list->rows);
    id_index_destroy(first_child);
    list->rows = sorted;
    list->count = placed;
    share_list_add_unused_tres(list);
}

void share_list_hide_others(struct share_list *list, const struct permissions *permissions)
{
    for (size_t i = 0; i < list->count; i++) {
        struct share_row *row = &list->rows[i];
        row->shown =
            row->shown && permissions_show(permissions, list->cluster, row->account, row->user);
    }
}

/*
 * Returns true if a row is chosen or below a chosen row.  `*depth` is the depth of the chosen row,
 * or UINT32_MAX.  Must be called for all rows in order.
 */
static bool share_row_is_below(const struct share_row *row, bool chosen, uint32_t *depth)
{
    if (row->depth <= *depth)
        *depth = chosen ? row->depth : UINT32_MAX;
    return *depth != UINT32_MAX;
}

void share_list_filter(struct share_list *list, const struct permissions *permissions,
                       const struct association_selection *selection)
{
    uint32_t named = UINT32_MAX, inside = UINT32_MAX;
    bool with_way =
        selection->lists[SELECTION_NAMES].count > 0 || selection->lists[SELECTION_USERS].count > 0;
    share_list_hide_others(list, permissions);
    for (size_t i = 0; i < list->count; i++) {
        struct share_row *row = &list->rows[i];
        const struct association_name name = { row->account, row->user, row->partition };
        bool is_named =
            share_row_is_below(row, selection_chooses(selection, SELECTION_NAMES, &name), &named);
        bool is_inside = share_row_is_below(
            row, selection_chooses(selection, SELECTION_ACCOUNTS, &name), &inside);
        row->shown = row->shown && is_named && is_inside &&
                     selection_chooses(selection, SELECTION_USERS, &name);
    }
    /* Also show the accounts on the path to a shown row.  Rows are in depth-first order, so the
     * loop goes backward. */
    uint32_t wanted = 0;
    for (size_t i = list->count; with_way && i-- > 0;) {
        struct share_row *row = &list->rows[i];
        if (row->shown)
            wanted = row->depth;
        else if (row->depth < wanted) {
            row->shown = true;
            wanted = row->depth;
        }
    }
}

void share_list_hide_accounts(struct share_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->rows[i].shown = list->rows[i].shown && *list->rows[i].user;
}

/* ---- The columns ---- */

static void report_shares_get_shares(const void *of, struct cell *cell)
{
    const struct share_row *row = of;
    if (row->parent_shares)
        cell_text(cell, "parent");
    else if (row->parent_id)
        cell_integer(cell, row->shares);
}

/* Like sshare, shows a count of 0 for each TRES if no job is running. */
static void get_running(const void *of, struct cell *cell)
{
    const struct share_row *row = of;
    const struct share_list *list = cell->context;
    cell_text(cell, row->tres_run_mins ? row->tres_run_mins : list->nothing_runs);
}

static const struct column columns[SHARE_COLUMNS] = {
    CLUSTER_COLUMN,
    { "id_assoc", "ID", COLUMN_INTEGER, MEMBER(struct share_row, id), .hidden = ONLY_IN_JSON },
    { "parent_id", "ParentID", COLUMN_INTEGER, MEMBER(struct share_row, parent_id),
      .zero_is_none = true, .hidden = ONLY_IN_JSON },
    { "account", "Account", COLUMN_TEXT, MEMBER(struct share_row, account),
      DEPTH(struct share_row, depth) },
    { "username", "User", COLUMN_TEXT, MEMBER(struct share_row, user) },
    { "partition", "Partition", COLUMN_TEXT, MEMBER(struct share_row, partition),
      .optional = true },
    { "rawshares", "RawShares", COLUMN_INTEGER, .get = report_shares_get_shares },
    { "normshares", "NormShares", COLUMN_REAL, MEMBER(struct share_row, norm_shares),
      .expendable = 2 },
    { "rawusage", "RawUsage", COLUMN_USAGE, MEMBER(struct share_row, raw_usage), .expendable = 3 },
    { "normusage", "NormUsage", COLUMN_REAL, MEMBER(struct share_row, norm_usage),
      .expendable = 1 },
    { "effectvusage", "EffectvUsage", COLUMN_REAL, MEMBER(struct share_row, effective_usage) },
    { "fairshare", "FairShare", COLUMN_REAL, MEMBER(struct share_row, fairshare) },
    { "levelfs", "LevelFS", COLUMN_REAL, MEMBER(struct share_row, level_fs), .optional = true },
    { "grptresmins", "GrpTRESMins", COLUMN_TEXT, MEMBER(struct share_row, grp_tres_mins),
      .hidden = ONLY_IN_JSON, .optional = true },
    { "tresrunmins", "TRESRunMins", COLUMN_TEXT, .get = get_running, .hidden = ONLY_IN_JSON,
      .optional = true },
    { "grptresraw", "GrpTRESRaw", COLUMN_TEXT, MEMBER(struct share_row, grp_tres_raw),
      .hidden = ONLY_IN_JSON, .optional = true },
    { "levelfs_infinite", "LevelFSInfinite", COLUMN_YES_NO, MEMBER(struct share_row, level_fs),
      .hidden = ONLY_IN_JSON },
    { .name = NULL },
};

void share_columns(struct column copy[SHARE_COLUMNS], bool all, bool partitions)
{
    memcpy(copy, columns, sizeof columns);
    for (size_t i = 0; copy[i].name; i++) {
        if (strstr(copy[i].name, "tres"))
            copy[i].hidden = all ? 0 : copy[i].hidden;
        if (!strcmp(copy[i].name, "partition"))
            copy[i].optional = !partitions;
    }
}

const struct table_layout share_layout = { columns, "associations", .by_cluster = true };

void share_list_answer(const struct share_list *list, struct answer *answer)
{
    answer_cluster(answer, &(struct table_cluster){
                               .name = list->cluster,
                               .context = list,
                               .terms = list->terms,
                               .facts = json_pack("{s:s, s:I}", "algorithm", list->algorithm->name,
                                                  "as_of", (json_int_t)list->as_of) });
    answer_say(answer, "Cluster %s, %s, as of %s\n", list->cluster, list->algorithm->name,
               time_text(list->as_of).bytes);
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].shown)
            answer_row(answer, &list->rows[i]);
}
