/* SPDX-License-Identifier: MIT */
#include "results/publication.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "results/rows.h"
#include "settings/settings.h"
#include "util/text.h"

static const char *os_user(void)
{
    const struct passwd *entry = getpwuid(geteuid());
    return entry ? entry->pw_name : "";
}

int run_rows_write(const struct publisher *publisher, const struct run_record *record,
                   const char *status, struct error *err)
{
    const struct settings *settings = publisher->settings;
    struct text converted = { 0 };
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    struct row_field row[] = {
        { "cluster", 't', db_text(publisher->cluster) },
        { "run_id", 'i', db_integer(publisher->run_id) },
        { "as_of", 'i', db_integer(record->as_of) },
        { "started_at", 'i', db_integer(record->started_at) },
        { "duration_ms", 'i', db_integer(record->duration_ms) },
        { "kind", 't', db_text(record->kind) },
        { "why", 't', db_text(record->why) },
        { "status", 't', db_text(status) },
        { "algorithm", 't', db_text(settings->algorithm->name) },
        { "conformance", 't', db_text(conformance_name(settings->conformance)) },
        { "slurm_version", 't',
          record->slurm_version ? db_text(record->slurm_version) : db_null() },
        { "usage_unit", 't', db_text(record->usage_unit ? record->usage_unit : USAGE_UNIT) },
        { "half_life", 'i', db_integer((int64_t)record->half_life_s) },
        { "time_zone", 't', db_text(settings->time_zone) },
        { "associations", 'i', rows_integer(record->associations) },
        { "users", 'i', rows_integer(record->users) },
        { "jobs_read", 'i', rows_integer(record->jobs_read) },
        { "unattributed_usage", 'r', rows_real(record->unattributed_usage) },
        { "truncation_bound", 'r', rows_real(record->truncation_bound) },
        { "source_newest", 'i', rows_integer(record->source_newest) },
        { "source_lag", 'i',
          record->source_newest < 0 ? db_null() : db_integer(record->source_lag) },
        { "drift_max", 'r', rows_real(record->drift_max) },
        { "drifted_associations", 'i', rows_integer(record->drifted) },
        { "settings_digest", 't', db_text(settings->digest) },
        { "version", 't', db_text(PACKAGE_VERSION) },
        { "host", 't', db_text(host) },
        { "os_user", 't', db_text(os_user()) },
        { "message", 't', rows_text(record->message, &converted) },
    };
    /* A failure never replaces a row: the run may have been published, and only the answer to its
     * COMMIT lost. */
    size_t keys = strcmp(status, "failed") ? 2 : 0;
    int result = rows_write_one(publisher->db, "fairmill_run", keys, row, COUNT(row), err);
    text_free(&converted);
    return result;
}
