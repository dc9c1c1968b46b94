/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/release.h"
#include "core/tree/tree.h"
#include "results/publication.h"
#include "results/rows.h"
#include "source/layout.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Writes fairmill_privilege.  The table has, for each user, the names of the accounts whose users'
 * values they may see, or "" for all accounts.
 */

struct privilege_row {
    char *user, *account;
    const char *privilege;
};
struct privilege_rows {
    struct privilege_row *rows;
    size_t count;
};

static char *privilege_name_of(const struct publication *publication, uint32_t name)
{
    const char *bytes = names_text(publication->names, name);
    return utf8_copy(bytes, names_length(publication->names, name));
}

static void privilege_add(struct privilege_rows *rows, const struct publication *publication,
                          uint32_t user, uint32_t account, const char *privilege)
{
    *memory_append(&rows->rows, &rows->count) =
        (struct privilege_row){ privilege_name_of(publication, user),
                                privilege_name_of(publication, account), privilege };
}

/*
 * Adds an account and all accounts below it.  This needs one scan, because a node comes after its
 * parent.
 */
static void privilege_add_accounts(struct privilege_rows *rows,
                                   const struct publication *publication, uint32_t user,
                                   uint32_t account)
{
    const struct tree *tree = publication->tree;
    bool *inside = memory_zeroed(tree->count + 1, sizeof *inside);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        inside[i] = !node->is_user && (node->account == account || (i && inside[node->parent]));
        if (inside[i])
            privilege_add(rows, publication, user, node->account, "coordinator");
    }
    free(inside);
}

/*
 * Adds all users of an account as its coordinators.  In earlier Slurm releases, users of the
 * accounts below this account also coordinate their own account.
 */
static void privilege_add_users(struct privilege_rows *rows, const struct publication *publication,
                                uint32_t account)
{
    const struct tree *tree = publication->tree;
    bool only_direct = release_follows(publication->release, RULE_DIRECT_USERS_COORDINATE);
    bool *inside = memory_zeroed(tree->count + 1, sizeof *inside);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        bool passed_on = node->is_user || !only_direct;
        inside[i] = (i && passed_on && inside[node->parent]) ||
                    (!node->is_user && node->account == account);
        if (inside[i] && node->is_user)
            privilege_add_accounts(rows, publication, node->user, node->account);
    }
    free(inside);
}

static int privilege_by_key(const void *a, const void *b)
{
    const struct privilege_row *one = a, *other = b;
    int order = strcmp(one->user, other->user);
    return order ? order : strcmp(one->account, other->account);
}

static void sort(struct privilege_rows *rows)
{
    size_t kept = 0;
    if (rows->count)
        qsort(rows->rows, rows->count, sizeof *rows->rows, privilege_by_key);
    for (size_t i = 0; i < rows->count; i++) {
        if (!kept || privilege_by_key(&rows->rows[kept - 1], &rows->rows[i])) {
            rows->rows[kept++] = rows->rows[i];
            continue;
        }
        free(rows->rows[i].user);
        free(rows->rows[i].account);
    }
    rows->count = kept;
}

static struct privilege_rows wanted_rows(const struct publication *publication)
{
    struct privilege_rows rows = { 0 };
    for (size_t i = 0; i < publication->privilege_count; i++) {
        const struct privilege *each = &publication->privileges[i];
        switch (each->kind) {
        case PRIVILEGE_COORDINATOR:
            privilege_add_accounts(&rows, publication, each->user, each->account);
            break;
        case PRIVILEGE_USERS_COORDINATE:
            privilege_add_users(&rows, publication, each->account);
            break;
        case PRIVILEGE_OPERATOR:
            privilege_add(&rows, publication, each->user, each->account, "operator");
            break;
        case PRIVILEGE_ADMINISTRATOR:
            privilege_add(&rows, publication, each->user, each->account, "administrator");
            break;
        }
    }
    sort(&rows);
    return rows;
}

static void rows_free(struct privilege_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->rows[i].user);
        free(rows->rows[i].account);
    }
    free(rows->rows);
}

/* Returns 1 if exactly these rows are stored, 0 if not, and -1 on error. */
static int are_there(const struct publisher *publisher, const struct privilege_rows *wanted,
                     struct error *err)
{
    const struct db_value *row, cluster = db_text(publisher->cluster);
    struct db_rows *read =
        db_query(publisher->db, sql_query_privilege_read, &cluster, 1, "ttt", err);
    size_t count = 0, same = 0;
    while (db_fetch(read, &row, err) > 0) {
        char *names[] = { db_value_text(&row[0]), db_value_text(&row[1]), db_value_text(&row[2]) };
        const struct privilege_row key = { names[0], names[1], names[2] };
        const struct privilege_row *found =
            wanted->count ? bsearch(&key, wanted->rows, wanted->count, sizeof key, privilege_by_key)
                          : NULL;
        same += found && !strcmp(found->privilege, names[2]);
        count++;
        for (size_t i = 0; i < COUNT(names); i++)
            free(names[i]);
    }
    return db_finish(read) ? -1 : count == wanted->count && same == count;
}

static int write_rows(const struct publisher *publisher, const struct privilege_rows *wanted,
                      struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    if (db_execute(publisher->db, sql_query_privilege_clear, &cluster, 1, NULL, err))
        return -1;
    struct row_writer writer = { .db = publisher->db, .table = "fairmill_privilege", .keys = 3 };
    for (size_t i = 0; i < wanted->count; i++) {
        const struct privilege_row *each = &wanted->rows[i];
        struct row_field row[] = {
            { "cluster", 't', cluster },
            { "user_name", 't', db_text(each->user) },
            { "account", 't', db_text(each->account) },
            { "privilege", 't', db_text(each->privilege) },
        };
        rows_add(&writer, row, COUNT(row), err);
    }
    return rows_end(&writer, 0, err);
}

int privilege_rows_write(const struct publisher *publisher, const struct publication *publication,
                         struct error *err)
{
    struct privilege_rows wanted = wanted_rows(publication);
    int result = are_there(publisher, &wanted, err);
    if (!result)
        result = write_rows(publisher, &wanted, err);
    rows_free(&wanted);
    return result < 0 ? -1 : 0;
}
