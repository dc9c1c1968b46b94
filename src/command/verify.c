/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "command/command.h"
#include "results/ledger_rows.h"
#include "results/rows.h"
#include "results/schema.h"
#include "results/settings_rows.h"
#include "run/backfill.h"
#include "run/run.h"
#include "run/verify.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/log.h"

/* ---- The output ---- */

/* A difference, or the number of further differences of a table. */
struct verify_command_row {
    const char *cluster;
    const char *table;
    const struct row_difference *difference; /* NULL: `more` is set */
    const char *cause;                       /* cause of the difference */
    int64_t more;
};

static const char *const verify_command_causes[] = {
    [CAUSE_UNKNOWN] = "not known",
    [CAUSE_ROWS] = "rows changed",
    [CAUSE_SOURCE] = "source changed",
};

#define TEXT(member) \
    COLUMN_TEXT, MEMBER_BEHIND(struct verify_command_row, difference, struct row_difference, member)

static const struct column columns[] = {
    { "cluster", "Cluster", COLUMN_TEXT, MEMBER(struct verify_command_row, cluster) },
    { "table", "Table", COLUMN_TEXT, MEMBER(struct verify_command_row, table) },
    { "key", "Key", TEXT(key) },
    { "column", "Column", TEXT(column) },
    { "stored", "Stored", TEXT(stored) },
    { "computed", "Computed", TEXT(computed) },
    { "cause", "Cause", COLUMN_TEXT, MEMBER(struct verify_command_row, cause) },
    { "more", "More", COLUMN_INTEGER, MEMBER(struct verify_command_row, more), .zero_is_none = true,
      .optional = true },
    { .name = NULL },
};

static const struct table_layout layout = { columns, "differences", .by_cluster = false };

static void verify_command_add_rows(struct answer *answer, const char *cluster,
                                    const struct row_differences *differences)
{
    for (size_t i = 0; i < differences->count; i++) {
        const struct table_differences *of = &differences->tables[i];
        for (size_t k = 0; k < of->listed; k++)
            answer_row(answer,
                       &(struct verify_command_row){ cluster, of->table, &of->list[k],
                                                     verify_command_causes[of->list[k].cause], 0 });
        if (of->count > of->listed)
            answer_row(answer,
                       &(struct verify_command_row){ .cluster = cluster,
                                                     .table = of->table,
                                                     .more = (int64_t)(of->count - of->listed) });
    }
}

/* ---- The comparison ---- */

struct verify_options {
    struct shared_options shared;
    bool repair;
};

struct verifying {
    const struct verify_options *options;
    const struct settings *settings;
    struct text summary; /* a line for each cluster, for the text output */
    struct command_context *context;
    struct name_list mendable; /* clusters whose history has differences */
    bool differs;
    bool is_last;      /* there is no repair after this comparison */
    bool was_repaired; /* there was a repair before this comparison */
};

/* Adds the result for the cluster to the summary. */
static void summarize(struct verifying *verifying, const char *cluster,
                      const struct verification *verification)
{
    struct text *text = &verifying->summary;
    text_format_printable(text, "cluster %s: ", cluster);
    verification_add_words(text, verification);
    text_add(text, "\n");
}

static bool has_damaged_history(const struct row_differences *differences)
{
    for (size_t i = 0; i < differences->count; i++)
        if (!strcmp(differences->tables[i].table, "fairmill_history") ||
            !strcmp(differences->tables[i].table, "fairmill_association"))
            return true;
    return false;
}

/* Verifies a cluster.  If that fails, reports the error and continues with the other clusters. */
static void verify_each(struct verifying *verifying, struct verifier *verifier, const char *cluster)
{
    struct error err;
    struct verification verification;
    int result = verify_cluster(verifier, cluster, &verification, &err);
    if (!result && verification.other_settings)
        result = fail(&err, ERROR_SETTINGS,
                      "the published results were computed with other settings, so only history "
                      "was compared; run `fairmill run` to publish with these settings");
    if (verification.published) {
        verify_command_add_rows(verifying->context->answer, cluster, &verification.differences);
        verifying->differs |= verification.differences.count > 0;
        if (has_damaged_history(&verification.differences))
            name_list_add(&verifying->mendable, cluster, strlen(cluster));
        if (!result)
            summarize(verifying, cluster, &verification);
    }
    verification_free(&verification);
    if (result && verification.other_settings && !verifying->is_last) {
        verifying->differs = true;
    } else if (result) {
        fail_in(&err, "cluster '%s'", cluster);
        complain(&err);
    }
}

static void tell_faults(struct verifying *verifying, const struct ledger_faults *faults)
{
    struct error err;
    struct text words = { 0 };
    if (!faults->count)
        return;
    ledger_faults_add_words(&words, faults);
    verifying->differs = true;
    fail(&err, ERROR_OTHER, "%s; see `fairmill help ledger`", words.bytes);
    if (verifying->is_last)
        complain(&err);
    text_free(&words);
}

/* The version of the tables that introduced hashes of ledger entries. */
#define VERSION_OF_CHAIN 4

static bool find_unproven(struct verifier *verifier, const struct ledger_book *book,
                          struct ledger_faults *faults, struct error *err)
{
    const struct db_value version[] = { db_integer(VERSION_OF_CHAIN),
                                        db_integer(VERSION_OF_CHAIN) };
    int64_t since = INT64_MAX;
    if (rows_read_integer(verifier->results, sql_query_schema_since, version, 2, &since, err) < 0)
        return false;
    ledger_faults_free(faults);
    *faults = ledger_unproven_of(book, since);
    return true;
}

