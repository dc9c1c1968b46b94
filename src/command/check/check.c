/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/check/check_findings.h"
#include "command/check/check_next.h"
#include "command/check/check_reader.h"
#include "command/check/check_slurm.h"
#include "command/command.h"
#include "compute/compute.h"
#include "core/finding.h"
#include "core/tree/tree.h"
#include "core/usage/charge_rates.h"
#include "db/db.h"
#include "report/table.h"
#include "report/terminal.h"
#include "results/schema.h"
#include "run/clusters.h"
#include "run/run.h"
#include "run/verify.h"
#include "settings/load.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "source/source.h"
#include "sql.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

/* Executes each statement with which a run writes, on rows that do not exist, and rolls back. */
static int try_writing(struct db *db, struct error *err)
{
    static const char *const inserts[] = {
        sql_query_check_association,   sql_query_check_backfill,     sql_query_check_tree,
        sql_query_check_value,         sql_query_check_finding,      sql_query_check_history,
        sql_query_check_history_point, sql_query_check_job_priority, sql_query_check_job_term,
        sql_query_check_privilege,     sql_query_check_run,          sql_query_check_seal,
        sql_query_check_seal_odd,      sql_query_check_seal_open,    sql_query_check_seal_slice,
        sql_query_check_seal_usage,    sql_query_check_settings,     sql_query_check_usage_day,
        sql_query_check_usage_open,    sql_query_check_usage_span,   sql_query_check_share_change,
        sql_query_check_qos_change,    sql_query_check_share_state,  sql_query_check_share_past,
        sql_query_check_kept,          sql_query_check_fairness,     sql_query_check_counted,
        sql_query_check_notice,
    };
    struct db_value nobody[] = { db_integer(0), db_text(""), db_text("\n"), db_integer(-1) };
    struct db_value nothing[] = { db_text("\n") };
    if (db_begin(db, err))
        return -1;
    int result = db_execute(db, sql_query_counter_make, NULL, 0, NULL, err);
    if (!result)
        result = db_execute(db, sql_query_fence_step, nobody, 4, NULL, err);
    if (!result)
        result = db_execute(db, sql_query_tree_clear, nothing, 1, NULL, err);
    if (!result)
        result = db_execute(db, sql_query_finding_clear, nothing, 1, NULL, err);
    for (size_t i = 0; !result && i < sizeof inserts / sizeof *inserts; i++)
        result = db_execute(db, inserts[i], NULL, 0, NULL, err);
    db_rollback(db);
    return result;
}

static int check_results(const struct settings *settings, struct db *source,
                         const struct cluster_names *clusters, struct progress *progress,
                         struct text *text, struct error *err)
{
    struct db *results;
    if (results_open(&results, settings, DB_RESULTS, err))
        return -1;
    int result = run_check_apart(settings, source, results, err);
    if (!result && try_writing(results, err)) {
        fail_in(err, "results");
        result = results_explain(settings, err);
    }
    if (!result)
        result = views_open(results, err);
    if (!result) {
        text_format_printable(text, "results: %s '%s', table version %d, writable\n",
                              settings->results.driver, settings->results.database, SCHEMA_VERSION);
    }
    if (!result)
        result = check_slurm_period(text, settings, results, clusters->names, clusters->count, err);
    if (!result)
        result = check_starts(text, progress, settings, results, err);
    if (!result)
        result = run_check_vanished(settings, source, results, complain, err);
    if (!result)
        check_times(progress, results, clusters);
    if (!result)
        check_reader(text, settings, results);
    db_close(results);
    return result;
}

/* Returns the number of users whose rank differs in the other conformance mode. */
static uint32_t ranks_that_differ(const struct settings *settings,
                                  const struct computation *computation)
{
    struct fairshare_options options = computation->options;
    options.conformance = settings->conformance == CONFORMANCE_DOCUMENTS ? CONFORMANCE_SLURMCTLD
                                                                         : CONFORMANCE_DOCUMENTS;
    const struct tree *tree = computation->tree;
    struct values *others = memory_zeroed(tree->count, sizeof *others);
    fairshare_compute(tree, &options, others);
    uint32_t differ = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        differ += others[i].fair_tree_rank != computation->values[i].fair_tree_rank;
    free(others);
    return differ;
}

/* Warns of names in the settings that match nothing and are probably misspelled. */
static void add_unmet(struct text *text, const struct charge_rates *rates)
{
    const char *name;
    for (size_t at = 0; (name = charge_rates_unused_qos(rates, &at));)
        text_format_printable(text, "  warning: qos_factors contains '%s', which is not a QOS\n",
                              name);
    for (size_t at = 0; (name = charge_rates_unused_partition(rates, &at));)
        text_format_printable(text,
                              "  warning: partition_usage_factors contains '%s', but no counted "
                              "job ran in such a partition\n",
                              name);
}

