/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "settings/table.h"

/* Prints the table of settings as the sample file, or as POD for the manual. */

static void wrapped(const char *text, const char *prefix)
{
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column && column + 1 + length > 94) {
            putchar('\n');
            column = 0;
        }
        column += (size_t)printf("%s%.*s", column ? " " : prefix, (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void sample(void)
{
    puts("# SPDX-License-Identifier: MIT\n"
         "#\n"
         "# fairmill's settings; fairmill.conf(5) explains them.  What is commented out is the\n"
         "# default.  A value with # or ; in it needs double quotes.  No password belongs here.");
    const char *section = "";
    for (const struct setting *each = settings_table; each->section; each++) {
        if (strcmp(section, each->section))
            printf("\n# %s\n[%s]\n", section_summary(each->section), each->section);
        section = each->section;
        putchar('\n');
        wrapped(each->summary, "# ");
        if (each->fallback)
            printf("#%s =%s%s\n", each->key, *each->fallback ? " " : "", each->fallback);
        else
            printf("%s = %s\n", each->key,
                   !strcmp(each->key, "driver")       ? "mysql"
                   : !strcmp(each->section, "source") ? "slurm_acct_db"
                                                      : "fairmill");
    }
}

static void pod(void)
{
    const char *section = "";
    for (const struct setting *each = settings_table; each->section; each++) {
        if (strcmp(section, each->section))
            printf("%s=head2 [%s]\n\n%s\n\n=over 4\n\n", *section ? "=back\n\n" : "", each->section,
                   section_summary(each->section));
        section = each->section;
        printf("=item B<%s>", each->key);
        if (!each->fallback)
            printf(" (required)");
        else if (*each->fallback)
            printf(" = %s", each->fallback);
        printf("\n\n%s\n\n", each->summary);
    }
    puts("=back");
}

int main(int count, char **arguments)
{
    if (count == 2 && !strcmp(arguments[1], "--sample"))
        sample();
    else if (count == 2 && !strcmp(arguments[1], "--pod"))
        pod();
    else
        return 64;
    return 0;
}
