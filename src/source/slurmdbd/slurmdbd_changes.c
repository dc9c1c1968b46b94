/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "core/finding.h"
#include "core/tree/association_history.h"
#include "core/tree/transaction.h"
#include "db/db.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"
#include "util/log.h"

/* Reads the changes of associations and usage factors that slurmdbd recorded. */

struct change_reader {
    const struct source *source;
    struct association_history *history; /* changes of associations; NULL if they are not read */
    /* Changes of usage factors, which all clusters share; NULL if they are not read. */
    struct factor_history *factors;
    struct findings *findings;
};

static int slurmdbd_changes_take_times(void *context, const struct db_value *row, struct error *err)
{
    const struct change_reader *reader = context;
    (void)err;
    association_history_set_times(reader->history, reading_number(&row[0]),
                                  (int64_t)reading_number(&row[1]),
                                  (int64_t)reading_number(&row[2]));
    return 0;
}

static int slurmdbd_changes_read_times(struct change_reader *reader, struct error *err)
{
    static const struct query query = {
        .sql = "SELECT \"id_assoc\", \"creation_time\", \"mod_time\" FROM {}", .types = "iii"
    };
    const struct slurmdbd_table *table = &slurmdbd_association_times;
    bool there;
    if (slurmdbd_probe_optional(reader->source, table, &there, err))
        return -1;
    if (!there)
        return 0;
    return slurmdbd_read(reader->source, table, &query, slurmdbd_changes_take_times, reader, err);
}

#define TRANSACTIONS \
    "SELECT \"id\", \"timestamp\", \"action\", \"cluster\", \"name\", \"info\" FROM {} WHERE "
#define IN_ORDER " ORDER BY \"timestamp\", \"id\""
enum { TXN_ID, TXN_TIME, TXN_ACTION, TXN_CLUSTER, TXN_NAME, TXN_INFO };

/*
 * Returns true if a transaction is of a different cluster.  Users and accounts are removed on all
 * clusters at once, so these transactions name no cluster.
 */
static bool is_of_another(const struct change_reader *reader, const struct db_value *cluster)
{
    return reader->history && cluster->type == DB_TEXT && cluster->text.length &&
           !reads_as(cluster->text.bytes, cluster->text.length, reader->source->cluster);
}

static int take_transaction(void *context, const struct db_value *row, struct error *err)
{
    const struct change_reader *reader = context;
    (void)err;
    if (is_of_another(reader, &row[TXN_CLUSTER]))
        return 0;
    char *name = db_value_text(&row[TXN_NAME]), *info = db_value_text(&row[TXN_INFO]);
    struct transaction transaction = {
        .at = (int64_t)reading_number(&row[TXN_TIME]),
        .action = (int64_t)reading_number(&row[TXN_ACTION]),
        .name = name,
        .info = info,
    };
    if (!(reader->history ? transaction_add(&transaction, reader->history)
                          : factor_history_add(reader->factors, &transaction)))
        findings_add(reader->findings, FINDING_PAST_UNREADABLE, reading_number(&row[TXN_ID]),
                     "action %" PRId64 ", %s", transaction.action, name);
    free(name);
    free(info);
    return 0;
}

static int slurmdbd_changes_take_first(void *context, const struct db_value *row, struct error *err)
{
    struct factor_history *history = context;
    (void)err;
    history->whole = db_value_integer(&row[0], 0) == TRANSACTION_ADD_CLUSTER;
    return 0;
}

