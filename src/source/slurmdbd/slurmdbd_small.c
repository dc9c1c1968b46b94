/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/release.h"
#include "core/priority/priority.h"
#include "settings/settings.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* Reads slurmdbd's small tables: QOS, TRES, the cluster's registration, and associations. */

/*
 * The state of reading associations.  It includes the values by which slurmdbd orders associations,
 * if they are needed.
 */
struct slurmdbd_association_reader {
    struct accounting *accounting;
    enum { UNORDERED, IN_ORDER, TO_BE_ORDERED } ordered;
    struct arena *arena;
    const char **lineages; /* indexed by row */
    int64_t *lefts;
};

enum {
    READ_PARENT_ACCOUNT = READ_OWN,
    READ_LINEAGE,
    READ_LFT,
    READ_PRIORITY,
    READ_MODIFIED,
    READ_GRP_TRES_MINS,
    READ_IS_DEF,
};

static void note_order(struct slurmdbd_association_reader *reader, const struct db_value *row)
{
    size_t at = reader->accounting->count - 1;
    reader->lineages = memory_grown(reader->lineages, at, sizeof *reader->lineages);
    reader->lefts = memory_grown(reader->lefts, at, sizeof *reader->lefts);
    const struct db_value *lineage = &row[READ_LINEAGE];
    bool is_text = lineage->type == DB_TEXT;
    reader->lineages[at] = arena_copy(reader->arena, is_text ? lineage->text.bytes : "",
                                      is_text ? lineage->text.length : 0);
    reader->lefts[at] = db_value_integer(&row[READ_LFT], 0);
}

/* Few associations have a priority.  NULL and INFINITE mean that there is no priority. */
static void add_priority(struct accounting *accounting, uint32_t id, int64_t priority)
{
    if (priority < 0 || priority >= PRIORITY_NONE)
        return;
    *memory_append(&accounting->priorities, &accounting->priority_count) =
        (struct association_priority){ id, (uint32_t)priority };
}

/* Few associations have a limit.  An empty string means that there is no limit. */
static void add_limit(struct accounting *accounting, uint32_t id, const struct db_value *limit)
{
    if (limit->type != DB_TEXT || !limit->text.length)
        return;
    *memory_append(&accounting->limits, &accounting->limit_count) =
        (struct association_limit){ id, names_add(accounting->names, limit->text.bytes,
                                                  limit->text.length) };
}

/*
 * Records the time of the last modification.  Ignores numbers that are not times, which an upgrade
 * of slurmdbd may have left.
 */
static void note_touch(struct accounting *accounting, uint32_t id, const struct db_value *modified)
{
    const uint64_t touch[] = { id, (uint64_t)modified->integer };
    if (modified->type != DB_INTEGER || modified->integer < 0 || modified->integer >= INDEX_NONE)
        return;
    id_index_add(accounting->modified, id, (uint32_t)modified->integer);
    accounting->modified_hash += hash_words(touch, 2);
}

static int slurmdbd_take_association(void *context, const struct db_value *row, struct error *err)
{
    struct slurmdbd_association_reader *reader = context;
    struct association *association;
    if (reading_association(reader->accounting, row, &association, err))
        return -1;
    association->parent_account = reading_name(reader->accounting, &row[READ_PARENT_ACCOUNT]);
    if (row[READ_PRIORITY].type == DB_INTEGER && !association->deleted)
        add_priority(reader->accounting, association->id, row[READ_PRIORITY].integer);
    if (!association->deleted)
        add_limit(reader->accounting, association->id, &row[READ_GRP_TRES_MINS]);
    note_touch(reader->accounting, association->id, &row[READ_MODIFIED]);
    association->is_default = db_value_integer(&row[READ_IS_DEF], 0) != 0;
    association->order = (uint32_t)reader->accounting->count - 1;
    if (reader->ordered == TO_BE_ORDERED)
        note_order(reader, row);
    return 0;
}

static int slurmdbd_by_lineage(const void *a, const void *b, void *context)
{
    const struct slurmdbd_association_reader *reader = context;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    int order = strcmp(reader->lineages[one], reader->lineages[other]);
    if (order)
        return order;
    if (reader->lefts[one] != reader->lefts[other])
        return reader->lefts[one] < reader->lefts[other] ? -1 : 1;
    const struct association *rows = reader->accounting->rows;
    return (rows[one].id > rows[other].id) - (rows[one].id < rows[other].id);
}

