/* SPDX-License-Identifier: MIT */
#include "db/db.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

/* Tests the requirements for all drivers against one of them: `port sqlite PATH`, or `port mysql`
 * or `port pgsql` with NAME SOCKET SERVER_PID.  The database must be empty and owned by the caller.
 * The server is killed at the end.  Only the types of columns differ between databases. */

static struct db_settings site = { .deadline_s = 20 };

static const struct {
    const char *driver;
    const char *tables;
} dialects[] = {
    { "mysql",
      "CREATE TABLE \"thing\" (\"id\" BIGINT PRIMARY KEY, \"number\" BIGINT, \"share\" DOUBLE,"
      " \"name\" LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, \"raw\" LONGBLOB);\n"
      "CREATE TABLE \"large\" (\"id\" BIGINT UNSIGNED PRIMARY KEY, \"number\" BIGINT);\n"
      "CREATE TABLE \"pair\" (\"a\" BIGINT, \"b\" VARCHAR(64), PRIMARY KEY (\"a\", \"b\"));\n"
      "CREATE TABLE \"heap\" (\"a\" BIGINT, \"share\" DOUBLE);\n" },
    { "pgsql",
      "CREATE TABLE \"thing\" (\"id\" BIGINT PRIMARY KEY, \"number\" BIGINT,"
      " \"share\" DOUBLE PRECISION, \"name\" TEXT, \"raw\" BYTEA);\n"
      "CREATE TABLE \"large\" (\"id\" NUMERIC(20) PRIMARY KEY, \"number\" BIGINT);\n"
      "CREATE TABLE \"pair\" (\"a\" BIGINT, \"b\" VARCHAR(64), PRIMARY KEY (\"a\", \"b\"));\n"
      "CREATE TABLE \"heap\" (\"a\" BIGINT, \"share\" DOUBLE PRECISION);\n" },
    { "sqlite",
      "PRAGMA journal_mode = WAL;\n"
      "CREATE TABLE \"thing\" (\"id\" INTEGER PRIMARY KEY, \"number\" INTEGER, \"share\" REAL,"
      " \"name\" TEXT, \"raw\" TEXT);\n"
      "CREATE TABLE \"large\" (\"id\" TEXT PRIMARY KEY, \"number\" INTEGER);\n"
      "CREATE TABLE \"pair\" (\"a\" INTEGER, \"b\" TEXT, PRIMARY KEY (\"a\", \"b\"));\n"
      "CREATE TABLE \"heap\" (\"a\" INTEGER, \"share\" REAL);\n" },
};

static const struct db_column thing_columns[] = {
    { "id", 'i' }, { "number", 'i' }, { "share", 'r' }, { "name", 't' }, { "raw", 't' },
};
#define THING_COLUMNS (sizeof thing_columns / sizeof *thing_columns)

static void must(int status, const struct error *err)
{
    if (status < 0) {
        ok(false, err->message);
        exit(done_testing());
    }
}

static struct db *session(enum db_role role)
{
    struct error err;
    struct db *db;
    must(db_open(&db, &site, role, &err), &err);
    return db;
}

static void run(struct db *db, const char *sql)
{
    struct error err;
    must(db_execute(db, sql, NULL, 0, NULL, &err), &err);
}

/* Ends the program if a call failed and therefore returned NULL. */
static void must_have(const void *made, const struct error *err)
{
    must(made ? 0 : -1, err);
}

static void begin(struct db *db)
{
    struct error err;
    must(db_begin(db, &err), &err);
}

static void commit(struct db *db)
{
    struct error err;
    must(db_commit(db, &err), &err);
}

/* Returns the single integer that a query gives. */
static int64_t number_of(struct db *db, const char *sql)
{
    struct error err;
    struct db_rows *rows;
    const struct db_value *row;
    rows = db_query(db, sql, NULL, 0, "i", &err);
    must_have(rows, &err);
    int got = db_fetch(rows, &row, &err);
    must(got, &err);
    int64_t number = got == 1 && row[0].type == DB_INTEGER ? row[0].integer : INT64_MIN;
    db_finish(rows);
    return number;
}

static bool equal(const struct db_value *a, const struct db_value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case DB_INTEGER:
        return a->integer == b->integer;
    case DB_UNSIGNED:
        return a->unsigned_integer == b->unsigned_integer;
    case DB_REAL:
        return memcmp(&a->real, &b->real, sizeof a->real) == 0;
    case DB_TEXT:
        return a->text.length == b->text.length &&
               memcmp(a->text.bytes, b->text.bytes, a->text.length) == 0;
    case DB_NULL:
        break;
    }
    return true;
}

/* The type of db_query() and db_stream(). */
typedef struct db_rows *(*asker)(struct db *db, const char *sql, const struct db_value *arguments,
                                 size_t argument_count, const char *column_types,
                                 struct error *err);

static bool answers_to(asker ask, struct db *db, const char *sql, const struct db_value *argument,
                       char type, const struct db_value *expected)
{
    struct error err = { 0 };
    struct db_rows *rows;
    const struct db_value *row;
    rows = ask(db, sql, argument, argument != NULL, (char[]){ type, '\0' }, &err);
    must_have(rows, &err);
    int got = db_fetch(rows, &row, &err);
    bool same = got == 1 && equal(&row[0], expected);
    if (got < 0)
        printf("# %s\n", err.message);
    db_finish(rows);
    return same;
}

/* Returns true if a query gives this single value, with db_query() and with db_stream(). */
static bool answers(struct db *db, const char *sql, const struct db_value *argument, char type,
                    const struct db_value *expected)
{
    return answers_to(db_query, db, sql, argument, type, expected) &&
           answers_to(db_stream, db, sql, argument, type, expected);
}

/* Returns the class of the error with which a query ends, or -1 if it succeeds. */
static int class_of(asker ask, struct db *db, const char *sql, const char *types, struct error *err)
{
    struct db_rows *rows = ask(db, sql, NULL, 0, types, err);
    const struct db_value *row;
    int got = 1;
    if (!rows)
        return (int)err->class;
    while (got == 1)
        got = db_fetch(rows, &row, err);
    db_finish(rows);
    return got < 0 ? (int)err->class : -1;
}

static int query_class(struct db *db, const char *sql, const char *types, struct error *err)
{
    return class_of(db_query, db, sql, types, err);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static struct timespec clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now;
}

static void tables_are_made_by_a_script(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_OWNER);
    const char *ddl = NULL;
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        if (strcmp(dialects[i].driver, site.driver) == 0)
            ddl = dialects[i].tables;
    int status = db_script(db, ddl, &err);
    must(status, &err);
    ok(status == 0, "a script creates several tables");
    ok(db_script(db,
                 "CREATE TABLE \"first\" (\"a\" INTEGER);\nCREATE TABLE \"first\" (\"a\" "
                 "INTEGER);\nCREATE TABLE \"second\" (\"a\" INTEGER);\n",
                 &err) == -1 &&
           strstr(err.message, "exists"),
       "a script stops at its first error");
    is_int(query_class(db, "SELECT \"a\" FROM \"second\"", "i", &err), ERROR_MISSING,
           "a script does not run statements after an error");
    is_int(number_of(db, "SELECT COUNT(*) FROM \"first\""), 0,
           "the session is usable after the script's error");
    is_int(db_script(db,
                     "-- A comment; and then\nCREATE TABLE \"third\"\n(\"a\" INTEGER);\n\n"
                     "INSERT INTO \"third\" VALUES (1);\n-- the end;\n\n",
                     &err),
           0, "a script may contain comments, also after its last statement");
    db_close(db);
}

/* Values of each type that a driver might damage. */
static struct db_value long_text(void)
{
    static char bytes[70000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)('a' + i % 26);
    return db_bytes(bytes, sizeof bytes);
}

static struct db_value all_bytes(void)
{
    static char bytes[255];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i + 1);
    return db_bytes(bytes, sizeof bytes);
}

static size_t hard_values(struct db_value rows[][THING_COLUMNS])
{
    const struct db_value null = db_null();
    const struct db_value integers[] = { db_integer(INT64_MIN), db_integer(INT64_MAX),
                                         db_integer(0), db_integer(-1), null };
    const struct db_value reals[] = {
        db_real(0.1),       db_real(1e100),   db_real(-DBL_MAX), db_real(DBL_MIN),
        db_real(0x1p-1074), db_real(1.0 / 3), db_real(0),        null,
    };
    const struct db_value names[] = {
        db_text(""),
        db_text("it's a \"name\" with \\ and \\' and ? and `"),
        db_text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa2"),
        db_text(" 'quoted' "),
        long_text(),
        null,
    };
    const struct db_value raws[] = { all_bytes(), db_text(""), long_text(), null };
    size_t count = 0;
    for (; count < 40; count++) {
        rows[count][0] = db_integer((int64_t)count);
        rows[count][1] = integers[count % 5];
        rows[count][2] = reals[count % 8];
        rows[count][3] = names[count % 6];
        rows[count][4] = raws[count % 4];
    }
    return count;
}

static bool comes_back(struct db *db, asker ask, struct db_value rows[][THING_COLUMNS],
                       size_t count)
{
    const struct db_value least = db_integer(INT64_MIN);
    struct error err = { 0 };
    struct db_rows *answer;
    const struct db_value *row;
    size_t same = 0, got = 0;
    answer = ask(db,
                 "SELECT \"id\", \"number\", \"share\", \"name\", \"raw\" FROM \"thing\" "
                 "WHERE \"id\" >= ? ORDER BY \"id\"",
                 &least, 1, "iirtt", &err);
    must_have(answer, &err);
    int status;
    while ((status = db_fetch(answer, &row, &err)) == 1) {
        bool row_same = got < count;
        for (size_t i = 0; row_same && i < THING_COLUMNS; i++)
            row_same = equal(&row[i], &rows[got][i]);
        same += row_same;
        got++;
    }
    must(status, &err);
    db_finish(answer);
    return same == count && got == count;
}

static void is_stored(struct db *db, struct db_value rows[][THING_COLUMNS], size_t count,
                      const char *name)
{
    ok(comes_back(db, db_query, rows, count), name);
    ok(comes_back(db, db_stream, rows, count), "streamed values come back bit for bit");
}

