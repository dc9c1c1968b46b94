/* SPDX-License-Identifier: MIT */
#include "import/groups.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/usage/entity.h"
#include "import/entities.h"
#include "import/lines.h"
#include "import/sched_config.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/*
 * An import has four steps.  group_read_file() reads and checks the new file.  group_compare()
 * compares each line with the stored line of the same name that is valid now.  A line is also
 * changed if its place in the file is different.  end_held() ends the stored lines that were
 * changed or removed, as of the time of the import.  add_fresh() adds the lines that are new or
 * changed.
 */

struct group_line {
    char *name, *parent; /* UTF-8 */
    int64_t cresgroup, shares;
};

struct group_list {
    struct group_line *lines;
    size_t count;
};

/* The scheduler divides a longer line into lines of this many bytes. */
#define LONGEST_LINE 255
#define TREE_ROOT "TREEROOT" /* a name of the root, also valid as a parent */
#define BLANKS " \t"         /* separators of words */

struct group_reader {
    struct group_list *list;
    struct names *names; /* names of the root, of `unknown` and of all lines so far */
};

static bool group_add_name(struct group_reader *reader, const char *name)
{
    uint32_t known = names_count(reader->names);
    return names_add(reader->names, name, strlen(name)) == known;
}

/*
 * Reads a number in the form that strtol() accepts.  Fails if the word continues after the number.
 */
static int group_read_number(const char *text, const char *what, int64_t *number, struct error *err)
{
    const char *digits = text + strspn(text, "\v\f\r");
    digits += *digits == '+' && digits[1] != '-';
    if (number_signed(digits, strlen(digits), number) && *number >= INT32_MIN &&
        *number <= INT32_MAX)
        return 0;
    return fail(err, ERROR_DATA, "invalid %s '%s': not an integer from -2147483648 to 2147483647%s",
                what, text, strchr(text, '\r') ? "; lines must end with LF, not CR LF" : "");
}

static int group_check_line(struct group_reader *reader, const struct group_line *line,
                            struct error *err)
{
    if (strcmp(line->parent, ENTITY_ROOT_NAME) != 0 &&
        names_find(reader->names, line->parent, strlen(line->parent)) == INDEX_NONE)
        return fail(err, ERROR_DATA, "parent '%s' is not in an earlier line", line->parent);
    return group_add_name(reader, line->name)
               ? 0
               : fail(err, ERROR_DATA, "duplicate name '%s'", line->name);
}

/* Splits off the first four words of a line; the scheduler ignores further words. */
static int group_split(char *text, char *words[4])
{
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, BLANKS, &rest); word && count < 4;
         word = strtok_r(NULL, BLANKS, &rest))
        words[count++] = word;
    return count;
}

static int group_take_words(struct group_reader *reader, char *text, struct error *err)
{
    char *words[4];
    const char *begin = text + strspn(text, BLANKS "\r\v\f");
    if (!*begin || *begin == '#' || *begin == '*')
        return 0;
    if (group_split(text, words) < 4)
        return fail(err, ERROR_DATA, "expected NAME NUMBER PARENT SHARES");
    struct group_line line = { words[0], words[2], 0, 0 };
    if (group_read_number(words[1], "number", &line.cresgroup, err) ||
        group_read_number(words[3], "shares", &line.shares, err) ||
        group_check_line(reader, &line, err))
        return -1;
    struct group_list *list = reader->list;
    line.name = utf8_copy(line.name, strlen(line.name));
    bool of_root = !strcmp(line.parent, TREE_ROOT);
    line.parent =
        of_root ? memory_text(ENTITY_ROOT_NAME) : utf8_copy(line.parent, strlen(line.parent));
    *memory_append(&list->lines, &list->count) = line;
    return 0;
}

static int group_take_line(void *context, char *text, struct error *err)
{
    struct group_reader *reader = context;
    size_t length = strcspn(text, "\n");
    text[length] = '\0';
    for (; length > LONGEST_LINE; text += LONGEST_LINE, length -= LONGEST_LINE) {
        char part[LONGEST_LINE + 1] = "";
        memcpy(part, text, LONGEST_LINE);
        if (group_take_words(reader, part, err))
            return -1;
    }
    return group_take_words(reader, text, err);
}

static int group_read_file(struct group_list *list, const char *path, struct error *err)
{
    struct group_reader reader = { list, names_create() };
    group_add_name(&reader, TREE_ROOT);
    group_add_name(&reader, ENTITY_UNKNOWN_NAME);
    int result = lines_read(path, false, group_take_line, &reader, err);
    names_destroy(reader.names);
    return result;
}

static void free_line(struct group_line *line)
{
    free(line->name);
    free(line->parent);
}

/*
 * A stored line that is valid now.  `listed` is true if the new file has its name, and `kept` is
 * true if the line is also unchanged.
 */
struct group_held_line {
    struct group_line line;
    int64_t place;
    bool listed, kept;
};

struct group_change {
    struct db *db;
    const char *cluster;
    struct group_list list;
    int64_t time;
    bool first; /* no line was ever stored */
    struct group_held_line *held;
    size_t held_count;
    struct names *names; /* names of the stored lines; their indexes are the same as in `held` */
};

