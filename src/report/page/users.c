/* SPDX-License-Identifier: MIT */
#include "report/amounts.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/picture.h"
#include "report/page/sections.h"
#include "settings/scheduler.h"
#include "util/text.h"

/* Number of rows that scripts show at first. */
#define ROOM 15

static size_t users_listed(const struct page_view *view)
{
    return view->user_count < PAGE_USERS_LISTED ? view->user_count : PAGE_USERS_LISTED;
}

static void users_add_sentences(struct text *text, const struct page_view *view)
{
    const struct terminology *terms = view->cluster->terms;
    size_t listed = users_listed(view);
    text_add(text, "<p class=\"soft\">");
    if (listed < view->user_count) {
        text_add(text, "The ");
        page_add_count(text, listed, terms->user, terms->users);
        text_add(text, " with most recent usage, of ");
        amount_add_whole(text, view->user_count);
        text_add(text, "<span class=\"js\">; search finds the others</span>.");
    } else {
        page_add_count(text, listed, terms->user, terms->users);
        text_add(text, ", most recent usage first.");
    }
    if (!view->cluster->by_formula && listed > 1)
        text_add(text, " A user with several groups has several rows.");
    text_add(text, " Place 1 is next.</p>");
}

static void users_add_row(struct text *text, const struct page_view *view, uint32_t at, double most)
{
    const struct page_row *row = page_view_row(view, at);
    text_add(text, "<tr");
    page_add_row_id(text, view, at);
    text_add(text, "><th scope=\"row\" class=\"name\">");
    page_add_link(text, view, at);
    text_add(text, "<span class=\"sub\">");
    page_add_html(text, row->account);
    text_add(text, "</span></th><td class=\"c2 name\">");
    page_add_html(text, row->account);
    if (row->place) {
        text_format(text, "</td><td class=\"r\" data-v=\"%u\">", row->place);
        amount_add_whole(text, row->place);
    } else {
        text_add(text, "</td><td class=\"r\" data-v=\"\">\xe2\x80\x93");
    }
    text_add(text, "</td>");
    page_add_bar_cell(text, row, most);
    page_add_share_cells(text, row);
    text_add(text, "</tr>\n");
}

void page_add_users(struct text *text, const struct page_view *view)
{
    const struct terminology *terms = view->cluster->terms;
    size_t listed = users_listed(view);
    double most = page_scale_end(view, view->users, listed, 1e-6);
    struct text heading = { 0 };
    if (!listed)
        return;
    page_add_capital(&heading, terms->users);
    page_add_section(text, view, "users", heading.bytes);
    text_free(&heading);
    users_add_sentences(text, view);
    page_add_tools(text, view, "users-table");
    picture_add_share_key(text);
    text_add(text, "<table id=\"");
    page_add_id(text, view, "users-table");
    text_format(text,
                "\" data-table data-room=\"%d\"><caption class=\"vh\">Place, share and recent "
                "usage of %s, in percent of the cluster</caption><thead><tr>"
                "<th scope=\"col\" data-sort=\"a\">%s</th>"
                "<th scope=\"col\" class=\"c2\" data-sort=\"a\">Group</th>"
                "<th scope=\"col\" class=\"r\" data-sort=\"p\">Place</th>",
                ROOM, terms->users, terms->one_user);
    page_add_share_headings(text, view, most, true);
    text_add(text, "</tr></thead>\n<tbody>");
    for (size_t i = 0; i < listed; i++)
        users_add_row(text, view, view->users[i], most);
    text_add(text, "</tbody></table>");
    if (listed > ROOM)
        page_add_more(text, view, "users-table", listed);
    text_add(text, "</section>\n");
}
