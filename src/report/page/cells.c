/* SPDX-License-Identifier: MIT */
#include "report/page/cells.h"

#include <string.h>

#include "report/amounts.h"
#include "report/page/escape.h"
#include "report/page/picture.h"
#include "util/text.h"

/* Maximum lengths of names in characters. */
#define SHORT_NAME 8u
#define MEDIUM_NAME 14u

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
    return cluster->unit_count ? cluster->units[0].hours : "usage";
}

const char *page_name_class(const char *name)
{
    size_t length = utf8_length(name);
    return length <= SHORT_NAME ? "nw" : length <= MEDIUM_NAME ? "mid" : "name";
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

void page_begin_table(struct text *text, const struct page_view *view, const char *id,
                      const char *caption)
{
    page_add_markup(text, "<table id=\"%s%s\" data-table data-room=\"", page_prefix_of(view).bytes,
                    id);
    text_format(text, "%d\"><caption class=\"vh\">%s</caption><thead><tr>", PAGE_ROOM, caption);
}

void page_end_table(struct text *text, const struct page_view *view, const char *id, size_t rows)
{
    text_add(text, "</tbody></table>\n");
    if (rows > PAGE_ROOM)
        page_add_more(text, view, id, rows);
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
                "<th scope=\"col\" class=\"r\"%s>Usage \xc3\xb7\xc2\xa0share</th>"
                "<th scope=\"col\" class=\"r c3\"%s>",
                sort, sort, sortable ? " aria-sort=\"descending\"" : "", sort, sort);
    page_add_capital(text, page_unit_hours(view->cluster));
    page_add_markup(text, ", %s</th>", view->cluster->period);
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

void page_add_whole(struct text *text, double number)
{
    amount_add_whole(text, (uint64_t)number);
}

/* A value that is the cell's text need not be repeated. */
void page_add_number(struct text *text, const char *class, double number,
                     void (*add)(struct text *, double))
{
    struct text words = { 0 }, value = { 0 };
    text_add(&value, "");
    if (isinf(number))
        text_add(&value, "Infinity");
    else if (!isnan(number))
        text_format(&value, floor(number) == number ? "%.0f" : "%.6g", number);
    if (isnan(number))
        text_add(&words, "\xe2\x80\x93");
    else
        add(&words, number);
    text_format(text, "<td class=\"%s\"", class);
    if (strcmp(words.bytes, value.bytes) != 0)
        text_format(text, " data-v=\"%s\"", value.bytes);
    text_format(text, ">%s</td>", words.bytes);
    text_free(&words);
    text_free(&value);
}

void page_add_share_cells(struct text *text, const struct page_row *row)
{
    double ratio = row->used > 0 || row->share > 0 ? row->ratio : NAN;
    if (row->own_share)
        page_add_number(text, "r c2", row->share, page_add_percent);
    else
        text_add(text, "<td class=\"r c2\" data-v=\"0\">none</td>");
    page_add_number(text, "r c2", row->used, page_add_percent);
    page_add_number(text, page_row_used_more(row) ? "r over" : "r", ratio, page_add_ratio);
    page_add_number(text, "r c3", row->spent, page_add_amount);
}

void page_add_row_id(struct text *text, const struct page_view *view, uint32_t row)
{
    struct text address = { 0 };
    page_add_address(&address, view, row);
    text_format(text, " id=\"%s\"", address.bytes + 1);
    text_free(&address);
}
