/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "compute/priorities.h"
#include "core/fairshare/ratio.h"
#include "core/fairshare/release.h"
#include "core/finding.h"
#include "core/formula/formula.h"
#include "core/priority/queue.h"
#include "report/formula_list.h"
#include "report/priorities.h"
#include "report/sprio.h"
#include "results/published_jobs.h"
#include "results/published_part.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/* Longest wait, in seconds, for new jobs from the accounting database, which are optional. */
#define DEADLINE_S 5

/* The state for adding new jobs: `known` has the keys of the published jobs, and `queue` also has
 * new jobs. */
struct prio_adder {
    struct prio_list *list;
    const struct release *release; /* NULL if unknown */
    const struct queue *queue;
    struct id_index *known;
};

static bool prio_is_new(const void *context, const struct priority_job *job)
{
    const struct prio_adder *adder = context;
    return id_index_find(adder->known, job->key) == INDEX_NONE;
}

/* The data read from the accounting database. */
struct prio_reading {
    struct names *names; /* the names in the queue */
    struct queue *queue;
    struct accounting *accounting;
    struct tree *tree;
    struct findings *findings;
};

static void reading_free(struct prio_reading *reading)
{
    queue_destroy(reading->queue);
    names_destroy(reading->names);
    tree_destroy(reading->tree);
    accounting_destroy(reading->accounting);
    findings_destroy(reading->findings);
}

static bool any_new(const struct prio_adder *adder)
{
    for (size_t i = 0; adder->queue && i < adder->queue->count; i++)
        if (prio_is_new(adder, &adder->queue->jobs[i]))
            return true;
    return false;
}

/* Reads the queue first: if all its jobs are published, nothing else is read. */
static int prio_read_snapshot(struct prio_reading *reading, struct prio_adder *adder,
                              const struct settings *settings, struct db *db, struct error *err)
{
    const struct source source = source_of(settings, db, adder->list->cluster);
    if (!source.layout->queue)
        return 0;
    reading->queue = queue_create(reading->names);
    reading->queue->options.leaves_spec_cpus =
        release_follows(adder->release, RULE_SPEC_CPUS_LEFT_OUT);
    if (priorities_read(reading->queue, &source, (uint64_t)clock_now(),
                        (uint64_t)adder->list->as_of, reading->findings, err))
        return -1;
    adder->queue = reading->queue;
    if (!any_new(adder))
        return 0;
    if (source.layout->read(&source, &reading->accounting, err))
        return -1;
    struct accounting *accounting = reading->accounting;
    const struct associations associations = { accounting->rows, accounting->count,
                                               accounting->names, accounting->empty_name, false };
    return tree_build(&reading->tree, &associations, settings->on_bad_rows, reading->findings, err);
}

/* Returns -1 if the accounting database cannot be read for any reason. */
static int prio_read_source(struct prio_reading *reading, struct prio_adder *adder,
                            const struct settings *settings)
{
    struct error ignored;
    struct db_settings connection = settings->source;
    struct db *source;
    if (connection.deadline_s > DEADLINE_S)
        connection.deadline_s = DEADLINE_S;
    if (db_open(&source, &connection, DB_SOURCE, &ignored))
        return -1;
    *reading = (struct prio_reading){ .names = names_create(), .findings = findings_create() };
    int result = db_begin(source, &ignored);
    if (!result)
        result = prio_read_snapshot(reading, adder, settings, source, &ignored);
    db_rollback(source);
    db_close(source);
    if (result)
        reading_free(reading);
    return result;
}

/* Returns the fairshare factor of a node; `fairshare` is an array of factors, indexed by node. */
static double fairshare_of(const void *fairshare, uint32_t node)
{
    return ((const double *)fairshare)[node];
}

/* The fairshare factors that a run published, indexed by node of `tree`. */
struct factors {
    const struct tree *tree;
    const struct published_cluster *cluster;
    double *fairshare;
};

static void take_factor(void *context, const struct published_row *row)
{
    const struct factors *factors = context;
    const struct tree *tree = factors->tree;
    uint32_t place = tree_place(tree, (uint64_t)row->id);
    if (place != NO_NODE && tree->nodes[place].id == row->id)
        factors->fairshare[place] =
            factor_of_jobs(factors->cluster->algorithm, &factors->cluster->options,
                           &tree->nodes[place], &row->values);
}

/* Returns the fairshare factors, indexed by node of `tree`; NAN if the factor is missing or cannot
 * be read. */
static double *read_fairshare(struct published *published, const struct published_cluster *cluster,
                              const struct tree *tree)
{
    struct error ignored;
    struct factors factors = { tree, cluster, memory_zeroed(tree->count, sizeof(double)) };
    for (uint32_t i = 0; i < tree->count; i++)
        factors.fairshare[i] = NAN;
    published_read_rows(published, cluster, take_factor, &factors, &ignored);
    return factors.fairshare;
}

/* Adds the jobs that were submitted since the cluster's run to its published jobs: "new jobs are
 * immediately assigned a priority" (Slurm, "Fair Tree Fairshare Algorithm").  Their priorities are
 * computed for the time of the run, as are the priorities of all other jobs.  They are computed
 * from the published factors and the current settings.  If the accounting database cannot be read,
 * adds nothing. */
