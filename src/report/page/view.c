/* SPDX-License-Identifier: MIT */
#include "report/page/view.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "report/page/escape.h"
#include "util/memory.h"
#include "util/text.h"

static void page_view_mark_compared(struct page_view *view, uint32_t row)
{
    if (!view->part[row])
        view->part[row] = PAGE_COMPARED;
}

/* Marks the paths from the root to the selected groups, and the members of each level of a path.
 * The members of a level are the children of a row; those of a child with `parent` shares are in
 * it, too. */
static void page_view_mark_paths(struct page_view *view, const uint32_t *tops, size_t top_count)
{
    const struct page_cluster *cluster = view->cluster;
    unsigned char *levels = memory_zeroed(cluster->row_count, sizeof *levels);
    for (size_t i = 0; i < top_count; i++)
        for (uint32_t at = tops[i]; at; at = cluster->rows[at].parent) {
            page_view_mark_compared(view, at);
            levels[cluster->rows[at].level] = 1;
        }
    page_view_mark_compared(view, 0);
    for (uint32_t i = 1; i < cluster->row_count; i++)
        if (cluster->algorithm->ranks_users && levels[cluster->rows[i].level])
            page_view_mark_compared(view, i);
    /* A member of a level can be below an account with `parent` shares: the tree needs it, too. */
    for (uint32_t i = (uint32_t)cluster->row_count; i-- > 1;)
        if (view->part[i])
            page_view_mark_compared(view, cluster->rows[i].parent);
    free(levels);
}

static void page_view_mark(struct page_view *view, const uint32_t *tops, size_t top_count)
{
    const struct page_cluster *cluster = view->cluster;
    view->part = memory_zeroed(cluster->row_count, sizeof *view->part);
    for (size_t i = 0; i < top_count; i++)
        view->part[tops[i]] = PAGE_INSIDE;
    for (uint32_t i = 1; i < cluster->row_count; i++)
        if (view->part[cluster->rows[i].parent] == PAGE_INSIDE)
            view->part[i] = PAGE_INSIDE;
    page_view_mark_paths(view, tops, top_count);
}

/* Orders the largest share last, because the last row of the stack is taken first. */
static int page_view_last_share(const void *a, const void *b, void *rows)
{
    const struct page_row *one = (struct page_row *)rows + *(const uint32_t *)a;
    const struct page_row *other = (struct page_row *)rows + *(const uint32_t *)b;
    double first = one->own_share ? one->share : -1, second = other->own_share ? other->share : -1;
    if (first != second)
        return first > second ? 1 : -1;
    return strcmp(other->account, one->account);
}

static int page_view_by_usage(const void *a, const void *b, void *rows)
{
    const struct page_row *one = (struct page_row *)rows + *(const uint32_t *)a;
    const struct page_row *other = (struct page_row *)rows + *(const uint32_t *)b;
    if (one->used != other->used)
        return one->used > other->used ? -1 : 1;
    if (one->place != other->place)
        return one->place < other->place ? -1 : 1;
    return (one > other) - (one < other);
}

/* Adds the accounts inside, each followed by the accounts below it.  The tree can be very deep, so
 * a stack of rows replaces recursion. */
static void page_view_add_groups(struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    uint32_t *stack = memory_zeroed(cluster->row_count, sizeof *stack);
    size_t height = 0;
    view->groups = memory_zeroed(cluster->row_count, sizeof *view->groups);
    view->depths = memory_zeroed(cluster->row_count, sizeof *view->depths);
    stack[height++] = 0;
    while (height) {
        uint32_t at = stack[--height];
        const struct page_row *row = &cluster->rows[at];
        size_t first = height;
        if (at && view->part[at] == PAGE_INSIDE) {
            view->depths[at] = view->depths[row->parent];
            if (view->depths[at] < UCHAR_MAX)
                view->depths[at]++;
            view->groups[view->group_count++] = at;
        }
        for (uint32_t i = row->first_child; i < row->first_child + row->children; i++)
            if (!*cluster->rows[i].user && view->part[i])
                stack[height++] = i;
        if (height > first)
            qsort_r(stack + first, height - first, sizeof *stack, page_view_last_share,
                    cluster->rows);
    }
    free(stack);
}

