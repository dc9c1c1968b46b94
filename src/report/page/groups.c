/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "report/amounts.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/picture.h"
#include "report/page/sections.h"
#include "util/memory.h"
#include "util/text.h"

/* The style sheet indents at most this depth. */
#define DEEPEST_INDENTED 6
#define NAMES_WITHOUT_SHARE 5u

/* The groups that the table lists, in its order.  The first part is the tree, or only its top level
 * if the page has too many groups.  The second part has the groups furthest from their shares. */
struct groups_listed {
    uint32_t *rows;
    size_t count, tree, below; /* `below` is the number of groups below the top level */
};

static double groups_distance(const struct page_row *row)
{
    return row->own_share ? fabs(row->used - row->share) : 0;
}

static int groups_by_distance(const void *a, const void *b, void *rows)
{
    const struct page_row *one = (struct page_row *)rows + *(const uint32_t *)a;
    const struct page_row *other = (struct page_row *)rows + *(const uint32_t *)b;
    double first = groups_distance(one), second = groups_distance(other);
    return first != second ? (first < second) - (first > second) : (one > other) - (one < other);
}

/* If there are too many groups, moves those of the top level to the front, largest share first as
 * before, and sorts those below by distance. */
static struct groups_listed groups_list(const struct page_view *view)
{
    struct groups_listed listed = { memory_zeroed(view->group_count, sizeof *listed.rows),
                                    view->group_count, view->group_count, 0 };
    memcpy(listed.rows, view->groups, view->group_count * sizeof *listed.rows);
    if (view->group_count <= PAGE_GROUPS_LISTED)
        return listed;
    uint32_t *below = memory_zeroed(view->group_count, sizeof *below);
    listed.tree = 0;
    for (size_t i = 0; i < view->group_count; i++)
        if (view->depths[view->groups[i]] > 1)
            below[listed.below++] = view->groups[i];
        else if (listed.tree < PAGE_USERS_LISTED)
            listed.rows[listed.tree++] = view->groups[i];
    listed.count = listed.tree;
    if (listed.below)
        qsort_r(below, listed.below, sizeof *below, groups_by_distance, view->cluster->rows);
    for (size_t i = 0; i < listed.below && i < PAGE_FURTHEST_LISTED; i++)
        listed.rows[listed.count++] = below[i];
    free(below);
    return listed;
}

uint32_t *page_listed_groups(const struct page_view *view, size_t *count)
{
    struct groups_listed listed = groups_list(view);
    *count = listed.count;
    return listed.rows;
}

static void groups_add_sentences(struct text *text, const struct page_view *view,
                                 const struct groups_listed *listed)
{
    const struct page_cluster *cluster = view->cluster;
    text_add(text, "<p class=\"soft\">");
    if (listed->count < view->group_count) {
        page_add_count(text, view->group_count, "group", "groups");
        text_add(text, "<span class=\"js\">; search finds those that are not listed</span>. ");
    }
    text_add(text, "All percentages are of the whole cluster. ");
    text_add(text, cluster->half_life ? "Recent usage counts half after " : "Usage does not decay");
    if (cluster->half_life)
        page_add_duration(text, cluster->half_life);
    text_add(text, ".</p>");
}

static void groups_add_row(struct text *text, const struct page_view *view, uint32_t at,
                           unsigned depth, double most)
{
    const struct page_row *row = page_view_row(view, at);
    const char *parent = page_view_row(view, row->parent)->account;
    text_add(text, "<tr");
    page_add_row_id(text, view, at);
    text_format(text, " class=\"l%u\"><th scope=\"row\" class=\"%s\">",
                depth < DEEPEST_INDENTED ? depth : DEEPEST_INDENTED, page_name_class(row->account));
    page_add_link(text, view, at);
    if (!depth)
        page_add_markup(text, " <small class=\"soft %s\">in %s</small>", page_name_class(parent),
                        parent);
    text_add(text, "</th>");
    page_add_bar_cell(text, row, most);
    page_add_share_cells(text, row);
    text_format(text, "<td class=\"r c3\" data-v=\"%u\">", row->jobs);
    if (row->jobs)
        amount_add_whole(text, row->jobs);
    else
        text_add(text, "\xe2\x80\x93");
    text_add(text, "</td></tr>\n");
}

static void groups_add_table(struct text *text, const struct page_view *view,
                             const struct groups_listed *listed)
{
    double most = page_scale_end(view, listed->rows, listed->count);
    page_add_markup(text, "<table id=\"%sgroups-table\"%s>", page_prefix_of(view).bytes,
                    listed->tree > PAGE_GROUPS_LISTED ? " data-table data-room=20" : "");
    text_add(text, "<caption class=\"vh\">Share and recent usage of groups, in percent of the "
                   "cluster</caption><thead><tr><th scope=\"col\">Group</th>");
    page_add_share_headings(text, view, most, false);
    text_add(text, "<th scope=\"col\" class=\"r c3\">Waiting jobs</th></tr></thead>\n<tbody>");
    for (size_t i = 0; i < listed->count; i++) {
        if (i == listed->tree) {
            text_format(text,
                        "</tbody>\n<tbody><tr class=\"h\"><th scope=\"rowgroup\" colspan=\"7\">The "
                        "%zu groups furthest from their shares, of ",
                        listed->count - listed->tree);
            page_add_count(text, listed->below, "below", "below");
            text_add(text, view->whole ? " the top level</th></tr>\n" : "</th></tr>\n");
        }
        groups_add_row(text, view, listed->rows[i],
                       i < listed->tree ? view->depths[listed->rows[i]] : 0, most);
    }
    text_add(text, "</tbody></table>\n");
}

/* Explains why some of the listed groups have no share. */
static void groups_add_note(struct text *text, const struct page_view *view,
                            const struct groups_listed *listed)
{
    struct text names = { 0 };
    size_t count = 0;
    for (size_t i = 0; i < listed->count; i++) {
        if (page_view_row(view, listed->rows[i])->own_share)
            continue;
        if (count++ < NAMES_WITHOUT_SHARE)
            page_add_markup(&names, "%s%s", count > 1 ? ", " : "",
                            page_view_row(view, listed->rows[i])->account);
    }
    if (count > NAMES_WITHOUT_SHARE)
        text_format(&names, " and %zu more", count - NAMES_WITHOUT_SHARE);
    if (count)
        text_format(text,
                    "<p class=\"note\">%s: no share of %s own (fairshare=parent). %s users are "
                    "compared with the members of the level above.</p>",
                    names.bytes, count == 1 ? "its" : "their", count == 1 ? "Its" : "Their");
    text_free(&names);
}

void page_add_groups(struct text *text, const struct page_view *view)
{
    if (!view->group_count)
        return;
    struct groups_listed listed = groups_list(view);
    page_add_section(text, view, "groups", "Groups: share and recent usage");
    groups_add_sentences(text, view, &listed);
    page_add_tools(text, view, "groups-table");
    picture_add_share_key(text);
    groups_add_table(text, view, &listed);
    if (listed.tree > PAGE_GROUPS_LISTED)
        page_add_more(text, view, "groups-table", listed.tree);
    groups_add_note(text, view, &listed);
    text_add(text, "</section>\n");
    free(listed.rows);
}