static void every_value_comes_back_as_it_was(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_RESULTS);
    struct db_value rows[40][THING_COLUMNS];
    size_t count = hard_values(rows);
    begin(db);
    for (size_t i = 0; i < count; i++)
        must(db_execute(db,
                        "INSERT INTO \"thing\" (\"id\", \"number\", \"share\", \"name\", \"raw\") "
                        "VALUES (?, ?, ?, ?, ?)",
                        rows[i], THING_COLUMNS, NULL, &err),
             &err);
    commit(db);
    is_stored(db, rows, count, "values written one by one come back bit for bit");
    db_close(db);
}

static void every_value_goes_in_bulk(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_RESULTS);
    struct db_value rows[40][THING_COLUMNS];
    size_t count = hard_values(rows);
    struct db_bulk *bulk;
    begin(db);
    run(db, "DELETE FROM \"thing\"");
    bulk = db_bulk_begin(db, "thing", thing_columns, THING_COLUMNS, 1, &err);
    must_have(bulk, &err);
    for (size_t i = 0; i < count; i++)
        must(db_bulk_row(bulk, rows[i], &err), &err);
    must(db_bulk_end(bulk, &err), &err);
    commit(db);
    is_stored(db, rows, count, "values written in bulk come back bit for bit");
    db_close(db);
}

static void large_integers_are_whole(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_RESULTS);
    static const struct db_column columns[] = { { "id", 'i' }, { "number", 'i' } };
    const struct db_value largest = { .type = DB_UNSIGNED, .unsigned_integer = UINT64_MAX };
    const struct db_value smaller = { .type = DB_UNSIGNED,
                                      .unsigned_integer = (uint64_t)INT64_MAX + 1 };
    struct db_bulk *bulk;

    run(db, "DELETE FROM \"large\"");
    begin(db);
    bulk = db_bulk_begin(db, "large", columns, 2, 1, &err);
    must_have(bulk, &err);
    must(db_bulk_row(bulk, (struct db_value[]){ db_integer(7), db_integer(-7) }, &err), &err);
    must(db_bulk_row(bulk, (struct db_value[]){ largest, db_integer(-1) }, &err), &err);
    must(db_bulk_row(bulk, (struct db_value[]){ smaller, db_integer(1) }, &err), &err);
    must(db_bulk_end(bulk, &err), &err);
    commit(db);

    struct db_value seven = db_integer(7);
    ok(answers(db, "SELECT \"id\" FROM \"large\" WHERE \"number\" = -1", NULL, 'i', &largest),
       "2^64 - 1 is read back unchanged");
    ok(answers(db, "SELECT \"id\" FROM \"large\" WHERE \"id\" = ?", &smaller, 'i', &smaller),
       "2^63 is found as an argument");
    ok(answers(db, "SELECT \"id\" FROM \"large\" WHERE \"id\" = ?", &seven, 'i', &seven),
       "7 is found in a column with larger values");
    struct db_value digits = db_text("18446744073709551615");
    ok(answers(db, "SELECT \"id\" FROM \"large\" WHERE \"number\" = -1", NULL, 't', &digits),
       "an integer can be read as text");
    db_close(db);
}

/* A column of a bulk write may contain values below 0 and beyond 2^63 in neighboring rows. */
static void signs_may_alternate(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_RESULTS);
    static const struct db_column columns[] = { { "b", 'i' }, { "a", 'i' } };
    struct db_bulk *bulk;
    if (strcmp(site.driver, "sqlite") == 0) {
        db_close(db);
        return;
    }
    run(db, "CREATE TABLE IF NOT EXISTS \"sign\" (\"a\" BIGINT, \"b\" DECIMAL(20))");
    run(db, "DELETE FROM \"sign\"");
    begin(db);
    bulk = db_bulk_begin(db, "sign", columns, 2, 0, &err);
    must_have(bulk, &err);
    for (int64_t i = 0; i < 10; i++) {
        struct db_value value = { .type = DB_UNSIGNED, .unsigned_integer = UINT64_MAX };
        if (i % 3)
            value = db_integer(i % 3 == 1 ? -1 : 5);
        must(db_bulk_row(bulk, (struct db_value[]){ value, db_integer(i) }, &err), &err);
    }
    must(db_bulk_end(bulk, &err), &err);
    commit(db);
    is_int(number_of(db, "SELECT COUNT(*) FROM \"sign\" WHERE \"b\" = 18446744073709551615"), 4,
           "values beyond 2^63 are stored next to negative numbers");
    is_int(number_of(db, "SELECT COUNT(*) FROM \"sign\" WHERE \"b\" = -1"), 3,
           "negative numbers are stored next to values beyond 2^63");
    db_close(db);
}

static void values_are_read_strictly(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_SOURCE);
    struct db_value twelve = db_integer(12), half = db_real(0.5), two = db_real(2);
    struct db_value large = { .type = DB_UNSIGNED, .unsigned_integer = UINT64_MAX };

    ok(answers(db, "SELECT '12'", NULL, 'i', &twelve), "a text of digits is read as an integer");
    ok(answers(db, "SELECT '18446744073709551615'", NULL, 'i', &large),
       "a text of 2^64 - 1 is read as an integer");
    ok(answers(db, "SELECT 12e0", NULL, 'i', &twelve),
       "a real without a fraction is read as an integer");
    ok(answers(db, "SELECT SUM(\"n\") FROM (SELECT 5 AS \"n\" UNION ALL SELECT 7) AS \"x\"", NULL,
               'i', &twelve),
       "a sum of integers is read as an integer");
    ok(answers(db, "SELECT '0.5'", NULL, 'r', &half), "a text can be read as a real");
    ok(answers(db, "SELECT 2", NULL, 'r', &two), "an integer can be read as a real");

    static const struct {
        const char *sql, *type;
    } wrong[] = {
        { "SELECT 'abc' AS \"field\"", "i" },
        { "SELECT '' AS \"field\"", "i" },
        { "SELECT '12x' AS \"field\"", "i" },
        { "SELECT 1.5e0 AS \"field\"", "i" },
        { "SELECT '18446744073709551616' AS \"field\"", "i" },
        { "SELECT '-9223372036854775809' AS \"field\"", "i" },
        { "SELECT 1e30 AS \"field\"", "i" },
        { "SELECT 'abc' AS \"field\"", "r" },
        { "SELECT '1e999' AS \"field\"", "r" },
        { "SELECT 1.5e0 AS \"field\"", "t" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bool named = query_class(db, wrong[i].sql, wrong[i].type, &err) == ERROR_DATA &&
                     strstr(err.message, "'field'");
        char name[128];
        snprintf(name, sizeof name, "%s is rejected as '%s'", wrong[i].sql, wrong[i].type);
        ok(named, name);
    }
    ok(query_class(db, "SELECT 1, 2", "i", &err) == ERROR_OTHER,
       "an answer with another number of columns is rejected");
    db_close(db);
}

static void sql_means_the_same(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_SOURCE);
    struct db_value backslash = db_text("a\\'b");
    struct db_value joined = db_text("ab");
    ok(answers(db, "SELECT 'a\\''b'", NULL, 't', &backslash),
       "a backslash in a literal has no special meaning");
    ok(answers(db, "SELECT 'a' || 'b'", NULL, 't', &joined), "|| joins texts");
    struct db_value five = db_integer(5), marks = db_text("?'\"?--");
    ok(answers(db,
               "SELECT '?''\"' || MAX(\"?\") /* ? */ -- ?\n"
               "FROM (SELECT '?--' AS \"?\") AS \"-- ?\" WHERE 5 = ?",
               &five, 't', &marks),
       "question marks in literals, names and comments are not arguments");
    struct db_value large = db_integer(2000000000), twice = db_integer(4000000000);
    ok(answers(db, "SELECT 2 * ? -- twice", &large, 'i', &twice),
       "an integer argument has 64 bits, and queries may end in comments");
    is_int(query_class(db, "SELECT \"nonesuch\" FROM \"thing\"", "t", &err), ERROR_MISSING,
           "an unknown column in double quotes is not a text");
    db_close(db);
}

static bool column_is(struct db *db, const char *table, size_t position, const char *expected)
{
    struct error err;
    struct db_rows *rows;
    const struct db_value *row;
    struct db_value argument = db_text(table), name = db_text(expected);
    int got;
    bool same = false;
    rows = db_query(db, db->driver->columns_query, &argument, 1, "t", &err);
    must_have(rows, &err);
    for (size_t i = 0; (got = db_fetch(rows, &row, &err)) == 1; i++)
        same |= i == position && equal(row, &name);
    must(got, &err);
    db_finish(rows);
    return same;
}

static void a_database_describes_itself(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_SOURCE), *other = session(DB_RESULTS);
    ok(column_is(db, "thing", 0, "id") && column_is(db, "thing", 4, "raw"),
       "columns_query returns the columns of a table");
    ok(!column_is(db, "nonesuch", 0, "id"), "columns_query returns nothing for a missing table");
    ok(!column_is(db, "THING", 0, "id"), "columns_query compares table names with case");
    struct db *owner = session(DB_OWNER);
    must(db_script(owner, "CREATE TABLE \"nonesuch\" (\"id\" INTEGER);\n", &err), &err);
    ok(column_is(db, "nonesuch", 0, "id"), "a session finds a table that another session creates");
    must(db_script(owner, "DROP TABLE \"nonesuch\";\n", &err), &err);
    ok(!column_is(db, "nonesuch", 0, "id"), "a session notices that another session drops a table");
    db_close(owner);

    struct db_rows *rows;
    const struct db_value *row;
    rows = db_query(db, db->driver->identity_query, NULL, 0, "t", &err);
    must_have(rows, &err);
    int got = db_fetch(rows, &row, &err);
    bool same = got == 1 && row[0].type == DB_TEXT && row[0].text.length > 1 &&
                answers(other, other->driver->identity_query, NULL, 't', &row[0]);
    db_finish(rows);
    ok(same, "two sessions agree on the database's identity");
    int64_t lag_s = -1;
    must(db_replica_lag(db, &lag_s, &err), &err);
    is_int(lag_s, 0, "a server that is not a replica has no lag");
    db_close(db);
    db_close(other);
}

