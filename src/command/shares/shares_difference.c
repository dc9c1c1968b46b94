/* SPDX-License-Identifier: MIT */
#include "command/shares/shares_difference.h"

#include <stdlib.h>
#include <string.h>

#include "report/table.h"
#include "util/memory.h"

static void add(struct share_differences *differences, enum share_difference_kind kind,
                const struct share_entry *file, const struct share_entry *database)
{
    differences->rows =
        memory_grown(differences->rows, differences->count, sizeof *differences->rows);
    differences->rows[differences->count++] = (struct share_difference){ kind, file, database };
}

static void compare(struct share_differences *differences, const struct share_entry *file)
{
    const struct share_entry *database =
        share_set_find(differences->database, file->account, file->user, file->partition);
    if (!database) {
        add(differences, DIFFERS_ONLY_IN_FILE, file, NULL);
        return;
    }
    if (!*file->user && strcmp(file->parent, database->parent) != 0)
        add(differences, DIFFERS_IN_PARENT, file, database);
    if (file->says_shares && file->shares != database->shares)
        add(differences, DIFFERS_IN_SHARES, file, database);
}

static bool makes_itself(const struct share_set *list, const struct share_entry *entry)
{
    return !strcmp(entry->account, list->entries[0].account) && !*entry->partition &&
           !strcmp(entry->user, "root");
}

struct share_differences share_differences_find(const struct share_set *file,
                                                const struct share_set *database)
{
    struct share_differences differences = { file, database, NULL, 0 };
    for (size_t i = 0; i < file->count; i++)
        compare(&differences, &file->entries[i]);
    for (size_t i = 0; i < database->count; i++) {
        const struct share_entry *entry = &database->entries[i];
        if (!share_set_find(file, entry->account, entry->user, entry->partition) &&
            !makes_itself(database, entry))
            add(&differences, DIFFERS_ONLY_IN_DATABASE, NULL, entry);
    }
    return differences;
}

void share_differences_free(struct share_differences *differences)
{
    free(differences->rows);
    *differences = (struct share_differences){ 0 };
}

static const struct share_entry *entry_of(const struct share_difference *row)
{
    return row->file ? row->file : row->database;
}

enum { GET_ACCOUNT, GET_USER, GET_PARTITION };

static void get_name(const void *row, struct cell *cell)
{
    const struct share_entry *entry = entry_of(row);
    const char *name = cell->column->index == GET_ACCOUNT ? entry->account
                       : cell->column->index == GET_USER  ? entry->user
                                                          : entry->partition;
    cell_text(cell, name);
}

const char *share_difference_word(const struct share_difference *difference)
{
    static const char *const words[] = {
        [DIFFERS_ONLY_IN_FILE] = "only in the file",
        [DIFFERS_ONLY_IN_DATABASE] = "only in the database",
        [DIFFERS_IN_PARENT] = "parent",
        [DIFFERS_IN_SHARES] = "shares",
    };
    return words[difference->kind];
}

static void get_difference(const void *row, struct cell *cell)
{
    cell_text(cell, share_difference_word(row));
}

/* The parent or the shares of one side. */
static void get_side(const struct share_difference *row, const struct share_entry *entry,
                     struct cell *cell)
{
    struct text shares = { 0 };
    if (!entry)
        return;
    if (row->kind == DIFFERS_IN_PARENT) {
        cell_text(cell, entry->parent);
        return;
    }
    share_add(&shares, entry->shares);
    cell_format(cell, "%s", shares.bytes);
    text_free(&shares);
}

static void get_file(const void *row, struct cell *cell)
{
    const struct share_difference *difference = row;
    get_side(difference, difference->file, cell);
}

static void get_database(const void *row, struct cell *cell)
{
    const struct share_difference *difference = row;
    get_side(difference, difference->database, cell);
}

static void get_line(const void *row, struct cell *cell)
{
    const struct share_difference *difference = row;
    if (difference->file)
        cell_integer(cell, difference->file->line);
}

static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "account", "Account", COLUMN_TEXT, .get = get_name, .index = GET_ACCOUNT },
    { "username", "User", COLUMN_TEXT, .get = get_name, .index = GET_USER },
    { "partition", "Partition", COLUMN_TEXT, .get = get_name, .index = GET_PARTITION,
      .optional = true },
    { "difference", "Difference", COLUMN_TEXT, .get = get_difference },
    { "file", "File", COLUMN_TEXT, .get = get_file, .right = true },
    { "database", "Database", COLUMN_TEXT, .get = get_database, .right = true },
    { "line", "Line", COLUMN_INTEGER, .get = get_line, .expendable = 1 },
    { .name = NULL },
};

const struct table_layout share_differences_layout = { columns, "differences", .by_cluster = true };

void share_differences_print(const struct share_differences *differences, struct table *table)
{
    table_open(table, &(struct table_cluster){ .name = differences->database->cluster });
    for (size_t i = 0; i < differences->count; i++)
        table_add(table, &differences->rows[i]);
    table_close(table);
}