static int read_held(struct group_change *change, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(change->cluster);
    struct db_rows *rows = db_query(change->db, sql_query_pbs_group_read, &name, 1, "ttiii", err);
    while (db_fetch(rows, &row, err) > 0) {
        struct group_held_line *held = memory_append(&change->held, &change->held_count);
        *held = (struct group_held_line){ .line = { db_value_text(&row[0]), db_value_text(&row[1]),
                                                    db_value_integer(&row[2], 0),
                                                    db_value_integer(&row[3], 0) },
                                          .place = db_value_integer(&row[4], 0) };
        names_add(change->names, held->line.name, strlen(held->line.name));
    }
    return db_finish(rows);
}

static bool group_is_same(const struct group_held_line *held, const struct group_line *line,
                          size_t place)
{
    return !strcmp(held->line.parent, line->parent) && held->line.cresgroup == line->cresgroup &&
           held->line.shares == line->shares && held->place == (int64_t)place;
}

/*
 * Sets fresh[i] for each line of the file that is new or differs from the stored line.  Returns the
 * number of lines that were changed, added or removed.
 */
static uint64_t group_compare(struct group_change *change, bool *fresh)
{
    uint64_t changed = 0;
    for (size_t i = 0; i < change->list.count; i++) {
        const struct group_line *line = &change->list.lines[i];
        uint32_t at = names_find(change->names, line->name, strlen(line->name));
        struct group_held_line *held = at == INDEX_NONE ? NULL : &change->held[at];
        fresh[i] = !held || !group_is_same(held, line, i);
        if (held) {
            held->listed = true;
            held->kept = !fresh[i];
        }
        changed += fresh[i];
    }
    for (size_t i = 0; i < change->held_count; i++)
        changed += !change->held[i].listed;
    return changed;
}

static int end_held(const struct group_change *change, struct error *err)
{
    for (size_t i = 0; i < change->held_count; i++) {
        const struct group_held_line *held = &change->held[i];
        const struct db_value arguments[] = { db_integer(change->time), db_text(change->cluster),
                                              db_text(held->line.name) };
        if (!held->kept && db_execute(change->db, sql_query_pbs_group_end, arguments, 3, NULL, err))
            return -1;
    }
    return 0;
}

static int add_fresh(const struct group_change *change, const bool *fresh, struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = change->db, .table = "pbs_group" };
    for (size_t i = 0; i < change->list.count && !result; i++) {
        const struct group_line *line = &change->list.lines[i];
        const struct row_field fields[] = {
            { "cluster", 't', db_text(change->cluster) },
            { "name", 't', db_text(line->name) },
            { "since", 'i', db_integer(change->first ? 0 : change->time) },
            { "until", 'i', db_integer(0) },
            { "parent", 't', db_text(line->parent) },
            { "cresgroup", 'i', db_integer(line->cresgroup) },
            { "shares", 'i', db_integer(line->shares) },
            { "place", 'i', db_integer((int64_t)i) },
        };
        if (fresh[i])
            result = rows_add(&rows, fields, COUNT(fields), err);
    }
    return rows_end(&rows, result, err);
}

static int store_entities(const struct group_change *change, struct error *err)
{
    struct entities *entities = entities_read(change->db, change->cluster, err);
    if (!entities)
        return -1;
    for (size_t i = 0; i < change->list.count; i++) {
        const struct group_line *line = &change->list.lines[i];
        entities_number(entities, line->name, line->cresgroup, change->first ? 0 : change->time);
    }
    int result = entities_store(entities, err);
    entities_destroy(entities);
    return result;
}

static int store_changes(struct group_change *change, uint64_t *changed, struct error *err)
{
    int64_t last = -1;
    struct db_value name = db_text(change->cluster);
    int found = rows_read_integer(change->db, sql_query_pbs_group_last, &name, 1, &last, err);
    if (found < 0 || read_held(change, err))
        return -1;
    change->first = !found;
    bool *fresh = memory_zeroed(change->list.count, sizeof *fresh);
    *changed = group_compare(change, fresh);
    int result = 0;
    if (*changed)
        /* An earlier change would restore lines that the last change removed. */
        result = dated_check("resource_group", last, change->time, err) || end_held(change, err) ||
                         add_fresh(change, fresh, err) || store_entities(change, err)
                     ? -1
                     : 0;
    free(fresh);
    return result;
}

int groups_import(struct db *db, const char *cluster, const char *path, int64_t time,
                  uint64_t *changed, struct error *err)
{
    struct group_change change = {
        .db = db, .cluster = cluster, .time = time, .names = names_create()
    };
    int result = group_read_file(&change.list, path, err);
    if (!result) {
        result = db_begin(db, err) ? -1 : store_changes(&change, changed, err);
        result = rows_commit(db, result, err);
    }
    for (size_t i = 0; i < change.list.count; i++)
        free_line(&change.list.lines[i]);
    for (size_t i = 0; i < change.held_count; i++)
        free_line(&change.held[i].line);
    free(change.list.lines);
    free(change.held);
    names_destroy(change.names);
    return result;
}