#define MANY_ROWS 200000

static void fill_heap(void)
{
    struct error err;
    struct db *db = session(DB_RESULTS);
    static const struct db_column columns[] = { { "a", 'i' }, { "share", 'r' } };
    struct db_bulk *bulk;
    begin(db);
    bulk = db_bulk_begin(db, "heap", columns, 2, 0, &err);
    must_have(bulk, &err);
    for (int64_t i = 0; i < MANY_ROWS; i++)
        must(db_bulk_row(bulk, (struct db_value[]){ db_integer(i), db_real((double)i / 7) }, &err),
             &err);
    must(db_bulk_end(bulk, &err), &err);
    commit(db);
    is_int(number_of(db, "SELECT COUNT(*) FROM \"heap\""), MANY_ROWS,
           "without a key, bulk rows are added");
    db_close(db);
}

static void rows_are_streamed(asker ask)
{
    struct error err;
    struct db *db = session(DB_SOURCE);
    struct rusage before, after;
    struct db_rows *rows;
    const struct db_value *row;
    int64_t count = 0, sum = 0;
    int got;

    begin(db);
    getrusage(RUSAGE_SELF, &before);
    rows = ask(db,
               "SELECT \"x\".\"a\", \"x\".\"share\", 'a text of some forty bytes or so beside' "
               "FROM \"heap\" \"x\" CROSS JOIN \"first\"",
               NULL, 0, "irt", &err);
    must_have(rows, &err);
    while ((got = db_fetch(rows, &row, &err)) == 1) {
        count++;
        sum += row[0].integer;
    }
    must(got, &err);
    db_finish(rows);
    getrusage(RUSAGE_SELF, &after);
    commit(db);
    is_int(count, 5 * MANY_ROWS, "a million rows are read");
    ok(sum == (int64_t)5 * MANY_ROWS * (MANY_ROWS - 1) / 2,
       "the values of a million rows are correct");
    ok(after.ru_maxrss - before.ru_maxrss < 8 * 1024,
       "a million rows take only a few megabytes of memory");
    db_close(db);
}

static void an_answer_may_be_broken_off(asker ask)
{
    struct error err;
    struct db *db = session(DB_SOURCE);
    struct timespec start = clock_now();
    bool usable = true;

    begin(db);
    for (int i = 0; i < 20; i++) {
        struct db_rows *rows;
        const struct db_value *row;
        rows = ask(db,
                   /* The hint makes MySQL return the first rows at once. */
                   "SELECT /*+ NO_BNL() */ \"x\".\"a\" FROM \"heap\" \"x\" "
                   "CROSS JOIN \"heap\" \"y\" CROSS JOIN \"heap\" \"z\"",
                   NULL, 0, "i", &err);
        must_have(rows, &err);
        for (int fetched = 0; fetched < i * i * 50; fetched++)
            must(db_fetch(rows, &row, &err), &err);
        db_finish(rows);
        usable = usable && number_of(db, "SELECT COUNT(*) FROM \"heap\"") == MANY_ROWS;
    }
    ok(usable, "the session is usable after an unfinished answer");
    ok(seconds_since(&start) < 60, "the rest of an unfinished answer takes no time");
    is_int(db_commit(db, &err), 0, "the transaction survives an unfinished answer");
    db_close(db);
}

/* Drivers may read rows ahead. */
static void an_answer_fails_late(asker ask)
{
    struct error err;
    struct db *db = session(DB_SOURCE);
    struct db_rows *rows;
    const struct db_value *row;
    int64_t count = 0;
    int got;
    begin(db);
    rows = ask(db,
               "SELECT CASE WHEN \"a\" = 150000 THEN 'word' ELSE '12' END AS \"field\" "
               "FROM \"heap\" WHERE \"a\" <= 150000 ORDER BY \"a\"",
               NULL, 0, "i", &err);
    must_have(rows, &err);
    while ((got = db_fetch(rows, &row, &err)) == 1)
        count += row[0].integer == 12;
    ok(got == -1 && err.class == ERROR_DATA && strstr(err.message, "field"),
       "an invalid value late in an answer is an error");
    db_finish(rows);
    is_int(count, 150000, "all rows before an invalid value are returned");
    ok(number_of(db, "SELECT COUNT(*) FROM \"heap\"") == MANY_ROWS,
       "the session is usable after an invalid value");
    commit(db);
    db_close(db);
}

/* Drivers copy texts into batches of rows, and some of these texts are larger than a batch. */
static void rows_keep_their_order(asker ask)
{
    struct error err = { 0 };
    struct db *db = session(DB_SOURCE);
    const struct db_value wide = long_text(), null = db_null(), empty = db_text("");
    const struct db_value *texts[] = { &null, &wide, &empty }, *row;
    int64_t next = 999, same = 0;
    int got;
    begin(db);
    struct db_rows *rows = ask(db,
                               "SELECT \"x\".\"a\", CASE WHEN \"x\".\"a\" > 500 THEN 'short' WHEN "
                               "\"x\".\"a\" % 3 = 0 THEN NULL WHEN \"x\".\"a\" % 3 = 1 THEN ? ELSE "
                               "'' END FROM \"heap\" \"x\" LEFT JOIN (SELECT \"a\" FROM \"heap\" "
                               "GROUP BY \"a\") \"y\" ON \"y\".\"a\" = \"x\".\"a\" "
                               "WHERE \"x\".\"a\" < 1000 ORDER BY \"x\".\"a\" DESC",
                               &wide, 1, "it", &err);
    must_have(rows, &err);
    const struct db_value brief = db_text("short");
    for (; (got = db_fetch(rows, &row, &err)) == 1; next--)
        same += row[0].integer == next && equal(&row[1], next > 500 ? &brief : texts[next % 3]);
    must(got, &err);
    db_finish(rows);
    ok(next == -1 && same == 1000, "rows keep their order, with texts of any length and NULL");
    commit(db);
    db_close(db);
}

static void one_answer_at_a_time(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_RESULTS);
    struct db_rows *rows = db_query(db, "SELECT \"a\" FROM \"first\"", NULL, 0, "i", &err);
    must_have(rows, &err);
    ok(!db_query(db, "SELECT 1", NULL, 0, "i", &err) && err.class == ERROR_OTHER,
       "a second query fails before the first one is finished");
    ok(db_execute(db, "DELETE FROM \"first\"", NULL, 0, NULL, &err) == -1,
       "another statement fails before the query is finished");
    db_finish(rows);
    is_int(number_of(db, "SELECT 1"), 1, "a query succeeds after the first one is finished");

    static const struct db_column column = { "a", 'i' };
    struct db_bulk *bulk;
    begin(db);
    bulk = db_bulk_begin(db, "first", &column, 1, 0, &err);
    must_have(bulk, &err);
    ok(!db_query(db, "SELECT 1", NULL, 0, "i", &err) && err.class == ERROR_OTHER &&
           strstr(err.message, "bulk"),
       "a query fails during a bulk write");
    db_bulk_abandon(bulk);
    is_int(number_of(db, "SELECT 1"), 1, "a query succeeds after an abandoned bulk write");
    db_rollback(db);
    db_close(db);
}

static void a_snapshot_holds(enum db_role role, const char *name)
{
    struct db *reader = session(role), *writer = session(DB_RESULTS);
    begin(reader);
    begin(writer);
    run(writer, "INSERT INTO \"pair\" (\"a\", \"b\") VALUES (1, 'new')");
    commit(writer);
    bool unseen = number_of(reader, "SELECT COUNT(*) FROM \"pair\"") == 0;
    commit(reader);
    ok(unseen && number_of(reader, "SELECT COUNT(*) FROM \"pair\"") == 1, name);
    run(writer, "DELETE FROM \"pair\"");
    db_close(reader);
    db_close(writer);
}

/* A snapshot does not contain the rows of a table that was created or recreated after it. */
static void a_change_is_noticed(const char *name, const char *change)
{
    struct error err = { 0 };
    struct db *reader = session(DB_SOURCE), *owner = session(DB_OWNER);
    run(owner, "CREATE TABLE \"moved\" (\"a\" INTEGER)");
    run(owner, "INSERT INTO \"moved\" VALUES (1)");
    begin(reader);
    must(db_script(owner, change, &err), &err);
    int class = query_class(reader, "SELECT \"a\" FROM \"moved\"", "i", &err);
    if (class == -1 && db_commit(reader, &err))
        class = (int)err.class;
    is_int(class, ERROR_RETRY, name);
    db_rollback(reader);
    begin(reader);
    bool there = number_of(reader, "SELECT \"a\" FROM \"moved\"") == 1;
    ok(db_commit(reader, &err) == 0 && there, "the next snapshot contains the table's rows");
    run(owner, "DROP TABLE \"moved\"");
    db_close(reader);
    db_close(owner);
}

static void readers_and_writers_do_not_wait(void)
{
    struct db *writer = session(DB_RESULTS), *reader = session(DB_READER);
    struct timespec start = clock_now();
    begin(writer);
    run(writer, "INSERT INTO \"pair\" (\"a\", \"b\") VALUES (2, 'x')");
    begin(reader);
    bool before = number_of(reader, "SELECT COUNT(*) FROM \"pair\"") == 0;
    commit(writer);
    before = before && number_of(reader, "SELECT COUNT(*) FROM \"pair\"") == 0;
    commit(reader);
    ok(before && seconds_since(&start) < 10, "a reader sees the previous state while a run writes");
    begin(writer);
    run(writer, "DELETE FROM \"pair\"");
    db_rollback(writer);
    is_int(number_of(writer, "SELECT COUNT(*) FROM \"pair\""), 1, "a rollback undoes changes");
    run(writer, "DELETE FROM \"pair\"");
    db_close(writer);
    db_close(reader);
}