int slurmdbd_read_factors(const struct source *source, struct factor_history *history,
                          int64_t since, struct findings *findings, struct error *err)
{
    static const struct query first = { .sql = "SELECT \"action\" FROM {} WHERE \"id\" = 1",
                                        .types = "i" };
    const struct db_value arguments[] = { db_integer(since), db_integer(TRANSACTION_ADD_QOS),
                                          db_integer(TRANSACTION_MODIFY_QOS) };
    const struct query changes = {
        .sql = TRANSACTIONS "\"timestamp\" >= ? AND \"action\" IN (?, ?)" IN_ORDER,
        .arguments = arguments,
        .argument_count = sizeof arguments / sizeof *arguments,
        .types = "iiittt",
    };
    const struct slurmdbd_table *table = &slurmdbd_transactions;
    struct change_reader reader = { .factors = history, .findings = findings };
    bool there;
    if (slurmdbd_probe_optional(source, table, &there, err))
        return -1;
    if (!there)
        return 0;
    history->complete = since == 0;
    if (slurmdbd_read(source, table, &first, slurmdbd_changes_take_first, history, err))
        return -1;
    return slurmdbd_read(source, table, &changes, take_transaction, &reader, err);
}

static int take_reach(void *context, const struct db_value *row, struct error *err)
{
    const struct change_reader *reader = context;
    (void)err;
    if (row[0].type == DB_INTEGER)
        association_history_set_log_start(reader->history, row[0].integer);
    return 0;
}

/* CHANGES_OF_LIFE needs only the first four actions, and count_removals() the first three. */
static const struct db_value actions[] = {
    { .type = DB_INTEGER, .integer = TRANSACTION_REMOVE_ACCOUNTS },
    { .type = DB_INTEGER, .integer = TRANSACTION_REMOVE },
    { .type = DB_INTEGER, .integer = TRANSACTION_REMOVE_USERS },
    { .type = DB_INTEGER, .integer = TRANSACTION_ADD },
    { .type = DB_INTEGER, .integer = TRANSACTION_MODIFY },
    { .type = DB_INTEGER, .integer = TRANSACTION_REMOVE_QOS },
};

static int read_transactions(struct change_reader *reader, enum changes_wanted wanted,
                             struct error *err)
{
    static const struct query oldest = { .sql = "SELECT MIN(\"timestamp\") FROM {}", .types = "i" },
                              all = { .sql =
                                          TRANSACTIONS "\"action\" IN (?, ?, ?, ?, ?, ?)" IN_ORDER,
                                      .arguments = actions,
                                      .argument_count = 6,
                                      .types = "iiittt" },
                              of_life = { .sql = TRANSACTIONS "\"action\" IN (?, ?, ?, ?)" IN_ORDER,
                                          .arguments = actions,
                                          .argument_count = 4,
                                          .types = "iiittt" };
    const struct slurmdbd_table *table = &slurmdbd_transactions;
    if (slurmdbd_read(reader->source, table, &oldest, take_reach, reader, err))
        return -1;
    return slurmdbd_read(reader->source, table, wanted == CHANGES_ALL ? &all : &of_life,
                         take_transaction, reader, err);
}

/*
 * Counts the removals.  If there are no removals, CHANGES_OF_LIFE does not need the transactions.
 */
static int count_removals(const struct source *source, uint64_t *count, struct error *err)
{
    static const struct query removals = {
        .sql = "SELECT COUNT(*) FROM {} WHERE \"action\" IN (?, ?, ?)",
        .arguments = actions,
        .argument_count = 3,
        .types = "i",
    };
    *count = 0;
    return slurmdbd_read(source, &slurmdbd_transactions, &removals, slurmdbd_take_number, count,
                         err);
}

int slurmdbd_read_changes(const struct source *source, enum changes_wanted wanted,
                          struct association_history *history, struct findings *findings,
                          struct error *err)
{
    struct change_reader reader = { .source = source, .history = history, .findings = findings };
    uint64_t removals = 1;
    bool there;
    if (slurmdbd_probe_optional(source, &slurmdbd_transactions, &there, err))
        return -1;
    if (!there) {
        log_note("%s", err->message);
        findings_add(findings, FINDING_PAST_UNREADABLE, 0, "txn_table is missing or not readable");
    }
    if (there && wanted == CHANGES_OF_LIFE && count_removals(source, &removals, err))
        return -1;
    if (wanted == CHANGES_OF_LIFE && (!there || !removals))
        return 0;
    if (slurmdbd_changes_read_times(&reader, err))
        return -1;
    return there ? read_transactions(&reader, wanted, err) : 0;
}
