/* SPDX-License-Identifier: MIT */
#include "results/schema.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/rows.h"
#include "results/script.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* The tables and views for each database, generated from the templates in sql/schema/. */
static const struct schema_dialect {
    const char *driver, *tables, *views;
    const char *is_table, *former, *split, *joined; /* for the former table fairmill_fairshare */
} dialects[] = {
    { "mysql", sql_mysql_tables, sql_mysql_views, sql_mysql_is_table, sql_mysql_former,
      sql_mysql_split, sql_mysql_joined },
    { "pgsql", sql_pgsql_tables, sql_pgsql_views, sql_pgsql_is_table, sql_pgsql_former,
      sql_pgsql_split, sql_pgsql_joined },
    { "sqlite", sql_sqlite_tables, sql_sqlite_views, sql_sqlite_is_table, sql_sqlite_former,
      sql_sqlite_split, sql_sqlite_joined },
};

static const struct schema_dialect *dialect_of(const struct db_driver *driver)
{
    const struct schema_dialect *dialect = dialects;
    while (strcmp(dialect->driver, driver->name))
        dialect++;
    return dialect;
}

/*
 * Returns true for the tables of the ledger, because entries and their hashes are never changed or
 * removed.
 */
static bool only_grows(const char *table)
{
    static const char ledger[] = "fairmill_ledger";
    return !strncmp(table, ledger, sizeof ledger - 1);
}

