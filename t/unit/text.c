/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <locale.h>

#include "util/index.h"
#include "util/text.h"

static bool valid(const char *text)
{
    return utf8_valid(text, strlen(text));
}

static void converts(const char *bytes, const char *expected, const char *statement)
{
    struct text text = { 0 };
    text_add_as_utf8(&text, bytes, strlen(bytes));
    is_string(text.bytes, expected, statement);
    text_free(&text);
}

static void prints(const char *utf8, const char *expected, const char *statement)
{
    struct text text = { 0 };
    text_add_printable(&text, utf8);
    is_string(text.bytes, expected, statement);
    text_free(&text);
}

static void cut(const char *text, const char *expected, const char *statement)
{
    char copy[32];
    snprintf(copy, sizeof copy, "%s", text);
    utf8_drop_cut(copy);
    is_string(copy, expected, statement);
}

static void unseen(void)
{
    prints("a\x1b[31mb\nc", "a\\x1B[31mb\\x0Ac", "control characters in names are escaped");
    prints("\xc2\x9b"
           "31m\x7f",
           "\\xC2\\x9B31m\\x7F", "control characters beyond ASCII are escaped");
    prints("a\xe2\x80\xae"
           "b",
           "a\\xE2\\x80\\xAEb", "characters that change the writing direction are escaped");
    prints("a\xe2\x80\x8b\xf3\xa0\x81\x81", "a\\xE2\\x80\\x8B\\xF3\\xA0\\x81\\x81",
           "invisible characters are escaped");
    prints("\xef\xbf\xbe", "\\xEF\\xBF\\xBE", "noncharacters are escaped");
    prints("caf\xe9", "caf\\xE9", "bytes that are not UTF-8 are escaped");
    prints("\xc3\xa9\xf0\x9f\x90\xa7", "\xc3\xa9\xf0\x9f\x90\xa7", "letters are unchanged");
    prints("", "", "an empty text is unchanged");
    prints("a\\x1B", "a\\x5Cx1B", "a text that looks like an escape is escaped");
    prints("CORP\\xaver \\x1 \\X1B", "CORP\\xaver \\x1 \\X1B", "other backslashes are unchanged");
    ok(utf8_is_printable("") && utf8_is_printable("h\xc3\xa9!\\") && !utf8_is_printable("a\n") &&
           !utf8_is_printable("\xe9") && !utf8_is_printable("\xe2\x80\xae"),
       "a text is printable if escaping does not change it");

    ok(reads_as("caf\xc3\xa9", strlen("caf\xc3\xa9"), "caf\xc3\xa9") &&
           reads_as("caf\xe9", strlen("caf\xe9"), "caf\xc3\xa9") &&
           !reads_as("cafe", strlen("cafe"), "caf\xc3\xa9") && reads_as("", strlen(""), ""),
       "bytes match a name if they read as the name");
    is_int((int64_t)utf8_length("h\xc3\xa9\xf0\x9f\x90\xa7"), 3,
           "each character counts as one, whatever its bytes");
    cut("abc", "abc", "a complete text is unchanged");
    cut("ab\xe6\x97\xa5", "ab\xe6\x97\xa5", "a text that ends in a long character is unchanged");
    cut("ab\xe6\x97", "ab", "an incomplete character at the end is removed");
    cut("ab\xf0\x9f\x90", "ab", "an incomplete character of three bytes is removed");
    cut("ab\xc3", "ab", "an incomplete character of one byte is removed");
    cut("", "", "an empty text remains empty");
}

static void look_ups(void)
{
    struct id_index *index = id_index_create();
    bool stored = true;
    for (uint32_t i = 0; i < 5000; i++)
        stored &= id_index_add(index, (uint64_t)i * i * 977, i) == INDEX_NONE;
    for (uint32_t i = 0; i < 5000; i++)
        stored &= id_index_find(index, (uint64_t)i * i * 977) == i;
    ok(stored, "every id is found, small or large");
    ok(id_index_find(index, 1) == INDEX_NONE && id_index_find(index, UINT64_MAX) == INDEX_NONE,
       "an unknown id is not found");
    is_int(id_index_add(index, 977, 77), 1, "an existing id keeps its number");
    id_index_destroy(index);

    struct names *names = names_create();
    bool numbered = true;
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 3000; i++) {
            char name[16];
            int length = snprintf(name, sizeof name, "n%u", i);
            numbered &= names_add(names, name, (size_t)length) == i;
            numbered &= !strcmp(names_text(names, i), name);
        }
    ok(numbered && names_count(names) == 3000, "a name keeps its number");
    ok(names_add(names, "N1", 2) == 3000, "names are compared by bytes, with case");
    ok(names_find(names, "n7", 2) == 7 && names_find(names, "n7", 1) == INDEX_NONE,
       "a lookup does not add a name");
    ok(names_add(names, "n1\0x", 4) == 3001 && names_length(names, 3001) == 4 &&
           names_length(names, 1) == 2,
       "bytes after a NUL belong to the name");
    names_destroy(names);
    names = names_create();
    ok(names_find(names, "", 0) == INDEX_NONE, "an empty list of names contains no empty name");
    names_destroy(names);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    ok(valid("") && valid("abc") && valid("\xc3\xa9") && valid("\xf0\x9f\x90\xa7"),
       "well-formed UTF-8 is valid");
    ok(!valid("\xe9") && !valid("\xc3") && !valid("\xc0\xaf") && !valid("\xed\xa0\x80") &&
           !valid("\xf5\x80\x80\x80") && !valid("\x80"),
       "lone bytes, overlong forms and surrogates are invalid");
    converts("caf\xc3\xa9", "caf\xc3\xa9", "UTF-8 is not converted");
    converts("caf\xe9", "caf\xc3\xa9", "text that is not UTF-8 is read as Latin-1");
    converts("\x80 \x93x\x94", "\xe2\x82\xac \xe2\x80\x9cx\xe2\x80\x9d",
             "Latin-1 includes the euro sign and quotes of Windows-1252");
    unseen();
    is_int((int64_t)utf8_width("h\xc3\xa9!"), 3, "a letter is one column wide, whatever its bytes");
    is_int((int64_t)utf8_width("\xe6\x97\xa5"), 2, "an ideograph is two columns wide");

    struct text quoted = { 0 };
    text_add_identifier(&quoted, "a\"b");
    is_string(quoted.bytes, "\"a\"\"b\"", "a quote in an identifier is doubled");
    text_free(&quoted);

    const char *const words[] = { "half_life", "host", "reset_period", NULL };
    is_string(nearest_word("halflife", words), "half_life",
              "a word with a missing letter is found");
    is_string(nearest_word("hots", words), "host", "a word with swapped letters is found");
    is_string(nearest_word("zzzzzz", words), NULL, "a word without a similar one finds none");
    look_ups();
    return done_testing();
}
