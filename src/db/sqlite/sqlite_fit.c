/* SPDX-License-Identifier: MIT */
#include "db/sqlite/sqlite_session.h"

#include <string.h>

#include "util/text.h"

/* The library that a program runs with may be older, or newer, than the one that it was built
 * with.  So what a release knows is asked of the one that runs. */
#define KNOWS_STRICT_TABLES 3037000
#define REFUSES_UNKNOWN_NAMES \
    3029000 /* in double quotes, if sqlite_refuse_unknown_names() says so */

#define STRICT "STRICT, "

/* Behind the text or the name in quotes that begins here, or behind the comment. */
static const char *end_of_token(const char *at)
{
    if (at[0] == '-')
        return at + strcspn(at, "\n");
    char quote = *at++;
    while (*at && (*at != quote || at[1] == quote))
        at += *at == quote ? 2 : 1;
    return *at ? at + 1 : at;
}

/* Before release 3.29 a name in double quotes that is none of a column is taken for a text.  One in
 * backticks never is. */
static void add_name(struct text *text, const char *at, const char *end)
{
    text_add(text, "`");
    while (++at < end - 1) {
        if (*at == '"')
            at++;
        text_add_bytes(text, *at == '`' ? "``" : at, *at == '`' ? 2 : 1);
    }
    text_add(text, "`");
}

char *sqlite_fit(const char *sql)
{
    struct text text = { 0 };
    int release = sqlite3_libversion_number();
    const char *done = sql;
    text_add(&text, "");
    for (const char *at = sql; release < KNOWS_STRICT_TABLES && *at;) {
        bool is_token = *at == '\'' || *at == '"' || !strncmp(at, "--", 2);
        bool is_strict = !strncmp(at, STRICT, sizeof STRICT - 1);
        const char *end = is_token ? end_of_token(at) : is_strict ? at + sizeof STRICT - 1 : at + 1;
        bool is_name = *at == '"' && release < REFUSES_UNKNOWN_NAMES;
        if (is_name || is_strict) {
            text_add_bytes(&text, done, (size_t)(at - done));
            done = end;
        }
        if (is_name)
            add_name(&text, at, end);
        at = end;
    }
    text_add(&text, done);
    return text.bytes;
}

void sqlite_refuse_unknown_names(sqlite3 *sqlite)
{
/* Headers before 3.29 have no names for these. */
#ifndef SQLITE_DBCONFIG_DQS_DML
#define SQLITE_DBCONFIG_DQS_DML 1013
#define SQLITE_DBCONFIG_DQS_DDL 1014
#endif
    if (sqlite3_libversion_number() < REFUSES_UNKNOWN_NAMES)
        return;
    sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
}

bool sqlite_is_too_old(const char *message)
{
    return sqlite3_libversion_number() < KNOWS_STRICT_TABLES &&
           strstr(message, "malformed database schema") && strstr(message, "\"STRICT\"");
}
