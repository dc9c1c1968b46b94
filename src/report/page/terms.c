/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/sections.h"
#include "settings/scheduler.h"
#include "util/text.h"

/* `definition` is HTML. */
static void terms_add(struct text *text, const char *term, const char *definition)
{
    text_add(text, "<div><dt>");
    page_add_capital(text, term);
    text_add(text, "</dt><dd>");
    text_add(text, definition);
    text_add(text, "</dd></div>");
}

/* Returns the singular: `core-hour` for `core-hours`. */
static void terms_add_one(struct text *text, const char *hours)
{
    size_t length = strlen(hours);
    text_add_bytes(text, hours, length && hours[length - 1] == 's' ? length - 1 : length);
}

/* Adds `A core-hour`, or `Usage` if the unit is not known to be hours. */
static void terms_add_unit_subject(struct text *text, const struct page_cluster *cluster)
{
    const char *hours = page_unit_hours(cluster), *end = strstr(hours, "hours");
    if (!end || end[strlen("hours")]) {
        text_add(text, "Usage");
        return;
    }
    struct text one = { 0 };
    terms_add_one(&one, hours);
    text_add(text, "A ");
    page_add_html(text, one.bytes);
    text_free(&one);
}

static void terms_add_recent(struct text *text, const struct page_cluster *cluster)
{
    struct text words = { 0 };
    text_add(&words, "Usage that still counts for fairshare. ");
    if (cluster->half_life) {
        terms_add_unit_subject(&words, cluster);
        text_add(&words, " counts half after ");
        page_add_duration(&words, cluster->half_life);
        text_add(&words, " and a quarter after ");
        page_add_duration(&words, 2 * cluster->half_life);
        text_add(&words, ".");
    } else {
        text_add(&words, "It does not decay here.");
    }
    terms_add(text, "recent usage", words.bytes);
    text_free(&words);
}

static void terms_add_unit(struct text *text, const struct page_cluster *cluster)
{
    struct text one = { 0 }, definition = { 0 };
    if (!cluster->unit_definition)
        return;
    terms_add_one(&one, cluster->units[0].hours);
    page_add_html(&definition, cluster->unit_definition);
    terms_add(text, one.bytes, definition.bytes);
    text_free(&one);
    text_free(&definition);
}

static void terms_add_order(struct text *text, const struct page_cluster *cluster)
{
    struct text words = { 0 };
    text_format(&words, "Order of %s by fairshare alone; 1 is next. %s", cluster->terms->users,
                cluster->by_formula ? "The job_sort_formula decides the order of jobs."
                                    : "A job's priority adds age, QOS and partition.");
    terms_add(text, "place", words.bytes);
    text_free(&words);
    terms_add(text, "usage \xc3\xb7 share",
              "1 means exactly its share, 2 twice its share. Below 1, a group ranks higher than "
              "groups above 1.");
    if (cluster->algorithm->ranks_users)
        terms_add(text, "order within levels",
                  "Fair Tree compares groups from the top of the tree down. A user cannot pass a "
                  "user of a better placed group.");
    else
        terms_add(text, "factor",
                  "The fairshare factor orders users: the highest factor has place 1. It falls as "
                  "usage grows beyond the share.");
}

static void terms_add_capacity(struct text *text, const struct page_cluster *cluster)
{
    struct text words = { 0 };
    if (!(cluster->capacity > 0))
        return;
    text_add(&words, "Usage if the whole cluster is busy day and night: ");
    page_add_amount(&words, cluster->capacity);
    text_add(&words, " ");
    page_add_html(&words, page_unit_hours(cluster));
    text_add(&words, " a day.");
    terms_add(text, "capacity", words.bytes);
    text_free(&words);
}

void page_add_terms(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    struct text words = { 0 };
    page_add_section(text, view, "terms", "Terms");
    page_add_tools(text, view, NULL);
    text_add(text, "<dl class=\"terms\">");
    text_format(&words, "The part of the cluster that was promised to a group or %s.",
                cluster->terms->user);
    terms_add(text, "share", words.bytes);
    text_free(&words);
    terms_add_recent(text, cluster);
    terms_add_unit(text, cluster);
    terms_add(text, "entitlement",
              "Share \xc3\x97 usage delivered in the month. A group that was idle is not owed the "
              "difference later.");
    terms_add_order(text, cluster);
    terms_add_capacity(text, cluster);
    if (cluster->by_formula)
        terms_add(text, "OpenPBS's own numbers",
                  "OpenPBS schedules by its own values. They can differ from these by minutes.");
    else
        terms_add(text, "Slurm's own numbers",
                  "Slurm schedules by its own values. They can differ from these by minutes, or "
                  "after a correction in fairmill's ledger.");
    text_add(text, "</dl></section>\n");
}
