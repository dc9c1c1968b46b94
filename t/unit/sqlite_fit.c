/* SPDX-License-Identifier: MIT */
/* Tests the adaptation of SQL to older releases of SQLite. */
#include "tap.h"

#ifndef HAVE_SQLITE
int main(void)
{
    printf("1..0 # SKIP built without SQLite\n");
    return 0;
}
#else
#include "db/sqlite/sqlite_session.h"

/* This definition overrides the library's. */
static int release;
int sqlite3_libversion_number(void)
{
    return release;
}

static void fits(int older, const char *sql, const char *wanted, const char *statement)
{
    release = older;
    char *fitting = sqlite_fit(sql);
    is_string(fitting, wanted, statement);
    free(fitting);
}

int main(void)
{
    static const char table[] = "CREATE TABLE \"a\" (\"b\" TEXT) STRICT, WITHOUT ROWID;\n";
    fits(3037000, table, table, "SQLite 3.37 gets SQL unchanged");
    fits(3036000, table, "CREATE TABLE \"a\" (\"b\" TEXT) WITHOUT ROWID;\n",
         "SQLite 3.36 gets tables without STRICT");
    fits(3029000, "SELECT \"a\"", "SELECT \"a\"", "SQLite 3.29 gets names in double quotes");
    fits(3028000, table, "CREATE TABLE `a` (`b` TEXT) WITHOUT ROWID;\n",
         "SQLite 3.28 gets names in backticks, which cannot be texts");
    fits(3026000, "SELECT 'it''s \"a\", STRICT, ', \"b\"", "SELECT 'it''s \"a\", STRICT, ', `b`",
         "texts are unchanged");
    fits(3026000, "-- a run's \"x\"\nSELECT \"b\"", "-- a run's \"x\"\nSELECT `b`",
         "comments are unchanged and do not begin a text");
    fits(3026000, "SELECT \"a\"\"b\", \"c`d\", \"\"", "SELECT `a\"b`, `c``d`, ``",
         "quotes within names are converted");
    fits(3026000, "SELECT 1 - 1, 'a", "SELECT 1 - 1, 'a", "an unterminated text is kept");
    fits(3026000, "", "", "empty SQL stays empty");
    return done_testing();
}
#endif
