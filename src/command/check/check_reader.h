/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_CHECK_CHECK_READER_H
#define FAIRMILL_COMMAND_CHECK_CHECK_READER_H

struct db;
struct settings;
struct text;

/*
 * Compares reader.conf, with which users get the results, with the settings of the runs, which are
 * in the same directory.  Adds a warning for each difference that users would notice: other
 * results, more privacy, or another time zone.  Also warns if reader.conf cannot be used.  Adds
 * nothing if there is no reader.conf.  `results` are the results of the runs.
 */
void check_reader(struct text *text, const struct settings *settings, struct db *results);

#endif
