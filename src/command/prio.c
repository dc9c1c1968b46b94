/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/whatif/new_jobs.h"
#include "command/private.h"
#include "command/published_jobs.h"
#include "db/db.h"
#include "report/priorities.h"
#include "results/schema.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

struct wish {
    struct option_list clusters;
    struct prio_filter filter;
    uint64_t *jobs;
    const char *job_text, *sort;
    const struct prio_form *form;
    struct prio_look look;
};

/* The lists of all clusters that are shown. */
struct shown {
    struct prio_list **lists;
    size_t count;
};

static void shown_free(struct shown *shown)
{
    for (size_t i = 0; i < shown->count; i++)
        prio_list_destroy(shown->lists[i]);
    free(shown->lists);
}

static bool is_wanted(const struct wish *wish, const char *cluster)
{
    for (size_t i = 0; i < wish->clusters.count; i++)
        if (!strcmp(wish->clusters.values[i], cluster))
            return true;
    return wish->clusters.count == 0;
}

static int read_clusters(struct db *db, const struct wish *wish, struct shown *shown,
                         struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_shown_clusters, NULL, 0, "tti", err);
    if (!rows)
        return -1;
    int got;
    bool any = false;
    while ((got = db_fetch(rows, &row, err)) > 0) {
        char *name = db_value_text(&row[0]);
        any = true;
        if (is_wanted(wish, name)) {
            shown->lists = memory_resized(shown->lists, shown->count + 1, sizeof *shown->lists);
            shown->lists[shown->count++] = prio_list_create(name, row[2].integer);
        }
        free(name);
    }
    db_finish(rows);
    if (got)
        return -1;
    return any ? 0 : fail(err, ERROR_OTHER, "no results yet");
}

/* Something must answer to each cluster that was asked for. */
static int check_clusters(const struct wish *wish, const struct shown *shown, struct error *err)
{
    for (size_t i = 0; i < wish->clusters.count; i++) {
        bool there = false;
        for (size_t j = 0; j < shown->count; j++)
            there |= !strcmp(shown->lists[j]->cluster, wish->clusters.values[i]);
        if (!there)
            return fail(err, ERROR_USAGE, "there are no results of a cluster '%s'",
                        wish->clusters.values[i]);
    }
    return 0;
}

/* Likewise to the jobs. */
static int check_jobs(const struct wish *wish, const struct shown *shown, struct error *err)
{
    if (!wish->filter.job_count || wish->look.only_weights)
        return 0;
    for (size_t i = 0; i < shown->count; i++)
        if (shown->lists[i]->count)
            return 0;
    return fail(err, ERROR_USAGE, "there is no job '%s' that waits", wish->job_text);
}

/* `all` are the settings that a run would have; NULL where this user may not read them. */
static int read_all(struct db *db, const struct settings *all, const struct wish *wish,
                    struct shown *shown, struct error *err)
{
    if (read_clusters(db, wish, shown, err) || check_clusters(wish, shown, err))
        return -1;
    for (size_t i = 0; i < shown->count; i++) {
        struct prio_list *list = shown->lists[i];
        if (published_weights_read(db, list, err))
            return -1;
        if (wish->look.only_weights)
            continue;
        if (published_jobs_read(db, list, err))
            return -1;
        if (all)
            new_jobs_add(list, all, db);
        prio_list_filter(list, &wish->filter);
        if (prio_list_sort(list, wish->sort, err))
            return -1;
    }
    return check_jobs(wish, shown, err);
}

static int print_all(const struct wish *wish, const struct shown *shown, struct error *err)
{
    struct prio_look look = wish->look;
    struct text text = { 0 };
    look.named = shown->count > 1;
    wish->form->begin(&text, &look);
    for (size_t i = 0; i < shown->count; i++)
        wish->form->add(&text, shown->lists[i], &look, i == 0);
    wish->form->end(&text);
    int result = command_print(&text, err);
    text_free(&text);
    return result;
}

static int show(const struct settings *settings, const struct settings *all,
                const struct wish *wish, struct error *err)
{
    struct db *db;
    struct shown shown = { 0 };
    if (results_open(&db, settings, DB_READER, err))
        return -1;
    int result = -1;
    if (!db_begin(db, err)) {
        result = read_all(db, all, wish, &shown, err);
        db_rollback(db);
    }
    db_close(db);
    if (!result)
        result = print_all(wish, &shown, err);
    shown_free(&shown);
    return result;
}

