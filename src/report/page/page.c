/* SPDX-License-Identifier: MIT */
#include "report/page/page.h"

#include <time.h>

#include "core/fairshare/algorithm.h"
#include "report/amounts.h"
#include "report/column.h"
#include "report/page/escape.h"
#include "report/page/sections.h"
#include "report/page/view.h"
#include "settings/scheduler.h"
#include "util/clock.h"
#include "util/text.h"

/* ---- Head ---- */

/* Adds `Values of 27 November 2026, 05:45 UTC`, in the time zone of the run. */
static void page_add_time(struct text *text, const struct page_cluster *cluster)
{
    char utc[32] = "", clock[64] = "";
    struct text day = { 0 };
    struct tm date;
    time_t at = (time_t)cluster->as_of;
    if (gmtime_r(&at, &date))
        strftime(utc, sizeof utc, "%Y-%m-%dT%H:%M:%SZ", &date);
    if (localtime_r(&at, &date))
        strftime(clock, sizeof clock, "%H:%M %Z", &date);
    amount_add_date(&day, cluster->as_of, 1);
    page_add_markup(text, "<p class=\"note\">Values of <time datetime=\"%s\">%s, %s</time></p>",
                    utc, day.bytes, clock);
    text_free(&day);
}

static void page_add_head(struct text *text, const struct page_view *views, size_t count)
{
    struct text title = { 0 };
    text_add(&title, "Fair shares");
    if (count == 1)
        text_format(&title, " of %s", views->cluster->name);
    page_add_markup(text,
                    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "img-src data: blob:; style-src %s; script-src %s; base-uri 'none'; "
                    "form-action 'none'\">\n<meta name=\"referrer\" content=\"no-referrer\">"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                    "<meta name=\"color-scheme\" content=\"light dark\">"
                    "<link rel=\"icon\" href=\"data:,\">\n<title>%s</title><style>",
                    page_style_source, page_script_source, title.bytes);
    text_add(text, page_style);
    page_add_markup(text,
                    "</style></head><body>\n"
                    "<a class=\"skip\" href=\"#overview\">Skip to the overview</a>\n"
                    "<header class=\"top\"><div class=\"w\"><div><h1>%s</h1>",
                    title.bytes);
    text_free(&title);
}

static void page_add_header(struct text *text, const struct page_view *views, size_t count)
{
    page_add_head(text, views, count);
    if (count == 1)
        page_add_time(text, views->cluster);
    if (count > 1)
        text_add(text, "<p class=\"js\"><label for=\"cluster\">of cluster</label> "
                       "<select id=\"cluster\">");
    for (size_t i = 0; count > 1 && i < count; i++)
        page_add_markup(text, "<option>%s</option>", views[i].cluster->name);
    text_add(text, count > 1 ? "</select></p>" : "");
    page_add_markup(text,
                    "</div>\n<div class=\"find js\" role=\"search\"><label class=\"vh\" "
                    "for=\"q\">Find a user or group</label><input id=\"q\" type=\"text\" "
                    "role=\"combobox\" aria-autocomplete=\"list\" aria-expanded=\"false\" "
                    "aria-controls=\"hits\" autocomplete=\"off\" autocapitalize=\"off\" "
                    "spellcheck=\"false\" placeholder=\"Find %s%s\"><ul id=\"hits\" "
                    "role=\"listbox\" aria-label=\"Matches\" hidden></ul></div>\n"
                    "<button id=\"theme\" type=\"button\" class=\"js\">Dark</button></div>"
                    "</header>\n<main class=\"w\">\n",
                    count && views->user_count ? "yourself: user or " : "a ", "group");
}

/* Adds the note about old values.  Scripts show it and write the age while the page is read;
 * without scripts, it is shown if the values were old when the page was written. */
