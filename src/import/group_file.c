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

#define LONGEST_LINE 255     /* the scheduler reads the rest of a longer line as another line */
#define TREE_ROOT "TREEROOT" /* the root's own name, which a parent may have, too */
#define BLANKS " \t"         /* between words */

struct group_reader {
    struct group_list *list;
    struct names *names; /* of the root, unknown and every line so far */
};

static bool add_name(struct group_reader *reader, const char *name)
{
    uint32_t known = names_count(reader->names);
    return names_add(reader->names, name, strlen(name)) == known;
}

/* As strtol() reads it, to the end of the word. */
static int read_number(const char *text, const char *what, int64_t *number, struct error *err)
{
    const char *digits = text + strspn(text, "\v\f\r");
    digits += *digits == '+' && digits[1] != '-';
    if (number_signed(digits, strlen(digits), number) && *number >= INT32_MIN &&
        *number <= INT32_MAX)
        return 0;
    return fail(err, ERROR_DATA, "its %s '%s' is no number from -2147483648 to 2147483647%s", what,
                text, strchr(text, '\r') ? "; lines must end with LF, not with CR LF" : "");
}

static int check_line(struct group_reader *reader, const struct group_line *line, struct error *err)
{
    if (strcmp(line->parent, ENTITY_ROOT_NAME) != 0 &&
        names_find(reader->names, line->parent, strlen(line->parent)) == INDEX_NONE)
        return fail(err, ERROR_DATA, "no line above has its parent '%s'", line->parent);
    return add_name(reader, line->name)
               ? 0
               : fail(err, ERROR_DATA, "'%s' has a line already", line->name);
}

/* The first four words of a line; the scheduler ignores the rest. */
static int split(char *text, char *words[4])
{
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, BLANKS, &rest); word && count < 4;
         word = strtok_r(NULL, BLANKS, &rest))
        words[count++] = word;
    return count;
}

static int take_words(struct group_reader *reader, char *text, struct error *err)
{
    char *words[4];
    const char *begin = text + strspn(text, BLANKS "\r\v\f");
    if (!*begin || *begin == '#' || *begin == '*')
        return 0;
    if (split(text, words) < 4)
        return fail(err, ERROR_DATA, "it is no NAME NUMBER PARENT SHARES");
    struct group_line line = { words[0], words[2], 0, 0 };
    if (read_number(words[1], "number", &line.cresgroup, err) ||
        read_number(words[3], "shares", &line.shares, err) || check_line(reader, &line, err))
        return -1;
    struct group_list *list = reader->list;
    list->lines = memory_grown(list->lines, list->count, sizeof *list->lines);
    line.name = utf8_copy(line.name, strlen(line.name));
    bool of_root = !strcmp(line.parent, TREE_ROOT);
    line.parent =
        of_root ? memory_text(ENTITY_ROOT_NAME) : utf8_copy(line.parent, strlen(line.parent));
    list->lines[list->count++] = line;
    return 0;
}

static int take_line(void *context, char *text, struct error *err)
{
    struct group_reader *reader = context;
    size_t length = strcspn(text, "\n");
    text[length] = '\0';
    for (; length > LONGEST_LINE; text += LONGEST_LINE, length -= LONGEST_LINE) {
        char part[LONGEST_LINE + 1] = "";
        memcpy(part, text, LONGEST_LINE);
        if (take_words(reader, part, err))
            return -1;
    }
    return take_words(reader, text, err);
}

int group_file_read(struct group_list *list, const char *path, struct error *err)
{
    *list = (struct group_list){ 0 };
    struct group_reader reader = { list, names_create() };
    add_name(&reader, TREE_ROOT);
    add_name(&reader, ENTITY_UNKNOWN_NAME);
    int result = lines_read(path, false, take_line, &reader, err);
    names_destroy(reader.names);
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
