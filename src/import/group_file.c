/* SPDX-License-Identifier: MIT */
#include "import/group_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/usage/entity.h"
#include "import/lines.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

#define LONGEST_LINE 255 /* the scheduler cuts what is longer */
#define UNKNOWN_NUMBER 1

struct group_reader {
    struct group_list *list;
    struct names *names;      /* of root, unknown and every line so far */
    struct id_index *numbers; /* theirs */
};

static bool add_name(struct group_reader *reader, const char *name)
{
    uint32_t known = names_count(reader->names);
    return names_add(reader->names, name, strlen(name)) == known;
}

static int read_number(const char *text, const char *what, int64_t *number, struct error *err)
{
    if (number_signed(text, strlen(text), number) && *number >= 0 && *number <= INT32_MAX)
        return 0;
    return fail(err, ERROR_DATA, "its %s '%s' is no number from 0 to 2147483647", what, text);
}

static int check_line(struct group_reader *reader, const struct group_line *line, struct error *err)
{
    if (strcmp(line->parent, ENTITY_ROOT_NAME) != 0 &&
        names_find(reader->names, line->parent, strlen(line->parent)) == INDEX_NONE)
        return fail(err, ERROR_DATA, "its parent '%s' is not there above it", line->parent);
    if (!add_name(reader, line->name))
        return fail(err, ERROR_DATA, "'%s' is there already", line->name);
    if (id_index_add(reader->numbers, (uint64_t)line->cresgroup, 0) != INDEX_NONE)
        return fail(err, ERROR_DATA, "another one has its number %lld", (long long)line->cresgroup);
    return 0;
}

/* The words of a line; how many, 5 where there are more than four. */
static int split(char *text, char *words[4])
{
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (count == 4)
            return 5;
        words[count++] = word;
    }
    return count;
}

static int take_line(void *context, char *text, struct error *err)
{
    struct group_reader *reader = context;
    char *words[4];
    if (strlen(text) > LONGEST_LINE)
        return fail(err, ERROR_DATA, "it has more than %d characters", LONGEST_LINE);
    text[strcspn(text, "#")] = '\0';
    int count = split(text, words);
    if (!count)
        return 0;
    if (count != 4)
        return fail(err, ERROR_DATA, "it is no NAME NUMBER PARENT SHARES");
    struct group_line line = { words[0], words[2], 0, 0 };
    if (read_number(words[1], "number", &line.cresgroup, err) ||
        read_number(words[3], "shares", &line.shares, err) || check_line(reader, &line, err))
        return -1;
    struct group_list *list = reader->list;
    list->lines = memory_grown(list->lines, list->count, sizeof *list->lines);
    line.name = utf8_copy(line.name, strlen(line.name));
    line.parent = utf8_copy(line.parent, strlen(line.parent));
    list->lines[list->count++] = line;
    return 0;
}

int group_file_read(struct group_list *list, const char *path, struct error *err)
{
    *list = (struct group_list){ 0 };
    struct group_reader reader = { list, names_create(), id_index_create() };
    add_name(&reader, ENTITY_ROOT_NAME);
    add_name(&reader, ENTITY_UNKNOWN_NAME);
    id_index_add(reader.numbers, 0, 0);
    id_index_add(reader.numbers, UNKNOWN_NUMBER, 0);
    int result = lines_read(path, false, take_line, &reader, err);
    names_destroy(reader.names);
    id_index_destroy(reader.numbers);
    if (result)
        group_list_free(list);
    return result;
}

void group_list_free(struct group_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->lines[i].name);
        free(list->lines[i].parent);
    }
    free(list->lines);
    *list = (struct group_list){ 0 };
}
