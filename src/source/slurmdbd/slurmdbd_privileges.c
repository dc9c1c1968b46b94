/* SPDX-License-Identifier: MIT */
#include "settings/settings.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/* Who may see what others have: acct_coord_table, admin_level of user_table, and accounts whose
 * users coordinate them (sacctmgr's UsersAreCoords). */

#define LEVEL_OPERATOR 2
#define LEVEL_ADMINISTRATOR 3
/* Of an account's association, from Slurm 24.11 on. */
#define FLAG_USERS_COORDINATE (INT64_C(1) << 16)

static void add(struct accounting *accounting, enum privilege_kind kind, uint32_t account,
                uint32_t user)
{
    accounting->privileges = memory_grown(accounting->privileges, accounting->privilege_count,
                                          sizeof *accounting->privileges);
    accounting->privileges[accounting->privilege_count++] =
        (struct privilege){ kind, account, user };
}

static int take_coordinator(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    (void)err;
    if (!db_value_integer(&row[2], 0))
        add(accounting, PRIVILEGE_COORDINATOR, reading_name(accounting, &row[0]),
            reading_name(accounting, &row[1]));
    return 0;
}

static int take_user(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    int64_t level = db_value_integer(&row[1], 0);
    (void)err;
    if (level >= LEVEL_OPERATOR && level <= LEVEL_ADMINISTRATOR && !db_value_integer(&row[2], 0))
        add(accounting, level == LEVEL_OPERATOR ? PRIVILEGE_OPERATOR : PRIVILEGE_ADMINISTRATOR,
            accounting->empty_name, reading_name(accounting, &row[0]));
    return 0;
}

static int take_account(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    (void)err;
    if (db_value_integer(&row[1], 0) & FLAG_USERS_COORDINATE)
        add(accounting, PRIVILEGE_USERS_COORDINATE, reading_name(accounting, &row[0]),
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
    return has & HAS_FLAGS ? slurmdbd_read(source, &slurmdbd_associations, &query, take_account,
                                           accounting, err)
                           : 0;
}

/* A login of an earlier release may read neither table: then nobody has privileges, which hides
 * more and shows nothing. */
static int read_table(const struct source *source, const struct table *table,
                      const struct query *query, row_taker take, struct accounting *accounting,
                      struct error *err)
{
    bool there;
    if (slurmdbd_probe_optional(source, table, &there, err))
        return -1;
    return there ? slurmdbd_read(source, table, query, take, accounting, err) : 0;
}

int slurmdbd_read_privileges(const struct source *source, struct accounting *accounting,
                             struct error *err)
{
    static const struct query coordinators = { .sql =
                                                   "SELECT \"acct\", \"user\", \"deleted\" FROM {}",
                                               .types = "tti" };
    static const struct query users = { .sql =
                                            "SELECT \"name\", \"admin_level\", \"deleted\" FROM {}",
                                        .types = "tii" };
    if (!source->settings->private)
        return 0;
    return read_table(source, &slurmdbd_coordinators, &coordinators, take_coordinator, accounting,
                      err) ||
                   read_table(source, &slurmdbd_users, &users, take_user, accounting, err) ||
                   read_accounts(source, accounting, err)
               ? -1
               : 0;
}
