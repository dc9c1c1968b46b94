/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_WORDS_H
#define FAIRMILL_SETTINGS_WORDS_H

#include <stdbool.h>

struct settings;

/* What people of the source's world call things, for sentences.  Names of columns and JSON are the
 * same in all of them. */
struct words {
    const char *user, *one_user, *users; /* `one` begins a sentence */
    const char *account, *one_account, *accounts;
    const char *partition;
    const char *association, *associations;
    const char *unit;   /* stands behind an amount of usage */
    const char *either; /* a user or an account */
    const char *number; /* stands before an association's id */
    /* Of tables for people: pairs of a heading that sshare has and another one, ended by NULL;
     * NULL: none is another. */
    const char *const (*headings)[2];
};

/* What a heading is in these words; NULL: it stays. */
const char *words_heading(const struct words *words, const char *heading);
/* The words of OpenPBS, or of Slurm. */
const struct words *words_for(bool of_pbs);
/* Those of the settings' layout; NULL: of Slurm. */
const struct words *words_of(const struct settings *settings);

#endif