static void a_source_cannot_be_written(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_SOURCE);
    static const struct db_column columns[] = { { "a", 'i' } };
    struct db_bulk *bulk;
    struct db_value one = db_integer(1);
    ok(db_execute(db, "INSERT INTO \"first\" (\"a\") VALUES (1)", NULL, 0, NULL, &err) == -1 &&
           err.class == ERROR_DENIED,
       "a source session cannot insert rows");
    ok(db_script(db, "DROP TABLE \"heap\";\n", &err) == -1 && err.class == ERROR_DENIED,
       "a source session cannot drop a table");
    begin(db);
    ok(db_execute(db, "UPDATE \"first\" SET \"a\" = 1", NULL, 0, NULL, &err) == -1 &&
           err.class == ERROR_DENIED,
       "a source session cannot update rows in its transaction");
    db_rollback(db);
    bulk = db_bulk_begin(db, "first", columns, 1, 0, &err);
    int status = -1;
    if (bulk)
        status =
            db_bulk_row(bulk, &one, &err) ? (db_bulk_abandon(bulk), -1) : db_bulk_end(bulk, &err);
    ok(status == -1 && err.class == ERROR_DENIED, "a source session cannot write in bulk");
    db_close(db);
}

/* Makes row i of generation g.  Every seventh row has NULLs. */
static void make_row(struct db_value row[THING_COLUMNS], int64_t i, int64_t g, char *name)
{
    sprintf(name, "name %lld of %lld", (long long)i, (long long)g);
    row[0] = db_integer(i);
    row[1] = i % 7 ? db_integer(i * 1000 + g) : db_null();
    row[2] = i % 7 ? db_real((double)i / 3 + (double)g) : db_null();
    row[3] = i % 7 ? db_text(name) : db_null();
    row[4] = i % 7 ? db_bytes(name, 4) : db_null();
}

static void write_generation(struct db *db, int64_t count, int64_t g)
{
    struct error err;
    struct db_bulk *bulk;
    begin(db);
    bulk = db_bulk_begin(db, "thing", thing_columns, THING_COLUMNS, 1, &err);
    must_have(bulk, &err);
    for (int64_t i = 0; i < count; i++) {
        struct db_value row[THING_COLUMNS];
        char name[64];
        make_row(row, i, g, name);
        must(db_bulk_row(bulk, row, &err), &err);
        /* The driver must have copied the values. */
        memset(name, 'x', sizeof name);
    }
    must(db_bulk_end(bulk, &err), &err);
    commit(db);
}

static bool holds_generation(struct db *db, int64_t count, int64_t g)
{
    struct error err;
    struct db_rows *rows;
    const struct db_value *row;
    int64_t i = 0;
    int got;
    bool same = true;
    rows = db_query(db,
                    "SELECT \"id\", \"number\", \"share\", \"name\", \"raw\" FROM \"thing\" "
                    "ORDER BY \"id\"",
                    NULL, 0, "iirtt", &err);
    must_have(rows, &err);
    for (; (got = db_fetch(rows, &row, &err)) == 1; i++) {
        struct db_value expected[THING_COLUMNS];
        char name[64];
        make_row(expected, i, g, name);
        for (size_t column = 0; column < THING_COLUMNS; column++)
            same = same && equal(&row[column], &expected[column]);
    }
    must(got, &err);
    db_finish(rows);
    return same && i == count;
}

static void bulk_writes_replace_and_add(void)
{
    static const int64_t counts[] = { 0, 1, 99, 100, 101, 999, 1000, 1001, 25000 };
    struct db *db = session(DB_RESULTS);
    run(db, "DELETE FROM \"thing\"");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char name[64];
        snprintf(name, sizeof name, "a bulk write of %lld rows replaces and adds",
                 (long long)counts[i]);
        write_generation(db, counts[i], (int64_t)i);
        ok(holds_generation(db, counts[i], (int64_t)i), name);
    }
    db_close(db);
}

static void bulk_writes_keep_what_they_do_not_name(void)
{
    struct error err;
    struct db *db = session(DB_RESULTS);
    struct db_bulk *bulk;
    static const struct db_column two[] = { { "id", 'i' }, { "number", 'i' } };
    static const struct db_column keys[] = { { "a", 'i' }, { "b", 't' } };

    begin(db);
    bulk = db_bulk_begin(db, "thing", two, 2, 1, &err);
    must_have(bulk, &err);
    must(db_bulk_row(bulk, (struct db_value[]){ db_integer(1), db_integer(-5) }, &err), &err);
    must(db_bulk_end(bulk, &err), &err);
    is_int(number_of(db, "SELECT \"number\" FROM \"thing\" WHERE \"id\" = 1 AND \"name\" = "
                         "'name 1 of 8'"),
           -5, "a bulk write keeps columns that it does not name");

    for (int round = 0; round < 2; round++) {
        bulk = db_bulk_begin(db, "pair", keys, 2, 2, &err);
        must_have(bulk, &err);
        for (int64_t i = 0; i < 10; i++)
            must(db_bulk_row(bulk,
                             (struct db_value[]){ db_integer(i % 5), db_text(i < 5 ? "" : "b") },
                             &err),
                 &err);
        must(db_bulk_end(bulk, &err), &err);
    }
    is_int(number_of(db, "SELECT COUNT(*) FROM \"pair\""), 10,
           "a bulk write may contain only key columns");

    bulk = db_bulk_begin(db, "thing", two, 2, 1, &err);
    must_have(bulk, &err);
    ok(db_bulk_row(bulk, (struct db_value[]){ db_integer(1), db_real(1) }, &err) == -1 &&
           strstr(err.message, "'number'"),
       "a value of another type than its column is rejected");
    db_bulk_abandon(bulk);
    ok(!db_bulk_begin(db, "nonesuch", two, 2, 1, &err) && err.class == ERROR_MISSING,
       "a bulk write into a missing table fails at once");
    db_rollback(db);
    is_int(number_of(db, "SELECT COUNT(*) FROM \"pair\""), 0, "a bulk write can be rolled back");
    db_close(db);
}

/* Writes several batches.  Three of ten rows do not exist yet. */
static void many_rows_replace_others(void)
{
    struct error err;
    struct db *db = session(DB_RESULTS);
    static const struct db_column columns[] = { { "id", 'i' }, { "number", 'i' }, { "name", 't' } };
    enum { COUNT = 10000 };
    begin(db);
    run(db, "DELETE FROM \"thing\"");
    for (int64_t round = 0; round < 3; round++) {
        struct db_bulk *bulk = db_bulk_begin(db, "thing", columns, 3, 1, &err);
        must_have(bulk, &err);
        for (int64_t i = 0; i < COUNT; i++)
            if (round || i % 10 < 7)
                must(db_bulk_row(bulk,
                                 (struct db_value[]){ db_integer(i), db_integer(round * COUNT + i),
                                                      i % 3 ? db_text("name") : db_null() },
                                 &err),
                     &err);
        must(db_bulk_end(bulk, &err), &err);
    }
    is_int(number_of(db, "SELECT COUNT(*) FROM \"thing\" WHERE \"number\" = \"id\" + 20000"), COUNT,
           "each of many rows replaces the previous one or is added");
    is_int(number_of(db, "SELECT COUNT(\"name\") FROM \"thing\" WHERE \"name\" = 'name'"),
           COUNT - (COUNT + 2) / 3, "NULLs are written in many rows");
    db_rollback(db);
    db_close(db);
}

/* Writes rows of 200 kB, whose batches end long before their maximum number of rows. */
static void bulk_writes_take_long_rows(void)
{
    struct error err;
    struct db *db = session(DB_RESULTS);
    struct db_bulk *bulk;
    static const struct db_column columns[] = { { "id", 'i' }, { "raw", 't' } };
    enum { LENGTH = 200000, COUNT = 60 };
    char *bytes = malloc(LENGTH);
    memset(bytes, 'z', LENGTH);
    begin(db);
    bulk = db_bulk_begin(db, "thing", columns, 2, 1, &err);
    must_have(bulk, &err);
    for (int64_t i = 0; i < COUNT; i++)
        must(db_bulk_row(bulk, (struct db_value[]){ db_integer(i), db_bytes(bytes, LENGTH) }, &err),
             &err);
    must(db_bulk_end(bulk, &err), &err);
    free(bytes);
    is_int(number_of(db, "SELECT COUNT(*) FROM \"thing\" WHERE LENGTH(\"raw\") = 200000"), COUNT,
           "long rows are written in batches that the server accepts");
    db_rollback(db);
    db_close(db);
}

static void bulk_writes(void)
{
    every_value_goes_in_bulk();
    large_integers_are_whole();
    signs_may_alternate();
    bulk_writes_replace_and_add();
    bulk_writes_keep_what_they_do_not_name();
    many_rows_replace_others();
    bulk_writes_take_long_rows();
}

static void changed_counts_rows_that_were_found(void)
{
    struct error err;
    struct db *db = session(DB_RESULTS);
    struct db_value arguments[] = { db_integer(1), db_integer(-1) };
    int64_t changed = -1;
    run(db, "DELETE FROM \"first\"");
    for (int i = 0; i < 5; i++)
        run(db, "INSERT INTO \"first\" (\"a\") VALUES (1)");
    must(db_execute(db, "UPDATE \"first\" SET \"a\" = 1 WHERE \"a\" = ?", arguments, 1, &changed,
                    &err),
         &err);
    is_int(changed, 5, "an update counts rows that it finds unchanged");
    must(db_execute(db, "UPDATE \"first\" SET \"a\" = ? WHERE \"a\" = ?", arguments, 2, &changed,
                    &err),
         &err);
    is_int(changed, 0, "an update does not count missing rows");
    db_close(db);
}

/* Retries for a while, because a server may notice the end of a session after the client. */
static int lock_soon(struct db *db, const char *name)
{
    struct error err;
    struct timespec start = clock_now();
    int status;
    do {
        status = db_lock(db, name, &err);
    } while (status && seconds_since(&start) < 15);
    return status;
}

