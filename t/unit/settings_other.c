/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_INIPARSER_INIPARSER_H
#include <iniparser/iniparser.h>
#else
#include <iniparser.h>
#endif

#include "db/db.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"

/* Simulates an iniparser that reads a file differently from all known releases.  The
 * iniparser_load() of this program replaces the library's. */

static const char *user, *more;

dictionary *iniparser_load(const char *path)
{
    const char *const rest[][2] = {
        { "source", NULL },
        { "results", NULL },
        { "results:driver", db_drivers[0]->name },
        { "results:database", "r" },
    };
    dictionary *read = access(path, R_OK) ? NULL : dictionary_new(0);
    for (size_t i = 0; read && i < sizeof rest / sizeof *rest; i++)
        dictionary_set(read, rest[i][0], rest[i][1]);
    if (read && user)
        dictionary_set(read, "source:user", user);
    if (read && more)
        dictionary_set(read, more, "1");
    return read;
}

/* Returns the error message if the library reads this user and perhaps one more key; "" without an
 * error. */
static const char *message(const char *as, const char *besides)
{
    static struct error err;
    struct settings *settings = NULL;
    user = as;
    more = besides;
    if (settings_load(&settings, "settings", SETTINGS_FOR_READING, &err))
        return err.message;
    settings_destroy(settings);
    return "";
}

int main(void)
{
    char directory[] = "/tmp/fmXXXXXX";
    if (!mkdtemp(directory) || chdir(directory))
        return EXIT_FAILURE;
    umask(022);
    FILE *file = fopen("settings", "w");
    if (!file ||
        fprintf(file, "[source]\nuser = a b\n[results]\ndriver = %s\ndatabase = r\n",
                db_drivers[0]->name) < 0 ||
        fclose(file))
        perror("settings");
    is_string(message("a b", NULL), "", "settings that iniparser reads correctly are accepted");
    is_string(message("a", NULL),
              "'settings', line 2: the installed iniparser reads user = 'a b' as 'a'; write the "
              "value in another way, or install another release of iniparser",
              "a value that iniparser reads differently is rejected");
    is_string(message(NULL, NULL),
              "'settings', line 2: the installed iniparser reads user = 'a b' as ''; write the "
              "value in another way, or install another release of iniparser",
              "a value that iniparser does not read is rejected");
    is_string(message("a b", "usage:charge"),
              "'settings': the installed iniparser finds more keys than the file has; install "
              "another release of iniparser",
              "a key that only iniparser finds is rejected");
    unlink("settings");
    if (chdir("/") || rmdir(directory))
        diag("the temporary directory was not removed");
    return done_testing();
}