/* Lists the reasons, known from the settings, why usage from jobs and from rollups differs. */
static void add_source_causes(struct text *text, const struct settings *settings)
{
    text_add(text, "    rollups also contain idle time of reservations, lack time that is not "
                   "rolled up yet,\n    and spread usage evenly over each hour, day or month\n");
    if (settings->suspended == SUSPENDED_CHARGED)
        text_add(text, "    rollups exclude suspended time from CPU usage\n");
    else
        text_add(text, "    rollups exclude suspended time from CPU usage only\n");
    if (settings->charge == CHARGE_AUTO && charge_weights_count(&settings->weights, CHARGE_AUTO))
        text_add(text, "    rollups contain billing that is truncated to an integer\n");
    if (settings->charge == CHARGE_AUTO || settings->charge == CHARGE_BILLING)
        text_add(text,
                 "    before Slurm 24.11 rollups contain no QOS, so QOS factors have no effect\n");
}

/* Compares usage from jobs with usage from rollups for the same time. */
static int compare_sources(const struct computation *computation, struct text *text,
                           struct error *err)
{
    struct source source = computation->source;
    const struct settings *settings = source.settings;
    struct settings others = *settings;
    bool by_jobs = settings->usage_source == USAGE_OF_JOBS;
    uint64_t now = (uint64_t)computation->record.as_of, from, until;
    others.usage_source = by_jobs ? USAGE_OF_ROLLUPS : USAGE_OF_JOBS;
    if (!source.layout->past || settings_refuse_rollup(settings))
        return 0;
    if (source.layout->past->rollup_reach(&source, now, false, &from, &until, err))
        return -1;
    if (!until)
        return 0;
    source.settings = &others;
    source.time = &computation->record.as_of;
    struct computation other = computation_of(&source);
    if (compute_cluster(&other, NULL, err))
        return -1;
    double jobs = computation->values[0].usage_raw, rollups = other.values[0].usage_raw;
    if (!by_jobs) {
        jobs = other.values[0].usage_raw;
        rollups = computation->values[0].usage_raw;
    }
    text_format(text, "  usage from jobs: %.0f TRES-seconds, from rollups: %.0f", jobs, rollups);
    if (jobs > 0)
        text_format(text, " (%+.2f %%)", 100 * (rollups / jobs - 1));
    text_add(text, "\n");
    if (jobs < rollups || jobs > rollups)
        add_source_causes(text, settings);
    computation_free(&other);
    return 0;
}

static int check_cluster(const struct settings *settings, struct db *source, const char *cluster,
                         struct text *text, struct table *table, struct error *err)
{
    struct source of = source_of(settings, source, cluster);
    of.ordered = true;
    struct computation computation = computation_of(&of);
    if (compute_cluster(&computation, NULL, err))
        return fail_in(err, "cluster '%s'", cluster);
    const struct run_record *record = &computation.record;
    const struct terminology *terms = terminology_of(settings);
    text_format_printable(
        text, "cluster %s: %" PRId64 " %s, %" PRId64 " of them %s, %" PRId64 " counted job rows\n",
        cluster, record->associations, terms->associations, record->users, terms->users,
        record->jobs_read);
    if (scheduler_of(settings)->has_conformances) {
        check_slurm_release(text, settings, computation.accounting);
        text_format(text, "  ranks that differ between documents and slurmctld: %" PRIu32 "\n",
                    ranks_that_differ(settings, &computation));
    }
    if (record->unattributed_usage > 0)
        text_format(text, "  usage without an association: %.0f TRES-seconds\n",
                    record->unattributed_usage);
    if (computation.accounting->rates)
        add_unmet(text, computation.accounting->rates);
    check_slurm_cluster(text, settings, cluster, (uint64_t)record->users);
    check_zero_shares(text, settings, &computation);
    int result = check_shares(text, settings, source, cluster, computation.findings, err);
    check_findings(text, cluster, computation.findings, table);
    if (!result)
        result = compare_sources(&computation, text, err);
    computation_free(&computation);
    return result ? fail_in(err, "cluster '%s'", cluster) : 0;
}

/* Warns if all users can read a file of the client library that may contain a password. */
static void warn_of_readers(struct text *text, const char *path)
{
    struct stat status;
    if (path && !stat(path, &status) && (status.st_mode & S_IROTH))
        text_format_printable(
            text, "  warning: all users can read '%s'; if it contains a password, run chmod o-r\n",
            path);
}

static void check_login_files(const struct settings *settings, struct text *text)
{
    char *source = db_login_file(&settings->source), *results = db_login_file(&settings->results);
    warn_of_readers(text, source);
    if (!source || !results || strcmp(source, results) != 0)
        warn_of_readers(text, results);
    free(source);
    free(results);
}

