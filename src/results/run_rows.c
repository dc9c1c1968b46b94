/* SPDX-License-Identifier: MIT */
#include "results/run_rows.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "results/publication.h"
#include "results/rows.h"
#include "settings/settings.h"
#include "util/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct db_column run_columns[] = {
    { "cluster", 't' },
    { "run_id", 'i' },
    { "as_of", 'i' },
    { "started_at", 'i' },
    { "duration_ms", 'i' },
    { "kind", 't' },
    { "why", 't' },
    { "status", 't' },
    { "algorithm", 't' },
    { "conformance", 't' },
    { "half_life", 'i' },
    { "time_zone", 't' },
    { "associations", 'i' },
    { "users", 'i' },
    { "jobs_read", 'i' },
    { "unattributed_usage", 'r' },
    { "truncation_bound", 'r' },
    { "source_newest", 'i' },
    { "source_lag", 'i' },
    { "drift_max", 'r' },
    { "drifted_associations", 'i' },
    { "settings_digest", 't' },
    { "version", 't' },
    { "host", 't' },
    { "os_user", 't' },
    { "message", 't' },
};
static const struct row_table run_table = { "fairmill_run", run_columns, COUNT(run_columns) };

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
    struct db_value row[] = {
        db_text(publisher->cluster),
        db_integer(publisher->run_id),
        db_integer(record->as_of),
        db_integer(record->started_at),
        db_integer(record->duration_ms),
        db_text(record->kind),
        db_text(record->why),
        db_text(status),
        db_text(settings->algorithm->name),
        db_text(conformance_name(settings->conformance)),
        db_integer((int64_t)settings->half_life_s),
        db_text(settings->time_zone),
        rows_integer(record->associations),
        rows_integer(record->users),
        rows_integer(record->jobs_read),
        rows_real(record->unattributed_usage),
        rows_real(record->truncation_bound),
        rows_integer(record->source_newest),
        record->source_newest < 0 ? db_null() : db_integer(record->source_lag),
        rows_real(record->drift_max),
        rows_integer(record->drifted),
        db_text(settings->digest),
        db_text(PACKAGE_VERSION),
        db_text(host),
        db_text(os_user()),
        rows_text(record->message, &converted),
    };
    _Static_assert(COUNT(row) == COUNT(run_columns), "a value for each column");
    /* A failure never replaces a row: the run may have been published, and only the answer to its
     * COMMIT lost. */
    size_t keys = strcmp(status, "failed") ? 2 : 0;
    int result = rows_write_one(publisher->db, &run_table, keys, row, err);
    text_free(&converted);
    return result;
}
