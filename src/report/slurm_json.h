/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SLURM_JSON_H
#define FAIRMILL_REPORT_SLURM_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct answer;
struct share_list;

/*
 * The output of `sshare --json` with Slurm's data parser v0.0.42 (Slurm 24.11): the same keys,
 * types and order.  An integer or real that may be undefined is an object:
 *
 *   {"set": true, "infinite": false, "number": 0.5}    a number
 *   {"set": false, "infinite": false, "number": 0.0}   undefined
 *   {"set": false, "infinite": true, "number": 0.0}    infinite, or no limit
 */

/* The object `meta` of the output, and the list `warnings`. */
struct slurm_json_meta {
    const char *user, *group;   /* of the requesting user; NULL: unknown */
    const char *const *command; /* the command line; its last element is NULL */
    const char *release;        /* of Slurm, such as 24.11; NULL: unknown */
    bool from_slurmdbd;         /* the accounting database is slurmdbd's */
    const char *warning;        /* the only element of `warnings`, UTF-8; NULL: none */
};

/* Adds the shown rows of a sorted list as one document, and prints it in parts if it is long. */
void slurm_json_answer(const struct share_list *list, const struct slurm_json_meta *meta,
                       struct answer *answer);

#endif
