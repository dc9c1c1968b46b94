/* SPDX-License-Identifier: MIT */
#include "report/page/page.h"

#include "report/page/escape.h"
#include "report/page/sections.h"
#include "report/page/view.h"
#include "util/text.h"

static void page_add_head(struct text *text, const struct page_view *view)
{
    text_add(text,
             "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "img-src data: blob:; style-src ");
    text_add(text, page_style_source);
    text_add(text, "; script-src ");
    text_add(text, page_script_source);
    text_add(text, "; base-uri 'none'; form-action 'none'\">\n<title>Fair shares of ");
    page_add_html(text, view->cluster->name);
    text_add(text, "</title><style>");
    text_add(text, page_style);
    text_add(text, "</style></head><body>\n");
}

void page_add(struct text *text, const struct page_view *views, size_t count, const char *home,
              const char *links)
{
    static void (*const sections[])(struct text *, const struct page_view *) = {
        page_add_overview, page_add_groups, page_add_users,   page_add_queue,
        page_add_uses,     page_add_trials, page_add_changes, page_add_terms,
    };
    page_add_head(text, views);
    (void)home;
    (void)links;
    for (size_t i = 0; i < count; i++)
        for (size_t section = 0; section < sizeof sections / sizeof *sections; section++)
            sections[section](text, &views[i]);
    text_add(text, "<script type=\"application/json\" id=\"data\">[");
    for (size_t i = 0; i < count; i++) {
        text_add(text, i ? ",\n" : "");
        page_add_data(text, &views[i]);
    }
    text_add(text, "]</script>\n<script>");
    text_add(text, page_script);
    text_add(text, "</script></body></html>\n");
}