static void page_add_stale_note(struct text *text, const struct page_cluster *cluster)
{
    int64_t age = clock_now() - cluster->as_of;
    bool is_stale = cluster->stale_after && age > cluster->stale_after;
    text_format(text,
                "<div id=\"stale\" class=\"stale\" role=\"status\"%s><b>These values are <span>",
                is_stale ? "" : " hidden");
    text_add_duration(text, age);
    text_add(text, " old</span>.</b> ");
    if (cluster->interval > 0) {
        text_add(text, "The page is written every ");
        page_add_duration(text, cluster->interval);
        text_add(text, ", so ");
    }
    text_add(text, "fairmill may have stopped. Ask the administrator, or run "
                   "<code>fairmill status</code>.</div>\n");
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

/* Adds the notes about a cluster, and links to the sections that the page has. */
static void page_add_navigation(struct text *text, const struct page_view *view,
                                const struct text *sections, const char *home)
{
    const struct page_cluster *cluster = view->cluster;
    if (*cluster->problems)
        page_add_markup(text,
                        "<p class=\"stale\"><b>fairmill reports:</b> %s. Ask the administrator, or "
                        "run <code>fairmill status</code>.</p>\n",
                        cluster->problems);
    if (cluster->hides_users || cluster->hides_jobs)
        text_add(text, "<p class=\"note\">This site hides usage and jobs of users from each other. "
                       "<code>fairmill explain</code> shows your own.</p>\n");
    page_add_markup(text, "<nav aria-label=\"Sections%s%s\"><ul>", view->several ? " of " : "",
                    view->several ? cluster->name : "");
    if (home)
        page_add_markup(text, "<li><a href=\"%s\">All groups</a></li>", home);
    for (size_t i = 0; i < PAGE_SECTIONS; i++)
        if (sections[i].length)
            page_add_markup(text, "<li><a href=\"#%s%s\">%s</a></li>", page_prefix_of(view).bytes,
                            page_sections[i].id,
                            i == PAGE_USERS && cluster->by_formula ? "Entities"
                                                                   : page_sections[i].name);
    text_add(text, "</ul></nav>\n");
}

static void page_add_cluster(struct text *text, const struct page_view *view, const char *home)
{
    struct page_prefix prefix = page_prefix_of(view);
    struct text sections[PAGE_SECTIONS] = { { 0 } };
    for (size_t i = 0; i < PAGE_SECTIONS; i++)
        page_sections[i].add(&sections[i], view);
    page_add_markup(text, "<div class=\"cluster\" data-cluster=\"%s\">\n", view->cluster->name);
    if (view->several) {
        page_add_markup(text, "<h2 class=\"cluster-name\">%s</h2>", view->cluster->name);
        page_add_time(text, view->cluster);
    }
    page_add_navigation(text, view, sections, home);
    page_add_markup(text,
                    "<section id=\"%sanswer\" class=\"card answer\" "
                    "aria-labelledby=\"%sanswer-title\" hidden></section>\n",
                    prefix.bytes, prefix.bytes);
    /* Groups and users are side by side on a wide screen. */
    bool pair = sections[PAGE_GROUPS].length && sections[PAGE_USERS].length;
    for (size_t i = 0; i < PAGE_SECTIONS; i++) {
        text_add(text, pair && i == PAGE_GROUPS ? "<div class=\"pair\">" : "");
        text_add(text, sections[i].length ? sections[i].bytes : "");
        text_add(text, pair && i == PAGE_USERS ? "</div>\n" : "");
        text_free(&sections[i]);
    }
    text_add(text, "</div>\n");
}

/* ---- Foot ---- */

static void page_add_foot(struct text *text, const struct page_view *views, size_t count)
{
    text_add(text, "</main>\n<footer><div class=\"w\"><p>Made by fairmill " PACKAGE_VERSION ".");
    if (count) {
        const struct page_cluster *cluster = views->cluster;
        bool fair_tree = cluster->algorithm->ranks_users;
        page_add_markup(text, " %s%s%s", fair_tree ? "Fair Tree" : "Algorithm ",
                        fair_tree ? "" : cluster->algorithm->name,
                        cluster->half_life ? ", half-life " : ", without decay");
        if (cluster->half_life)
            page_add_duration(text, cluster->half_life);
        text_add(text, ".");
    }
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
    page_add_header(text, views, count);
    if (count)
        page_add_stale_note(text, views->cluster);
    for (size_t i = 0; i < count; i++)
        page_add_cluster(text, &views[i], home);
    if (links)
        text_format(text, "<section class=\"card pages\">%s</section>\n", links);
    page_add_foot(text, views, count);
}
