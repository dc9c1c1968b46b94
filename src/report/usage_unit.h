/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_USAGE_UNIT_H
#define FAIRMILL_REPORT_USAGE_UNIT_H

struct settings;
struct text;

/*
 * The terms for usage in text output.  CSV and JSON always use TRES-hours.  All strings are static.
 */
struct usage_unit {
    const char *rate;                      /* charged per second, such as `billed cores` */
    const char *seconds, *minutes, *hours; /* such as `billed core-hours` */
    const char *definition;                /* a sentence that defines `hours`; NULL: not needed */
};

/*
 * Returns the terms for usage that was charged with these settings.  The terms are core-hours if
 * jobs are charged by CPUs.  This is so with charge = cpu, or if slurm.conf has no TRES weights,
 * because Slurm then bills the number of CPUs.  Otherwise, the terms are TRES-hours.
 */
const struct usage_unit *usage_unit_of(const struct settings *settings);

/*
 * Returns the terms for usage on a page for all users: `core-hours` if a core counts 1 with the
 * general weights or those of a partition, else `billed hours`.
 */
const char *usage_unit_page_hours(const struct settings *settings);
/*
 * Appends sentences that define usage_unit_page_hours(), with the weights of the settings.
 */
void usage_unit_add_definition(struct text *text, const struct settings *settings);

/*
 * Appends the unit of a TRES's usage to `text`: a word for the TRES, then `time`.  With `time` =
 * "-hours", the unit is `CPU-hours` for `cpu`, `GPU-hours` for `gres/gpu`, `a100 GPU-hours` for
 * `gres/gpu:a100`, `node-hours` for `node`, and `license/x-hours` for `license/x`.  `tres` is a
 * name as in tres_table, or a resource of OpenPBS.
 */
void usage_unit_add_tres(struct text *text, const char *tres, const char *time);

#endif
