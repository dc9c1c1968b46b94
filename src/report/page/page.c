/* SPDX-License-Identifier: MIT */
#include "report/page/page.h"

#include <string.h>
#include <time.h>

#include "core/fairshare/algorithm.h"
#include "report/amounts.h"
#include "report/page/escape.h"
#include "report/page/sections.h"
#include "report/page/view.h"
#include "settings/scheduler.h"
#include "util/text.h"

/* ---- Head ---- */

static void page_add_title(struct text *text, const struct page_view *views, size_t count)
{
    text_add(text, "Fair shares");
    if (count != 1)
        return;
    text_add(text, " of ");
    page_add_html(text, views->cluster->name);
}

static void page_add_head(struct text *text, const struct page_view *views, size_t count)
{
    text_add(text, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "img-src data: blob:; style-src ");
    text_add(text, page_style_source);
    text_add(text, "; script-src ");
    text_add(text, page_script_source);
    text_add(text, "; base-uri 'none'; form-action 'none'\">\n"
                   "<meta name=\"referrer\" content=\"no-referrer\">"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                   "<meta name=\"color-scheme\" content=\"light dark\">"
                   "<link rel=\"icon\" href=\"data:,\">\n<title>");
    page_add_title(text, views, count);
    text_add(text, "</title><style>");
    text_add(text, page_style);
    text_add(text, "</style></head><body>\n");
}

/* Adds `Values of 27 November 2026, 05:45 UTC`, in the time zone of the run. */
static void page_add_time(struct text *text, const struct page_cluster *cluster)
{
    char utc[32] = "", clock[64] = "";
    struct tm date;
    time_t at = (time_t)cluster->as_of;
    if (gmtime_r(&at, &date))
        strftime(utc, sizeof utc, "%Y-%m-%dT%H:%M:%SZ", &date);
    if (localtime_r(&at, &date))
        strftime(clock, sizeof clock, "%H:%M %Z", &date);
    text_format(text, "<p class=\"note\">Values of <time datetime=\"%s\">", utc);
    amount_add_date(text, cluster->as_of, 1);
    text_add(text, ", ");
    page_add_html(text, clock);
    text_add(text, "</time></p>");
}

static void page_add_choice(struct text *text, const struct page_view *views, size_t count)
{
    text_add(text, "<p class=\"js\"><label for=\"cluster\">of cluster</label> "
                   "<select id=\"cluster\">");
    for (size_t i = 0; i < count; i++) {
        text_add(text, "<option>");
        page_add_html(text, views[i].cluster->name);
        text_add(text, "</option>");
    }
    text_add(text, "</select></p>");
}

static void page_add_header(struct text *text, const struct page_view *views, size_t count)
{
    text_add(text, "<a class=\"skip\" href=\"#overview\">Skip to the overview</a>\n"
                   "<header class=\"top\"><div class=\"w\"><div class=\"of\"><h1>");
    page_add_title(text, views, count);
    text_add(text, "</h1>");
    if (count > 1)
        page_add_choice(text, views, count);
    else if (count)
        page_add_time(text, views->cluster);
    text_add(text,
             "</div>\n<div class=\"find js\" role=\"search\"><label class=\"vh\" for=\"q\">"
             "Find a user or group</label><input id=\"q\" type=\"text\" role=\"combobox\" "
             "aria-autocomplete=\"list\" aria-expanded=\"false\" aria-controls=\"hits\" "
             "autocomplete=\"off\" autocapitalize=\"off\" spellcheck=\"false\" placeholder=\"");
    if (count && views->user_count)
        text_format(text, "Find yourself: %s or group", views->cluster->terms->user);
    else
        text_add(text, "Find a group");
    text_add(text,
             "\"><ul id=\"hits\" role=\"listbox\" aria-label=\"Matches\" hidden></ul></div>\n"
             "<button id=\"theme\" type=\"button\" class=\"js\">Dark</button></div></header>\n");
}

/* Adds the note that scripts show if the values are old.  The script fills the empty element. */
static void page_add_stale_note(struct text *text, const struct page_cluster *cluster)
{
    text_add(text, "<div id=\"stale\" class=\"stale\" role=\"status\" hidden><b>These values are "
                   "<span></span> old.</b> ");
    if (cluster->interval > 0) {
        text_add(text, "The page is written every ");
        page_add_duration(text, cluster->interval);
        text_add(text, ", so fairmill may have stopped. ");
    } else {
        text_add(text, "fairmill may have stopped. ");
    }
    text_add(text, "Ask the administrator, or run <code>fairmill status</code>.</div>\n");
}

/* ---- Clusters ---- */

struct page_section {
    const char *id, *name;
    void (*add)(struct text *text, const struct page_view *view);
};
static const struct page_section page_sections[] = {
    { "overview", "Overview", page_add_overview },
    { "groups", "Groups", page_add_groups },
    { "users", "Users", page_add_users },
    { "queue", "Waiting jobs", page_add_queue },
    { "uses", "Partitions and QOS", page_add_uses },
    { "trials", "Other settings", page_add_trials },
    { "changes", "Changed settings", page_add_changes },
    { "terms", "Terms", page_add_terms },
};
#define PAGE_SECTIONS (sizeof page_sections / sizeof *page_sections)
#define PAGE_GROUPS 1u
#define PAGE_USERS 2u