static void locks_exclude(void)
{
    struct error err = { 0 };
    struct db *first = session(DB_RESULTS), *second = session(DB_RESULTS);
    is_int(db_lock(first, "fairmill:one/../two", &err), 0, "a session takes a lock");
    ok(db_lock(second, "fairmill:one/../two", &err) == -1 && err.class == ERROR_LOCKED,
       "another session cannot take the same lock");
    is_int(db_lock(second, "fairmill:other", &err), 0, "another session can take a different lock");
    is_int(db_lock(first, "fairmill:third", &err), 0, "a session may hold two locks");
    ok(db_lock(second, "fairmill:one/../two", &err) == -1,
       "a second lock does not release the first");
    db_unlock(first, "fairmill:one/../two");
    is_int(db_lock(second, "fairmill:one/../two", &err), 0, "a released lock can be taken");
    db_close(second);
    is_int(lock_soon(first, "fairmill:one/../two"), 0, "the end of a session releases its locks");
    begin(first);
    commit(first);
    second = session(DB_RESULTS);
    ok(db_lock(second, "fairmill:one/../two", &err) == -1,
       "the end of a transaction does not release a lock");
    db_close(first);
    db_close(second);
}

/* Returns the seconds until a wait for another session's lock fails. */
static double wait_for_lock(struct db *db)
{
    struct error err = { 0 };
    struct timespec start = clock_now();
    int status = db_begin(db, &err);
    if (status == 0)
        status = db_execute(db, "UPDATE \"first\" SET \"a\" = 3", NULL, 0, NULL, &err);
    /* If the deadline ends the statement in the same second, the server reports that. */
    ok(status == -1 && (err.class == ERROR_RETRY || err.class == ERROR_GONE),
       "a wait for another session's lock ends with a retryable error");
    db_rollback(db);
    return seconds_since(&start);
}

static void waits_for_locks_are_short(void)
{
    struct error err = { 0 };
    struct db *first = session(DB_RESULTS), *third = session(DB_RESULTS);
    site.deadline_s = 1;
    struct db *second = session(DB_RESULTS);
    site.deadline_s = 20;
    begin(first);
    run(first, "UPDATE \"first\" SET \"a\" = 2");
    ok(wait_for_lock(second) < 15, "a wait for a lock ends before long");
    must(db_limit_waits(third, clock_milliseconds() + 800, &err), &err);
    double limited = wait_for_lock(third);
    must(db_limit_waits(third, clock_milliseconds() + 60000, &err), &err);
    ok(wait_for_lock(third) > limited + 1, "a wait is longer if more of the deadline is left");
    db_rollback(first);
    begin(second);
    commit(second);
    db_close(first);
    db_close(second);
    db_close(third);
}

#ifndef __SANITIZE_ADDRESS__ /* which ends a process that needs too much memory */
static int need_too_much(struct db *db, const char *sql, const struct db_value *arguments,
                         size_t argument_count, int64_t *changed, struct error *err)
{
    (void)db, (void)sql, (void)arguments, (void)argument_count, (void)changed, (void)err;
    free(memory_resized(NULL, SIZE_MAX, 2));
    return 0;
}

static void work_may_run_out_of_memory(struct db *db)
{
    struct error err = { 0 };
    const struct db_functions *usual = db->functions;
    struct db_functions greedy = *usual;
    greedy.execute = need_too_much;
    db->functions = &greedy;
    must(db_start(db, "DELETE FROM \"first\"", NULL, 0, &err), &err);
    ok(db_execute(db, "DELETE FROM \"first\"", NULL, 0, NULL, &err) == -1 &&
           strstr(err.message, "out of memory"),
       "the next statement fails if memory runs out in the thread of the started one");
    db->functions = usual;
}
#endif

static void statements_run_meanwhile(void)
{
    struct error err = { 0 };
    struct db *first = session(DB_RESULTS), *second = session(DB_RESULTS);
    struct db_value two = db_integer(2);
    bool waits = strcmp(site.driver, "sqlite") != 0;
    run(first, "DELETE FROM \"first\"");
    run(first, "INSERT INTO \"first\" (\"a\") VALUES (1)");
    if (waits) {
        begin(first);
        run(first, "UPDATE \"first\" SET \"a\" = 7");
    }
    begin(second);
    is_int(db_start(second, "UPDATE \"first\" SET \"a\" = ?", &two, 1, &err), 0,
           "a session starts a statement, even if that waits for a lock");
    if (waits)
        commit(first);
    is_int(number_of(second, "SELECT \"a\" FROM \"first\""), 2,
           "the next statement waits for the started one");
    must(db_start(second, "DELETE FROM \"first\"", NULL, 0, &err), &err);
    db_rollback(second);
    is_int(number_of(second, "SELECT \"a\" FROM \"first\""), waits ? 7 : 1,
           "a rollback includes a started statement");
    begin(second);
    must(db_start(second, "DELETE FROM \"nonesuch\"", NULL, 0, &err), &err);
    err.class = ERROR_OTHER;
    ok(db_execute(second, "DELETE FROM \"first\"", NULL, 0, NULL, &err) == -1 &&
           err.class == ERROR_MISSING && strstr(err.message, "nonesuch"),
       "the next statement reports the error of the started one, and is not run");
    db_rollback(second);
    is_int(number_of(second, "SELECT COUNT(*) FROM \"first\""), 1,
           "the session works after a started statement failed");
    begin(second);
    must(db_start(second, "DELETE FROM \"nonesuch\"", NULL, 0, &err), &err);
    is_int(db_commit(second, &err), -1, "a commit fails if the started statement failed");
    db_rollback(second);
#ifndef __SANITIZE_ADDRESS__
    work_may_run_out_of_memory(second);
#endif
    must(db_start(second, "UPDATE \"first\" SET \"a\" = ?", &two, 1, &err), &err);
    db_close(second);
    is_int(number_of(first, "SELECT \"a\" FROM \"first\""), 2,
           "a session that is closed waits for the started statement");
    db_close(first);
}

static void statements_end_at_the_deadline(void)
{
    struct error err = { 0 };
    site.deadline_s = 1;
    struct db *db = session(DB_SOURCE);
    site.deadline_s = 20;
    struct timespec start = clock_now();
    is_int(query_class(db,
                       "SELECT COUNT(*) FROM \"heap\" \"x\", \"heap\" \"y\", \"heap\" \"z\" "
                       "WHERE \"x\".\"a\" + \"y\".\"a\" + \"z\".\"a\" = -1",
                       "i", &err),
           ERROR_GONE, "a statement ends at the deadline");
    ok(seconds_since(&start) < 15, "the statement ends within seconds of the deadline");
    static const asker askers[] = { db_query, db_stream };
    for (size_t i = 0; i < sizeof askers / sizeof *askers; i++) {
        start = clock_now();
        is_int(class_of(askers[i], db,
                        "SELECT \"a\" FROM \"heap\" UNION ALL "
                        "SELECT COUNT(*) FROM \"heap\" \"x\", \"heap\" \"y\", \"heap\" \"z\" "
                        "WHERE \"x\".\"a\" + \"y\".\"a\" + \"z\".\"a\" = -1",
                        "i", &err),
               ERROR_GONE, "a statement that has returned many rows ends at the deadline");
        ok(seconds_since(&start) < 15, "the long answer ends within seconds of the deadline");
    }
    db_close(db);
}

static void errors_have_a_class(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_RESULTS);
    is_int(query_class(db, "SELECT \"a\" FROM \"nonesuch\"", "i", &err), ERROR_MISSING,
           "a missing table has the class ERROR_MISSING");
    ok(strstr(err.message, "nonesuch"), "the error names the missing table");
    is_int(query_class(db, "SELECT \"nonesuch\" FROM \"first\"", "i", &err), ERROR_MISSING,
           "a missing column has the class ERROR_MISSING");
    is_int(query_class(db, "SELECT FROM WHERE", "i", &err), ERROR_OTHER,
           "a syntax error has the class ERROR_OTHER");
    struct db_value argument = db_integer(1);
    ok(db_execute(db, "DELETE FROM \"first\"", &argument, 1, NULL, &err) == -1,
       "an extra argument is rejected");
    db_close(db);
}

static int open_class(const struct db_settings *settings, enum db_role role, struct error *err)
{
    struct db *db;
    if (db_open(&db, settings, role, err))
        return (int)err->class;
    db_close(db);
    return -1;
}

static void sqlite_files_are_looked_at(void)
{
    struct error err = { 0 };
    struct db_settings settings = site;
    settings.database = "/nonexistent/accounting.db";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_GONE,
           "a missing source file has the class ERROR_GONE");
    ok(strstr(err.message, settings.database), "the error names the missing file");
    is_int(open_class(&settings, DB_RESULTS, &err), ERROR_MISSING,
           "a missing results file has the class ERROR_MISSING");
    is_int(open_class(&settings, DB_READER, &err), ERROR_MISSING,
           "a missing results file has this class for a reader");
    settings.database = "/";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_SETTINGS,
           "a directory as database has the class ERROR_SETTINGS");
    settings.database = "/proc/self/exe";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_OTHER,
           "a program as database has the class ERROR_OTHER");
}

static void sqlite_texts_are_utf8(void)
{
    struct error err = { 0 };
    char path[4096];
    snprintf(path, sizeof path, "%s.utf16", site.database);
    const char *usual = site.database;
    site.database = path;
    struct db *db = session(DB_OWNER);
    must(db_script(db,
                   "PRAGMA encoding = 'UTF-16';\nCREATE TABLE \"name\" (\"a\" TEXT);\n"
                   "INSERT INTO \"name\" VALUES ('a na\xc3\xafve \xf0\x9f\x90\xa2');\n",
                   &err),
         &err);
    const struct db_value name = db_text("a na\xc3\xafve \xf0\x9f\x90\xa2");
    ok(answers(db, "SELECT \"a\" FROM \"name\"", NULL, 't', &name),
       "texts of a database with UTF-16 are read as UTF-8");
    db_close(db);
    site.database = usual;
}

/* A reader's account can read the database, but cannot write it or its directory. */
static void sqlite_reader_needs_no_write_permission(void)
{
    const char *name = "an account without write permission can read the results";
    if (geteuid() != 0) {
        skip(name, "only root can change its user id");
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        struct error err;
        struct db *db;
        bool read = setgid(65534) == 0 && setuid(65534) == 0 &&
                    db_open(&db, &site, DB_READER, &err) == 0 && db_begin(db, &err) == 0 &&
                    number_of(db, "SELECT COUNT(*) FROM \"heap\"") == MANY_ROWS;
        _exit(!read);
    }
    int status = -1;
    waitpid(child, &status, 0);
    is_int(status, 0, name);
}

