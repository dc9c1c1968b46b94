/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_CSV_H
#define FAIRMILL_REPORT_CSV_H

struct text;

/* Comma-separated values as RFC 4180 has them: lines end with CR LF, and a field with a comma, a
 * quote or the end of a line in it is in quotes.  `end` is what comes behind the field. */
#define CSV_NEXT ","
#define CSV_LINE "\r\n"

/* A name, printable (util/text.h). */
void csv_add_name(struct text *text, const char *name, const char *end);
/* All 17 digits; infinity is `inf`, NAN nothing. */
void csv_add_real(struct text *text, double number, const char *end);

#endif
