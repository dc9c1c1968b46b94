/* SPDX-License-Identifier: MIT */
#include "command/check/check_shares.h"

#include <stdlib.h>
#include <string.h>

#include "command/shares/shares_database.h"
#include "command/shares/shares_difference.h"
#include "core/finding.h"
#include "report/share_file.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/text.h"

static void add_finding(struct findings *findings, const struct share_difference *difference)
{
    const struct share_entry *file = difference->file, *database = difference->database;
    const struct share_entry *entry = database ? database : file;
    struct text who = { 0 };
    text_format(&who, "account '%s'", entry->account);
    if (*entry->user)
        text_format(&who, ", user '%s'", entry->user);
    if (*entry->partition)
        text_format(&who, ", partition '%s'", entry->partition);
    findings_add(findings, FINDING_SHARES_DRIFT, entry->id, "%s: %s",
                 share_difference_word(difference), who.bytes);
    text_free(&who);
}

static int compare(struct share_set *file, const struct settings *settings, struct db *source,
                   const char *cluster, struct findings *findings, struct error *err)
{
    struct share_set database;
    if (shares_read(&database, settings, source, cluster, err))
        return -1;
    share_set_take_case(file, &database);
    struct share_differences differences = share_differences_find(file, &database);
    for (size_t i = 0; i < differences.count; i++)
        add_finding(findings, &differences.rows[i]);
    share_differences_free(&differences);
    share_set_free(&database);
    return 0;
}

int check_shares(struct text *text, const struct settings *settings, struct db *source,
                 const char *cluster, struct findings *findings, struct error *err)
{
    const char *at = settings->shares_file;
    int result = 0;
    if (strcmp(settings->layout, "slurmdbd") != 0)
        return 0;
    for (char *path; !result && (path = list_next(&at)); free(path)) {
        struct share_set file = { 0 };
        struct error unread;
        if (share_file_load(&file, path, &unread)) {
            text_add(text, "  warning: shares_file: ");
            text_add_printable(text, unread.message);
            text_add(text, "\n");
        } else if (reads_as(cluster, strlen(cluster), file.cluster)) {
            text_add(text, "  shares were compared with '");
            text_add_printable(text, path);
            text_add(text, "'\n");
            result = compare(&file, settings, source, cluster, findings, err);
        }
        share_set_free(&file);
    }
    return result;
}