static void insert_texts(struct db *db, int count, struct error *err)
{
    struct db_value row[] = { db_integer(0), long_text() };
    err->class = ERROR_OTHER;
    for (int i = 0; i < count; i++) {
        row[0].integer = 1000000 + i;
        if (db_execute(db, "INSERT INTO \"thing\" (\"id\", \"raw\") VALUES (?, ?)", row, 2, NULL,
                       err))
            return;
    }
    if (db_commit(db, err))
        return;
}

static void sqlite_says_when_the_disk_is_full(void)
{
    struct error err;
    struct rlimit before, small;
    struct db *db = session(DB_RESULTS);
    begin(db);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4 << 20;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    insert_texts(db, 1000, &err);
    is_int(err.class, ERROR_FULL, "a file that cannot grow has the class ERROR_FULL");
    db_rollback(db);
    setrlimit(RLIMIT_FSIZE, &before);
    is_int(number_of(db, "SELECT COUNT(*) FROM \"thing\" WHERE \"id\" >= 1000000"), 0,
           "nothing of a failed write remains");
    begin(db);
    insert_texts(db, 100, &err);
    is_int(number_of(db, "SELECT COUNT(*) FROM \"thing\" WHERE \"id\" >= 1000000"), 100,
           "the session can write again when there is room");
    db_close(db);
}

static void mysql_says_when_a_table_is_full(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_OWNER);
    run(db, "SET SESSION max_heap_table_size = 16384");
    run(db, "CREATE TABLE \"small\" (\"a\" CHAR(200)) ENGINE = MEMORY");
    int status = 0;
    for (int i = 0; status == 0 && i < 1000; i++)
        status = db_execute(db, "INSERT INTO \"small\" VALUES ('x')", NULL, 0, NULL, &err);
    ok(status == -1 && err.class == ERROR_FULL, "a full table has the class ERROR_FULL");
    db_close(db);
}

/* One session ends another, as an administrator may do. */
static void mysql_sessions_can_be_killed(void)
{
    struct error err = { 0 };
    struct db *victim = session(DB_RESULTS), *killer = session(DB_RESULTS);
    char kill[40];
    snprintf(kill, sizeof kill, "KILL %" PRId64, number_of(victim, "SELECT CONNECTION_ID()"));
    begin(victim);
    run(killer, kill);
    is_int(query_class(victim, "SELECT 1", "i", &err), ERROR_GONE,
           "a query in a killed session has the class ERROR_GONE");
    db_rollback(victim);
    ok(db_begin(victim, &err) == -1 && err.class == ERROR_GONE,
       "a killed session cannot begin a transaction");
    db_close(victim);
    db_close(killer);
}

/* A server may end a transaction silently, as Galera does.  Earlier writes are then lost. */
static void mysql_transactions_that_went_are_missed(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_RESULTS);
    begin(db);
    ok(db_execute(db, "ROLLBACK", NULL, 0, NULL, &err) == -1 && err.class == ERROR_RETRY,
       "a transaction that the server ended is detected at once");
    db_rollback(db);
    begin(db);
    run(db, "UPDATE \"first\" SET \"a\" = 1");
    commit(db);
    ok(true, "the session is usable after a lost transaction");
    db_close(db);
}

static void write_file(char *path, const char *contents)
{
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, contents, strlen(contents)) != (ssize_t)strlen(contents)) {
        ok(false, path);
        diag(strerror(errno));
        exit(done_testing());
    }
    close(fd);
}

static void mysql_logins_are_judged(void)
{
    struct error err = { 0 };
    struct db_settings settings = site;
    settings.socket = "/nonexistent/mysql.sock";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_GONE,
           "a server that is down has the class ERROR_GONE");
    settings = site;
    settings.database = "fairmill_no_such_database";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_MISSING,
           "a missing database has the class ERROR_MISSING");
    settings = site;
    settings.option_file = "/nonexistent/my.cnf";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_SETTINGS,
           "a missing option file has the class ERROR_SETTINGS");
    settings = site;
    settings.user = "stranger";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_LOGIN,
           "an unknown user has the class ERROR_LOGIN");
}

static void mysql_passwords_come_from_outside(void)
{
    struct error err = { 0 };
    struct db *owner = session(DB_OWNER);
    run(owner, "CREATE USER 'clerk'@'localhost' IDENTIFIED BY 'se cret'");
    run(owner, "GRANT SELECT (\"a\") ON \"heap\" TO 'clerk'@'localhost'");
    db_close(owner);

    char whole[] = "/tmp/fairmill-port-XXXXXX", half[] = "/tmp/fairmill-port-XXXXXX";
    write_file(whole, "[client]\nuser = clerk\n[fairmill]\npassword = 'se cret'\n");
    write_file(half, "[client]\nuser = clerk\n[other]\npassword = 'se cret'\n");
    struct db_settings settings = site;
    settings.option_file = whole;
    is_int(open_class(&settings, DB_SOURCE, &err), -1,
           "user and password come from the groups client and fairmill");
    settings.option_file = half;
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_LOGIN,
           "a password in another group is ignored");
    settings.option_file = whole;
    settings.user = "stranger";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_LOGIN,
           "the user in the settings overrides the option file");
    ok(strstr(err.message, "stranger"), "the error names the user");

    settings.option_file = NULL;
    settings.user = "clerk";
    setenv("MYSQL_PWD", "se cret", 1);
    struct db *db;
    int status = db_open(&db, &settings, DB_SOURCE, &err);
    unsetenv("MYSQL_PWD");
    must(status, &err);
    is_int(status, 0, "a password can come from the environment");
    is_int(number_of(db, "SELECT COUNT(\"a\") FROM \"heap\""), MANY_ROWS,
           "a granted column can be read");
    is_int(query_class(db, "SELECT \"share\" FROM \"heap\"", "r", &err), ERROR_DENIED,
           "reading another column is denied");
    is_int(query_class(db, "SELECT \"id\" FROM \"thing\"", "i", &err), ERROR_DENIED,
           "reading another table is denied");
    ok(column_is(db, "heap", 0, "a") && !column_is(db, "heap", 1, "share"),
       "columns_query returns only readable columns");
    db_close(db);
    unlink(whole);
    unlink(half);
}

static void servers_die(pid_t server, int signal)
{
    struct error err = { 0 };
    struct db *db = session(DB_SOURCE);
    struct db_rows *rows;
    const struct db_value *row;
    int got = 1;
    begin(db);
    rows = db_query(db,
                    "SELECT \"x\".\"a\" FROM \"heap\" \"x\" CROSS JOIN \"heap\" \"y\" "
                    "CROSS JOIN \"heap\" \"z\"",
                    NULL, 0, "i", &err);
    must_have(rows, &err);
    for (int i = 0; got == 1 && i < 10; i++)
        got = db_fetch(rows, &row, &err);
    kill(server, signal);
    while (got == 1)
        got = db_fetch(rows, &row, &err);
    ok(got == -1 && err.class == ERROR_GONE,
       "a server that dies during an answer has the class ERROR_GONE");
    struct timespec start = clock_now();
    db_finish(rows);
    db_rollback(db);
    db_close(db);
    ok(seconds_since(&start) < 10, "the session of a dead server can be closed at once");
}

static void pgsql_numbers_of_other_types_are_read(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_SOURCE);
    struct db_value twelve = db_integer(12), one = db_integer(1),
                    large = db_integer(1700000000000000), half = db_real(12.5),
                    digits = db_text("12");
    ok(answers(db, "SELECT CAST(12 AS SMALLINT)", NULL, 'i', &twelve),
       "a smallint is read as an integer");
    ok(answers(db, "SELECT CAST(12 AS NUMERIC(10, 2))", NULL, 'i', &twelve),
       "a decimal without a fraction is read as an integer");
    ok(answers(db, "SELECT CAST(12 AS NUMERIC(10, 2))", NULL, 't', &digits),
       "a decimal without a fraction is read as digits");
    ok(answers(db, "SELECT CAST(1.7e15 AS DOUBLE PRECISION)", NULL, 'i', &large),
       "a large double without a fraction is read as an integer");
    ok(answers(db, "SELECT TRUE", NULL, 'i', &one), "true is read as 1");
    ok(answers(db, "SELECT CAST(12.5 AS REAL)", NULL, 'r', &half),
       "a value of type REAL is read as a real");
    ok(query_class(db, "SELECT CAST(12.5 AS NUMERIC(10, 2)) AS \"field\"", "i", &err) == ERROR_DATA,
       "12.50 is rejected as an integer");
    ok(query_class(db, "SELECT CAST('NaN' AS DOUBLE PRECISION) AS \"field\"", "r", &err) ==
           ERROR_DATA,
       "NaN is rejected as a number");
    db_close(db);
}

/* A table with 8000 rows for each of thirty days.  Writes all rows of the last day and a few of the
 * day before, some of which are new. */
#define COUNTED(what) "SELECT " what " FROM pg_stat_xact_user_tables WHERE relname = 'use'"
static void pgsql_bulk_writes_touch_only_their_rows(void)
{
    struct error err;
    struct db *db = session(DB_RESULTS);
    static const struct db_column columns[] = {
        { "cluster", 't' }, { "day", 'i' }, { "id", 'i' }, { "number", 'i' }
    };
    enum { DAYS = 30, OLD = 8000, ALL = 8100, ODD = 500 };
    begin(db);
    run(db, "CREATE TABLE \"use\" (\"cluster\" TEXT COLLATE \"C\", \"day\" BIGINT, \"id\" BIGINT,"
            " \"number\" BIGINT NOT NULL, PRIMARY KEY (\"cluster\", \"day\", \"id\"))");
    run(db, "INSERT INTO \"use\" SELECT 'a', d, i, 0 FROM generate_series(1, 30) d,"
            " generate_series(1, 8000) i");
    run(db, "ANALYZE \"use\"");
    int64_t updated = number_of(db, COUNTED("n_tup_upd"));
    int64_t read = number_of(db, COUNTED("seq_tup_read"));
    /* Many batches, and one. */
    for (int part = 0; part < 2; part++) {
        struct db_bulk *bulk = db_bulk_begin(db, "use", columns, 4, 3, &err);
        must_have(bulk, &err);
        for (int64_t i = 1; i <= (part ? ODD : ALL); i++)
            must(db_bulk_row(bulk,
                             (struct db_value[]){ db_text("a"), db_integer(DAYS - part),
                                                  db_integer(part ? OLD - ODD / 2 + i : i),
                                                  db_integer(1) },
                             &err),
                 &err);
        must(db_bulk_end(bulk, &err), &err);
    }
    is_int(number_of(db, COUNTED("seq_tup_read")) - read, 0, "rows of other days are not read");
    is_int(number_of(db, COUNTED("n_tup_upd")) - updated, OLD + ODD / 2,
           "each existing row is written once");
    is_int(number_of(db, COUNTED("n_tup_ins")), DAYS * OLD + ALL - OLD + ODD / 2,
           "each new row is inserted");
    is_int(number_of(db, "SELECT SUM(\"number\")::bigint FROM \"use\""), ALL + ODD,
           "the rows have the written values");
    is_int(number_of(db, "SELECT count(*) FROM pg_settings WHERE name LIKE 'enable%'"
                         " AND setting <> reset_val"),
           0, "the planner's settings are restored");
    db_rollback(db);
    db_close(db);
}

