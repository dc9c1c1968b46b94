/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

#include "db/db.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"

/* Tests the meaning of lines in a settings file, according to FORMAT in fairmill.conf(5).  It must
 * be the same with every release of iniparser, including the one in this build. */

static struct error err;

static void write_file(const char *bytes, size_t length)
{
    FILE *file = fopen("settings", "w");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file))
        perror("settings");
}

/* Returns the settings of a file with these bytes after some valid lines, or NULL if it is
 * rejected. */
static struct settings *settings_of(const char *bytes, size_t length)
{
    char whole[4096];
    int begun =
        snprintf(whole, sizeof whole, "[results]\ndriver=%s\ndatabase=r\n", db_drivers[0]->name);
    memcpy(whole + begun, bytes, length);
    write_file(whole, (size_t)begun + length);
    struct settings *settings = NULL;
    memset(&err, 0, sizeof err);
    return settings_load(&settings, "settings", SETTINGS_FOR_READING, &err) ? NULL : settings;
}

/* The lines of a file from line 4 on, and the resulting value of `user` or the error message. */
static const struct {
    const char *text, *user, *refusal;
} corpus[] = {
    { "[source]\nuser = a b\n", "a b", NULL },
    { "[source]\nuser=a\n", "a", NULL },
    { "[source]\n\t user \t=\t a \t\n", "a", NULL },
    { "[source]\nuser = a", "a", NULL },
    { "[source]\r\nuser = a\r\n", "a", NULL },
    { "  [ source ]  \nuser = a\n", "a", NULL },
    { "[Source]\nUSER = Ab\n", "Ab", NULL },
    { "# [x]\n; y\n\n \t\n[source]\n # z = 1\nuser = a\n", "a", NULL },
    { "[source]\nuser =\n", "", NULL },
    { "[source]\nuser = \t \n", "", NULL },
    { "[source]\nuser = ; a\n", "", NULL },
    { "[source]\nuser = #\n", "", NULL },
    { "[source]\nuser =#a\n", "", NULL },
    { "[source]\nuser = \"\"\n", "", NULL },
    { "[source]\nuser = ''\n", "", NULL },
    { "[source]\nuser = \"\" # a\n", "", NULL },
    { "[source]\nuser = '';a\n", "", NULL },
    { "[source]\nuser = a ; b\n", "a", NULL },
    { "[source]\nuser = a\t# b # c\n", "a", NULL },
    { "[source]\nuser = \"a;b#c\"\n", "a;b#c", NULL },
    { "[source]\nuser = 'a;b#c'\n", "a;b#c", NULL },
    { "[source]\nuser = \"a;b\" ; \"c\"\n", "a;b", NULL },
    { "[source]\nuser = \"a\"#b\n", "a", NULL },
    { "[source]\nuser = \" a\t\"\n", " a\t", NULL },
    { "[source]\nuser = \" \"\n", " ", NULL },
    { "[source]\nuser = 'a\"b'\n", "a\"b", NULL },
    { "[source]\nuser = \"it's\"\n", "it's", NULL },
    { "[source]\nuser = \"''\"\n", "''", NULL },
    { "[source]\nuser = it's\n", "it's", NULL },
    { "[source]\nuser = a\"b\"\n", "a\"b\"", NULL },
    { "[source]\nuser = =\n", "=", NULL },
    { "[source]\nuser = a=b = c\n", "a=b = c", NULL },
    { "[source]\nuser = a:b\n", "a:b", NULL },
    { "[source]\nuser = [a]\n", "[a]", NULL },
    { "[source]\nuser = %s%n\n", "%s%n", NULL },
    { "[source]\nuser = a\\b\\\\c\n", "a\\b\\\\c", NULL },
    { "[source]\nuser = \\a\n", "\\a", NULL },
    { "[source]\nuser = a\\\"b\n", "a\\\"b", NULL },
    { "[source]\nuser = a\\ # b\n", "a\\", NULL },
    { "[source]\nuser = \xc3\xa4 \xe2\x82\xac\n", "\xc3\xa4 \xe2\x82\xac", NULL },
    { "[source]\nuser = \xe4\xa0\n", "\xe4\xa0", NULL },

    { "[source]\nuser = a;b\n", NULL, "line 5: a value with # or ; needs double quotes: 'a;b'" },
    { "[source]\nuser = a\\;b\n", NULL, "line 5: a value with # or ; needs double quotes" },
    { "[source]\nuser = \"a\\b\"\n", NULL,
      "line 5: a value with a backslash must not be in quotes" },
    { "[source]\nuser = \"a\\\\b\"\n", NULL,
      "line 5: a value with a backslash must not be in quotes" },
    { "[source]\nuser = 'a\\b'\n", NULL, "line 5: a value with a backslash must not be in quotes" },
    { "[source]\nuser = \"a\\\"b\"\n", NULL,
      "line 5: a value with a backslash must not be in quotes" },
    { "[source]\nuser = \"a\n", NULL, "line 5: missing closing quote" },
    { "[source]\nuser = 'a\"\n", NULL, "line 5: missing closing quote" },
    { "[source]\nuser = \"a\" b\n", NULL, "line 5: unexpected text after the closing quote: 'b'" },
    { "[source]\nuser = \"\"a\n", NULL, "line 5: unexpected text after the closing quote: 'a'" },
    { "[source]\nuser = \"\"\"\n", NULL, "line 5: unexpected text after the closing quote" },
    { "[source]\nuser = 'a''b'\n", NULL, "line 5: unexpected text after the closing quote" },
    { "[source]\nuser = a\\\nb\n", NULL, "line 5: a line must not end with a backslash" },
    { "[source]\nuser = a\\ \t\r\nb\n", NULL, "line 5: a line must not end with a backslash" },
    { "[source]\n# a\\\nuser = b\n", NULL, "line 5: a line must not end with a backslash" },
    { "[source]\\\nuser = b\n", NULL, "line 4: a line must not end with a backslash" },
    { "[source]\nuser\n", NULL, "line 5: expected [section] or key = value, found 'user'" },
    { "[source]\nx\n", NULL, "line 5: expected [section] or key = value, found 'x'" },
    { "[source]\nuser : a\n", NULL, "line 5: expected [section] or key = value" },
    { "[source]\n= a\n", NULL, "line 5: missing key before the '='" },
    { "[source]\n==a\n", NULL, "line 5: missing key before the '='" },
    { "[source]\nuser = a\nuser = a\n", NULL, "line 6: duplicate key 'user'" },
    { "[source]\nuser = a\nUser = b\n", NULL, "line 6: duplicate key 'User'" },
    { "[source]\nuser = a\n[usage]\n[source]\n", NULL, "line 7: duplicate section 'source'" },
    { "[source]\n[SOURCE]\n", NULL, "line 5: duplicate section 'SOURCE'" },
    { "[]\n", NULL, "line 4: the section has no name" },
    { "[ ]\nuser = a\n", NULL, "line 4: the section has no name" },
    { "[source]]\n", NULL, "line 4: unexpected text after the section's ']'" },
    { "[source] # a\n", NULL, "line 4: unexpected text after the section's ']'" },
    { "[[source]\n", NULL, "line 4: unknown section [[source]" },
    { "[source\n", NULL, "line 4: missing ']' after the section's name" },
    { "[sourec]\n", NULL, "line 4: unknown section [sourec]; did you mean [source]?" },
    { "[a:b]\n", NULL, "line 4: the section's name contains a colon: 'a:b'" },
    { "[usage]\nsource:user = a\n", NULL, "line 5: the key contains a colon: 'source:user'" },
    { "[source]\nus\"er = a\n", NULL, "line 5: unknown key 'us\"er' in [source]" },
    { "[source]\nuser = a\rb\n", NULL,
      "line 5: the line contains a carriage return, vertical tab or form feed" },
    { "[source]\nuser =\f\"a # b\"\n", NULL,
      "line 5: the line contains a carriage return, vertical tab or form feed" },
    { "[source]\n\vuser = a\n", NULL,
      "line 5: the line contains a carriage return, vertical tab or form feed" },
    { "[source]\nuser = \x1b[1m\n", "\x1b[1m", NULL },
    { "[source]\nuser = \x7f\n", "\x7f", NULL },
    { "[source]\n\xef\xbb\xbfuser = a\n", NULL, "line 5: unknown key" },
};