/* Returns true if a message contains this word. */
static bool has_word(const char *message, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = message; (at = strstr(at, word)); at += length)
        if (at[length] != '_' && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

/* Returns the table or view of a script that a message names, or NULL.  The caller frees it. */
static char *named_in(const char *message, const char *script)
{
    char *name;
    while ((name = script_next_name(&script)) && !has_word(message, name))
        free(name);
    return name;
}

/*
 * Appends the GRANT on fairmill's table or view that a message names.  Returns false if the message
 * names no table or view.
 */
static bool add_table_grant(struct text *text, const struct settings *settings, const char *message)
{
    const struct schema_dialect *dialect = dialect_of(db_driver_named(settings->results.driver));
    char *table = named_in(message, dialect->tables), *view = named_in(message, dialect->views);
    bool named = table || view;
    if (named)
        db_add_grant(text, &settings->results,
                     !table              ? "SELECT"
                     : only_grows(table) ? "SELECT, INSERT"
                                         : "SELECT, INSERT, UPDATE, DELETE",
                     NULL, table ? table : view);
    free(table);
    free(view);
    return named;
}

/*
 * Adds advice to an error.  If access to a table or view was denied, advises a GRANT on that table
 * or view only.  A GRANT on more tables could give access to the ledger.  Otherwise advises the
 * GRANT of the role.
 */
static int schema_explain(const struct settings *settings, const char *role, bool of_table,
                          struct error *err)
{
    struct text text = { 0 }, grant = { 0 };
    bool of_database = err->of_database;
    text_add(&text, err->message);
    if (err->class == ERROR_DENIED) {
        const char *source = "";
        if (!of_table || !add_table_grant(&grant, settings, err->message)) {
            db_add_role_grant(&grant, &settings->results, role);
            source = " (`fairmill init --print` creates this role)";
        }
        if (grant.length)
            text_format(&text, "; if the login is correct, run: %s%s", grant.bytes, source);
    } else if (err->class == ERROR_MISSING && !strstr(err->message, "fairmill init")) {
        text_add(&text, "; run `fairmill init` to create it");
    }
    fail(err, err->class, "%s", text.bytes);
    err->of_database = of_database;
    text_free(&text);
    text_free(&grant);
    return -1;
}

/* Sets `*version` to the version of the tables, or to 0 if the tables do not exist. */
static int read_version(struct db *db, int64_t *version, struct error *err)
{
    *version = 0;
    return rows_read_integer(db, sql_query_schema_version, NULL, 0, version, err) < 0 ? -1 : 0;
}

static int refuse_newer(int64_t version, struct error *err)
{
    return fail(err, ERROR_VERSION,
                "the result tables have version %lld, from a newer fairmill; this one supports %d: "
                "use the newer fairmill here, too, or restore the backup from before its "
                "`fairmill init`",
                (long long)version, SCHEMA_VERSION);
}

static int check_version(struct db *db, const struct settings *settings, struct error *err)
{
    int64_t version = 0;
    if (read_version(db, &version, err)) {
        if (err->class != ERROR_MISSING)
            return -1;
        return fail(err, ERROR_MISSING, "no result tables in '%s'; run `fairmill init`",
                    settings->results.database);
    }
    if (version > SCHEMA_VERSION)
        return refuse_newer(version, err);
    if (version < SCHEMA_VERSION)
        return fail(err, ERROR_VERSION,
                    "the result tables in '%s' have version %lld, but version %d is required; run "
                    "`fairmill init`",
                    settings->results.database, (long long)version, SCHEMA_VERSION);
    return 0;
}

/* The role with all privileges that a session needs. */
static const char *role_name(enum db_role role)
{
    return role == DB_READER  ? "fairmill_reader"
           : role == DB_OWNER ? "fairmill_owner"
                              : "fairmill_writer";
}

int results_explain(const struct settings *settings, struct error *err)
{
    return schema_explain(settings, role_name(DB_RESULTS), true, err);
}

/* `fairmill init` rejects an accounting database, so do not advise to run it. */
static void prefer_refusal(struct db *db, const struct settings *settings, struct error *err)
{
    struct error refusal;
    if (err->class == ERROR_MISSING && schema_refuse_accounting(db, settings, &refusal) &&
        refusal.class == ERROR_SETTINGS)
        *err = refusal;
}

/*
 * Adds advice to an error that the results are missing.  On a server, `fairmill init` cannot create
 * the database.  With SQLite, the file may exist: as the accounting database, or as results without
 * a file that a writer needs.
 */
static int fail_absent(const struct settings *settings, struct error *err)
{
    struct db *db;
    struct error ignored;
    if (db_driver_named(settings->results.driver)->privileges) {
        fail_in(err, "results");
        struct error reason = *err;
        return fail(err, ERROR_MISSING,
                    "%.1500s; the database must be created first, with the SQL that `fairmill init "
                    "--print` prints",
                    reason.message);
    }
    int64_t version = 0;
    if (db_open(&db, &settings->results, DB_READER, &ignored))
        return fail_in(err, "no results yet; run `fairmill init`");
    if (!read_version(db, &version, &ignored) &&
        version) { /* the tables exist; only a file that a writer needs is missing */
        fail_in(err, "results");
    } else {
        fail_in(err, "no results yet; run `fairmill init`");
        prefer_refusal(db, settings, err);
    }
    db_close(db);
    return -1;
}

int results_open(struct db **opened, const struct settings *settings, enum db_role role,
                 struct error *err)
{
    struct db *db;
    if (db_open(&db, &settings->results, role, err)) {
        if (err->class == ERROR_MISSING)
            return fail_absent(settings, err);
        fail_in(err, "results");
        return schema_explain(settings, role_name(role), false, err);
    }
    if (role != DB_OWNER && check_version(db, settings, err)) {
        prefer_refusal(db, settings, err);
        db_close(db);
        return schema_explain(settings, role_name(role), false, err);
    }
    *opened = db;
    return 0;
}

/* Returns 1 if all tables or views of a script exist, 0 if not, and -1 on error. */
static int has_all(struct db *db, const char *script, struct error *err)
{
    int found = 1;
    for (char *name; found > 0 && (name = script_next_name(&script)); free(name))
        found = db_has_table(db, name, err);
    return found;
}

int schema_refuse_accounting(struct db *db, const struct settings *settings, struct error *err)
{
    int found = settings->share_database ? 0 : db_has_table(db, "cluster_table", err);
    if (found > 0)
        found = db_has_table(db, "qos_table", err);
    if (found > 0)
        return fail(err, ERROR_SETTINGS,
                    "'%s' is an accounting database; use another database for the results, or set "
                    "[results] share_database = yes",
                    settings->results.database);
    return found;
}

/* Returns 1 if all tables and columns exist, 0 if not, and -1 on error. */
static int schema_is_complete(struct db *db, const struct schema_dialect *dialect,
                              struct error *err)
{
    int found = has_all(db, dialect->tables, err);
    if (found <= 0)
        return found;
    int lacking = script_add_columns(db, dialect->tables, true, err);
    return lacking < 0 ? -1 : !lacking;
}

/* ---- Columns that became optional ---- */

/* SQLite cannot drop NOT NULL from a column, so create the table again and copy its rows. */
static int make_anew(struct db *db, const char *script, const char *table, struct error *err)
{
    struct text columns = { 0 }, sql = { 0 };
    int result = script_list_columns(db, table, &columns, err);
    char *name = NULL;
    do {
        free(name);
        name = script_next_name(&script);
    } while (name && strcmp(name, table) != 0);
    free(name);
    if (!result && columns.length) {
        text_format(&sql,
                    "BEGIN IMMEDIATE;\nCREATE TEMP TABLE \"kept_rows\" AS SELECT %s FROM \"%s\";\n"
                    "DROP TABLE \"%s\";\nCREATE TABLE \"",
                    columns.bytes, table, table);
        text_add_bytes(&sql, script, (size_t)(strstr(script, ";\n") + 2 - script));
        text_format(&sql,
                    "INSERT INTO \"%s\" (%s) SELECT * FROM \"kept_rows\";\n"
                    "DROP TABLE \"kept_rows\";\nCOMMIT;\n",
                    table, columns.bytes);
        result = db_script(db, sql.bytes, err);
    }
    text_free(&columns);
    text_free(&sql);
    return result;
}

/*
 * Up to version 4, columns of Slurm's jobs were NOT NULL.  In the scripts for other databases,
 * ALTER TABLE changes that.
 */
static int loosen(struct db *db, const struct schema_dialect *dialect, int64_t version,
                  struct error *err)
{
    if (version >= 5 || !version || strcmp(dialect->driver, "sqlite") != 0)
        return 0;
    return make_anew(db, dialect->tables, "fairmill_job_priority", err);
}

/* ---- The table that became a view ---- */

/* Returns a script's first CREATE statement.  The caller frees it. */
static char *first_creation(const char *script)
{
    const char *create = strstr(script, "\nCREATE ") + 1;
    return memory_bytes(create, (size_t)(strstr(create, ";\n") + 2 - create));
}

static int schema_split(struct db *db, const struct schema_dialect *dialect, struct error *err)
{
    char *view = first_creation(dialect->views);
    int result = db_begin(db, err);
    if (!result)
        result = rows_commit(db,
                             db_script(db, dialect->split, err) || db_script(db, view, err) ||
                                     (*dialect->joined && db_script(db, dialect->joined, err))
                                 ? -1
                                 : 0,
                             err);
    free(view);
    return result ? fail_in(err, "cannot replace the table 'fairmill_fairshare' by a view") : 0;
}

/*
 * Replaces the table fairmill_fairshare, which existed up to version 7, by a view.  MySQL and
 * MariaDB commit each step.  After an interruption, the next call finds the table and starts again,
 * or finds no view and creates it.
 */
static int split_fairshare(struct db *db, const struct schema_dialect *dialect, struct error *err)
{
    int64_t one;
    int found = rows_read_integer(db, dialect->is_table, NULL, 0, &one, err);
    if (found <= 0)
        return found;
    return script_add_columns(db, dialect->former, false, err) || schema_split(db, dialect, err)
               ? -1
               : 0;
}

static int make_all(struct db *db, const struct schema_dialect *dialect, struct error *err)
{
    if (db_script(db, dialect->tables, err) ||
        script_add_columns(db, dialect->tables, false, err) || split_fairshare(db, dialect, err))
        return -1;
    return 0;
}

/*
 * Creates the views each time, because their owner may have been removed.  SQLite drops a view
 * first; the transaction ensures that other sessions always find it.  The other databases replace
 * each view in one statement.  A transaction would hold the locks of all views, and deadlock with
 * a session that reads a view of a view.  A login that must not create views is accepted if it can
 * read them.
 */
static int make_views(struct db *db, const struct schema_dialect *dialect, bool may_fail,
                      struct error *err)
{
    struct error unread;
    bool drops = !strcmp(dialect->driver, "sqlite");
    int result = db_be_owner(db, err) || (drops && db_begin(db, err)) ? -1 : 0;
    if (!result)
        result = db_script(db, dialect->views, err);
    if (drops)
        result = rows_commit(db, result, err);
    bool refused = result && (err->class == ERROR_DENIED || err->class == ERROR_RETRY);
    return refused && may_fail && !views_open(db, &unread) ? 0 : result;
}

static int make_missing(struct db *db, struct error *err)
{
    const struct schema_dialect *dialect = dialect_of(db->driver);
    int64_t version = 0;
    if (read_version(db, &version, err) && err->class != ERROR_MISSING)
        return -1;
    if (version > SCHEMA_VERSION)
        return refuse_newer(version, err);
    int complete = version == SCHEMA_VERSION ? schema_is_complete(db, dialect, err) : 0;
    /* A copy that was made with VACUUM INTO has all tables, but not the journal mode WAL. */
    if (complete > 0 && !strcmp(dialect->driver, "sqlite") &&
        db_script(db, "PRAGMA journal_mode = WAL;\n", err))
        return -1;
    if (complete < 0 ||
        (!complete && (db_be_owner(db, err) || loosen(db, dialect, version, err) ||
                       make_all(db, dialect, err))) ||
        make_views(db, dialect, complete, err) || db_begin(db, err))
        return -1;
    struct db_value made[] = { db_integer(SCHEMA_VERSION), db_integer(clock_now()) };
    if (db_execute(db, sql_query_counter_make, NULL, 0, NULL, err) ||
        (version < SCHEMA_VERSION && db_execute(db, sql_query_schema_made, made, 2, NULL, err)) ||
        db_commit(db, err)) {
        db_rollback(db);
        return -1;
    }
    return 0;
}

/*
 * Another host may be creating the same tables.  In that case this attempt fails, and the next
 * attempt finds the tables.
 */
#define MAKE_TRIES 20
#define MAKE_PAUSE_US 100000

static bool may_be_race(const struct error *err)
{
    return err->class == ERROR_OTHER || err->class == ERROR_RETRY || err->class == ERROR_MISSING;
}

int schema_make(struct db *db, const struct settings *settings, struct error *err)
{
    int result = make_missing(db, err);
    for (int i = 1; result && i < MAKE_TRIES && may_be_race(err); i++) {
        usleep(MAKE_PAUSE_US);
        result = make_missing(db, err);
    }
    if (!result)
        return 0;
    return err->class == ERROR_DENIED ? schema_explain(settings, role_name(DB_OWNER), false, err)
                                      : -1;
}

void schema_print(const struct db_driver *driver, struct text *text)
{
    const struct schema_dialect *dialect = dialect_of(driver);
    char *tables = driver->fit ? driver->fit(dialect->tables) : memory_text(dialect->tables);
    text_add(text, tables);
    free(tables);
    text_add(text, "\n");
    char *views = driver->fit ? driver->fit(dialect->views) : memory_text(dialect->views);
    text_add(text, views);
    free(views);
    const char *counter = strstr(sql_query_counter_make, "INSERT");
    text_add(text, "\n-- The rows that `fairmill init` puts into them.\n");
    text_add_bytes(text, counter, strlen(counter) - 1);
    text_format(text,
                ";\nINSERT INTO \"fairmill_schema\" (\"version\", \"made_at\")\nSELECT %d, 0\n"
                "WHERE NOT EXISTS (SELECT 1 FROM \"fairmill_schema\" WHERE \"version\" = %d);\n",
                SCHEMA_VERSION, SCHEMA_VERSION);
}

/* The views that dashboards may show to all users. */
static const char *const nameless_views[] = {
    "fairmill_account",
    "fairmill_account_history",
    "fairmill_account_day",
    "fairmill_account_tres_day",
    "fairmill_account_waiting",
    "fairmill_findings",
    "fairmill_waiting",
    "fairmill_partition_wait_day",
    "fairmill_runs",
    "fairmill_fairness",
    NULL,
};

void schema_print_privileges(const struct db_driver *driver, const struct db_settings *results,
                             struct text *text)
{
    struct db_table *tables = NULL;
    size_t count = 0;
    const char *script = dialect_of(driver)->tables;
    for (char *name; (name = script_next_name(&script)); count++) {
        tables = memory_grown(tables, count, sizeof *tables);
        tables[count] = (struct db_table){ name, only_grows(name) };
    }
    driver->privileges->add_after_tables(text, results, tables, count, nameless_views);
    while (count)
        free(tables[--count].name);
    free(tables);
}

int views_open(struct db *db, struct error *err)
{
    int64_t none;
    if (rows_read_integer(db, sql_query_views_open, NULL, 0, &none, err) >= 0)
        return 0;
    /* MariaDB reports a missing definer to users of a view with the same error as a wrong password.
     */
    struct error reason = *err;
    if (err->class != ERROR_MISSING && err->class != ERROR_DENIED && err->class != ERROR_LOGIN)
        return fail_in(err, "the views cannot be read");
    return fail(err, ERROR_MISSING,
                "readers cannot read the views: %.1500s; run `fairmill init` to create them again",
                reason.message);
}

/* Fails unless a query of the cluster's associations counts this number of associations. */
static int views_compare(struct db *db, const char *sql, const struct db_value *arguments,
                         size_t argument_count, int64_t associations, struct error *err)
{
    int64_t count = 0;
    if (rows_read_integer(db, sql, arguments, argument_count, &count, err) < 0)
        return -1;
    if (count == associations)
        return 0;
    return fail(err, ERROR_DATA,
                "readers see %" PRId64 " of %" PRId64
                " associations in fairmill_sshare, because another program changed rows; run "
                "`fairmill run --full` to write all of them",
                count, associations);
}

int views_count(struct db *db, const char *cluster, int64_t associations, struct error *err)
{
    const struct db_value arguments[] = { db_text(cluster), db_integer(INT64_MAX) };
    return views_compare(db, sql_query_views_count, arguments, 2, associations, err);
}

int views_count_part(struct db *db, const char *cluster, int64_t associations, int64_t last_id,
                     int64_t part, struct error *err)
{
    const struct db_value arguments[] = { db_text(cluster), db_integer(last_id) };
    return views_compare(db, sql_query_tree_count, arguments, 1, associations, err) ||
                   views_compare(db, sql_query_views_count, arguments, 2, part, err)
               ? -1
               : 0;
}
