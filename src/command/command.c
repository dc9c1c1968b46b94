/* SPDX-License-Identifier: MIT */
#include "command/command.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings/load.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "util/error.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/number.h"

/*
 * Days, months and resets must use the time zone of the runs.  reader.conf need not contain the
 * zone; if it does not, use the zone of the published runs.
 */
static bool command_needs_zone(const struct settings *settings)
{
    return !settings->source.database && !setting_is_chosen(settings, "usage", "time_zone");
}

static void command_take_zone(const struct published *published)
{
    const char *zone = published_zone(published);
    struct error unknown;
    /* If this host does not know the zone, continue with the zone of the process. */
    if (zone && time_zone_set(zone, &unknown))
        log_note("%s", unknown.message);
}

static int command_load(struct settings **settings, const struct invocation *invocation,
                        enum settings_use use, struct error *err)
{
    if (use == SETTINGS_FOR_ALL && invocation->command->for_users &&
        command_reads_results_only(invocation))
        return fail(err, ERROR_USAGE,
                    "%s: this needs the accounting database, which is not available over the "
                    "socket or with reader.conf",
                    invocation->command->name);
    if (settings_load(settings, invocation->settings_path,
                      invocation->client ? SETTINGS_FOR_CLIENTS : use, err))
        return -1;
    (*settings)->client = invocation->client;
    return 0;
}

const struct settings *command_source_settings(struct command_context *context, struct error *err)
{
    if (!context->source_settings &&
        command_load(&context->source_settings, context->invocation, SETTINGS_FOR_ALL, err))
        return NULL;
    return context->source_settings;
}

int command_answer_as(struct command_context *context, const struct table_layout *layout,
                      struct error *err)
{
    answer_destroy(context->answer);
    context->answer =
        layout ? answer_create(layout, &context->shared->table, command_print, err) : NULL;
    return !layout || context->answer ? 0 : -1;
}

/* Opens the results and converts the times among the options.  The results must be opened first,
 * because the time zone may be read from them. */
static int command_open(struct command_context *context, struct error *err)
{
    struct published *published = &context->published;
    bool needs_zone = context->use == SETTINGS_FOR_READING && context->results != RESULTS_NONE &&
                      command_needs_zone(context->settings);
    if (needs_zone) {
        if (published_begin(published, context->settings, err))
            return -1;
        command_take_zone(published);
    }
    if (options_read_times(context->invocation->command, context->options, err))
        return -1;
    if (context->results == RESULTS_NONE)
        return 0;
    if ((!needs_zone && published_begin(published, context->settings, err)) ||
        (context->results != RESULTS_BEGUN && published_select(published, &context->filter, err)))
        return -1;
    for (size_t i = 0; context->results == RESULTS_TREES && i < published->count; i++)
        if (published_read_tree(published, &published->clusters[i], err))
            return -1;
    return 0;
}

static int command_answer_checked(struct command_context *context, struct error *err)
{
    const struct command *command = context->invocation->command;
    if (context->use != SETTINGS_NONE &&
        command_load(&context->settings, context->invocation, context->use, err))
        return command->without_settings ? command->without_settings(context, err) : -1;
    if (command_open(context, err))
        return -1;
    int status = command->answer(context, err);
    return status >= 0 && context->answer && answer_end(context->answer, err) ? -1 : status;
}

int command_execute(const struct invocation *invocation, void *options, struct error *err)
{
    const struct command *command = invocation->command;
    const struct shared_options *shared = options;
    struct command_context context = {
        .invocation = invocation,
        .options = options,
        .shared = shared,
        .use = (enum settings_use)command->use,
        .results = command->results,
        .layout = command->layout,
        .filter = { .clusters = shared->clusters,
                    .names = shared->names,
                    .accounts = shared->accounts,
                    .users = shared->users },
    };
    int status = -1;
    log_set_verbose(shared->verbose);
    if ((!command->check || !command->check(&context, err)) &&
        !command_answer_as(&context, context.layout, err)) {
        status = command_answer_checked(&context, err);
        if (status < 0 && command->failed) {
            command_hide_reason(invocation, err);
            status = command->failed(options, err);
        }
    }
    answer_destroy(context.answer);
    published_free(&context.published);
    settings_destroy(context.source_settings);
    settings_destroy(context.settings);
    return status;
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
         "%s ask the administrators, who find the reason in the journal of fairmill.socket's "
         "service",
         err->class == ERROR_VERSION ? "an upgrade of fairmill is not complete; try again later, or"
                                     : "cannot read the results;");
}

int command_print(const struct text *text, struct error *err)
{
    if ((text->length && fwrite(text->bytes, 1, text->length, stdout) != text->length) ||
        fflush(stdout))
        /* A program that closed its end of the pipe, such as head(1), needs no more output. */
        return errno == EPIPE
                   ? 0
                   : fail(err, ERROR_OTHER, "cannot write the output: %s", strerror(errno));
    return 0;
}

int command_output(const char *path, const struct text *text, struct error *err)
{
    return !path || !strcmp(path, "-") ? command_print(text, err) : file_write(path, text, err);
}

/* Sets `*uid` to the login uid of the audit session, which sudo and su do not change.  Returns
 * false without such a session, as in daemons and most containers. */
static bool command_audited_uid(uid_t *uid)
{
    char line[32];
    FILE *file = fopen("/proc/self/loginuid", "r");
    if (!file)
        return false;
    const char *got = fgets(line, sizeof line, file);
    fclose(file);
    uint64_t number;
    if (!got || !number_unsigned(line, strcspn(line, "\n"), &number) || number >= UINT32_MAX)
        return false;
    *uid = (uid_t)number;
    return true;
}

char *command_login(const struct client *client)
{
    uid_t uid = getuid();
    const char *behind_sudo = getenv("SUDO_USER");
    if (client)
        return memory_text(client->login);
    if (!command_audited_uid(&uid) && behind_sudo && *behind_sudo && getpwnam(behind_sudo))
        return memory_text(behind_sudo);
    const struct passwd *entry = getpwuid(uid);
    if (entry)
        return memory_text(entry->pw_name);
    struct text number = { 0 };
    text_format(&number, "uid %lu", (unsigned long)uid);
    return number.bytes;
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
