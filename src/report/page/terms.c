/* SPDX-License-Identifier: MIT */
#include "core/fairshare/algorithm.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/sections.h"
#include "settings/scheduler.h"
#include "util/text.h"

static void terms_add_usage(struct text *text, const struct page_cluster *cluster)
{
    text_add(text, "<div><dt>Recent usage</dt><dd>Usage that still counts for fairshare. ");
    if (cluster->half_life) {
        text_add(text, "It counts half after ");
        page_add_duration(text, cluster->half_life);
        text_add(text, " and a quarter after ");
        page_add_duration(text, 2 * cluster->half_life);
        text_add(text, ".</dd></div>");
    } else {
        text_add(text, "It does not decay here.</dd></div>");
    }
    if (cluster->unit_definition) {
        text_add(text, "<div><dt>");
        page_add_capital(text, page_unit_hours(cluster));
        page_add_markup(text, "</dt><dd>%s A QOS can count more or less.%s</dd></div>",
                        cluster->unit_definition,
                        cluster->unit_count > 1 ? " Other units have no such weights." : "");
    }
}

static void terms_add_capacity(struct text *text, const struct page_cluster *cluster)
{
    if (!(cluster->capacity > 0))
        return;
    text_add(text, "<div><dt>Capacity</dt><dd>Usage if the whole cluster is busy day and night: ");
    page_add_amount(text, cluster->capacity);
    page_add_markup(text, " %s a day.</dd></div>", page_unit_hours(cluster));
}

void page_add_terms(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    const struct terminology *terms = cluster->terms;
    page_add_section(text, view, "terms", "Terms");
    page_add_tools(text, view, NULL);
    page_add_markup(text,
                    "<dl class=\"terms\"><div><dt>Share</dt><dd>The part of the cluster that was "
                    "promised to a group or %s.</dd></div>",
                    terms->user);
    terms_add_usage(text, cluster);
    page_add_markup(
        text,
        "<div><dt>Entitlement</dt><dd>Share \xc3\x97 usage delivered in the month. A group "
        "that was idle is not owed the difference later.</dd></div>"
        "<div><dt>Place</dt><dd>Order of %s by fairshare alone; 1 is next. %s</dd></div>"
        "<div><dt>Usage \xc3\xb7 share</dt><dd>1 means exactly its share, 2 twice its "
        "share. Below 1, a group ranks higher than groups above 1.</dd></div>",
        terms->users,
        cluster->by_formula ? "The job_sort_formula decides the order of jobs."
                            : "A job's priority adds age, QOS and partition.");
    if (cluster->algorithm->ranks_users)
        text_add(
            text,
            "<div><dt>Order within levels</dt><dd>Fair Tree compares groups from the top "
            "of the tree down. A user cannot pass a user of a better placed group. "
            "The reasons in an answer therefore compare usage with the share of the group above."
            "</dd></div>");
    if (!cluster->by_formula)
        text_add(text,
                 "<div><dt>Budget</dt><dd>A limit (GrpTRESMins) of usage that still counts: it "
                 "fades like recent usage. When it is used up, no job of the group starts."
                 "</dd></div>");
    terms_add_capacity(text, cluster);
    text_format(text,
                "<div><dt>%s's own numbers</dt><dd>%s schedules by its own values. They can differ "
                "from these by minutes%s.</dd></div></dl></section>\n",
                cluster->by_formula ? "OpenPBS" : "Slurm",
                cluster->by_formula ? "OpenPBS" : "Slurm",
                cluster->by_formula ? "" : ", or after a correction in fairmill's ledger");
}
