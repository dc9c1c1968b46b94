/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_KEPT_TRES_H
#define FAIRMILL_CORE_USAGE_KEPT_TRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/number/wide.h"

struct text;

/*
 * The TRES whose usage is kept apart from the charge ([usage] tres).
 *
 * The result tables have a pair of columns for each of KEPT_TRES_LIMIT numbers.  A TRES gets the
 * lowest free number when it is kept for the first time, and keeps that number forever.
 */
#define KEPT_TRES_LIMIT 16

/* A TRES of the accounting database. */
struct tres_name {
    uint64_t id;    /* as in tres_alloc or job_row.tres */
    char *name;     /* for example `cpu`, `gres/gpu:a100`; UTF-8 */
    bool automatic; /* "auto" keeps it, even if its name does not say so */
};

/* The names of the numbers that are in use; NULL for a free number.  Number 1 is names[0]. */
struct tres_numbers {
    char *names[KEPT_TRES_LIMIT];
};
void tres_numbers_free(struct tres_numbers *numbers);
/* Returns the highest number that has a name, or 0. */
unsigned tres_numbers_used(const struct tres_numbers *numbers);

/* In ascending order of number. */
struct kept_tres {
    size_t count;
    struct kept_tres_one {
        uint64_t id;
        unsigned number;  /* 1 to KEPT_TRES_LIMIT */
        const char *name; /* owned by struct tres_numbers */
    } tres[KEPT_TRES_LIMIT];
};

/*
 * Chooses the TRES to keep among `all`.  `wanted` is the setting: "auto", "none" or a
 * comma-separated list of names.  Assigns numbers to new names.  Adds the names that cannot be
 * kept, because they are unknown or no number is free, to `lacking`, separated by commas.
 */
void kept_tres_choose(struct kept_tres *kept, const char *wanted, const struct tres_name *all,
                      size_t count, struct tres_numbers *numbers, struct text *lacking);

/* Returns the index of a TRES in kept->tres, or kept->count. */
size_t kept_tres_find(const struct kept_tres *kept, uint64_t id);

/*
 * Reads the counts of the kept TRES from a list `id=count,id=count`.  `counts` is indexed as
 * kept->tres.  A count is 0 if the TRES is missing, or its count is not a number or is one of
 * Slurm's special values.  Returns false if all counts are 0.
 */
bool kept_tres_counts(const struct kept_tres *kept, const char *list, size_t length,
                      uint64_t *counts);

/*
 * The stored form of sums by TRES: `number=sum,...` in ascending order of number, without sums of
 * 0.  Sums are hexadecimal, with a minus sign if negative.
 */
void tres_sums_write(const struct kept_tres *kept, const int128 *sums, struct text *text);
/* Ignores TRES that are not kept.  Returns false if the text has another form. */
bool tres_sums_read(const struct kept_tres *kept, const char *text, size_t length, int128 *sums);

#endif