/* Shows the replication lag.  A lag above max_lag is an error of each cluster, not of this
 * function. */
static int check_lag(const struct settings *settings, struct db *source, struct text *text,
                     struct error *err)
{
    int64_t lag_s;
    if (settings->max_lag_s < 0)
        return 0;
    if (db_replica_lag(source, &lag_s, err))
        return -1;
    if (lag_s == DB_LAG_UNBOUNDED)
        text_add(text, "  the replica receives no more changes");
    else
        text_format(text, "  replication lag: %" PRId64 " s", lag_s);
    text_format(text, ", max_lag is %" PRId64 " s\n", settings->max_lag_s);
    return 0;
}

static int check_server(const struct settings *settings, struct db *source, struct text *text,
                        struct error *err)
{
    struct text doubts = { 0 };
    if (!source_type_of(settings)->is_slurmdbd)
        return 0;
    int result = db_add_doubts(source, &doubts, err);
    if (!result && doubts.length)
        text_format_printable(
            text, "  warning: the server uses '%s', which Slurm does not support\n", doubts.bytes);
    text_free(&doubts);
    return result;
}

/* Maximum number of partitions in the line. */
#define NAMES_AT_MOST 8
static void add_weighed(struct text *text, const struct charge_weights *weights)
{
    size_t count = weights->partition_weight_count;
    for (size_t i = 0; i < count && i < NAMES_AT_MOST; i++)
        text_format_printable(text, "%s'%s'", i ? ", " : "unrounded weighted TRES in partitions ",
                              weights->partition_weights[i].name);
    if (count > NAMES_AT_MOST)
        text_format(text, " and %zu more", count - NAMES_AT_MOST);
    if (weights->weights.count)
        text_add(text, count ? ", in others by tres_weights,"
                             : "unrounded weighted TRES by tres_weights");
    text_add(text, " if the stored billing matches; otherwise ");
}

/* Describes how usage is charged. */
static void add_charge(struct text *text, const struct settings *settings)
{
    static const char *const words[] = {
        [CHARGE_AUTO] = "the stored billing",
        [CHARGE_BILLING] = "the stored billing",
        [CHARGE_CPU] = "CPUs",
        [CHARGE_TRES] = "TRES weighted by tres_weights",
    };
    if (!source_type_of(settings)->is_slurmdbd)
        return;
    const struct setting *setting = setting_named("usage", "charge");
    text_format(text, "charge %s: ", setting->choices[settings->charge]);
    if (settings->charge == CHARGE_AUTO && charge_weights_count(&settings->weights, CHARGE_AUTO))
        add_weighed(text, &settings->weights);
    text_format(text, "%s\n", words[settings->charge]);
}

/* Lists the settings that the file has under a former name. */
static void note_renamed(struct text *text, const struct settings *settings)
{
    for (size_t i = 0; i < settings->origin_count; i++)
        if (settings->origins[i].old_key)
            text_format(text, "  note: [%s] %s is now called %s; rename it in the settings\n",
                        settings_table[i].section, settings->origins[i].old_key,
                        settings_table[i].key);
}

/* Warns of settings that are valid alone but make no sense together. */
static void add_doubts(struct text *text, const struct settings *settings)
{
    const struct charge_weights *weights = &settings->weights;
    if (!settings->half_life_s && settings->reset_period.unit == RESET_NEVER)
        text_add(text,
                 "  warning: half_life = 0 and reset_period = none, so usage counts forever\n");
    if ((weights->weights.count || weights->partition_weight_count) &&
        !charge_weights_count(weights, settings->charge))
        text_add(text, "  warning: tres_weights have no effect without charge = auto or tres\n");
    if (!source_type_of(settings)->is_slurmdbd &&
        (settings->charge == CHARGE_TRES || weights->qos_factors.count ||
         charge_weights_have_partitions(weights) || settings->suspended == SUSPENDED_OMITTED))
        text_add(
            text,
            "  warning: tres_weights, qos_factors, partition_usage_factors and suspended have "
            "no effect: only layout slurmdbd has weights, QOS, partitions and suspended time\n");
}

/* Adds a line for each cluster: whether the published rows match a computation for their time.
 * Only the text output has these lines, because the comparison reads all jobs a second time. */
static int check_published(const struct settings *settings, struct db **source,
                           const struct cluster_names *clusters, struct text *text,
                           struct error *err)
{
    struct verifier verifier;
    int result = verifier_open(&verifier, settings, *source, err);
    for (size_t i = 0; !result && i < clusters->count; i++) {
        struct error of_cluster;
        struct verification verification;
        if (verify_cluster(&verifier, clusters->names[i], &verification, &of_cluster)) {
            fail_in(&of_cluster, "cluster '%s'", clusters->names[i]);
            complain(&of_cluster);
        } else {
            bool doubtful = verification.differences.count || verification.other_settings;
            text_format_printable(text, "%scluster %s: published: ", doubtful ? "  warning: " : "",
                                  clusters->names[i]);
            verification_add_words(text, &verification);
            text_add(text, verification.differences.count ? "; run `fairmill verify` to list them\n"
                                                          : "\n");
        }
        verification_free(&verification);
    }
    *source = verifier.source; /* the verifier may have opened a new session */
    verifier.source = NULL;
    verifier_close(&verifier);
    return result;
}

