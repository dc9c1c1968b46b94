/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <math.h>
#include <stdbool.h>

#include "report/sshare_print.h"
#include "util/error.h"
#include "util/text.h"

/* Reads arbitrary bytes as the output of sshare or scontrol. */

/* Returns true if the names can be written between bars. */
static bool is_plain(const struct printed_row *row)
{
    return !strchr(row->account, '|') && !strchr(row->user, '|') &&
           strncmp(row->account, "CLUSTER:", 8) != 0;
}

static void check_number(const struct printed_number *number)
{
    must(!printed_is_there(number) || number->low <= number->high,
         "the bounds of a number are ordered");
    must(isnan(number->low) == isnan(number->high),
         "both bounds of a number are present or absent");
}

/* Writes the names between bars, and checks that the same rows are read. */
static void read_again(const struct sshare_print *print)
{
    struct sshare_print again;
    struct error err;
    struct text text = { 0 };
    size_t plain = 0;
    text_add(&text, "Account|User|RawUsage\n");
    for (size_t i = 0; i < print->count; i++)
        if (is_plain(&print->rows[i])) {
            text_format(&text, "%s|%s|7\n", print->rows[i].account, print->rows[i].user);
            plain++;
        }
    bool good = !sshare_print_read(&again, (struct span){ text.bytes, text.length }, "c", &err);
    must(good == (plain > 0), "written names can be read");
    for (size_t i = 0, at = 0; good && i < print->count; i++) {
        if (!is_plain(&print->rows[i]))
            continue;
        must(!strcmp(print->rows[i].account, again.rows[at].account) &&
                 !strcmp(print->rows[i].user, again.rows[at].user),
             "written names are unchanged");
        at++;
    }
    must(!good || again.count == plain, "the number of rows is unchanged");
    if (good)
        sshare_print_free(&again);
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct sshare_print print;
    struct error err;
    if (memchr(bytes, '\0', size))
        return 0;
    char *exact = exact_copy(bytes, size);
    const struct span text = { exact, size };
    enum print_kind kind = print_kind_of(text);
    if (!(kind == PRINT_OF_ASSOC_MGR ? assoc_mgr_print_read(&print, text, "c", &err)
          : kind == PRINT_OF_JSON    ? sshare_json_read(&print, text, "c", &err)
                                     : sshare_print_read(&print, text, "c", &err))) {
        must(print.count > 0, "accepted output has rows");
        for (size_t i = 0; i < print.count; i++) {
            const struct printed_row *row = &print.rows[i];
            must(!printed_is_there(&row->raw_usage) ||
                     (row->raw_usage.low >= 0 && isfinite(row->raw_usage.high)),
                 "usage is finite and not negative");
            check_number(&row->norm_shares);
            check_number(&row->effective_usage);
            check_number(&row->raw_usage);
            check_number(&row->norm_usage);
            check_number(&row->fairshare);
            check_number(&row->level_fs);
        }
        if (kind != PRINT_OF_JSON) /* names in JSON may contain line feeds */
            read_again(&print);
        sshare_print_free(&print);
    }
    free(exact);
    return 0;
}
