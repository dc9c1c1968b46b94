/* SPDX-License-Identifier: MIT */
#include "command/setup/script.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

struct script script_create(void)
{
    return (struct script){ .arena = arena_create() };
}

void script_free(struct script *script)
{
    text_free(&script->findings);
    free(script->facts);
    arena_destroy(script->arena);
}

void script_set(struct script *script, const char *name, const char *value)
{
    struct script_fact *fact = NULL;
    for (size_t i = 0; !fact && i < script->fact_count; i++)
        if (!strcmp(script->facts[i].name, name))
            fact = &script->facts[i];
    if (!fact)
        fact = memory_append(&script->facts, &script->fact_count);
    fact->name = name;
    fact->value = value ? arena_copy(script->arena, value, strlen(value)) : "";
}

const char *script_fact(const struct script *script, const char *name)
{
    for (size_t i = 0; i < script->fact_count; i++)
        if (!strcmp(script->facts[i].name, name))
            return script->facts[i].value;
    return "";
}

void script_note(struct script *script, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_add(&script->findings, "#   ");
    text_format_printable_list(&script->findings, format, arguments);
    text_add(&script->findings, "\n");
    va_end(arguments);
}

/* Appends a word that the shell does not interpret. */
static void script_add_word(struct text *text, const char *value)
{
    text_add(text, "'");
    for (; *value; value++)
        if (*value == '\'')
            text_add(text, "'\\''");
        else
            text_add_bytes(text, value, 1);
    text_add(text, "'");
}

static void script_add_line(struct text *text, const struct script *script, const char *line)
{
    const char *at;
    while ((at = strchr(line, '@'))) {
        size_t length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
        text_add_bytes(text, line, (size_t)(at - line));
        line = at + 1;
        if (length && at[1 + length] == '@') {
            char *name = memory_bytes(at + 1, length);
            script_add_word(text, script_fact(script, name));
            free(name);
            line += length + 1;
        } else {
            text_add(text, "@");
        }
    }
    text_add(text, line);
    text_add(text, "\n");
}

/* Returns true if a condition, `NAME` or `NAME=VALUE`, holds.  Modifies it. */
static bool script_condition(const struct script *script, char *condition)
{
    char *equals = strchr(condition, '=');
    if (equals)
        *equals++ = '\0';
    const char *value = script_fact(script, condition);
    return equals ? !strcmp(value, equals) : *value;
}

/* The blocks that enclose a line. */
struct script_blocks {
    unsigned depth;
    unsigned omitted_at; /* depth of the outermost block that is omitted, or 0 */
};

/* Returns true if the line opens or closes a block. */
static bool script_block(struct script_blocks *blocks, const struct script *script, char *line)
{
    bool is_unless = !strncmp(line, "#@unless ", 9),
         opens = is_unless || !strncmp(line, "#@if ", 5);
    if (!opens && strcmp(line, "#@end") != 0)
        return false;
    if (!opens) {
        if (blocks->omitted_at == blocks->depth)
            blocks->omitted_at = 0;
        blocks->depth--;
        return true;
    }
    blocks->depth++;
    if (!blocks->omitted_at && script_condition(script, strchr(line, ' ') + 1) == is_unless)
        blocks->omitted_at = blocks->depth;
    return true;
}

void script_add(struct text *text, const struct script *script, const char *template)
{
    struct script_blocks blocks = { 0, 0 };
    for (const char *end; *template; template = end + 1) {
        end = template + strcspn(template, "\n");
        char *line = memory_bytes(template, (size_t)(end - template));
        bool is_text = !script_block(&blocks, script, line) && !blocks.omitted_at;
        if (is_text && !strcmp(line, "#@findings"))
            text_add(text, script->findings.bytes ? script->findings.bytes : "");
        else if (is_text)
            script_add_line(text, script, line);
        free(line);
        if (!*end)
            return;
    }
}
