/* SPDX-License-Identifier: MIT */
#include "import/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/text.h"

#define BLANKS " \t\r\n\v\f"

/*
 * Removes a backslash at the end of a line, together with the white space after it.  Returns false
 * if the line does not end with a backslash.
 */
static bool cut_backslash(struct text *line)
{
    size_t length = line->length;
    while (length && strchr(BLANKS, line->bytes[length - 1]))
        length--;
    if (!length || line->bytes[length - 1] != '\\')
        return false;
    line->length = length - 1;
    line->bytes[line->length] = '\0';
    return true;
}

struct line_reader {
    FILE *file;
    bool continued;
    text_line_taker *take;
    void *context;
    unsigned number;
    struct text line;
};

static int line_take_lines(struct line_reader *reader, char **read, size_t *room, struct error *err)
{
    for (ssize_t length; (length = getline(read, room, reader->file)) >= 0;) {
        reader->number++;
        if (memchr(*read, '\0', (size_t)length))
            return fail(err, ERROR_DATA, "the line contains a NUL byte");
        text_add_bytes(&reader->line, *read, (size_t)length);
        if (reader->continued && cut_backslash(&reader->line))
            continue;
        if (reader->take(reader->context, reader->line.bytes, err))
            return -1;
        reader->line.length = 0;
    }
    /* The last line of the file ended with a backslash. */
    return reader->line.length ? reader->take(reader->context, reader->line.bytes, err) : 0;
}

int lines_read(const char *path, bool continued, text_line_taker *take, void *context,
               struct error *err)
{
    struct line_reader reader = { .continued = continued, .take = take, .context = context };
    reader.file = fopen(path, "r");
    if (!reader.file)
        return fail(err, ERROR_DATA, "cannot open '%s': %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    int result = line_take_lines(&reader, &line, &room, err);
    if (result)
        fail_in(err, "'%s', line %u", path, reader.number);
    else if (ferror(reader.file))
        result = fail(err, ERROR_DATA, "cannot read '%s': %s", path, strerror(errno));
    free(line);
    text_free(&reader.line);
    fclose(reader.file);
    return result;
}
