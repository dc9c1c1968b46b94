/* SPDX-License-Identifier: MIT */
#include "command/check/check_shares.h"

#include <stdlib.h>
#include <string.h>

#include "command/shares/shares_database.h"
#include "command/shares/shares_difference.h"
#include "compute/computation.h"
#include "core/finding.h"
#include "core/tree/tree.h"
#include "core/usage/entity.h"
#include "report/share_file.h"
#include "settings/settings.h"
#include "settings/words.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/index.h"
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

/* At most so many names are in a warning. */
#define NAMES_AT_MOST 8

static void add_name(struct text *text, const struct accounting *accounting,
                     const struct node *node)
{
    text_add(text, "'");
    text_add_printable(text, names_text(accounting->names, node->account));
    if (node->is_user) {
        text_add(text, "/");
        text_add_printable(text, names_text(accounting->names, node->user));
    }
    text_add(text, "'");
}

/* Name the accounts, or the users, that have no shares. */
static void warn_of_zeros(struct text *text, const struct accounting *accounting,
                          const struct tree *tree, bool users, const char *words)
{
    size_t count = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        if (node->is_user != users || node->shares ||
            node->id == (accounting->pbs ? ENTITY_UNKNOWN : 0))
            continue;
        if (count < NAMES_AT_MOST) {
            text_format(text, count ? ", " : "  warning: %s with 0 shares, %s rank last: ", words,
                        users ? "who" : "whose users");
            add_name(text, accounting, node);
        }
        count++;
    }
    if (count > NAMES_AT_MOST)
        text_format(text, " and %zu more", count - NAMES_AT_MOST);
    text_add(text, count ? "\n" : "");
}

void check_zero_shares(struct text *text, const struct settings *settings,
                       const struct computation *computation)
{
    const struct accounting *accounting = computation->accounting;
    const struct words *words = words_of(settings);
    warn_of_zeros(text, accounting, computation->tree, false, words->accounts);
    warn_of_zeros(text, accounting, computation->tree, true, words->users);
}
