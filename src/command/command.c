/* SPDX-License-Identifier: MIT */
#include "command/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/table.h"
#include "results/published.h"
#include "settings/client.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "util/error.h"
#include "util/file.h"
#include "util/log.h"

/* Days, months and resets are those of the runs.  Who has the settings of readers only, which need
 * not say where midnight is, takes it from them; if this machine does not know it, it stays. */
static int take_zone(const struct settings *settings, struct error *err)
{
    char *zone;
    struct error unknown;
    if (settings->source.database || setting_is_chosen(settings, "usage", "time_zone"))
        return 0;
    if (published_zone(settings, &zone, err))
        return -1;
    if (zone && time_zone_set(zone, &unknown))
        log_note("%s", unknown.message);
    free(zone);
    return 0;
}

int command_settings(struct settings **settings, const struct invocation *invocation,
                     enum settings_use use, struct error *err)
{
    if (invocation->client && use == SETTINGS_FOR_ALL)
        return fail(err, ERROR_USAGE,
                    "%s: this needs the accounting database, which is not read for who asks over "
                    "a socket",
                    invocation->command->name);
    if (settings_load(settings, invocation->settings_path,
                      invocation->client ? SETTINGS_FOR_CLIENTS : use, err))
        return -1;
    (*settings)->client = invocation->client;
    return invocation->client || use == SETTINGS_FOR_READING ? take_zone(*settings, err) : 0;
}

bool command_reads_results_only(const struct invocation *invocation)
{
    return invocation->client || settings_are_for_reading(invocation->settings_path);
}

void command_hide_reason(const struct invocation *invocation, struct error *err)
{
    const struct client *client = invocation->client;
    struct text message = { 0 };
    bool is_of_request =
        !err->of_database &&
        (err->class == ERROR_OTHER || err->class == ERROR_USAGE || err->class == ERROR_DATA);
    if (!client || client->uid == 0 || client->uid == geteuid() || is_of_request)
        return;
    text_add_printable(&message, err->message);
    dprintf(client->journal, "fairmill: %s\n", message.bytes);
    text_free(&message);
    fail(err, err->class,
         "the results cannot be read; the administrators find the reason in the "
         "journal of fairmill.socket's service");
}

int command_print(const struct text *text, struct error *err)
{
    if ((text->length && fwrite(text->bytes, 1, text->length, stdout) != text->length) ||
        fflush(stdout))
        /* Who closed the pipe has read what was wanted. */
        return errno == EPIPE
                   ? 0
                   : fail(err, ERROR_OTHER, "cannot write the output: %s", strerror(errno));
    return 0;
}

int command_print_table(struct table *table, struct text *text, int result, struct error *err)
{
    if (!table || (!result && (table_end(table, err) || command_print(text, err))))
        result = -1;
    table_destroy(table);
    text_free(text);
    return result;
}

int command_output(const char *path, const struct text *text, struct error *err)
{
    return !path || !strcmp(path, "-") ? command_print(text, err) : file_write(path, text, err);
}

int command_confirm(const char *question, const char *refusal, struct error *err)
{
    char answer[16];
    fputs(question, stdout);
    fflush(stdout);
    if (fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y'))
        return 0;
    return fail(err, ERROR_OTHER, "%s", refusal);
}