static void pgsql_narrow_columns_are_written(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_RESULTS);
    static const struct db_column columns[] = { { "a", 'i' } };
    static const int64_t numbers[] = { INT32_MIN, -1, 0, INT32_MAX };
    struct db_bulk *bulk;
    begin(db);
    run(db, "DELETE FROM \"first\"");
    bulk = db_bulk_begin(db, "first", columns, 1, 0, &err);
    must_have(bulk, &err);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        must(db_bulk_row(bulk, (struct db_value[]){ db_integer(numbers[i]) }, &err), &err);
    must(db_bulk_end(bulk, &err), &err);
    is_int(number_of(db, "SELECT COUNT(*) FROM \"first\" WHERE \"a\" IN (-2147483648, -1, 0, "
                         "2147483647)"),
           4, "a bulk write fills columns of 32 bits");
    bulk = db_bulk_begin(db, "first", columns, 1, 0, &err);
    must_have(bulk, &err);
    ok(db_bulk_row(bulk, (struct db_value[]){ db_integer((int64_t)INT32_MAX + 1) }, &err) == -1 &&
           strstr(err.message, "'a'"),
       "a bulk write rejects values beyond 32 bits");
    db_bulk_abandon(bulk);
    db_rollback(db);
    db_close(db);
}

/* Uses a LATIN1 database, where a session with another encoding would get converted texts. */
static void pgsql_bytes_come_as_they_are_stored(void)
{
    struct db *db = session(DB_OWNER);
    const char *utf8 = site.database;
    run(db, "CREATE DATABASE \"port_latin\" TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' "
            "LC_CTYPE 'C'");
    db_close(db);
    site.database = "port_latin";
    db = session(DB_OWNER);
    run(db, "CREATE TABLE \"name\" (\"a\" TEXT)");
    run(db, "INSERT INTO \"name\" VALUES ('j\xc3\xb6rg')");
    db_close(db);

    struct db_value stored = db_text("j\xf6rg"), converted = db_text("j\xc3\xb6rg");
    db = session(DB_SOURCE);
    ok(answers(db, "SELECT \"a\" FROM \"name\"", NULL, 't', &stored),
       "a source returns texts as the stored bytes");
    db_close(db);
    db = session(DB_READER);
    ok(answers(db, "SELECT \"a\" FROM \"name\"", NULL, 't', &converted),
       "results are UTF-8 whatever the encoding of the database");
    db_close(db);
    site.database = utf8;
}

/* Returns the size of this process's address space in bytes, or 0 if it is unknown. */
static rlim_t addresses(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Memory for a value as it arrives from the socket, but not for a second copy. */
#define LONG_VALUE 50000000
#define ROOM_FOR_ONE ((rlim_t)80000000)

static void ask_without_memory(asker ask)
{
    const struct rlimit room = { addresses() + ROOM_FOR_ONE, addresses() + ROOM_FOR_ONE };
    struct error err = { 0 };
    struct db_rows *rows = NULL;
    const struct db_value *row;
    struct db_value length = db_integer(LONG_VALUE);
    struct db *db = session(DB_SOURCE);
    begin(db);
    alarm(60);
    setrlimit(RLIMIT_AS, &room);
    rows = ask(db, "SELECT repeat('x', CAST(? AS integer))", &length, 1, "t", &err);
    int got = rows ? db_fetch(rows, &row, &err) : -1;
    db_finish(rows);
    db_rollback(db);
    db_close(db);
    _exit(got < 0 && strstr(err.message, "memory") ? 0 : 1);
}

static bool is_left_without_memory(asker ask)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        ask_without_memory(ask);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void pgsql_values_that_memory_has_no_room_for(void)
{
    ok(is_left_without_memory(db_query), "a value too large for memory is an error");
    ok(is_left_without_memory(db_stream), "a streamed value too large for memory is an error");
}

static void pgsql_failed_transactions_are_not_committed(void)
{
    struct error err = { 0 };
    struct db *db = session(DB_RESULTS);
    begin(db);
    run(db, "INSERT INTO \"pair\" (\"a\", \"b\") VALUES (77, '')");
    ok(db_execute(db, "INSERT INTO \"pair\" (\"a\", \"b\") VALUES (77, '')", NULL, 0, NULL, &err) ==
           -1,
       "a duplicate key is rejected");
    ok(db_commit(db, &err) == -1, "a commit after an error fails");
    is_int(number_of(db, "SELECT COUNT(*) FROM \"pair\" WHERE \"a\" = 77"), 0,
           "a failed commit leaves no rows");
    begin(db);
    run(db, "INSERT INTO \"pair\" (\"a\", \"b\") VALUES (77, '')");
    is_int(query_class(db, "SELECT \"nonesuch\" FROM \"pair\"", "i", &err), ERROR_MISSING,
           "a query of a missing column has the class ERROR_MISSING");
    is_int(number_of(db, "SELECT COUNT(*) FROM \"pair\" WHERE \"a\" = 77"), 1,
           "a failed query does not end its transaction");
    ok(db_begin(db, &err) == -1 && err.class == ERROR_GONE,
       "a transaction cannot begin within another");
    db_rollback(db);
    db_close(db);
}

static void pgsql_sessions_can_be_killed(void)
{
    struct error err = { 0 };
    struct db *victim = session(DB_RESULTS), *killer = session(DB_RESULTS);
    struct db_value id = db_integer(number_of(victim, "SELECT pg_backend_pid()"));
    begin(victim);
    must(db_execute(killer, "SELECT pg_terminate_backend(CAST(? AS INTEGER))", &id, 1, NULL, &err),
         &err);
    is_int(query_class(victim, "SELECT 1", "i", &err), ERROR_GONE,
           "a query in a killed session has the class ERROR_GONE");
    db_rollback(victim);
    ok(db_begin(victim, &err) == -1 && err.class == ERROR_GONE,
       "a killed session cannot begin a transaction");
    db_close(victim);
    db_close(killer);
}

static void pgsql_answers_fail_amid_rows(asker ask)
{
    struct error err = { 0 };
    struct db *db = session(DB_SOURCE), *killer = session(DB_RESULTS);
    struct db_value id = db_integer(number_of(db, "SELECT pg_backend_pid()"));
    struct db_rows *rows;
    const struct db_value *row;
    begin(db);
    ok(class_of(ask, db, "SELECT 1 / (150000 - \"a\") FROM \"heap\" ORDER BY \"a\"", "i", &err) ==
               ERROR_OTHER &&
           strstr(err.message, "division by zero (22012)"),
       "an error after many rows is returned");
    ok(number_of(db, "SELECT 1") == 1 && !db_commit(db, &err),
       "an error after many rows does not end the transaction");

    begin(db);
    rows = ask(db, "SELECT \"x\".\"a\" FROM \"heap\" \"x\" CROSS JOIN \"heap\" \"y\"", NULL, 0, "i",
               &err);
    must_have(rows, &err);
    must(db_execute(killer, "SELECT pg_terminate_backend(CAST(? AS INTEGER))", &id, 1, NULL, &err),
         &err);
    int got;
    while ((got = db_fetch(rows, &row, &err)) == 1)
        continue;
    ok(got == -1 && err.class == ERROR_GONE,
       "a session killed during an answer has the class ERROR_GONE");
    db_finish(rows);
    db_rollback(db);
    ok(db_begin(db, &err) == -1 && err.class == ERROR_GONE,
       "a session killed during an answer cannot begin a transaction");
    db_close(db);
    db_close(killer);
}

static void pgsql_settings_of_the_server_do_not_count(void)
{
    struct db *owner = session(DB_OWNER);
    run(owner, "ALTER ROLE postgres SET default_transaction_isolation = 'serializable'");
    run(owner, "ALTER ROLE postgres SET default_transaction_read_only = on");
    run(owner, "ALTER ROLE postgres SET standard_conforming_strings = off");
    run(owner, "ALTER ROLE postgres SET extra_float_digits = -15");
    run(owner, "ALTER ROLE postgres SET bytea_output = 'escape'");
    run(owner, "ALTER ROLE postgres SET client_encoding = 'LATIN1'");
    /* Half a second is enough for a login, even on a busy machine.  The setting exists from
     * PostgreSQL 14 on. */
    run(owner,
        "DO $$ BEGIN IF EXISTS (SELECT FROM pg_settings WHERE name = 'idle_session_timeout') "
        "THEN ALTER ROLE postgres SET idle_session_timeout = 500; END IF; END $$");
    run(owner, "ALTER ROLE postgres SET statement_timeout = 500");
    struct db *db = session(DB_RESULTS);
    struct db_value half_more = db_real(1.5), third = db_real(1.0 / 3),
                    backslash = db_text("a\\'b"), bytes = db_text("\x01\\"),
                    euro = db_text("\xe2\x82\xac"), committed = db_text("read committed");
    usleep(700000);
    ok(answers(db, "SELECT CAST(1.5 AS DOUBLE PRECISION) FROM pg_sleep(0.7)", NULL, 'r',
               &half_more),
       "a statement may exceed the user's statement_timeout");
    ok(answers(db, "SELECT CAST(1 AS DOUBLE PRECISION) / 3", NULL, 'r', &third),
       "doubles have all digits despite the user's settings");
    ok(answers(db, "SELECT 'a\\''b'", NULL, 't', &backslash),
       "a backslash is literal despite the user's settings");
    ok(answers(db, "SELECT decode('015c', 'hex')", NULL, 't', &bytes),
       "bytes are unchanged despite the user's settings");
    ok(answers(db, "SELECT '\xe2\x82\xac'", NULL, 't', &euro),
       "UTF-8 is unchanged despite the user's settings");
    begin(db);
    ok(answers(db, "SELECT current_setting('transaction_isolation')", NULL, 't', &committed),
       "a results transaction is READ COMMITTED");
    run(db, "DELETE FROM \"pair\"");
    commit(db);
    db_close(db);
    run(owner, "ALTER ROLE postgres RESET ALL");
    db_close(owner);
}

static void pgsql_logins_are_judged(void)
{
    struct error err = { 0 };
    struct db_settings settings = site;
    settings.socket = "/nonexistent";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_GONE,
           "a server that is down has the class ERROR_GONE");
    ok(strstr(err.message, "/nonexistent") && !strchr(err.message, '\n'),
       "the error names the socket directory in one line");
    settings = site;
    settings.database = "fairmill_no_such_database";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_MISSING,
           "a missing database has the class ERROR_MISSING");
    settings = site;
    settings.user = "stranger";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_LOGIN,
           "an unknown user has the class ERROR_LOGIN");
    ok(strstr(err.message, "stranger"), "the error names the user");
    settings = site;
    settings.service = "fairmill_no_such_service";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_SETTINGS,
           "a missing service has the class ERROR_SETTINGS");
}

