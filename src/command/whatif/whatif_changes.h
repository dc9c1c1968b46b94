/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_WHATIF_WHATIF_CHANGES_H
#define FAIRMILL_COMMAND_WHATIF_WHATIF_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decay_table;
struct error;
struct scenario;
struct settings;
struct published_cluster;
struct published;
struct whatif;

/* The changes of `fairmill whatif`: read from options and files, found in what is published, made
 * in a scenario, and put into the words of sacctmgr. */

enum whatif_kind { WHATIF_SHARES, WHATIF_MOVE, WHATIF_ADD_USAGE, WHATIF_REMOVE, WHATIF_SETTING };

struct whatif_change {
    enum whatif_kind kind;
    const char *option; /* without dashes */
    char *text;         /* as given */
    char *name;         /* whose; a setting's key */
    char *value;
    /* Once it is found: */
    uint32_t *ids; /* of associations */
    size_t id_count;
    uint32_t parent;               /* WHATIF_MOVE: the new parent's id */
    int32_t shares;                /* WHATIF_SHARES */
    double usage;                  /* WHATIF_ADD_USAGE: TRES-seconds */
    const struct setting *setting; /* WHATIF_SETTING */
    bool needs_source;             /* the results do not show what it changes */
};

struct whatif_changes {
    struct whatif_change *list;
    size_t count;
};

/* Add a change, as an option of this name (without dashes) gives it.  ERROR_USAGE says what is
 * wrong. */
int changes_add(struct whatif_changes *changes, const char *option, const char *text,
                struct error *err);
/* Add those of a file, a line each: the option without dashes, and its value. */
int changes_add_file(struct whatif_changes *changes, const char *path, struct error *err);
void changes_free(struct whatif_changes *changes);

/* Find all names in what is published of one cluster. */
int changes_find(struct whatif_changes *changes, const struct published *published,
                 const struct published_cluster *cluster, struct error *err);

/* Whether they change how jobs are charged or queued in a way that does not follow from the
 * results, so that the accounting database must be read; and whether any changes settings that a
 * reading of it uses. */
bool changes_need_source(const struct whatif_changes *changes);
bool changes_read_anew(const struct whatif_changes *changes);

/* Make those of settings.  They were checked when they were added, so this cannot fail. */
void changes_set(const struct whatif_changes *changes, struct settings *settings);
/* Make all others. */
int changes_make(const struct whatif_changes *changes, struct scenario *scenario,
                 const struct decay_table *decay, struct error *err);

/* Add what is changed, in words, and the commands that would do it; for settings the file in which
 * they stand.  In whatif_commands.c. */
void changes_describe(const struct whatif_changes *changes, const struct published_cluster *cluster,
                      const struct settings *settings, struct whatif *whatif);

#endif
