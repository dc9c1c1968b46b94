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

/* The changes of `fairmill whatif`: read from options and files, resolved in the published results,
 * applied to a scenario, and printed as commands. */

enum whatif_kind { WHATIF_SHARES, WHATIF_MOVE, WHATIF_ADD_USAGE, WHATIF_REMOVE, WHATIF_SETTING };

struct whatif_change {
    enum whatif_kind kind;
    const char *option; /* name of the option, without dashes */
    char *text;         /* value as given */
    char *name;         /* name of an association, or the key of a setting */
    char *value;
    /* Set by changes_find() or when the change is added: */
    uint32_t *ids; /* ids of associations */
    size_t id_count;
    uint32_t parent;               /* WHATIF_MOVE: id of the new parent */
    int32_t shares;                /* WHATIF_SHARES */
    double usage;                  /* WHATIF_ADD_USAGE: TRES-seconds */
    const struct setting *setting; /* WHATIF_SETTING */
    bool needs_source;             /* the results do not contain the data to compute its effect */
};

struct whatif_changes {
    struct whatif_change *list;
    size_t count;
};

/* Adds a change as given by the option of this name, without dashes.  Returns -1 with ERROR_USAGE
 * if it is invalid. */
int changes_add(struct whatif_changes *changes, const char *option, const char *text,
                struct error *err);
/* Adds the changes from a file.  Each line contains an option without dashes and its value.
 * Returns -1 on error. */
int changes_add_file(struct whatif_changes *changes, const char *path, struct error *err);
void changes_free(struct whatif_changes *changes);

/* Finds all names in the published results of a cluster.  Returns -1 on error. */
int changes_find(struct whatif_changes *changes, const struct published *published,
                 const struct published_cluster *cluster, struct error *err);

/* Returns true if the effect of a change cannot be computed from the results, so that the
 * accounting database must be read. */
bool changes_need_source(const struct whatif_changes *changes);
/* Returns true if any of the changes changes a setting (WHATIF_SETTING).  The accounting database
 * is then read a second time, with the changed settings. */
bool changes_read_anew(const struct whatif_changes *changes);

/* Applies the changes of settings.  Cannot fail, because the values were checked when they were
 * added. */
void changes_set(const struct whatif_changes *changes, struct settings *settings);
/* Applies the changes of shares, parents, users and usage to `scenario`.  Returns -1 on error. */
int changes_make(const struct whatif_changes *changes, struct scenario *scenario,
                 const struct decay_table *decay, struct error *err);

/* Adds descriptions of the changes, and the commands that make them.  For settings, adds the file
 * that contains them.  Defined in whatif_commands.c. */
void changes_describe(const struct whatif_changes *changes, const struct published_cluster *cluster,
                      const struct settings *settings, struct whatif *whatif);

#endif