static void new_jobs_add(struct prio_list *list, const struct settings *settings,
                         struct published *published, const struct published_cluster *cluster)
{
    struct prio_reading reading;
    struct prio_adder adder = { .list = list,
                                .release = cluster->options.release,
                                .known = id_index_create() };
    for (uint32_t i = 0; i < list->count; i++)
        id_index_add(adder.known, list->rows[i].key, i);
    if (!prio_read_source(&reading, &adder, settings)) {
        if (reading.tree) {
            double *fairshare = read_fairshare(published, cluster, reading.tree);
            priorities_complete(reading.queue, settings, reading.accounting, reading.tree,
                                fairshare_of, fairshare);
            prio_list_add_queue(list, reading.queue, prio_is_new, &adder);
            prio_list_rank(list);
            free(fairshare);
        }
        reading_free(&reading);
    }
    id_index_destroy(adder.known);
}

struct prio_options {
    struct shared_options shared;
    struct prio_filter filter;
    const char *sort; /* NULL: the default order */
    const char *formula_text;
    struct formula *formula; /* NULL: no formula was given */
    struct sprio_look look;
    struct column columns[PRIO_COLUMNS];
    struct table_layout layout;
    const struct settings *all; /* the settings of a run; NULL if the user cannot read them */
};

/* The lists of all clusters. */
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

/* Fails if no job has one of the requested ids. */
static int check_jobs(const struct prio_options *options, const struct shown *shown,
                      struct error *err)
{
    if (!options->filter.jobs.count || options->look.only_weights)
        return 0;
    for (size_t i = 0; i < shown->count; i++)
        if (shown->lists[i]->count)
            return 0;
    return fail(err, ERROR_USAGE, "there is no pending job '%s'", options->filter.jobs.values[0]);
}

static int prio_put_in_order(struct prio_list *list, const struct prio_options *options,
                             struct error *err)
{
    if (options->formula && formula_list_value(list, options->formula, err))
        return -1;
    if (options->sort || (!options->formula && !list->of_formula))
        return prio_list_sort(list, options->sort ? options->sort : "i", err);
    formula_list_sort(list, options->formula != NULL);
    return 0;
}

static int refuse_weights(const struct prio_list *list, struct error *err)
{
    return fail(err, ERROR_USAGE,
                "prio: --weights is not available for cluster '%s': OpenPBS orders its jobs by "
                "job_sort_formula",
                list->cluster);
}

/* Removes the jobs that the options do not select. */
static int prio_choose(struct prio_list *list, const struct prio_options *options,
                       struct published *published, struct published_cluster *cluster,
                       struct error *err)
{
    const struct name_list *asked = &options->shared.accounts;
    struct prio_filter filter = options->filter;
    struct name_list accounts = { 0 };
    filter.permissions = &published->permissions;
    if (asked->count) {
        const struct name_list lists[SELECTION_KINDS] = { [SELECTION_ACCOUNTS] = *asked };
        if (published_read_part(published, cluster, lists, PART_BELOW, err))
            return -1;
        if (cluster->tree)
            selection_add_accounts(&accounts, asked, cluster->tree, cluster->names);
        filter.accounts = &accounts;
    }
    prio_list_filter(list, &filter);
    name_list_free(&accounts);
    return 0;
}

/* Reads the published jobs, at least those that the options select.  New jobs are compared with all
 * published jobs.  Names of accounts are looked for in all jobs, too. */
static int prio_read_published(const struct published *published,
                               const struct prio_options *options, struct prio_list *list,
                               struct error *err)
{
    const struct name_list *users = &options->filter.users;
    bool of_one = !options->all && !options->shared.accounts.count && users->count == 1;
    return published_jobs_read(published->db, list, of_one ? users->values[0] : NULL, err);
}

static int prio_read_cluster(struct published *published, struct published_cluster *cluster,
                             const struct prio_options *options, struct prio_list *list,
                             struct error *err)
{
    if (options->look.only_weights)
        return list->of_formula ? refuse_weights(list, err) : 0;
    if (prio_read_published(published, options, list, err))
        return -1;
    if (options->all)
        new_jobs_add(list, options->all, published, cluster);
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        bool is_seen =
            permissions_show_job(&published->permissions, cluster->name, row->account, row->user);
        selection_note(&published->selection, &(const struct association_name){
                                                  row->account, is_seen ? row->user : "", "" });
    }
    return prio_choose(list, options, published, cluster, err) ||
                   prio_put_in_order(list, options, err)
               ? -1
               : 0;
}

static int prio_read_all(struct published *published, const struct prio_options *options,
                         struct shown *shown, struct error *err)
{
    shown->lists = memory_zeroed(published->count, sizeof *shown->lists);
    for (; shown->count < published->count; shown->count++) {
        struct published_cluster *cluster = &published->clusters[shown->count];
        struct prio_list *list = shown->lists[shown->count] = published_job_list(cluster);
        if (prio_read_cluster(published, cluster, options, list, err)) {
            prio_list_destroy(list);
            return -1;
        }
    }
    return published_look_for_names(published, err) ? -1 : check_jobs(options, shown, err);
}