/* Adds the rows that are not outside, the users inside, and their jobs. */
static void page_view_add_rows(struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    view->rows = memory_zeroed(cluster->row_count, sizeof *view->rows);
    view->numbers = memory_zeroed(cluster->row_count, sizeof *view->numbers);
    view->users = memory_zeroed(cluster->row_count, sizeof *view->users);
    view->jobs = memory_zeroed(cluster->job_count + 1, sizeof *view->jobs);
    for (uint32_t i = 0; i < cluster->row_count; i++) {
        view->numbers[i] = view->part[i] ? (uint32_t)view->count : UINT32_MAX;
        if (view->part[i])
            view->rows[view->count++] = i;
        if (*cluster->rows[i].user && view->part[i] == PAGE_INSIDE)
            view->users[view->user_count++] = i;
    }
    if (view->user_count)
        qsort_r(view->users, view->user_count, sizeof *view->users, page_view_by_usage,
                cluster->rows);
    for (size_t i = 0; i < cluster->job_count; i++)
        if (view->part[cluster->jobs[i].account_row] == PAGE_INSIDE)
            view->jobs[view->job_count++] = i;
}

void page_view_make(struct page_view *view, const struct page_cluster *cluster,
                    const uint32_t *tops, size_t top_count)
{
    const uint32_t root = 0;
    *view = (struct page_view){ .cluster = cluster, .whole = !top_count || !tops[0] };
    page_view_mark(view, view->whole ? &root : tops, view->whole ? 1 : top_count);
    view->opened = !view->whole && top_count == 1 ? tops[0] : 0;
    page_view_add_rows(view);
    page_view_add_groups(view);
    view->huge = view->group_count > PAGE_GROUPS_LISTED || view->user_count > PAGE_USERS_LISTED;
}

void page_view_free(struct page_view *view)
{
    free(view->part);
    free(view->numbers);
    free(view->rows);
    free(view->groups);
    free(view->depths);
    free(view->users);
    free(view->jobs);
}

/* ---- Ids, addresses and links ---- */

struct page_prefix page_prefix_of(const struct page_view *view)
{
    struct page_prefix prefix = { "" };
    if (view->number)
        snprintf(prefix.bytes, sizeof prefix.bytes, "c%zu-", view->number + 1);
    return prefix;
}

/* The scripts make the same address from a name in the JSON, which is printable. */
static void page_view_add_part(struct text *text, const char *name)
{
    struct text printable = { 0 };
    text_add(&printable, "");
    text_add_printable(&printable, name);
    for (const char *at = printable.bytes; *at; at++)
        if (isalnum((unsigned char)*at) || strchr("-_.!~*'()", *at))
            text_add_bytes(text, at, 1);
        else
            text_format(text, "%%%02X", (unsigned)(unsigned char)*at);
    text_free(&printable);
}

void page_add_address(struct text *text, const struct page_view *view, uint32_t row)
{
    const struct page_row *of = page_view_row(view, row);
    text_add(text, view->several ? "#c/" : "#");
    if (view->several)
        page_view_add_part(text, view->cluster->name);
    text_add(text, view->several ? "/n/" : "n/");
    page_view_add_part(text, of->account);
    text_add(text, *of->user ? "/" : "");
    page_view_add_part(text, of->user);
    text_add(text, *of->partition ? "/" : "");
    page_view_add_part(text, of->partition);
}

void page_add_link(struct text *text, const struct page_view *view, uint32_t row)
{
    const struct page_row *of = page_view_row(view, row);
    bool inside = view->part[row] == PAGE_INSIDE;
    if (inside) {
        text_add(text, "<a href=\"");
        page_add_address(text, view, row);
        text_add(text, "\">");
    }
    page_add_html(text, *of->user ? of->user : of->account);
    if (*of->partition)
        page_add_markup(text, " (%s)", of->partition);
    text_add(text, inside ? "</a>" : "");
}
