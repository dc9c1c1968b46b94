/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/whatif/new_jobs.h"
#include "core/formula/formula.h"
#include "report/formula_list.h"
#include "results/published_jobs.h"
#include "report/priorities.h"
#include "report/sprio.h"
#include "results/published.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

struct options {
    struct shared_options shared;
    struct prio_filter filter;
    const char *sort; /* NULL: the usual order */
    const char *formula_text;
    struct formula *formula; /* NULL: nobody wishes for one */
    struct sprio_look look;
    struct column columns[PRIO_COLUMNS];
    struct table_layout layout;
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

/* Some job must have one of the ids that were asked for. */
static int check_jobs(const struct options *options, const struct shown *shown, struct error *err)
{
    if (!options->filter.jobs.count || options->look.only_weights)
        return 0;
    for (size_t i = 0; i < shown->count; i++)
        if (shown->lists[i]->count)
            return 0;
    return fail(err, ERROR_USAGE, "there is no job '%s' that waits",
                options->filter.jobs.values[0]);
}

/* What is read of each cluster. */
struct request {
    const struct options *options;
    const struct settings *all; /* what a run would have; NULL where this user may not read it */
    struct prio_filter filter;
};

static int put_in_order(struct prio_list *list, const struct options *options, struct error *err)
{
    if (options->formula && formula_list_wish(list, options->formula, err))
        return -1;
    if (options->sort || (!options->formula && !list->of_formula))
        return prio_list_sort(list, options->sort ? options->sort : "i", err);
    formula_list_sort(list, options->formula != NULL);
    return 0;
}

static int refuse_weights(const struct prio_list *list, struct error *err)
{
    return fail(err, ERROR_USAGE,
                "prio: jobs of '%s' have no weights: OpenPBS's job_sort_formula makes their order",
                list->cluster);
}

static int read_cluster(struct published *published, const struct published_cluster *cluster,
                        const struct request *request, struct prio_list *list, struct error *err)
{
    if (request->options->look.only_weights)
        return list->of_formula ? refuse_weights(list, err) : 0;
    if (published_jobs_read(published->db, list, err))
        return -1;
    if (request->all)
        new_jobs_add(list, request->all, published, cluster);
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        bool is_seen = viewer_sees_job(&published->viewer, cluster->name, row->account, row->user);
        published_note_name(published, row->account, is_seen ? row->user : "");
    }
    prio_list_filter(list, &request->filter);
    return put_in_order(list, request->options, err);
}

static int read_all(struct published *published, const struct request *request, struct shown *shown,
                    struct error *err)
{
    shown->lists = memory_zeroed(published->count, sizeof *shown->lists);
    for (; shown->count < published->count; shown->count++) {
        const struct published_cluster *cluster = &published->clusters[shown->count];
        struct prio_list *list = shown->lists[shown->count] = published_job_list(cluster);
        if (read_cluster(published, cluster, request, list, err)) {
            prio_list_destroy(list);
            return -1;
        }
    }
    return published_look_for_names(published, err) ? -1 : check_jobs(request->options, shown, err);
}

/* As sprio prints it, what its columns are depends on the weights of each cluster; OpenPBS's jobs
 * have others. */
static int add_for_people(struct text *text, const struct options *options,
                          const struct shown *shown, struct error *err)
{
    int result = 0;
    for (size_t i = 0; !result && i < shown->count; i++) {
        const struct prio_list *list = shown->lists[i];
        bool by_formula = options->formula || (list->of_formula && !options->look.format);
        if (shown->count > 1) {
            text_add(text, i ? "\nCLUSTER: " : "CLUSTER: ");
            text_add_printable(text, list->cluster);
            text_add(text, "\n");
        }
        if (by_formula)
            result = formula_list_print(text, list, &options->shared.table, err);
        else
            sprio_print(text, list, &options->look);
    }
    return result;
}

static int add_table(struct text *text, struct options *options, const struct shown *shown,
                     struct error *err)
{
    for (size_t i = 0; i < shown->count; i++)
        if (shown->lists[i]->of_formula)
            prio_columns_of_formula(options->columns);
    struct table *table = table_create(text, &options->layout, &options->shared.table, err);
    if (!table)
        return -1;
    table_print_with(table, command_print);
    for (size_t i = 0; i < shown->count; i++)
        prio_list_print(shown->lists[i], table, options->look.only_weights);
    int result = table_end(table, err);
    table_destroy(table);
    return result;
}

static int print_all(struct options *options, const struct shown *shown, struct error *err)
{
    const struct table_options *form = &options->shared.table;
    struct text text = { 0 };
    int result = 0;
    if (form->form == TABLE_FOR_PEOPLE && !form->columns)
        result = add_for_people(&text, options, shown, err);
    else
        result = add_table(&text, options, shown, err);
    if (!result)
        result = command_print(&text, err);
    text_free(&text);
    return result;
}