static int check_all(struct settings *settings, struct progress *progress, struct text *text,
                     struct table *table, struct error *err)
{
    char *login = NULL;
    struct db *source = NULL;
    struct cluster_names clusters = { 0 };
    text_format_printable(text, "settings: '%s', algorithm %s, conformance %s\n", settings->path,
                          settings->algorithm->name, conformance_name(settings->conformance));
    add_charge(text, settings);
    note_renamed(text, settings);
    add_doubts(text, settings);
    check_login_files(settings, text);
    check_slurm(text, settings);
    int result = run_open_source(&source, settings, err);
    if (!result) {
        settings->source.login = login = db_login(source);
        text_format_printable(text, "source: %s '%s', readable%s%s\n", settings->source.driver,
                              settings->source.database, login ? " by " : "", login ? login : "");
        result = check_lag(settings, source, text, err);
    }
    if (!result)
        result = check_server(settings, source, text, err);
    if (!result)
        result = check_privileges(settings, source, &clusters, progress, text, err);
    progress->source_is_read = !result;
    for (size_t i = 0; !result && i < clusters.count; i++) {
        struct error of_cluster;
        if (!check_cluster(settings, source, clusters.names[i], text, table, &of_cluster))
            continue;
        progress->bad_data |= of_cluster.class == ERROR_DATA;
        complain(&of_cluster);
    }
    if (!result)
        result = check_results(settings, source, &clusters, progress, text, err);
    if (!result && !table)
        result = check_published(settings, &source, &clusters, text, err);
    cluster_names_free(&clusters);
    db_close(source);
    settings->source.login = NULL;
    free(login);
    return result;
}

/* Paints warnings and findings red. */
static void paint_doubts(struct text *text)
{
    struct text painted = { 0 };
    text_add(&painted, "");
    for (char *line = text->bytes, *end; line && *line; line = end) {
        size_t start = painted.length;
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        text_add_bytes(&painted, line, (size_t)(end - line));
        if (!strncmp(line, "  warning: ", 11) || !strncmp(line, "  finding ", 10))
            terminal_paint(&painted, start, PAINT_BAD);
    }
    text_free(text);
    *text = painted;
}

/* Prints the results so far even if the check fails. */
static int print_page(struct settings *settings, struct error *err)
{
    struct text text = { 0 };
    struct error unprinted;
    struct progress progress = { 0 };
    int result = check_all(settings, &progress, &text, NULL, err);
    check_add_next(&text, settings, &progress, result ? err : NULL);
    paint_doubts(&text);
    if (command_print(&text, result ? &unprinted : err))
        result = -1;
    text_free(&text);
    return result;
}

/* If the settings file does not exist, prints how to install one.  Always returns -1, because the
 * check failed. */
static int check_without_settings(const struct command_context *context, struct error *err)
{
    const struct invocation *invocation = context->invocation;
    if (!table_is_page(&context->shared->table))
        return -1;
    const char *path = settings_path(invocation->settings_path);
    struct text text = { 0 };
    struct error unprinted;
    if (access(path, F_OK)) {
        check_add_first(&text, path);
        if (command_print(&text, &unprinted))
            *err = unprinted;
    }
    text_free(&text);
    return -1;
}

/* The text output is printed even if the check fails, so print_page() prints it, not the answer. */
static int check_options(struct command_context *context, struct error *err)
{
    (void)err;
    if (table_is_page(&context->shared->table))
        context->layout = NULL;
    return 0;
}

static int check_answer(struct command_context *context, struct error *err)
{
    if (!context->answer)
        return print_page(context->settings, err);
    struct text page = { 0 };
    struct progress progress = { 0 };
    int result = check_all(context->settings, &progress, &page, answer_table(context->answer), err);
    text_free(&page);
    return result;
}

const struct command command_check = {
    .name = "check",
    .group = GROUP_SETUP,
    .summary = "Check settings, databases, privileges and data",
    .usage = "[OPTION...]",
    .description =
        "Check settings, databases, privileges and data; change nothing.  With an output\n"
        "option, print only the findings in the data.\n",
    .shared = TAKES_TABLE,
    .options_size = sizeof(struct shared_options),
    .use = SETTINGS_FOR_ALL,
    .layout = &finding_layout,
    .check = check_options,
    .answer = check_answer,
    .without_settings = check_without_settings,
};