static int take_jobs(struct wish *wish, struct error *err)
{
    for (const char *at = wish->job_text; at && *at;) {
        size_t length = strcspn(at, ",");
        uint64_t id;
        if (!number_unsigned(at, length, &id))
            return fail(err, ERROR_USAGE, "prio: '%.*s' is no id of a job", (int)length, at);
        wish->jobs = memory_resized(wish->jobs, wish->filter.job_count + 1, sizeof *wish->jobs);
        wish->jobs[wish->filter.job_count++] = id;
        at += length + (at[length] == ',');
    }
    wish->filter.jobs = wish->jobs;
    return 0;
}

/* What is wrong is told before anything is read. */
static int check_wish(struct wish *wish, bool parsable, bool json, struct error *err)
{
    struct prio_list nothing = { 0 };
    struct prio_format format;
    if (parsable && json)
        return fail(err, ERROR_USAGE, "prio: --parsable and --json exclude each other");
    if (wish->look.format && (wish->look.all || parsable || json))
        return fail(err, ERROR_USAGE, "prio: --format and --%s exclude each other",
                    wish->look.all ? "long"
                    : parsable     ? "parsable"
                                   : "json");
    if (prio_list_sort(&nothing, wish->sort, err) || take_jobs(wish, err))
        return -1;
    if (wish->look.format && prio_format_parse(&format, wish->look.format, err))
        return -1;
    if (wish->look.format)
        prio_format_free(&format);
    wish->look.with_users = wish->filter.users != NULL;
    wish->form = parsable ? &prio_parsable : json ? &prio_json : &prio_table;
    return 0;
}

static int prio_command(const struct invocation *invocation, struct error *err)
{
    struct wish wish = { .sort = "i" };
    bool parsable = false, json = false;
    const struct command_option known[] = {
        { "long", 'l', &wish.look.all, NULL, NULL },
        { "norm", 'n', &wish.look.normalized, NULL, NULL },
        { "weights", 'w', &wish.look.only_weights, NULL, NULL },
        { "noheader", 0, &wish.look.no_header, NULL, NULL },
        { "format", 'o', NULL, &wish.look.format, NULL },
        { "sort", 'S', NULL, &wish.sort, NULL },
        { "jobs", 'j', NULL, &wish.job_text, NULL },
        { "user", 'u', NULL, &wish.filter.users, NULL },
        { "partition", 'p', NULL, &wish.filter.partitions, NULL },
        { "cluster", 'M', NULL, NULL, &wish.clusters },
        { "parsable", 'P', &parsable, NULL, NULL },
        { "json", 0, &json, NULL, NULL },
        { .name = NULL },
    };
    struct settings *settings = NULL, *all = NULL;
    struct error ignored;
    int result = command_options(invocation, known, err);
    if (!result)
        result = check_wish(&wish, parsable, json, err);
    if (!result)
        result = settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err);
    char *own = result ? NULL : private_login(settings);
    if (!result)
        result = private_check(own, wish.filter.users, err);
    if (!result) {
        wish.filter.users = own ? own : wish.filter.users;
        settings_load(&all, invocation->settings_path, SETTINGS_FOR_ALL, &ignored);
        result = show(settings, all, &wish, err);
    }
    option_list_free(&wish.clusters);
    free(wish.jobs);
    free(own);
    settings_destroy(settings);
    settings_destroy(all);
    return result;
}

const struct command command_prio = {
    "prio",
    "prio [--long] [--norm] [--weights] [--user NAMES]\n"
    "       [--partition NAMES] [--jobs IDS] [--sort LETTERS]\n"
    "       [--format FORMAT | --parsable | --json] [--cluster NAME]...",
    "priorities of jobs that wait, in sprio's columns",
    "  -l, --long             all columns, also those without a weight\n"
    "  -n, --norm             factors, before they are weighted\n"
    "  -w, --weights          the weights instead of jobs\n"
    "  -u, --user NAMES       only jobs of these users, separated by commas\n"
    "  -p, --partition NAMES  only rows of these partitions\n"
    "  -j, --jobs IDS         only these jobs\n"
    "  -S, --sort LETTERS     by these columns, such as u,-y; usually i\n"
    "  -o, --format FORMAT    these columns: %[.][size]letter, as sprio has them\n"
    "      --noheader         no line of headings\n"
    "  -M, --cluster NAME     only this cluster; may be given again\n"
    "  -P, --parsable         a header, `|` between fields, every digit\n"
    "      --json             one JSON object\n",
    prio_command,
};
