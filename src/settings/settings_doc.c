/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "settings/table.h"
#include "settings/values.h"
#include "util/text.h"

/* Prints the table of settings as the sample file (--sample) or as POD for the manual (--pod). */

static void wrapped(const char *text, const char *prefix)
{
    size_t column = 0, blanks = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column && column + blanks + length > 94) {
            putchar('\n');
            column = 0;
        }
        column += (size_t)(column ? printf("%*s%.*s", (int)blanks, "", (int)length, text)
                                  : printf("%s%.*s", prefix, (int)length, text));
        text += length;
        blanks = strspn(text, " ");
        text += blanks;
    }
    putchar('\n');
}

/* Returns a sentence about the format of the value, or "" if the summary describes it. */
static const char *format_of(const struct setting *setting)
{
    static char sentence[64];
    const struct number_value *number = setting->number;
    if (!number || (number->form != VALUE_DURATION && number->form != VALUE_TIME_STRING))
        return "";
    snprintf(sentence, sizeof sentence, "  Format: %s%s%s.",
             number->form == VALUE_DURATION ? "duration" : "time string",
             number->word ? " or " : "", number->word ? number->word : "");
    return sentence;
}

static void sample(void)
{
    puts("# SPDX-License-Identifier: MIT\n"
         "#\n"
         "# Settings of fairmill; see fairmill.conf(5).  Lines that are commented out show the\n"
         "# defaults.  A value that contains # or ; needs double quotes.  Do not put passwords in\n"
         "# this file.\n"
         "#\n"
         "# A duration is a number with the unit s, m, h, d or w, such as 90 s or 2h.  A time\n"
         "# string is the same, or has one of Slurm's forms: min, hr:min:00, days-hr:min:00 or\n"
         "# days-hr.  Without a unit, a duration is in seconds and a time string in minutes.");
    const char *section = "";
    for (const struct setting *each = settings_table; each->section; each++) {
        if (strcmp(section, each->section)) {
            putchar('\n');
            wrapped(section_summary(each->section), "# ");
            printf("[%s]\n", each->section);
        }
        section = each->section;
        putchar('\n');
        struct text comment = { 0 };
        text_format(&comment, "%s%s", each->summary, format_of(each));
        wrapped(comment.bytes, "# ");
        text_free(&comment);
        if (each->fallback)
            printf("#%s =%s%s\n", each->key, *each->fallback ? " " : "", each->fallback);
        else
            printf("%s = %s\n", each->key,
                   !strcmp(each->key, "driver")       ? "mysql"
                   : !strcmp(each->section, "source") ? "slurm_acct_db"
                                                      : "fairmill");
    }
}

/* Returns true if [results] has the setting because it is a connection, as [source] is. */
static bool is_repeated(const struct setting *setting)
{
    const struct setting *first = setting_named("source", setting->key);
    return !strcmp(setting->section, "results") && first && first->read == setting->read &&
           first->number == setting->number && first->choices == setting->choices;
}

/* Describes the settings of connections only once, to keep the page short. */
static void pod(void)
{
    const char *section = "";
    for (const struct setting *each = settings_table; each->section; each++) {
        if (strcmp(section, each->section))
            printf("%s=head2 [%s]\n\n%s\n\n=over 4\n\n", *section ? "=back\n\n" : "", each->section,
                   section_summary(each->section));
        if (strcmp(section, each->section) != 0 && is_repeated(each))
            printf("=item B<driver> to B<tls_ca>\n\nThe connection, with the same settings as in "
                   "[source].\n\n");
        section = each->section;
        if (is_repeated(each))
            continue;
        printf("=item B<%s>", each->key);
        if (!each->fallback)
            printf(" (required)");
        else if (*each->fallback)
            printf(" = %s", each->fallback);
        printf("\n\n%s%s\n\n", each->summary, format_of(each));
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
