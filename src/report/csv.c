/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "report/csv.h"

#include <math.h>
#include <string.h>

#include "util/text.h"

void csv_add_name(struct text *text, const char *name, const char *end)
{
    struct text printable = { 0 };
    text_add(&printable, "");
    text_add_printable(&printable, name);
    bool quoted = strpbrk(printable.bytes, ",\"\r\n") != NULL;
    text_add(text, quoted ? "\"" : "");
    for (const char *at = printable.bytes; *at; at++)
        text_add_bytes(text, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    text_add(text, quoted ? "\"" : "");
    text_add(text, end);
    text_free(&printable);
}

void csv_add_real(struct text *text, double number, const char *end)
{
    if (isinf(number))
        text_add(text, "inf");
    else if (!isnan(number))
        text_format(text, "%.17g", number);
    text_add(text, end);
}
