/* SPDX-License-Identifier: MIT */
#include "report/amounts.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/picture.h"
#include "report/page/sections.h"
#include "settings/scheduler.h"
#include "util/text.h"

static void users_add_sentences(struct text *text, const struct page_view *view, size_t listed)
{
    const struct terminology *terms = view->cluster->terms;
    text_add(text, listed < view->user_count ? "<p class=\"soft\">The " : "<p class=\"soft\">");
    page_add_count(text, listed, terms->user, terms->users);
    if (listed < view->user_count) {
        text_add(text, " with most recent usage, of ");
        amount_add_whole(text, view->user_count);
        text_add(text, "<span class=\"js\">; search finds the others</span>. Place 1 is next.</p>");
    } else {
        text_format(text, ", most recent usage first.%s Place 1 is next.</p>",
                    view->cluster->by_formula ? ""
                                              : " A user with several groups has several rows.");
    }
}

static void users_add_row(struct text *text, const struct page_view *view, uint32_t at, double most)
{
    const struct page_row *row = page_view_row(view, at);
    text_add(text, "<tr");
    page_add_row_id(text, view, at);
    text_format(text, "><th scope=\"row\" class=\"%s\">", page_name_class(row->user));
    page_add_link(text, view, at);
    page_add_markup(text, "<span class=\"sub %s\">%s</span></th><td class=\"c2 %s\">%s</td>",
                    page_name_class(row->account), row->account, page_name_class(row->account),
                    row->account);
    page_add_number(text, "r", row->place ? (double)row->place : NAN, page_add_whole);
    page_add_bar_cell(text, row, most);
    page_add_share_cells(text, row);
    text_add(text, "</tr>\n");
}

void page_add_users(struct text *text, const struct page_view *view)
{
    size_t listed = view->user_count < PAGE_USERS_LISTED ? view->user_count : PAGE_USERS_LISTED;
    double most = page_scale_end(view, view->users, listed);
    if (!listed)
        return;
    page_add_section(text, view, "users", view->cluster->by_formula ? "Entities" : "Users");
    users_add_sentences(text, view, listed);
    page_add_tools(text, view, "users-table");
    picture_add_share_key(text);
    page_begin_table(text, view, "users-table",
                     "Place, share and recent usage, in percent of the cluster");
    page_add_markup(text,
                    "<th scope=\"col\" data-sort=\"a\">%s</th>"
                    "<th scope=\"col\" class=\"c2\" data-sort=\"a\">Group</th>"
                    "<th scope=\"col\" class=\"r\" data-sort=\"p\">Place</th>",
                    view->cluster->terms->one_user);
    page_add_share_headings(text, view, most, true);
    text_add(text, "</tr></thead>\n<tbody>");
    for (size_t i = 0; i < listed; i++)
        users_add_row(text, view, view->users[i], most);
    page_end_table(text, view, "users-table", listed);
    text_add(text, "</section>\n");
}