static int show(const struct settings *settings, const struct settings *all,
                struct options *options, struct error *err)
{
    struct published published;
    struct shown shown = { 0 };
    struct request request = { options, all, options->filter };
    struct published_filter names = { .clusters = options->shared.clusters,
                                      .users = options->shared.users,
                                      .of_jobs = true };
    int result = published_open(&published, settings, &names, err);
    request.filter.viewer = &published.viewer;
    if (!result)
        result = read_all(&published, &request, &shown, err);
    published_close(&published);
    if (!result)
        result = print_all(options, &shown, err);
    shown_free(&shown);
    published_free(&published);
    return result;
}

static int take_formula(struct options *options, struct error *err)
{
    if (!options->formula_text)
        return 0;
    if (options->look.only_weights || options->look.format)
        return fail(err, ERROR_USAGE, "prio: --formula and --%s exclude each other",
                    options->look.format ? "format" : "weights");
    options->formula = formula_create(options->formula_text, err);
    if (options->formula)
        return 0;
    fail_in(err, "prio: --formula '%s'", options->formula_text);
    err->class = ERROR_USAGE;
    return -1;
}

static int check_format(const struct options *options, struct error *err)
{
    const struct table_options *table = &options->shared.table;
    if (!options->look.format)
        return 0;
    if (options->look.all || table->columns || table->form != TABLE_FOR_PEOPLE)
        return fail(err, ERROR_USAGE, "prio: --format and --%s exclude each other",
                    options->look.all           ? "long"
                    : table->columns            ? "columns"
                    : table->form == TABLE_BARS ? "parsable"
                    : table->form == TABLE_CSV  ? "csv"
                                                : "json");
    return sprio_check_format(options->look.format, err);
}

/* What is wrong is said before anything is read. */
static int check_options(struct options *options, struct error *err)
{
    struct prio_list nothing = { 0 };
    if (check_format(options, err) ||
        (options->sort && prio_list_sort(&nothing, options->sort, err)) ||
        take_formula(options, err))
        return -1;
    prio_columns(options->columns, options->look.normalized);
    for (size_t i = 0; options->formula && options->columns[i].name; i++)
        if (!strcmp(options->columns[i].name, "what_if"))
            options->columns[i].hidden = 0;
    options->layout = (struct table_layout){ options->columns, "jobs", .by_cluster = true };
    options->filter.users = options->shared.users;
    options->look.no_header = options->shared.table.no_header;
    options->look.with_users = options->filter.users.count > 0;
    return table_check(&options->layout, &options->shared.table, err);
}

static const struct command_option own_options[] = {
    { "long", NULL, 'l', OPTION_FLAG, AT(look.all), NULL,
      .help = "all columns, also those without a weight" },
    { "norm", NULL, 'n', OPTION_FLAG, AT(look.normalized), NULL,
      .help = "factors, before they are weighted" },
    { "weights", NULL, 'w', OPTION_FLAG, AT(look.only_weights), NULL,
      .help = "the weights instead of jobs" },
    { "partitions", "partition", 'p', OPTION_LIST, AT(filter.partitions), "NAMES",
      .help = "only rows of these partitions" },
    { "jobs", NULL, 'j', OPTION_LIST, AT(filter.jobs), "IDS", .help = "only these jobs" },
    { "formula", NULL, 0, OPTION_VALUE, AT(formula_text), "FORMULA",
      .help = "what this would make of each job, beside its priority" },
    { "sort", NULL, 'S', OPTION_VALUE, AT(sort), "LETTERS",
      .help = "by these columns, such as u,-y" },
    { "format", NULL, 'o', OPTION_VALUE, AT(look.format), "FORMAT",
      .help = "these columns: %[.][size]letter, as sprio has them" },
    { .name = NULL },
};

static int prio_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct settings *settings = NULL, *all = NULL;
    struct error ignored;
    int result = options_read(invocation, &options, err);
    if (!result)
        result = check_options(&options, err);
    log_set_verbose(options.shared.verbose);
    if (!result)
        result = command_settings(&settings, invocation, SETTINGS_FOR_READING, err);
    if (!result) {
        command_settings(&all, invocation, SETTINGS_FOR_ALL, &ignored);
        result = show(settings, all, &options, err);
    }
    options_free(&options.shared);
    name_list_free(&options.filter.partitions);
    name_list_free(&options.filter.jobs);
    formula_destroy(options.formula);
    settings_destroy(settings);
    settings_destroy(all);
    return result;
}

const struct command command_prio = {
    .name = "prio",
    .operands = "",
    .for_users = true,
    .summary = "priorities of jobs that wait, in sprio's columns",
    .notes = "",
    .shared = TAKES_CLUSTERS | TAKES_USERS | TAKES_VERBOSE | TAKES_SPRIO_TABLE,
    .options = own_options,
    .run = prio_command,
};
