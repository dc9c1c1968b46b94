/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "report/amounts.h"
#include "report/page/backtest.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/sections.h"
#include "settings/scheduler.h"
#include "util/text.h"

/* Number of rows of all tables together. */
#define ROWS_AT_MOST 200u

static void trials_add_mean(struct text *text, double value)
{
    text_format(text, "%.1f", value);
}

static void trials_add_row(struct text *text, const struct page_view *view, uint32_t at,
                           const struct page_backtest_row *results, size_t variant)
{
    const struct page_row *row = page_view_row(view, at);
    const struct page_tried *now = &results->tried[0], *then = &results->tried[variant];
    page_add_markup(text, "<tr><th scope=\"row\" class=\"%s\">",
                    page_name_class(*row->user ? row->user : row->account));
    page_add_link(text, view, at);
    page_add_markup(text, "<span class=\"sub\">%s</span></th><td class=\"c2 %s\">%s</td>",
                    *row->user ? row->account : "group", page_name_class(row->account),
                    *row->user ? row->account : "");
    page_add_number(text, "r c3", row->own_share ? results->due : NAN, page_add_percent);
    page_add_number(text, "r", now->use, page_add_percent);
    page_add_number(text, "r", then->use, page_add_percent);
    page_add_number(text, "r c2", now->place, trials_add_mean);
    page_add_number(text, "r c2", then->place, trials_add_mean);
    page_add_number(text, "r", then->turned, trials_add_mean);
    text_add(text, "</tr>\n");
}

/* Adds the users in the order of the page, and then the groups, up to `most`. */
static void trials_add_rows(struct text *text, const struct page_view *view, size_t variant,
                            size_t most)
{
    size_t all = view->user_count + view->group_count;
    for (size_t i = 0; i < all && i < most; i++) {
        uint32_t at = i < view->user_count ? view->users[i] : view->groups[i - view->user_count];
        const struct page_backtest_row *results =
            page_backtest_row(view->cluster->backtest, page_view_row(view, at)->id);
        if (results)
            trials_add_row(text, view, at, results, variant);
    }
}

static void trials_add_table(struct text *text, const struct page_view *view, size_t variant,
                             size_t most)
{
    const struct page_variant *now = view->cluster->backtest->variants, *then = now + variant;
    size_t all = view->user_count + view->group_count;
    char id[40] = "trials-table";
    if (variant > 1)
        snprintf(id, sizeof id, "trials-table-%zu", variant);
    page_add_markup(text, "<h3 class=\"gap\">Settings: %s</h3><p class=\"soft\">The order of ",
                    then->settings);
    page_add_percent(text, then->turned);
    page_add_markup(text, " of all pairs of %s changes. To match the shares, ",
                    view->cluster->terms->users);
    page_add_percent(text, then->distance);
    text_add(text, " of usage would have to move; now it is ");
    page_add_percent(text, now->distance);
    text_add(text, ".</p>");
    page_begin_table(text, view, id, "Usage and places under other settings");
    text_add(text, "<th scope=\"col\" data-sort=\"a\">Name</th>"
                   "<th scope=\"col\" class=\"c2\" data-sort=\"a\">Group</th>"
                   "<th scope=\"col\" class=\"r c3\" data-sort=\"n\">Entitlement</th>"
                   "<th scope=\"col\" class=\"r\" data-sort=\"n\">Usage now</th>"
                   "<th scope=\"col\" class=\"r\" data-sort=\"n\">Usage then</th>"
                   "<th scope=\"col\" class=\"r c2\" data-sort=\"p\">Place now</th>"
                   "<th scope=\"col\" class=\"r c2\" data-sort=\"p\">Place then</th>"
                   "<th scope=\"col\" class=\"r\" data-sort=\"n\">Reversed</th>"
                   "</tr></thead>\n<tbody>");
    trials_add_rows(text, view, variant, most);
    page_end_table(text, view, id, all < most ? all : most);
}

void page_add_trials(struct text *text, const struct page_view *view)
{
    const struct page_backtest *backtest = view->cluster->backtest;
    if (!backtest)
        return;
    page_add_section(text, view, "trials", "Under other settings");
    text_add(text, "<p class=\"soft\">");
    if (!backtest->since) {
        text_add(text, "The backtest has no points.</p></div></div></section>\n");
        return;
    }
    text_add(text, "Values are means from ");
    amount_add_date(text, backtest->since, 1);
    text_add(text, " to ");
    amount_add_date(text, backtest->until, 1);
    text_add(text,
             ". Jobs are not scheduled again, so usage is the same under all settings. Reversed is "
             "the mean number of users that precede a user only now or only then. "
             "<code>fairmill backtest</code> prints all rows.</p>");
    page_add_tools(text, view, "trials-table");
    for (size_t i = 1; i < backtest->variant_count; i++)
        trials_add_table(text, view, i, ROWS_AT_MOST / (backtest->variant_count - 1));
    text_add(text, "</section>\n");
}
