/* SPDX-License-Identifier: MIT */
#include "report/page/cells.h"

#include "report/amounts.h"
#include "report/page/escape.h"
#include "report/page/picture.h"
#include "util/text.h"

double page_scale_end(const struct page_view *view, const uint32_t *rows, size_t count)
{
    double most = 1e-6;
    for (size_t i = 0; i < count; i++) {
        const struct page_row *row = page_view_row(view, rows[i]);
        most = fmax(most, 1.03 * fmax(row->own_share ? row->share : 0, row->used));
    }
    return most;
}

const char *page_unit_hours(const struct page_cluster *cluster)
{
    return cluster->unit_count ? cluster->units[cluster->chosen_unit].hours : "usage";
}

void page_add_section(struct text *text, const struct page_view *view, const char *id,
                      const char *heading)
{
    struct page_prefix prefix = page_prefix_of(view);
    page_add_markup(text,
                    "<section id=\"%s%s\" class=\"card\" aria-labelledby=\"%s%s-title\">"
                    "<div class=\"head\"><div><h2 id=\"%s%s-title\">%s</h2>",
                    prefix.bytes, id, prefix.bytes, id, prefix.bytes, id, heading);
}

void page_add_tools(struct text *text, const struct page_view *view, const char *table)
{
    if (table)
        page_add_markup(text,
                        "</div><div class=\"tools js\"><button type=\"button\" "
                        "data-csv=\"%s%s\">Save as CSV</button></div></div>\n",
                        page_prefix_of(view).bytes, table);
    else
        text_add(text, "</div></div>\n");
}

void page_add_more(struct text *text, const struct page_view *view, const char *table, size_t rows)
{
    page_add_markup(text,
                    "<div class=\"more js\"><button type=\"button\" id=\"%s%s-more\">Show all ",
                    page_prefix_of(view).bytes, table);
    amount_add_whole(text, rows);
    text_add(text, "</button></div>");
}

void page_add_share_headings(struct text *text, const struct page_view *view, double most,
                             bool sortable)
{
    const char *sort = sortable ? " data-sort=\"n\"" : "";
    text_add(text, "<th scope=\"col\" class=\"bar\"><span class=\"vh\">Bar, in percent of the "
                   "cluster</span>");
    picture_add_scale(text, most);
    text_format(text,
                "</th><th scope=\"col\" class=\"r c2\"%s>Share</th>"
                "<th scope=\"col\" class=\"r c2\"%s%s>Recent usage</th>"
                "<th scope=\"col\" class=\"r\"%s>Usage \xc3\xb7 share</th>"
                "<th scope=\"col\" class=\"r c3\"%s>",
                sort, sort, sortable ? " aria-sort=\"descending\"" : "", sort, sort);
    page_add_capital(text, page_unit_hours(view->cluster));
    if (view->cluster->period) {
        text_add(text, ", ");
        page_add_html(text, view->cluster->period);
    }
    text_add(text, "</th>");
}

/* On a narrow screen the sentence below the bar replaces two columns. */
void page_add_bar_cell(struct text *text, const struct page_row *row, double most)
{
    text_add(text, "<td class=\"bar\">");
    picture_add_share_bar(text, row->own_share ? row->share : NAN, row->used, most);
    text_add(text, "<span class=\"sub\">");
    page_add_percent(text, row->used);
    if (row->own_share) {
        text_add(text, " of ");
        page_add_percent(text, row->share);
    } else {
        text_add(text, ", no share");
    }
    text_add(text, "</span></td>");
}

static void page_add_value_cell(struct text *text, const char *class, double value)
{
    if (isnan(value))
        text_format(text, "<td class=\"%s\" data-v=\"\">", class);
    else if (isinf(value))
        text_format(text, "<td class=\"%s\" data-v=\"Infinity\">", class);
    else
        text_format(text, "<td class=\"%s\" data-v=\"%.6g\">", class, value);
}

void page_add_share_cells(struct text *text, const struct page_row *row)
{
    double ratio = row->used > 0 || row->share > 0 ? row->ratio : NAN;
    page_add_value_cell(text, "r c2", row->own_share ? row->share : 0);
    if (row->own_share)
        page_add_percent(text, row->share);
    else
        text_add(text, "none");
    text_add(text, "</td>");
    page_add_value_cell(text, "r c2", row->used);
    page_add_percent(text, row->used);
    text_add(text, "</td>");
    page_add_value_cell(text, page_row_used_more(row) ? "r over" : "r", ratio);
    page_add_ratio(text, ratio);
    text_add(text, "</td>");
    page_add_value_cell(text, "r c3", row->spent);
    page_add_amount(text, row->spent);
    text_add(text, "</td>");
}

void page_add_row_id(struct text *text, const struct page_view *view, uint32_t row)
{
    struct text address = { 0 };
    page_add_address(&address, view, row);
    text_format(text, " id=\"%s\"", address.bytes + 1);
    text_free(&address);
}
