/* SPDX-License-Identifier: MIT */
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/picture.h"
#include "report/page/sections.h"
#include "settings/scheduler.h"
#include "util/text.h"

/* The parts are of the sum, because refunds change the cluster's usage but not that of jobs. */
static void uses_add_table(struct text *text, const char *word, const struct page_uses *uses)
{
    double all = 0;
    for (size_t i = 0; i < uses->count; i++)
        all += uses->list[i].usage;
    page_add_markup(text,
                    "<div><h3>By %s</h3><table class=\"tight\"><caption class=\"vh\">Recent usage "
                    "by %s</caption><tbody>",
                    word, word);
    for (size_t i = 0; i < uses->count; i++) {
        const struct page_use *use = &uses->list[i];
        page_add_markup(text, "<tr><th scope=\"row\" class=\"%s\">%s</th><td class=\"bar\">",
                        page_name_class(use->name), *use->name ? use->name : "none");
        picture_add_bar(text, "fu", use->usage / uses->list[0].usage);
        text_add(text, "</td>");
        page_add_number(text, "r", use->usage / all, page_add_percent);
        text_add(text, "</tr>\n");
    }
    text_add(text, "</tbody></table></div>");
}

void page_add_uses(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    if (!view->whole || !cluster->by_partition.count)
        return;
    page_add_section(text, view, "uses",
                     cluster->by_qos.count ? "Use by partition and QOS" : "Use");
    text_add(text, "<p class=\"soft\">All percentages are of the recent usage of all jobs.</p>");
    page_add_tools(text, view, NULL);
    text_add(text, "<div class=\"three\">");
    uses_add_table(text, cluster->terms->partition, &cluster->by_partition);
    uses_add_table(text, "QOS", &cluster->by_qos);
    text_add(text, "</div></section>\n");
}