static void meanings(void)
{
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++) {
        struct settings *settings = settings_of(corpus[i].text, strlen(corpus[i].text));
        const char *got = settings ? settings->source.user : err.message;
        bool same = corpus[i].user ? settings && !strcmp(got, corpus[i].user)
                                   : !settings && err.class == ERROR_SETTINGS &&
                                         strstr(got, corpus[i].refusal);
        if (!ok(same, corpus[i].user
                          ? "a line has the meaning that the manual gives it"
                          : "an invalid line is rejected, and the error says where and why")) {
            diag(corpus[i].text);
            diag(got);
        }
        settings_destroy(settings);
    }
}

static void bytes(void)
{
    char line[1200] = "[source]\nuser = ";
    size_t head = strlen("[source]\n"), begun = strlen(line);
    memset(line + begun, 'x', sizeof line - begun);
    line[head + 999] = '\n';
    struct settings *settings = settings_of(line, head + 1000);
    if (!ok(settings && strlen(settings->source.user) == 999 - strlen("user = "),
            "a line of 1000 bytes is accepted"))
        diag(err.message);
    settings_destroy(settings);
    line[head + 999] = 'x';
    line[head + 1000] = '\n';
    ok(!settings_of(line, head + 1001) &&
           strstr(err.message, "line 5: the line is longer than 1000 bytes"),
       "a line of 1001 bytes is rejected");
    ok(!settings_of("[source]\nuser = a\0b\n", 20) &&
           strstr(err.message, "line 5: the line contains a NUL byte"),
       "a NUL byte is rejected");
    write_file("\xef\xbb\xbf[results]\n", 13);
    struct settings *none = NULL;
    ok(settings_load(&none, "settings", SETTINGS_FOR_READING, &err) &&
           strstr(err.message, "line 1: the file begins with a byte-order mark"),
       "a byte-order mark is rejected");
    ok(!mkfifo("pipe", 0600) && settings_load(&none, "pipe", SETTINGS_FOR_READING, &err) &&
           strstr(err.message, "'pipe' is not a regular file"),
       "a pipe is rejected without waiting for a writer");
}

