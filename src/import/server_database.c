/* SPDX-License-Identifier: MIT */
#include "import/server_database.h"

#include <stdlib.h>
#include <string.h>

#include "sql.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* OpenPBS's letters for states, by their numbers. */
static const char states[] = "TQHWREXBMF";

/* Returns VALUE from a text of the form `FLAGS.VALUE`; the caller frees it. */
static char *server_database_text_of(const struct db_value *value)
{
    if (value->type == DB_NULL)
        return memory_text("");
    const char *bytes = value->text.bytes, *dot = memchr(bytes, '.', value->text.length);
    size_t flags = dot ? (size_t)(dot - bytes) + 1 : value->text.length;
    return utf8_copy(bytes + flags, value->text.length - flags);
}

static int tell_attribute(struct waiting_job *job, const struct db_value *row, struct error *err)
{
    char *name = db_value_text(&row[3]), *value = server_database_text_of(&row[4]),
         *dot = strchr(name, '.');
    if (dot)
        *dot = '\0';
    /* The columns of the job's row also contain these two attributes, and take precedence. */
    bool known = !strcmp(name, "job_state") || !strcmp(name, "queue");
    int result = known ? 0 : waiting_tell(job, name, dot ? dot + 1 : NULL, value, err);
    free(name);
    free(value);
    return result;
}

/* The job whose rows are being read. */
struct job_reader {
    struct waiting *waiting;
    struct waiting_job *job; /* or NULL */
    bool refused;
    struct error reason;
};

static void begin_job(struct job_reader *reader, const struct db_value *row)
{
    char *job_id = db_value_text(&row[0]), *queue = db_value_text(&row[2]);
    int64_t number = db_value_integer(&row[1], -1);
    const char state[] = { number >= 0 && number < (int64_t)strlen(states) ? states[number] : '-',
                           '\0' };
    reader->job = waiting_add_job(reader->waiting, job_id);
    reader->refused = waiting_tell(reader->job, "job_state", NULL, state, &reader->reason) ||
                      waiting_tell(reader->job, "queue", NULL, queue, &reader->reason);
    free(job_id);
    free(queue);
}

static void end_job(struct job_reader *reader)
{
    if (reader->job && (reader->refused || waiting_end_job(reader->waiting, &reader->reason)))
        waiting_skip_job(reader->waiting, &reader->reason);
}

static void server_database_take_row(struct job_reader *reader, const struct db_value *row)
{
    if (!reader->job || !reads_as(row[0].text.bytes, row[0].text.length, reader->job->job_id)) {
        end_job(reader);
        begin_job(reader, row);
    }
    if (row[3].type != DB_NULL && !reader->refused)
        reader->refused = tell_attribute(reader->job, row, &reader->reason) != 0;
}

static int server_database_read_jobs(struct db *db, struct waiting *waiting, struct error *err)
{
    const struct db_value *row;
    struct job_reader reader = { .waiting = waiting };
    struct db_rows *rows = db_stream(db, sql_query_openpbs_job, NULL, 0, "tittt", err);
    waiting->has_jobs = true;
    while (db_fetch(rows, &row, err) > 0)
        server_database_take_row(&reader, row);
    if (db_finish(rows))
        return -1;
    end_job(&reader);
    return waiting_end(waiting, err);
}

static int read_queues(struct db *db, struct waiting *waiting, struct error *err)
{
    const struct db_value *row;
    int result = 0;
    struct db_rows *rows = db_query(db, sql_query_openpbs_queue, NULL, 0, "tt", err);
    waiting->has_queues = true;
    while (!result && db_fetch(rows, &row, err) > 0) {
        char *name = db_value_text(&row[0]), *priority = server_database_text_of(&row[1]);
        result =
            waiting_add_queue(waiting, name, err) || waiting_set_priority(waiting, priority, err);
        if (result)
            fail_in(err, "queue '%s'", name);
        free(name);
        free(priority);
    }
    return db_finish(rows) || result ? -1 : 0;
}

static int server_database_read_server(struct db *db, struct waiting *waiting, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_openpbs_server, NULL, 0, "itt", err);
    waiting->has_scheduler = true;
    waiting_tell_server(waiting, "", "");
    while (db_fetch(rows, &row, err) > 0) {
        char *name = db_value_text(&row[1]), *value = server_database_text_of(&row[2]);
        waiting_tell_server(waiting, name, value);
        free(name);
        free(value);
    }
    return db_finish(rows);
}

int server_database_read(struct waiting *waiting, const char *service, unsigned deadline_s,
                         struct error *err)
{
    const struct db_settings settings = { .driver = "pgsql",
                                          .service = service,
                                          .deadline_s = deadline_s };
    struct db *db;
    waiting->as_of = clock_now();
    if (!db_driver_named("pgsql"))
        return fail(
            err, ERROR_SETTINGS,
            "this build cannot read OpenPBS's database: it lacks the driver for PostgreSQL");
    if (db_open(&db, &settings, DB_SOURCE, err))
        return -1;
    int result = db_begin(db, err) || server_database_read_jobs(db, waiting, err) ||
                         read_queues(db, waiting, err) ||
                         server_database_read_server(db, waiting, err) || db_commit(db, err)
                     ? -1
                     : 0;
    db_close(db);
    if (result)
        waiting_free(waiting);
    return result;
}
