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
    prints("a\x1b[31mb\nc", "a\\x1B[31mb\\x0Ac", "no name can move the cursor");
    prints("\xc2\x9b"
           "31m\x7f",
           "\\xC2\\x9B31m\\x7F", "nor with the control characters beyond ASCII");
    prints("a\xe2\x80\xae"
           "b",
           "a\\xE2\\x80\\xAEb", "or turn the direction of writing");
    prints("a\xe2\x80\x8b\xf3\xa0\x81\x81", "a\\xE2\\x80\\x8B\\xF3\\xA0\\x81\\x81",
           "what is not seen is made visible");
    prints("\xef\xbf\xbe", "\\xEF\\xBF\\xBE", "so is what is no character");
    prints("caf\xe9", "caf\\xE9", "and what is no UTF-8");
    prints("\xc3\xa9\xf0\x9f\x90\xa7", "\xc3\xa9\xf0\x9f\x90\xa7", "letters stay letters");
    prints("", "", "nothing stays nothing");
    prints("a\\x1B", "a\\x5Cx1B", "what looks like such an escape is one");
    prints("CORP\\xaver \\x1 \\X1B", "CORP\\xaver \\x1 \\X1B", "any other backslash is itself");
    ok(utf8_is_printable("") && utf8_is_printable("h\xc3\xa9!\\") && !utf8_is_printable("a\n") &&
           !utf8_is_printable("\xe9") && !utf8_is_printable("\xe2\x80\xae"),
       "a text is printable where that changes nothing");

    ok(reads_as("caf\xc3\xa9", strlen("caf\xc3\xa9"), "caf\xc3\xa9") &&
           reads_as("caf\xe9", strlen("caf\xe9"), "caf\xc3\xa9") &&
           !reads_as("cafe", strlen("cafe"), "caf\xc3\xa9") && reads_as("", strlen(""), ""),
       "bytes are a name if that is what readers see of them");
    is_int((int64_t)utf8_length("h\xc3\xa9\xf0\x9f\x90\xa7"), 3,
           "a character is one of any length");
    cut("abc", "abc", "what was not cut stays");
    cut("ab\xe6\x97\xa5", "ab\xe6\x97\xa5", "also where it ends in a long character");
    cut("ab\xe6\x97", "ab", "a character that was cut goes");
    cut("ab\xf0\x9f\x90", "ab", "whatever is left of it");
    cut("ab\xc3", "ab", "or only its first byte");
    cut("", "", "of nothing nothing goes");
}

static void look_ups(void)
{
    struct id_index *index = id_index_create();
    bool stored = true;
    for (uint32_t i = 0; i < 5000; i++)
        stored &= id_index_add(index, (uint64_t)i * i * 977, i) == INDEX_NONE;
    for (uint32_t i = 0; i < 5000; i++)
        stored &= id_index_find(index, (uint64_t)i * i * 977) == i;
    ok(stored, "every id is found again, be they small or large");
    ok(id_index_find(index, 1) == INDEX_NONE && id_index_find(index, UINT64_MAX) == INDEX_NONE,
       "an id that is not there is not found");
    is_int(id_index_add(index, 977, 77), 1, "an id that is there keeps its place");
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
    ok(numbered && names_count(names) == 3000, "a name has one number for ever");
    ok(names_add(names, "N1", 2) == 3000, "names are bytes: case matters");
    ok(names_find(names, "n7", 2) == 7 && names_find(names, "n7", 1) == INDEX_NONE,
       "a name is found without being added");
    ok(names_add(names, "n1\0x", 4) == 3001 && names_length(names, 3001) == 4 &&
           names_length(names, 1) == 2,
       "also those behind a NUL");
    names_destroy(names);
    names = names_create();
    ok(names_find(names, "", 0) == INDEX_NONE, "among no names there is none");
    names_destroy(names);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    ok(valid("") && valid("abc") && valid("\xc3\xa9") && valid("\xf0\x9f\x90\xa7"),
       "well-formed UTF-8 is valid");
    ok(!valid("\xe9") && !valid("\xc3") && !valid("\xc0\xaf") && !valid("\xed\xa0\x80") &&
           !valid("\xf5\x80\x80\x80") && !valid("\x80"),
       "lone bytes, overlong forms and surrogates are not");
    converts("caf\xc3\xa9", "caf\xc3\xa9", "UTF-8 stays as it is");
    converts("caf\xe9", "caf\xc3\xa9", "what is not UTF-8 is read as latin1");
    converts("\x80 \x93x\x94", "\xe2\x82\xac \xe2\x80\x9cx\xe2\x80\x9d",
             "as Windows means it, with the euro and quotes");
    unseen();
    is_int((int64_t)utf8_width("h\xc3\xa9!"), 3,
           "a letter is one column however many bytes it has");
    is_int((int64_t)utf8_width("\xe6\x97\xa5"), 2, "an ideograph is two");

    struct text quoted = { 0 };
    text_add_identifier(&quoted, "a\"b");
    is_string(quoted.bytes, "\"a\"\"b\"", "a quote in an identifier is doubled");
    text_free(&quoted);

    const char *const words[] = { "half_life", "host", "reset_period", NULL };
    is_string(nearest_word("halflife", words), "half_life", "a slip finds its word");
    is_string(nearest_word("hots", words), "host", "so do letters that changed places");
    is_string(nearest_word("zzzzzz", words), NULL, "what is near to nothing finds none");
    look_ups();
    return done_testing();
}