/* Numbers the rows in the order of the bytes of their lineage, then of lft, then of id. */
static void number_rows(struct slurmdbd_association_reader *reader)
{
    size_t count = reader->accounting->count;
    uint32_t *sorted = memory_zeroed(count, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = i;
    if (count)
        qsort_r(sorted, count, sizeof *sorted, slurmdbd_by_lineage, reader);
    for (uint32_t i = 0; i < count; i++)
        reader->accounting->rows[sorted[i]].order = i;
    free(sorted);
}

static int slurmdbd_read_associations(const struct source *source, struct accounting *accounting,
                                      struct error *err)
{
    unsigned has;
    if (slurmdbd_probe(source, &slurmdbd_associations, &has, err))
        return -1;
    bool ordered = source->ordered, lineage = ordered && (has & HAS_LINEAGE);
    bool lft = ordered && !lineage && (has & HAS_LFT);
    bool collated = lineage && source->settings->ties == TIES_BY_COLLATION;
    struct text sql = { 0 };
    text_format(&sql,
                "SELECT \"id_assoc\", %s, \"acct\", \"user\", \"partition\", \"shares\","
                " \"deleted\", \"parent_acct\", %s, %s, \"priority\", %s, %s, %s FROM {}",
                has & HAS_ID_PARENT ? "\"id_parent\"" : "0", lineage ? "\"lineage\"" : "''",
                lft ? "\"lft\"" : "0", has & HAS_MOD_TIME ? "\"mod_time\"" : "NULL",
                has & HAS_GRP_TRES_MINS ? "\"grp_tres_mins\"" : "''",
                has & HAS_IS_DEF ? "\"is_def\"" : "0");
    /* This is the order of slurmdbd's own query.  The first term puts NULL first in every database.
     */
    if (collated)
        text_add(&sql, " ORDER BY \"lineage\" IS NOT NULL, \"lineage\", \"id_assoc\"");
    accounting->modified = id_index_create();
    struct slurmdbd_association_reader reader = { .accounting = accounting,
                                                  .ordered = collated  ? IN_ORDER
                                                             : ordered ? TO_BE_ORDERED
                                                                       : UNORDERED,
                                                  .arena = arena_create() };
    const struct query query = { .sql = sql.bytes, .types = "iitttiittiiiti", .has_many = true };
    int result = slurmdbd_read(source, &slurmdbd_associations, &query, slurmdbd_take_association,
                               &reader, err);
    accounting->by_lineage = lineage;
    accounting->oldest_release = !(has & HAS_LINEAGE) ? releases
                                 : has & HAS_LFT      ? release_named("23.11")
                                                      : release_named("25.05");
    if (!result && reader.ordered == TO_BE_ORDERED)
        number_rows(&reader);
    text_free(&sql);
    free(reader.lineages);
    free(reader.lefts);
    arena_destroy(reader.arena);
    return result;
}

#define FLAG_QOS_NO_DECAY (INT64_C(1) << 8)

static int slurmdbd_take_qos(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    (void)err;
    uint32_t name = reading_name(accounting, &row[1]);
    bool deleted = db_value_integer(&row[3], 0);
    uint32_t limits = deleted ? accounting->empty_name : reading_name(accounting, &row[4]);
    const struct qos_row qos = {
        .id = reading_number(&row[0]),
        .name = names_text(accounting->names, name),
        .factor = row[2].type == DB_REAL ? row[2].real : 1,
        .deleted = deleted,
        .limits = names_text(accounting->names, limits),
        .no_decay = db_value_integer(&row[5], 0) & FLAG_QOS_NO_DECAY,
    };
    charge_rates_add_qos(accounting->rates, qos.id, qos.name, names_length(accounting->names, name),
                         qos.factor);
    *memory_append(&accounting->qos, &accounting->qos_count) = qos;
    return 0;
}

static int slurmdbd_read_qos(const struct source *source, struct accounting *accounting,
                             struct error *err)
{
    unsigned has;
    if (slurmdbd_probe(source, &slurmdbd_qos, &has, err))
        return -1;
    struct text sql = { 0 };
    text_format(&sql, "SELECT \"id\", \"name\", \"usage_factor\", \"deleted\", %s, %s FROM {}",
                has & HAS_QOS_GRP_TRES_MINS ? "\"grp_tres_mins\"" : "''",
                has & HAS_QOS_FLAGS ? "\"flags\"" : "0");
    const struct query query = { .sql = sql.bytes, .types = "itriti" };
    int result = slurmdbd_read(source, &slurmdbd_qos, &query, slurmdbd_take_qos, accounting, err);
    text_free(&sql);
    return result;
}

int slurmdbd_each_tres(const struct source *source, row_taker take, void *context,
                       struct error *err)
{
    static const struct query query = { .sql = "SELECT \"id\", \"type\", \"name\" FROM {}"
                                               " WHERE \"deleted\" = 0 ORDER BY \"id\"",
                                        .types = "itt" };
    return slurmdbd_probe_and_read(source, &slurmdbd_tres, &query, take, context, err);
}

void slurmdbd_add_tres_name(struct text *text, const struct db_value *row)
{
    char *type = db_value_text(&row[1]), *name = db_value_text(&row[2]);
    text_format(text, "%s%s%s", type, *name ? "/" : "", name);
    free(type);
    free(name);
}

/* Reads the cluster's own event without an end, which is its last registration. */
int slurmdbd_each_registration(const struct source *source, row_taker take, void *context,
                               struct error *err)
{
    static const struct query query = {
        .sql = "SELECT \"tres\", \"cluster_nodes\" FROM {}"
               " WHERE \"node_name\" = '' AND \"time_end\" = 0 ORDER BY \"time_start\"",
        .types = "tt"
    };
    return slurmdbd_probe_and_read(source, &slurmdbd_events, &query, take, context, err);
}

struct slurmdbd_cluster_reader {
    struct accounting *accounting;
    const char *cluster;
};

/*
 * If the row is the reader's cluster, copies the protocol version of slurmctld's registration and
 * the time when the cluster was added.  slurmctld's release may differ from slurmdbd's.
 */
static int slurmdbd_take_cluster(void *context, const struct db_value *row, struct error *err)
{
    const struct slurmdbd_cluster_reader *reader = context;
    (void)err;
    if (row[0].type == DB_TEXT &&
        reads_as(row[0].text.bytes, row[0].text.length, reader->cluster)) {
        reader->accounting->protocol = reading_number(&row[4]);
        reader->accounting->created = reading_number(&row[2]);
    }
    return 0;
}

/*
 * Privileges: acct_coord_table, admin_level of user_table, and accounts whose users coordinate them
 * (UsersAreCoords of sacctmgr).
 */

#define LEVEL_OPERATOR 2
#define LEVEL_ADMINISTRATOR 3
/* a flag of an account's association, from Slurm 24.11 on */
#define FLAG_USERS_COORDINATE (INT64_C(1) << 16)

static void add_privilege(struct accounting *accounting, enum privilege_kind kind, uint32_t account,
                          uint32_t user)
{
    *memory_append(&accounting->privileges, &accounting->privilege_count) =
        (struct privilege){ kind, account, user };
}

static int take_coordinator(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    (void)err;
    if (!db_value_integer(&row[2], 0))
        add_privilege(accounting, PRIVILEGE_COORDINATOR, reading_name(accounting, &row[0]),
                      reading_name(accounting, &row[1]));
    return 0;
}

static int slurmdbd_take_user(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    int64_t level = db_value_integer(&row[1], 0);
    (void)err;
    if (level >= LEVEL_OPERATOR && level <= LEVEL_ADMINISTRATOR && !db_value_integer(&row[2], 0))
        add_privilege(accounting,
                      level == LEVEL_OPERATOR ? PRIVILEGE_OPERATOR : PRIVILEGE_ADMINISTRATOR,
                      accounting->empty_name, reading_name(accounting, &row[0]));
    return 0;
}

static int slurmdbd_take_account(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    (void)err;
    if (db_value_integer(&row[1], 0) & FLAG_USERS_COORDINATE)
        add_privilege(accounting, PRIVILEGE_USERS_COORDINATE, reading_name(accounting, &row[0]),
                      accounting->empty_name);
    return 0;
}

static int read_accounts(const struct source *source, struct accounting *accounting,
                         struct error *err)
{
    static const struct query query = {
        .sql = "SELECT \"acct\", \"flags\" FROM {} WHERE \"user\" = '' AND \"deleted\" = 0",
        .types = "ti"
    };
    unsigned has;
    if (slurmdbd_probe(source, &slurmdbd_associations, &has, err))
        return -1;
    return has & HAS_FLAGS ? slurmdbd_read(source, &slurmdbd_associations, &query,
                                           slurmdbd_take_account, accounting, err)
                           : 0;
}

/*
 * Reads a table of privileges.  Logins with the GRANTs of an earlier release cannot read it.  In
 * that case, no user has these privileges, so more is hidden and nothing is revealed.
 */
static int read_table(const struct source *source, const struct slurmdbd_table *table,
                      const struct query *query, row_taker take, struct accounting *accounting,
                      struct error *err)
{
    bool there;
    if (slurmdbd_probe_optional(source, table, &there, err))
        return -1;
    return there ? slurmdbd_read(source, table, query, take, accounting, err) : 0;
}

static const struct query slurmdbd_coordinators_query = {
    .sql = "SELECT \"acct\", \"user\", \"deleted\" FROM {}", .types = "tti"
};

static int slurmdbd_read_privileges(const struct source *source, struct accounting *accounting,
                                    struct error *err)
{
    static const struct query users = { .sql =
                                            "SELECT \"name\", \"admin_level\", \"deleted\" FROM {}",
                                        .types = "tii" };
    if (!source->settings->private)
        return 0;
    return read_table(source, &slurmdbd_coordinators, &slurmdbd_coordinators_query,
                      take_coordinator, accounting, err) ||
                   read_table(source, &slurmdbd_users, &users, slurmdbd_take_user, accounting,
                              err) ||
                   read_accounts(source, accounting, err)
               ? -1
               : 0;
}

struct slurmdbd_coordinator_reader {
    coordinator_taker *take;
    void *context;
};

static int slurmdbd_pass_coordinator(void *context, const struct db_value *row, struct error *err)
{
    const struct slurmdbd_coordinator_reader *reader = context;
    (void)err;
    if (db_value_integer(&row[2], 0))
        return 0;
    char *account = utf8_copy(row[0].text.bytes, row[0].text.length);
    char *user = utf8_copy(row[1].text.bytes, row[1].text.length);
    reader->take(reader->context, account, user);
    free(account);
    free(user);
    return 0;
}

int slurmdbd_read_coordinators(const struct source *source, coordinator_taker *take, void *context,
                               struct error *err)
{
    struct slurmdbd_coordinator_reader reader = { take, context };
    return slurmdbd_probe_and_read(source, &slurmdbd_coordinators, &slurmdbd_coordinators_query,
                                   slurmdbd_pass_coordinator, &reader, err);
}

static int slurmdbd_take_tres(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    struct text full = { 0 };
    (void)err;
    uint32_t type = reading_name(accounting, &row[1]), name = reading_name(accounting, &row[2]);
    slurmdbd_add_tres_name(&full, row);
    *memory_append(&accounting->tres, &accounting->tres_count) =
        (struct tres_name){ .id = reading_number(&row[0]),
                            .name = utf8_copy(full.bytes, full.length) };
    text_free(&full);
    charge_rates_add_tres(accounting->rates, reading_number(&row[0]),
                          names_text(accounting->names, type), names_text(accounting->names, name));
    return 0;
}

static int slurmdbd_take_registration(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    uint64_t count;
    (void)err;
    if (row[0].type != DB_TEXT)
        return 0;
    if (tres_count(row[0].text.bytes, row[0].text.length, TRES_CPU, &count) == TRES_FOUND)
        accounting->cpus = (double)count;
    if (tres_count(row[0].text.bytes, row[0].text.length, TRES_BILLING, &count) == TRES_FOUND)
        accounting->billing = (double)count;
    enum job_outcome outcome;
    uint128 units = tres_charge(CHARGE_TRES, charge_rates_plain(accounting->rates),
                                row[0].text.bytes, row[0].text.length, &outcome);
    if (outcome == JOB_CHARGED)
        accounting->weighted = (double)units / (double)UNITS_PER_TRES;
    return 0;
}

/* Returns true if a list `id=minutes,...` names the TRES. */
static bool has_limit(const char *list, uint64_t id)
{
    uint64_t minutes;
    return list && tres_count(list, strlen(list), id, &minutes) == TRES_FOUND;
}

/* Lets `tres = auto` keep each TRES that a GrpTRESMins limit names. */
static void keep_limited_tres(struct accounting *accounting)
{
    for (size_t t = 0; t < accounting->tres_count; t++) {
        struct tres_name *tres = &accounting->tres[t];
        for (size_t i = 0; i < accounting->limit_count; i++)
            tres->automatic |= has_limit(
                names_text(accounting->names, accounting->limits[i].grp_tres_mins), tres->id);
        for (size_t i = 0; i < accounting->qos_count; i++)
            tres->automatic |= has_limit(accounting->qos[i].limits, tres->id);
    }
}

int slurmdbd_read_small(const struct source *source, struct accounting **read, struct error *err)
{
    struct accounting *accounting = accounting_create(source->settings);
    struct slurmdbd_cluster_reader cluster = { accounting, source->cluster };
    if (slurmdbd_read_qos(source, accounting, err) ||
        (slurmdbd_reads_tres(source->settings) &&
         slurmdbd_each_tres(source, slurmdbd_take_tres, accounting, err)) ||
        slurmdbd_each_registration(source, slurmdbd_take_registration, accounting, err) ||
        slurmdbd_each_cluster(source, slurmdbd_take_cluster, &cluster, err) ||
        slurmdbd_read_associations(source, accounting, err) ||
        slurmdbd_read_privileges(source, accounting, err) ||
        (source->settings->suspended == SUSPENDED_OMITTED &&
         slurmdbd_probe(source, &slurmdbd_suspends, NULL, err)) ||
        slurmdbd_find_passes(source, accounting, err) ||
        slurmdbd_probe(source, &slurmdbd_jobs, NULL, err)) {
        accounting_destroy(accounting);
        return -1;
    }
    keep_limited_tres(accounting);
    *read = accounting;
    return 0;
}
