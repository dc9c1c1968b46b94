/* SPDX-License-Identifier: MIT */
#include "run/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/release.h"
#include "results/publication.h"
#include "results/schema.h"
#include "run/cluster_run.h"
#include "run/retry.h"
#include "run/run.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/text.h"
#include "util/times.h"

int verifier_open(struct verifier *verifier, const struct settings *settings, struct db *source,
                  struct error *err)
{
    *verifier = (struct verifier){ .settings = settings, .source = source };
    if ((!source && run_open_source(&verifier->source, settings, err)) ||
        results_open(&verifier->results, settings, DB_READER, err))
        return -1;
    verifier->source_identity = db_identity(verifier->source, err);
    return verifier->source_identity ? db_begin(verifier->results, err) : -1;
}

void verifier_close(struct verifier *verifier)
{
    db_rollback(verifier->results);
    db_close(verifier->results);
    db_close(verifier->source);
    free(verifier->source_identity);
    *verifier = (struct verifier){ 0 };
}

/* The run that published. */
struct published_run {
    int64_t id, as_of, started_at;
    bool notes_entries;            /* it recorded the ledger entries that it applied */
    const struct release *release; /* the Slurm release whose rules it followed */
    bool same_settings;
};

static int read_run(const struct verifier *verifier, const char *cluster, bool *found,
                    struct published_run *run, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct db_rows *rows =
        db_query(verifier->results, sql_query_published_run, &name, 1, "iiittt", err);
    *found = db_fetch(rows, &row, err) > 0;
    if (*found) {
        char *digest = db_value_text(&row[3]), *slurm_version = db_value_text(&row[4]),
             *version = db_value_text(&row[5]);
        *run = (struct published_run){ row[0].integer,
                                       row[1].integer,
                                       row[2].integer,
                                       strcmp(version, "0.1.0") != 0,
                                       release_named(slurm_version),
                                       !strcmp(digest, verifier->settings->digest) };
        free(digest);
        free(slurm_version);
        free(version);
    }
    return db_finish(rows);
}

static int compute_and_compare(struct verifier *verifier, const struct published_run *run,
                               struct publisher *publisher, struct verification *verification,
                               struct error *err)
{
    const struct run_options options = { .now = &run->as_of, .full = true };
    /* slurmctld may have been upgraded since the run, so use the release of the run. */
    struct settings settings = *verifier->settings;
    if (run->release)
        settings.slurm_release = run->release;
    struct run_session session = {
        .settings = &settings,
        .options = &options,
        .source = verifier->source,
        .source_identity = verifier->source_identity,
        .deadline = deadline_of(verifier->settings),
    };
    struct computed_again again = { .started_at = run->started_at,
                                    .notes_entries = run->notes_entries };
    int result = compute_again(&session, publisher, &again, err);
    verifier->source = session.source; /* a new session if the old one broke */
    verification->rows = (uint64_t)again.associations;
    return result ? -1
                  : verify_session_end(publisher->db, again.checkpoint_damaged,
                                       &verification->differences, err);
}

int verify_cluster(struct verifier *verifier, const char *cluster,
                   struct verification *verification, struct error *err)
{
    struct published_run last;
    *verification = (struct verification){ 0 };
    if (read_run(verifier, cluster, &verification->published, &last, err))
        return results_explain(verifier->settings, err);
    if (!verification->published)
        return 0;
    verification->as_of = last.as_of;
    verification->other_settings = !last.same_settings;
    struct db *witness = verify_session_open(verifier->results, cluster);
    struct publisher publisher = {
        .db = witness, .settings = verifier->settings, .cluster = cluster, .run_id = last.id
    };
    int result = last.same_settings
                     ? compute_and_compare(verifier, &last, &publisher, verification, err)
                     : verify_session_end(witness, false, &verification->differences, err);
    verify_session_close(witness);
    return result;
}

void verification_add_words(struct text *text, const struct verification *verification)
{
    const struct row_differences *differences = &verification->differences;
    bool of_rows = false, of_source = false;
    if (!verification->published) {
        text_add(text, "nothing yet");
        return;
    }
    if (!verification->other_settings)
        text_format(text, "%" PRIu64 " rows of ", verification->rows);
    time_add(text, verification->as_of);
    if (verification->other_settings)
        text_add(text, ", with other settings than these");
    else if (!differences->count)
        text_add(text, ", as computed");
    for (size_t i = 0; i < differences->count; i++) {
        const struct table_differences *of = &differences->tables[i];
        text_format(text, "%s %" PRIu64 " in %s", i ? "," : "; differences:", of->count, of->table);
        for (size_t k = 0; k < of->listed; k++) {
            of_rows |= of->list[k].cause == CAUSE_ROWS;
            of_source |= of->list[k].cause == CAUSE_SOURCE;
        }
    }
    if (of_rows)
        text_add(text, "; another program changed stored rows");
    if (of_source)
        text_add(text, "; the accounting database has changed since");
}

void verification_free(struct verification *verification)
{
    row_differences_free(&verification->differences);
}
