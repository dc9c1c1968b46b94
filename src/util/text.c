/* SPDX-License-Identifier: MIT */
#include "util/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "util/memory.h"

static void text_make_room(struct text *text, size_t more)
{
    size_t wanted = text->length + more + 1;
    if (wanted <= text->room)
        return;
    text->room = wanted < 64 ? 64 : wanted + wanted / 2;
    text->bytes = memory_resized(text->bytes, text->room, 1);
}

void text_add_bytes(struct text *text, const char *bytes, size_t length)
{
    text_make_room(text, length);
    if (length)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_add(struct text *text, const char *more)
{
    text_add_bytes(text, more, strlen(more));
}

void text_format_list(struct text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    size_t room = text->room - text->length;
    int length =
        vsnprintf(text->bytes ? text->bytes + text->length : NULL, room, format, arguments);
    if (length > 0 && (size_t)length >= room) {
        text_make_room(text, (size_t)length);
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    }
    text->length += length > 0 ? (size_t)length : 0;
    va_end(again);
}

void text_format(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_format_list(text, format, arguments);
    va_end(arguments);
}

void text_add_blanks(struct text *text, size_t count)
{
    text_make_room(text, count);
    memset(text->bytes + text->length, ' ', count);
    text->length += count;
    text->bytes[text->length] = '\0';
}

void text_add_quoted(struct text *text, char quote, const char *value)
{
    text_add_bytes(text, &quote, 1);
    for (; *value; value++) {
        text_add_bytes(text, value, 1);
        text_add_bytes(text, value, *value == quote);
    }
    text_add_bytes(text, &quote, 1);
}

void text_add_identifier(struct text *text, const char *name)
{
    text_add_quoted(text, '"', name);
}

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){ 0 };
}

char *trim_blanks(char *text)
{
    text += strspn(text, " \t");
    for (size_t length = strlen(text); length && strchr(" \t", text[length - 1]);)
        text[--length] = '\0';
    return text;
}

char *ascii_lower(char *text)
{
    for (char *at = text; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at + ('a' - 'A'));
    return text;
}

char *list_next(const char **at)
{
    while (*at) {
        const char *start = *at + strspn(*at, ", \t");
        size_t length = strcspn(start, ",");
        *at = start[length] ? start + length + 1 : NULL;
        while (length && (start[length - 1] == ' ' || start[length - 1] == '\t'))
            length--;
        if (length)
            return memory_bytes(start, length);
    }
    return NULL;
}

char *list_part(char *item, char *sign, char **name)
{
    if (!sign)
        return NULL;
    *sign = '\0';
    *name = trim_blanks(item);
    return **name ? trim_blanks(sign + 1) : NULL;
}

/* Returns the code point at `bytes`.  Sets `*length` to 0 if the bytes are not valid UTF-8. */
static uint32_t text_decode(const unsigned char *bytes, size_t left, size_t *length)
{
    *length = 0;
    uint32_t first = bytes[0];
    if (first < 0x80) {
        *length = 1;
        return first;
    }
    size_t needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < needed)
        return 0;
    uint32_t point = first & (0xffu >> (needed + 1));
    for (size_t i = 1; i < needed; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (bytes[i] & 0x3fu);
    }
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (point < least[needed] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 0;
    *length = needed;
    return point;
}

/* Returns the number of leading ASCII bytes.  Most names consist of ASCII only. */
static size_t ascii_length(const char *bytes, size_t length)
{
    size_t count = 0;
    while (count < length && !(bytes[count] & 0x80))
        count++;
    return count;
}

bool utf8_valid(const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = ascii_length(bytes, length); i < length;) {
        size_t step;
        text_decode(at + i, length - i, &step);
        if (!step)
            return false;
        i += step;
    }
    return true;
}

static void add_code_point(struct text *text, uint32_t point)
{
    char bytes[3];
    size_t length = 0;
    if (point < 0x80) {
        bytes[length++] = (char)point;
    } else if (point < 0x800) {
        bytes[length++] = (char)(0xc0 | point >> 6);
        bytes[length++] = (char)(0x80 | (point & 0x3f));
    } else {
        bytes[length++] = (char)(0xe0 | point >> 12);
        bytes[length++] = (char)(0x80 | (point >> 6 & 0x3f));
        bytes[length++] = (char)(0x80 | (point & 0x3f));
    }
    text_add_bytes(text, bytes, length);
}

void text_add_as_utf8(struct text *text, const char *bytes, size_t length)
{
    if (utf8_valid(bytes, length)) {
        text_add_bytes(text, bytes, length);
        return;
    }
    /* Windows-1252 from 0x80 to 0x9f.  Its five unassigned bytes map to the control characters of
     * latin1. */
    static const uint16_t high[32] = {
        0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
        0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178,
    };
    for (size_t i = 0; i < length; i++) {
        uint32_t byte = (unsigned char)bytes[i];
        add_code_point(text, byte >= 0x80 && byte < 0xa0 ? high[byte - 0x80] : byte);
    }
}

char *utf8_copy(const char *bytes, size_t length)
{
    struct text copy = { 0 };
    text_add_as_utf8(&copy, bytes, length);
    return copy.bytes;
}

const char *utf8_copy_in(struct arena *arena, const char *bytes, size_t length)
{
    struct text copy = { 0 };
    if (utf8_valid(bytes, length))
        return arena_copy(arena, bytes, length);
    text_add_as_utf8(&copy, bytes, length);
    const char *kept = arena_copy(arena, copy.bytes, copy.length);
    text_free(&copy);
    return kept;
}