/* Tries all lines of a few relevant bytes.  Either iniparser reads a line as FORMAT says, or
 * fairmill rejects it first. */
static void every_line(const char *before, size_t most)
{
    static const char alphabet[] = "a \"'\\#;=[]:\t\r";
    size_t letters = strlen(alphabet);
    unsigned taken = 0, refused = 0, otherwise = 0;
    for (size_t length = 0; length <= most; length++) {
        size_t count = 1;
        for (size_t i = 0; i < length; i++)
            count *= letters;
        for (size_t number = 0; number < count; number++) {
            char text[64], *at = text + sprintf(text, "%s", before);
            for (size_t rest = number, i = 0; i < length; i++, rest /= letters)
                *at++ = alphabet[rest % letters];
            strcpy(at, "\n");
            struct settings *settings = settings_of(text, strlen(text));
            bool other = !settings && strstr(err.message, "iniparser");
            if (other && otherwise++ < 10)
                diag(err.message);
            taken += settings != NULL;
            refused += !settings && !other;
            settings_destroy(settings);
        }
    }
    is_int(otherwise, 0, "no accepted line depends on the release of iniparser");
    ok(taken && refused, "some lines are accepted and some are rejected");
}

int main(void)
{
    char directory[] = "/tmp/fmXXXXXX";
    if (!mkdtemp(directory) || chdir(directory))
        return EXIT_FAILURE;
    umask(022);
    meanings();
    bytes();
    every_line("[source]\nuser =", 3);
    every_line("[source]\nuser = \"a", 3);
    every_line("[source]\nuser = ''", 3);
    every_line("[source]\n", 2);
    every_line("[source]\nuser = 1\n[usage", 3);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    if (chdir("/") || system(command))
        diag("the temporary directory was not removed");
    return done_testing();
}
