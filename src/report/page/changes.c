/* SPDX-License-Identifier: MIT */
#include "report/amounts.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/sections.h"
#include "util/text.h"

void page_add_changes(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    if (!cluster->change_count)
        return;
    page_add_section(text, view, "changes", "Changed settings");
    page_add_tools(text, view, NULL);
    text_add(text, "<table class=\"tight\"><caption class=\"vh\">Changed settings</caption><thead>"
                   "<tr><th scope=\"col\">Date</th><th scope=\"col\">Change</th></tr></thead>\n"
                   "<tbody>");
    for (size_t i = cluster->change_count; i-- > 0;) {
        text_add(text, "<tr><th scope=\"row\">");
        amount_add_date(text, cluster->changes[i].at, 1);
        page_add_markup(text, "</th><td class=\"name\">%s</td></tr>\n", cluster->changes[i].words);
    }
    text_add(text, "</tbody></table></section>\n");
}