static void page_add_notes(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    if (*cluster->problems) {
        text_add(text, "<p class=\"stale\"><b>fairmill reports:</b> ");
        page_add_html(text, cluster->problems);
        text_add(text, ". Ask the administrator, or run <code>fairmill status</code>.</p>\n");
    }
    if (cluster->hides_users || cluster->hides_jobs)
        text_format(text,
                    "<p class=\"note private\">This site hides usage and jobs of users from each "
                    "other. <code>fairmill explain</code> shows your own.</p>\n");
}

/* Adds links to the sections that the page has. */
static void page_add_navigation(struct text *text, const struct page_view *view,
                                const struct text *sections, const char *home)
{
    text_add(text, "<nav aria-label=\"Sections");
    if (view->several) {
        text_add(text, " of ");
        page_add_html(text, view->cluster->name);
    }
    text_add(text, "\"><ul>");
    if (home) {
        text_add(text, "<li><a href=\"");
        page_add_html(text, home);
        text_add(text, "\">All groups</a></li>");
    }
    for (size_t i = 0; i < PAGE_SECTIONS; i++) {
        if (!sections[i].length)
            continue;
        text_add(text, "<li><a href=\"#");
        page_add_id(text, view, page_sections[i].id);
        text_add(text, "\">");
        page_add_capital(text,
                         i == PAGE_USERS ? view->cluster->terms->users : page_sections[i].name);
        text_add(text, "</a></li>");
    }
    text_add(text, "</ul></nav>\n");
}

/* Groups and users are side by side on a wide screen. */
static void page_add_sections(struct text *text, const struct text *sections)
{
    bool pair = sections[PAGE_GROUPS].length && sections[PAGE_USERS].length;
    for (size_t i = 0; i < PAGE_SECTIONS; i++) {
        text_add(text, pair && i == PAGE_GROUPS ? "<div class=\"pair\">" : "");
        if (sections[i].length)
            text_add(text, sections[i].bytes);
        text_add(text, pair && i == PAGE_USERS ? "</div>\n" : "");
    }
}

static void page_add_cluster(struct text *text, const struct page_view *view, const char *home)
{
    struct text sections[PAGE_SECTIONS] = { { 0 } };
    for (size_t i = 0; i < PAGE_SECTIONS; i++)
        page_sections[i].add(&sections[i], view);
    text_add(text, "<div class=\"cluster\" data-cluster=\"");
    page_add_html(text, view->cluster->name);
    text_add(text, "\">\n");
    if (view->several) {
        text_add(text, "<h2 class=\"cluster-name\">");
        page_add_html(text, view->cluster->name);
        text_add(text, "</h2>");
        page_add_time(text, view->cluster);
    }
    page_add_notes(text, view);
    page_add_navigation(text, view, sections, home);
    text_add(text, "<section id=\"");
    page_add_id(text, view, "answer");
    text_add(text, "\" class=\"card answer\" aria-labelledby=\"");
    page_add_id(text, view, "answer-title");
    text_add(text, "\" hidden></section>\n");
    page_add_sections(text, sections);
    text_add(text, "</div>\n");
    for (size_t i = 0; i < PAGE_SECTIONS; i++)
        text_free(&sections[i]);
}

/* ---- Foot ---- */

static void page_add_algorithm(struct text *text, const struct page_cluster *cluster)
{
    static const char *const names[][2] = {
        { "fair_tree", "Fair Tree" },
        { "classic", "Classic fairshare" },
        { "depth_oblivious", "Depth-oblivious fairshare" },
        { "linear", "Linear fairshare" },
        { "pbs", "OpenPBS's fairshare" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(cluster->algorithm->name, names[i][0]))
            text_format(text, " %s", names[i][1]);
    if (cluster->half_life) {
        text_add(text, ", half-life ");
        page_add_duration(text, cluster->half_life);
        text_add(text, ".");
    } else {
        text_add(text, ", without decay.");
    }
}

static void page_add_foot(struct text *text, const struct page_view *views, size_t count)
{
    text_add(text, "</main>\n<footer><div class=\"w\"><p>Made by fairmill " PACKAGE_VERSION ".");
    if (count)
        page_add_algorithm(text, views->cluster);
    text_add(text, " This page makes no request to any server.</p></div></footer>\n"
                   "<script type=\"application/json\" id=\"data\">[");
    for (size_t i = 0; i < count; i++) {
        text_add(text, i ? ",\n" : "");
        page_add_data(text, &views[i]);
    }
    text_add(text, "]</script>\n<script>");
    text_add(text, page_script);
    text_add(text, "</script></body></html>\n");
}

void page_add(struct text *text, const struct page_view *views, size_t count, const char *home,
              const char *links)
{
    page_add_head(text, views, count);
    page_add_header(text, views, count);
    text_add(text, "<main class=\"w\">\n");
    if (count)
        page_add_stale_note(text, views->cluster);
    else
        text_add(text, "<p class=\"lead\">No values yet. <code>fairmill run</code> computes them."
                       "</p>\n");
    for (size_t i = 0; i < count; i++)
        page_add_cluster(text, &views[i], home);
    if (links && *links) {
        text_add(text, "<section class=\"card pages\">");
        text_add(text, links);
        text_add(text, "</section>\n");
    }
    page_add_foot(text, views, count);
}
