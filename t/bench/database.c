/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client.h"

/*
 * Measures the plain client libraries at the work that fairmill does with a database.
 *
 *     `database DRIVER ways`
 *         Lists the ways to stream and to write.
 *
 *     `database DRIVER stream WAY PLACE SQL [PLACE SQL]...`
 *         Reads the rows of queries and discards them.
 *
 *     `database DRIVER write WAY PLACE`
 *         Reads the results that fairmill published for the cluster, changes every value and
 *         replaces the rows.
 *
 * The last two print the number of rows, the seconds taken, and the seconds of processor time of
 * this process, without the time to connect.  PLACE is SOCKET:DATABASE for mysql, a connection
 * string of libpq for pgsql, and a path for sqlite.
 */

static const struct client *const clients[] = {
#ifdef HAVE_MYSQL
    &mysql_client,
#endif
#ifdef HAVE_PGSQL
    &pgsql_client,
#endif
#ifdef HAVE_SQLITE
    &sqlite_client,
#endif
    NULL,
};

const char *const result_names[RESULT_COLUMNS] = {
    "cluster",
    "id_assoc",
    "parent_id",
    "depth",
    "account",
    "user_name",
    "partition_name",
    "shares",
    "shares_norm",
    "level_shares_norm",
    "usage_raw",
    "usage_norm",
    "capacity_usage",
    "level_usage",
    "classic_usage",
    "classic_factor",
    "linear_usage",
    "linear_factor",
    "depth_oblivious_ratio",
    "depth_oblivious_factor",
    "level_fs",
    "level_fs_infinite",
    "fair_tree_rank",
    "fair_tree_factor",
    "pbs_target",
    "pbs_tree_usage",
    "pbs_factor",
    "fairshare",
    "run_id",
    "computed_at",
};
const char result_types[] = "tiiitttirrrrrrrrrrrrriirrrrrii";
_Static_assert(sizeof result_types == RESULT_COLUMNS + 1, "a type for each column");

#define KEY_COLUMNS 2

_Noreturn void die(const char *what)
{
    fprintf(stderr, "database: %s\n", what);
    exit(1);
}

void *room_for(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        die("out of memory");
    return memory;
}

static size_t add(char *sql, size_t size, const char *text)
{
    size_t length = strlen(sql);
    if (length + strlen(text) >= size)
        die("the statement is too long");
    strcpy(sql + length, text);
    return length;
}

void add_columns(char *sql, size_t size)
{
    for (int i = 0; i < RESULT_COLUMNS; i++) {
        add(sql, size, i ? ", " : " (");
        add(sql, size, result_names[i]);
    }
    add(sql, size, ")");
}

void add_insert(char *sql, size_t size, bool numbered)
{
    char mark[8];
    add(sql, size, "INSERT INTO bench_fairshare");
    add_columns(sql, size);
    add(sql, size, " VALUES (");
    for (int i = 0; i < RESULT_COLUMNS; i++) {
        snprintf(mark, sizeof mark, numbered ? "%s$%d" : "%s?", i ? ", " : "", i + 1);
        add(sql, size, mark);
    }
    add(sql, size, ")");
}

void add_assignments(char *sql, size_t size, const char *before, const char *after)
{
    for (int i = KEY_COLUMNS; i < RESULT_COLUMNS; i++) {
        add(sql, size, i > KEY_COLUMNS ? ", " : "");
        add(sql, size, result_names[i]);
        add(sql, size, " = ");
        add(sql, size, before);
        add(sql, size, result_names[i]);
        add(sql, size, after);
    }
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct stopwatch {
    double began, processor;
};

static struct stopwatch stopwatch_start(void)
{
    return (struct stopwatch){ seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID) };
}

static void stopwatch_print(struct stopwatch watch, uint64_t rows)
{
    struct stopwatch now = stopwatch_start();
    printf("%" PRIu64 " %.6f %.6f\n", rows, now.began - watch.began,
           now.processor - watch.processor);
}

static int stream(const struct client *client, const char *way, int count, char **arguments)
{
    uint64_t rows = 0;
    void **sessions = room_for((size_t)count, sizeof *sessions);
    for (int i = 0; i + 1 < count; i += 2)
        sessions[i] = client->open(arguments[i]);
    struct stopwatch watch = stopwatch_start();
    for (int i = 0; i + 1 < count; i += 2)
        rows += client->stream(sessions[i], way, arguments[i + 1]);
    stopwatch_print(watch, rows);
    for (int i = 0; i + 1 < count; i += 2)
        client->close(sessions[i]);
    free(sessions);
    return 0;
}

/* Changes the values, as a run does for nearly every association. */
static void take_row(void *context, const char *const *texts)
{
    struct result_rows *taken = context;
    if (!(taken->count & (taken->count - 1))) {
        taken->rows =
            realloc(taken->rows, (taken->count ? taken->count * 2 : 1) * sizeof *taken->rows);
        if (!taken->rows)
            die("out of memory");
    }
    struct cell *row = taken->rows[taken->count++];
    for (int i = 0; i < RESULT_COLUMNS; i++) {
        row[i] = (struct cell){ .is_null = !texts[i] };
        if (!texts[i])
            continue;
        row[i].length = strlen(texts[i]);
        switch (result_types[i]) {
        case 'i':
            row[i].integer = strtoll(texts[i], NULL, 10) + (i >= RESULT_COLUMNS - 2);
            break;
        case 'r':
            row[i].real = strtod(texts[i], NULL) * 0.999;
            break;
        default:
            row[i].text = room_for(row[i].length + 1, 1);
            strcpy(row[i].text, texts[i]);
        }
    }
}

static int write_results(const struct client *client, const char *way, const char *place)
{
    char query[1024] = "SELECT ";
    struct result_rows rows = { 0 };
    void *session = client->open(place);
    for (int i = 0; i < RESULT_COLUMNS; i++) {
        add(query, sizeof query, i ? ", " : "");
        add(query, sizeof query, result_names[i]);
    }
    add(query, sizeof query, " FROM fairmill_fairshare WHERE cluster = 'bench'");
    client->each(session, query, take_row, &rows);
    struct stopwatch watch = stopwatch_start();
    client->replace(session, way, &rows);
    stopwatch_print(watch, rows.count);
    client->close(session);
    return 0;
}

int main(int argc, char **argv)
{
    const struct client *const *client = clients;
    while (*client && argc > 2 && strcmp((*client)->name, argv[1]) != 0)
        client++;
    if (argc < 3 || !*client)
        die("database DRIVER ways|stream|write ...");
    if (!strcmp(argv[2], "ways")) {
        for (const char *const *way = (*client)->streams; *way; way++)
            printf("stream %s\n", *way);
        for (const char *const *way = (*client)->writes; *way; way++)
            printf("write %s\n", *way);
        return 0;
    }
    if (!strcmp(argv[2], "stream") && argc > 5 && argc % 2 == 0)
        return stream(*client, argv[3], argc - 4, argv + 4);
    if (!strcmp(argv[2], "write") && argc == 5)
        return write_results(*client, argv[3], argv[4]);
    die("database DRIVER ways|stream|write ...");
}
