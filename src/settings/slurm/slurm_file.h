/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_FILE_H
#define FAIRMILL_SETTINGS_SLURM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* The lines of a slurm.conf and of the files that it includes, read as Slurm reads them. */

struct slurm_place {
    const char *file;
    unsigned line;
};

/* Who gets the lines. */
struct slurm_reader {
    /* A line that is not blank, without comments, continued lines joined, escapes resolved.  It
     * may be written to. */
    int (*take)(void *context, struct slurm_place place, char *line, struct error *err);
    void *context;
    const char *const *cluster; /* points to what %c in an Include stands for, or to NULL */
    struct arena *arena;        /* keeps the names of files */
};

/* The files that were read, in the order in which they were begun. */
struct slurm_files {
    struct slurm_file {
        const char *path; /* of the reader's arena */
        int64_t changed;  /* when it was changed last */
    } * each;
    size_t count;
};

/* Read a file with all that it includes.  ERROR_SETTINGS names file and line. */
int slurm_file_read(const struct slurm_reader *reader, const char *path, struct slurm_files *files,
                    struct error *err);

/* The next `KEY=VALUE` of a line, cut out of it; a value with blanks is in double quotes.  Where
 * there is none the answer is false, and *at is the rest of the line: "" at its end. */
struct slurm_pair {
    char *key, *value;
};
bool slurm_pair_next(char **at, struct slurm_pair *pair);

#endif
