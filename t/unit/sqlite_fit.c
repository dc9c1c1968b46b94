/* SPDX-License-Identifier: MIT */
/* SQL for releases of SQLite that do not know all of its words. */
#include "tap.h"

#ifndef HAVE_SQLITE
int main(void)
{
    printf("1..0 # SKIP built without SQLite\n");
    return 0;
}
#else
#include "db/sqlite/sqlite_session.h"

/* The program's own comes before the library's. */
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
    fits(3037000, table, table, "SQLite 3.37 takes SQL as it stands");
    fits(3036000, table, "CREATE TABLE \"a\" (\"b\" TEXT) WITHOUT ROWID;\n",
         "3.36 gets tables that are not STRICT");
    fits(3029000, "SELECT \"a\"", "SELECT \"a\"", "3.29 is told to take no name for a text");
    fits(3028000, table, "CREATE TABLE `a` (`b` TEXT) WITHOUT ROWID;\n",
         "3.28 gets names in backticks, which are never texts");
    fits(3026000, "SELECT 'it''s \"a\", STRICT, ', \"b\"", "SELECT 'it''s \"a\", STRICT, ', `b`",
         "texts stay as they are");
    fits(3026000, "-- a run's \"x\"\nSELECT \"b\"", "-- a run's \"x\"\nSELECT `b`",
         "comments stay as they are, and begin no text");
    fits(3026000, "SELECT \"a\"\"b\", \"c`d\", \"\"", "SELECT `a\"b`, `c``d`, ``",
         "quotes within names are the names' own");
    fits(3026000, "SELECT 1 - 1, 'a", "SELECT 1 - 1, 'a", "a text without an end is kept");
    fits(3026000, "", "", "nothing stays nothing");
    return done_testing();
}
#endif