bool reads_as(const char *bytes, size_t length, const char *utf8)
{
    if (strlen(utf8) == length && !memcmp(utf8, bytes, length))
        return true;
    if (utf8_valid(bytes, length))
        return false;
    char *copy = utf8_copy(bytes, length);
    bool same = !strcmp(copy, utf8);
    free(copy);
    return same;
}

size_t utf8_length(const char *utf8)
{
    size_t length = 0;
    for (; *utf8; utf8++)
        length += (*utf8 & 0xc0) != 0x80;
    return length;
}

void utf8_drop_cut(char *utf8)
{
    size_t length = strlen(utf8), begun = 0;
    /* A character has at most three bytes after its first. */
    while (begun < length && begun < 4 && (utf8[length - begun - 1] & 0xc0) == 0x80)
        begun++;
    if (begun == length || begun == 4)
        return;
    size_t last = length - begun - 1, needed;
    text_decode((const unsigned char *)utf8 + last, begun + 1, &needed);
    if (!needed && (utf8[last] & 0x80))
        utf8[last] = '\0';
}

size_t utf8_width(const char *utf8)
{
    size_t left = strlen(utf8), width = ascii_length(utf8, left);
    utf8 += width;
    left -= width;
    while (left) {
        size_t step;
        uint32_t point = text_decode((const unsigned char *)utf8, left, &step);
        int columns = step ? wcwidth((wchar_t)point) : 1;
        width += columns < 0 ? 1 : (size_t)columns;
        step = step ? step : 1;
        utf8 += step;
        left -= step;
    }
    return width;
}

/*
 * Characters that are invisible or affect other characters: Unicode's default ignorable characters,
 * line separators and annotations.
 */
static const struct {
    uint32_t first, last;
} unseen[] = {
    { 0xad, 0xad },       { 0x34f, 0x34f },   { 0x61c, 0x61c },     { 0x115f, 0x1160 },
    { 0x17b4, 0x17b5 },   { 0x180b, 0x180f }, { 0x200b, 0x200f },   { 0x2028, 0x202e },
    { 0x2060, 0x206f },   { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
    { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
    { 0xe0000, 0xe0fff },
};

static bool text_is_seen(uint32_t point)
{
    if (point < 0x80)
        return point >= 0x20 && point != 0x7f;
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
        if (point >= unseen[i].first && point <= unseen[i].last)
            return false;
    /* A character unknown to the C library may have any effect on a terminal.  In the C locale the
     * library knows only ASCII, so its answer is not used there. */
    return point >= 0xa0 && (wcwidth((wchar_t)point) >= 0 || wcwidth(0xe9) < 0);
}

static bool is_hexadecimal(char digit)
{
    return (digit >= '0' && digit <= '9') || (digit >= 'A' && digit <= 'F');
}

/*
 * Returns the length of the first character.  Sets `*printable` to true if it may be printed
 * unchanged.
 */
static size_t next_character(const char *at, size_t left, bool *printable)
{
    size_t length;
    uint32_t point = text_decode((const unsigned char *)at, left, &length);
    bool is_escape = *at == '\\' && at[1] == 'x' && is_hexadecimal(at[2]) && is_hexadecimal(at[3]);
    *printable = length && text_is_seen(point) && !is_escape;
    return length ? length : 1;
}

/* Returns the number of leading bytes that are printed unchanged in any context. */
static size_t plain_length(const char *utf8, size_t length)
{
    size_t count = 0;
    while (count < length && utf8[count] >= ' ' && utf8[count] <= '~' && utf8[count] != '\\')
        count++;
    return count;
}

void text_add_printable(struct text *text, const char *utf8)
{
    size_t left = strlen(utf8), plain = plain_length(utf8, left), length;
    text_add_bytes(text, utf8, plain);
    for (utf8 += plain, left -= plain; left; utf8 += length, left -= length) {
        bool printable;
        length = next_character(utf8, left, &printable);
        if (printable)
            text_add_bytes(text, utf8, length);
        for (size_t i = 0; !printable && i < length; i++)
            text_format(text, "\\x%02X", (unsigned)(unsigned char)utf8[i]);
    }
}

void text_format_printable_list(struct text *text, const char *format, va_list arguments)
{
    struct text sentence = { 0 };
    size_t before = strspn(format, "\n"), after = 0, length = strlen(format);
    while (after < length - before && format[length - 1 - after] == '\n')
        after++;
    text_add(&sentence, "");
    text_format_list(&sentence, format, arguments);
    text_add_bytes(text, format, before);
    sentence.bytes[sentence.length - after] = '\0';
    text_add_printable(text, sentence.bytes + before);
    text_add_bytes(text, format + length - after, after);
    text_free(&sentence);
}

void text_format_printable(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_format_printable_list(text, format, arguments);
    va_end(arguments);
}

bool utf8_is_printable(const char *utf8)
{
    bool printable = true;
    size_t left = strlen(utf8), length = plain_length(utf8, left);
    for (utf8 += length, left -= length; left && printable; utf8 += length, left -= length)
        length = next_character(utf8, left, &printable);
    return printable;
}

/* Returns the Levenshtein distance of two short words. */
static size_t edits(const char *a, const char *b)
{
    size_t row[64];
    size_t width = strlen(b);
    if (width >= sizeof row / sizeof *row)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; *a; a++, i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t change = diagonal + (*a != b[j - 1]);
            size_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < shift ? change : shift;
        }
    }
    return row[width];
}

const char *nearest_word(const char *word, const char *const *candidates)
{
    const char *nearest = NULL;
    size_t fewest = strlen(word) / 2 + 1;
    for (; *candidates; candidates++) {
        size_t needed = edits(word, *candidates);
        if (needed <= fewest && (!nearest || needed < fewest)) {
            nearest = *candidates;
            fewest = needed;
        }
    }
    return nearest;
}