/* sprio's columns depend on the weights, so each cluster has its own table.  OpenPBS's jobs have
 * different columns. */
static int add_for_people(struct text *text, const struct prio_options *options,
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

/* The columns depend on the jobs that were read. */
static int prio_add_rows(struct command_context *context, const struct shown *shown,
                         struct error *err)
{
    struct prio_options *options = context->options;
    for (size_t i = 0; i < shown->count; i++)
        if (shown->lists[i]->of_formula)
            prio_columns_of_formula(options->columns);
    if (command_answer_as(context, &options->layout, err))
        return -1;
    for (size_t i = 0; i < shown->count; i++)
        prio_list_print(shown->lists[i], answer_table(context->answer), options->look.only_weights);
    return 0;
}

static int prio_answer(struct command_context *context, struct error *err)
{
    struct prio_options *options = context->options;
    const struct table_options *form = &context->shared->table;
    struct shown shown = { 0 };
    struct error ignored;
    options->all = command_source_settings(context, &ignored);
    int result = prio_read_all(&context->published, options, &shown, err);
    published_close(&context->published);
    if (!result && form->form == TABLE_FOR_PEOPLE && !form->columns)
        result = add_for_people(answer_text(context->answer), options, &shown, err);
    else if (!result)
        result = prio_add_rows(context, &shown, err);
    shown_free(&shown);
    return result;
}

static int take_formula(struct prio_options *options, struct error *err)
{
    if (!options->formula_text)
        return 0;
    if (options->look.only_weights || options->look.format)
        return fail(err, ERROR_USAGE, "prio: --formula and --%s are mutually exclusive",
                    options->look.format ? "format" : "weights");
    options->formula = formula_create(options->formula_text, err);
    if (options->formula)
        return 0;
    fail_in(err, "prio: --formula '%s'", options->formula_text);
    err->class = ERROR_USAGE;
    return -1;
}

static int check_format(const struct prio_options *options, struct error *err)
{
    const struct table_options *table = &options->shared.table;
    if (!options->look.format)
        return 0;
    if (options->look.all || table->columns || table->form != TABLE_FOR_PEOPLE)
        return fail(err, ERROR_USAGE, "prio: --format and --%s are mutually exclusive",
                    options->look.all           ? "long"
                    : table->columns            ? "columns"
                    : table->form == TABLE_BARS ? "parsable"
                    : table->form == TABLE_CSV  ? "csv"
                                                : "json");
    return sprio_check_format(options->look.format, err);
}

/* Reports invalid options before anything is read. */
static int prio_check(struct command_context *context, struct error *err)
{
    struct prio_options *options = context->options;
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
    context->layout = &options->layout;
    context->filter.of_jobs = true;
    return 0;
}

static const struct command_option own_options[] = {
    { "long", NULL, 'l', OPTION_FLAG, AT(prio_options, look.all), NULL,
      .help = "Show all columns, even columns with weight 0" },
    { "norm", NULL, 'n', OPTION_FLAG, AT(prio_options, look.normalized), NULL,
      .help = "Show factors before they are multiplied by weights" },
    { "weights", NULL, 'w', OPTION_FLAG, AT(prio_options, look.only_weights), NULL,
      .help = "Show the weights instead of jobs" },
    { "partitions", "partition", 'p', OPTION_LIST, AT(prio_options, filter.partitions), "NAMES",
      .help = "Show only rows of these partitions (comma-separated)" },
    { "jobs", NULL, 'j', OPTION_LIST, AT(prio_options, filter.jobs), "IDS",
      .help = "Show only these jobs (comma-separated)" },
    { "formula", NULL, 0, OPTION_VALUE, AT(prio_options, formula_text), "FORMULA",
      .help = "Add the value of FORMULA for each job, highest first" },
    { "sort", NULL, 'S', OPTION_VALUE, AT(prio_options, sort), "LETTERS",
      .help = "Sort by these columns; `-` reverses one, as in u,-y" },
    { "format", NULL, 'o', OPTION_VALUE, AT(prio_options, look.format), "FORMAT",
      .help = "Print columns as sprio does: %[.][SIZE]LETTER" },
    { .name = NULL },
};

static void prio_release(void *of)
{
    struct prio_options *options = of;
    formula_destroy(options->formula);
}

const struct command command_prio = {
    .name = "prio",
    .for_users = true,
    .group = GROUP_QUERY,
    .summary = "Show priorities of pending jobs in sprio's format",
    .usage = "[OPTION...]",
    .description = "Show the priorities of pending jobs in sprio's format.\n",
    .shared = TAKES_CLUSTERS | TAKES_ACCOUNTS | TAKES_USERS | TAKES_VERBOSE | TAKES_SPRIO_TABLE,
    .options = own_options,
    .options_size = sizeof(struct prio_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_OPEN,
    .check = prio_check,
    .answer = prio_answer,
    .release = prio_release,
};