/* Verifies the ledger, which contains the entries of all clusters. */
static void verify_ledger(struct verifying *verifying, struct verifier *verifier)
{
    struct error err;
    struct ledger_book book;
    const struct name_list *clusters = &verifying->options->shared.clusters;
    if (ledger_book_read(verifier->results, "", &book, &err)) {
        complain(&err);
        return;
    }
    struct ledger_faults faults = ledger_faults_of(&book);
    if (!faults.count && !find_unproven(verifier, &book, &faults, &err))
        complain(&err);
    if (clusters->count == 1)
        ledger_faults_keep(&faults, clusters->values[0]);
    tell_faults(verifying, &faults);
    ledger_faults_free(&faults);
    ledger_book_free(&book);
}

/* Verifies fairmill_settings.  This table determines which data are private, and shows how values
 * were computed. */
static void verify_settings(struct verifying *verifying, struct verifier *verifier)
{
    struct error err;
    struct text digests = { 0 };
    bool read = !settings_rows_check(verifier->results, &digests, &err);
    if (read && digests.length) {
        verifying->differs = true;
        fail(&err, ERROR_OTHER,
             "fairmill_settings: another program changed the text of %.1000s; the next run with "
             "these settings rewrites it",
             digests.bytes);
    }
    if (!read || (digests.length && verifying->is_last))
        complain(&err);
    text_free(&digests);
}

/* Opens all views, because other checks read the tables, but users who may only query results read
 * the views.  Must be the last check, because an error makes PostgreSQL's transaction unusable. */
static void verify_views(struct verifying *verifying, struct verifier *verifier)
{
    struct error err;
    if (!views_open(verifier->results, &err))
        return;
    verifying->differs = true;
    complain(&err);
}

static int verify_all(struct verifying *verifying, struct error *err)
{
    const struct published *published = &verifying->context->published;
    struct verifier verifier = { 0 };
    if (permissions_check_all(&published->permissions, NULL, err))
        return -1;
    int result = verifier_open(&verifier, verifying->settings, NULL, err);
    for (size_t i = 0; !result && i < published->count; i++)
        verify_each(verifying, &verifier, published->clusters[i].name);
    if (!result) {
        verify_ledger(verifying, &verifier);
        verify_settings(verifying, &verifier);
        verify_views(verifying, &verifier);
    }
    verifier_close(&verifier);
    return result;
}

/* Compares and prints the differences.  After a repair, output for programs still has one table:
 * the differences of the first comparison. */
static int report(struct verifying *verifying, struct error *err)
{
    struct command_context *context = verifying->context;
    const struct table_options *form = &context->shared->table;
    bool for_people = form->form == TABLE_FOR_PEOPLE;
    verifying->differs = false;
    if ((verifying->was_repaired && command_answer_as(context, &layout, err)) ||
        verify_all(verifying, err))
        return -1;
    bool has_table = for_people ? verifying->differs : !verifying->was_repaired;
    if (has_table ? answer_end(context->answer, err) : command_answer_as(context, NULL, err))
        return -1;
    return for_people && !form->no_header && !form->columns
               ? command_print(&verifying->summary, err)
               : 0;
}

static int verify_report(struct verifying *verifying, struct error *err)
{
    int result = report(verifying, err);
    text_free(&verifying->summary);
    return result;
}

/* ---- Repairing ---- */

/* Repairs history first, because a full run accepts the remaining rows of history as they are. */
static int repair(const struct verifying *verifying, struct error *err)
{
    for (size_t i = 0; i < verifying->mendable.count; i++)
        if (backfill_repair(verifying->settings, verifying->mendable.values[i], err))
            return fail_in(err, "cluster '%s'", verifying->mendable.values[i]);
    const struct name_list *clusters = &verifying->options->shared.clusters;
    const struct run_options options = { .clusters = { clusters->values, clusters->count },
                                         .full = true,
                                         .repair = true,
                                         .complain = complain };
    return run(verifying->settings, &options, err);
}

static int report_and_repair(struct verifying *verifying, struct error *err)
{
    if (verify_report(verifying, err))
        return -1;
    if (!verifying->differs || !verifying->options->repair)
        return 0;
    verifying->is_last = verifying->was_repaired = true;
    return repair(verifying, err) || verify_report(verifying, err) ? -1 : 0;
}

/* Verifies old results, too. */
static int verify_check(struct command_context *context, struct error *err)
{
    (void)err;
    context->filter.of_any_age = true;
    return 0;
}

static int verify_answer(struct command_context *context, struct error *err)
{
    const struct verify_options *options = context->options;
    struct verifying verifying = { .context = context,
                                   .options = options,
                                   .settings = context->settings,
                                   .is_last = !options->repair };
    published_close(&context->published);
    int result = report_and_repair(&verifying, err);
    name_list_free(&verifying.mendable);
    if (result)
        return -1;
    if (verifying.differs && verifying.was_repaired)
        return fail(err, ERROR_OTHER, "differences remain after the repair");
    return verifying.differs ? 1 : 0;
}

static const struct command_option own_options[] = {
    { "repair", NULL, 0, OPTION_FLAG, AT(verify_options, repair), NULL,
      .help = "Repair differences by a full run, then compare again" },
    { .name = NULL },
};

const struct command command_verify = {
    .name = "verify",
    .group = GROUP_COMPUTE,
    .summary = "Recompute stored results and report differences",
    .usage = "[OPTION...]",
    .description = "Recompute stored results and report the rows that differ.  Without --repair,\n"
                   "change nothing.\n",
    .shared = TAKES_CLUSTERS | TAKES_VERBOSE | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct verify_options),
    .use = SETTINGS_FOR_ALL,
    .results = RESULTS_OPEN,
    .layout = &layout,
    .check = verify_check,
    .answer = verify_answer,
};
