/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "report/amounts.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/sections.h"
#include "util/text.h"

static void changes_add_row(struct text *text, const struct page_change *change)
{
    char clock[16] = "";
    struct tm date;
    time_t at = (time_t)change->at;
    if (localtime_r(&at, &date))
        strftime(clock, sizeof clock, ", %H:%M", &date);
    text_add(text, "<tr><th scope=\"row\">");
    amount_add_date(text, change->at, 1);
    text_add(text, clock);
    page_add_markup(text, "</th><td class=\"name\">%s</td></tr>\n", change->words);
}

void page_add_changes(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    if (!cluster->change_count)
        return;
    page_add_section(text, view, "changes", "Changed settings");
    page_add_tools(text, view, NULL);
    text_add(text,
             "<table class=\"tight\"><caption class=\"vh\">Changed settings</caption><thead>"
             "<tr><th scope=\"col\">First run</th><th scope=\"col\">Change</th></tr></thead>\n"
             "<tbody>");
    for (size_t i = cluster->change_count; i-- > 0;)
        changes_add_row(text, &cluster->changes[i]);
    text_add(text, "</tbody></table></section>\n");
}