/* Members of the role `locked` need a password; see t/lib/postgres.py. */
static void pgsql_passwords_come_from_outside(void)
{
    struct error err = { 0 };
    struct db *owner = session(DB_OWNER), *db;
    run(owner, "CREATE ROLE locked");
    run(owner, "CREATE ROLE clerk LOGIN PASSWORD 'se cret' IN ROLE locked");
    run(owner, "GRANT SELECT (\"a\") ON \"heap\" TO clerk");
    db_close(owner);
    struct db_settings settings = site;
    settings.user = "clerk";
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_LOGIN, "a login without a password fails");
    setenv("PGPASSWORD", "wrong", 1);
    is_int(open_class(&settings, DB_SOURCE, &err), ERROR_LOGIN,
           "a login with a wrong password fails");
    setenv("PGPASSWORD", "se cret", 1);
    is_int(open_class(&settings, DB_SOURCE, &err), -1, "a password can come from the environment");
    unsetenv("PGPASSWORD");

    char services[] = "/tmp/fairmill-port-XXXXXX", passwords[] = "/tmp/fairmill-port-XXXXXX";
    char service[512], password[] = "*:*:*:clerk:se cret\n";
    snprintf(service, sizeof service, "[accounts]\nhost=%s\nport=5432\nuser=clerk\n", site.socket);
    write_file(services, service);
    write_file(passwords, password);
    setenv("PGSERVICEFILE", services, 1);
    setenv("PGPASSFILE", passwords, 1);
    settings.user = settings.socket = NULL;
    settings.service = "accounts";
    int status = db_open(&db, &settings, DB_SOURCE, &err);
    unsetenv("PGSERVICEFILE");
    unsetenv("PGPASSFILE");
    unlink(services);
    unlink(passwords);
    must(status, &err);
    is_int(number_of(db, "SELECT COUNT(\"a\") FROM \"heap\""), MANY_ROWS,
           "a service file gives host and user, a password file the password");
    is_int(query_class(db, "SELECT \"share\" FROM \"heap\"", "r", &err), ERROR_DENIED,
           "reading another column is denied");
    is_int(query_class(db, "SELECT \"id\" FROM \"thing\"", "i", &err), ERROR_DENIED,
           "reading another table is denied");
    ok(column_is(db, "heap", 0, "a") && !column_is(db, "heap", 1, "share"),
       "columns_query returns only readable columns");
    char long_name[80];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    ok(!column_is(db, long_name, 0, "a"), "a table name that is too long is not found");
    db_close(db);
}

static void pgsql_servers_that_hang_are_left(pid_t postmaster)
{
    struct error err = { 0 };
    site.deadline_s = 3;
    struct db *db = session(DB_RESULTS), *source = session(DB_SOURCE);
    pid_t server = (pid_t)number_of(db, "SELECT pg_backend_pid()");
    struct timespec start = clock_now();
    kill(server, SIGSTOP);
    is_int(query_class(db, "SELECT 1", "i", &err), ERROR_GONE,
           "a query on a server that hangs has the class ERROR_GONE");
    ok(seconds_since(&start) < 30, "the query ends soon after the deadline");
    start = clock_now();
    ok(db_begin(db, &err) == -1 && err.class == ERROR_GONE,
       "a session on a server that hangs cannot begin a transaction");
    db_rollback(db);
    db_close(db);
    ok(seconds_since(&start) < 10, "the session can be closed at once");
    kill(server, SIGCONT);

    struct db_rows *rows;
    server = (pid_t)number_of(source, "SELECT pg_backend_pid()");
    begin(source);
    rows = db_query(source, "SELECT \"x\".\"a\" FROM \"heap\" \"x\" CROSS JOIN \"heap\" \"y\"",
                    NULL, 0, "i", &err);
    must_have(rows, &err);
    kill(server, SIGSTOP);
    kill(postmaster, SIGSTOP);
    start = clock_now();
    is_int(open_class(&site, DB_SOURCE, &err), ERROR_GONE,
           "opening a session on a stopped server fails");
    db_finish(rows);
    db_rollback(source);
    db_close(source);
    ok(seconds_since(&start) < 30, "an answer from a stopped server can be abandoned");
    kill(postmaster, SIGCONT);
    kill(server, SIGCONT);
    site.deadline_s = 20;
}

int main(int argc, char **argv)
{
    if (argc < 3 || (strcmp(argv[1], "sqlite") != 0 && argc < 5)) {
        fputs("usage: port sqlite PATH, port mysql|pgsql NAME SOCKET SERVER_PID\n", stderr);
        return 64;
    }
    if (!db_driver_named(argv[1])) {
        printf("1..0 # SKIP this build has no driver '%s'\n", argv[1]);
        return 0;
    }
    bool mysql = strcmp(argv[1], "mysql") == 0, pgsql = strcmp(argv[1], "pgsql") == 0;
    site.driver = argv[1];
    site.database = argv[2];
    site.socket = mysql || pgsql ? argv[3] : NULL;
    site.user = pgsql ? "postgres" : NULL;

    tables_are_made_by_a_script();
    every_value_comes_back_as_it_was();
    values_are_read_strictly();
    sql_means_the_same();
    a_database_describes_itself();
    bulk_writes();
#ifdef HAVE_MYSQL
    if (mysql) {
        diag("bulk writes follow again, without array binding");
        mysql_binds_arrays = false;
        bulk_writes();
        mysql_binds_arrays = true;
    }
#endif
    changed_counts_rows_that_were_found();
    fill_heap();
    rows_are_streamed(db_query);
    rows_are_streamed(db_stream);
    an_answer_may_be_broken_off(db_query);
    an_answer_may_be_broken_off(db_stream);
    an_answer_fails_late(db_query);
    an_answer_fails_late(db_stream);
    rows_keep_their_order(db_query);
    rows_keep_their_order(db_stream);
    one_answer_at_a_time();
    a_snapshot_holds(DB_SOURCE, "a source's snapshot does not contain later commits");
    a_snapshot_holds(DB_READER, "a reader's snapshot does not contain later commits");
    readers_and_writers_do_not_wait();
    a_source_cannot_be_written();
    locks_exclude();
    waits_for_locks_are_short();
    /* This test needs a process without other threads, whose memory libraries keep. */
    if (pgsql && addresses())
        pgsql_values_that_memory_has_no_room_for();
    statements_run_meanwhile();
    statements_end_at_the_deadline();
    errors_have_a_class();
    if (mysql || pgsql) {
        a_change_is_noticed("a table recreated during a transaction makes it retryable",
                            "DROP TABLE \"moved\";\n"
                            "CREATE TABLE \"moved\" (\"a\" INTEGER);\n"
                            "INSERT INTO \"moved\" VALUES (1);\n");
        a_change_is_noticed("a changed column type during a transaction makes it retryable",
                            mysql ? "ALTER TABLE \"moved\" MODIFY \"a\" BIGINT;\n"
                                  : "ALTER TABLE \"moved\" ALTER \"a\" TYPE BIGINT;\n");
    }
    if (mysql) {
        mysql_says_when_a_table_is_full();
        mysql_sessions_can_be_killed();
        mysql_transactions_that_went_are_missed();
        mysql_logins_are_judged();
        mysql_passwords_come_from_outside();
        servers_die((pid_t)strtol(argv[4], NULL, 10), SIGKILL);
    } else if (pgsql) {
        pgsql_numbers_of_other_types_are_read();
        pgsql_narrow_columns_are_written();
        pgsql_bulk_writes_touch_only_their_rows();
        pgsql_bytes_come_as_they_are_stored();
        pgsql_failed_transactions_are_not_committed();
        pgsql_sessions_can_be_killed();
        pgsql_answers_fail_amid_rows(db_query);
        pgsql_answers_fail_amid_rows(db_stream);
        pgsql_settings_of_the_server_do_not_count();
        pgsql_logins_are_judged();
        pgsql_passwords_come_from_outside();
        pgsql_servers_that_hang_are_left((pid_t)strtol(argv[4], NULL, 10));
        /* On SIGKILL, the server's other processes would finish their work. */
        servers_die((pid_t)strtol(argv[4], NULL, 10), SIGQUIT);
    } else {
        sqlite_files_are_looked_at();
        sqlite_texts_are_utf8();
        sqlite_reader_needs_no_write_permission();
        sqlite_says_when_the_disk_is_full();
    }
    return done_testing();
}
