/* SPDX-License-Identifier: MIT */
#include "command/apply/apply_slurm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command/apply/apply_plan.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/program.h"
#include "util/text.h"

/* ---- questions ---- */

static bool slurm_keep_message(void *context, char *line)
{
    char **first = context;
    log_note("%s", line);
    if (!*first)
        *first = memory_text(line);
    return true;
}

/* Appends the output of a program.  `what` is the command for messages. */
static int slurm_ask(struct text *output, const char *const *arguments, const char *what,
                     const struct slurm_access *access, struct error *err)
{
    char *message = NULL;
    const struct program program = { .arguments = arguments,
                                     .conf = access->conf,
                                     .deadline_ms = access->deadline_ms,
                                     .output = output,
                                     .take_message = slurm_keep_message,
                                     .context = &message };
    int status;
    int result = program_run(&program, &status, err);
    text_add(output, "");
    if (!result && status) {
        /* A program that finds no valid slurm.conf asks nobody. */
        bool has_no_conf = message && (strstr(message, "fatal") || strstr(message, "slurm.conf") ||
                                       strstr(message, "configless"));
        result = fail(err, has_no_conf ? ERROR_SETTINGS : ERROR_GONE, "'%s' failed: %s", what,
                      message ? message : "no message");
    }
    free(message);
    return result;
}

/* Returns the value of a line `Key   = value`, or NULL if the line has another key. */
static char *slurm_value_of(char *line, const char *key)
{
    size_t length = strlen(key);
    if (strncasecmp(line, key, length) != 0 || !strchr(" =", line[length]))
        return NULL;
    char *sign = strchr(line, '=');
    return sign ? trim_blanks(sign + 1) : NULL;
}

static int slurm_take_line(struct slurm_config *config, char *line, struct error *err)
{
    char *value;
    if ((value = slurm_value_of(line, "ClusterName")) && !config->cluster)
        config->cluster = memory_text(value);
    else if ((value = slurm_value_of(line, "PriorityType")) && !config->priority_type)
        config->priority_type = memory_text(value);
    else if ((value = slurm_value_of(line, "PrioritySiteFactorPlugin")) &&
             !config->site_factor_plugin)
        config->site_factor_plugin = memory_text(strcmp(value, "(null)") != 0 ? value : "");
    else if ((value = slurm_value_of(line, "SlurmctldParameters")))
        config->limits_rate = strstr(value, "rl_enable") != NULL;
    else if ((value = slurm_value_of(line, "PriorityWeightFairShare")) &&
             !number_unsigned(value, strlen(value), &config->weight_fairshare))
        return fail(err, ERROR_DATA, "scontrol: invalid PriorityWeightFairShare '%s'", value);
    return 0;
}

int slurm_config_read(struct slurm_config *config, const struct slurm_access *access,
                      struct error *err)
{
    static const char *const arguments[] = { "scontrol", "show", "config", NULL };
    struct text output = { 0 };
    *config = (struct slurm_config){ 0 };
    int result = slurm_ask(&output, arguments, "scontrol show config", access, err);
    for (char *at = output.bytes, *line; !result && (line = strsep(&at, "\n"));)
        result = slurm_take_line(config, line, err);
    if (!result && (!config->cluster || !config->priority_type))
        result = fail(err, ERROR_DATA, "'scontrol show config' printed no %s",
                      config->cluster ? "PriorityType" : "ClusterName");
    text_free(&output);
    return result;
}

void slurm_config_free(struct slurm_config *config)
{
    free(config->cluster);
    free(config->priority_type);
    free(config->site_factor_plugin);
}

/* ---- pending jobs ---- */

/*
 * The priority of a job whose priority was set by hand is not normalized, and its other columns are
 * 0: `print_job_priority_normalized` in sprio's print.c of all releases.
 */
static bool slurm_is_by_hand(double normalized, double priority)
{
    return normalized >= 1 && fabs(normalized - priority) < .5;
}

/* Reads a line `ID|SITE|NORMALIZED|PRIORITY`. */
static bool slurm_take_job(struct present_job *job, char *line)
{
    char *fields[4];
    double normalized, priority;
    for (int i = 0; i < 4; i++) {
        if (!line)
            return false;
        fields[i] = trim_blanks(strsep(&line, "|"));
    }
    if (line || !number_signed(fields[0], strlen(fields[0]), &job->id) || job->id <= 0 ||
        !number_signed(fields[1], strlen(fields[1]), &job->factor) ||
        !number_real(fields[2], &normalized) || !number_real(fields[3], &priority))
        return false;
    job->by_hand = slurm_is_by_hand(normalized, priority);
    return true;
}

int slurm_jobs_read(struct present_job **jobs, size_t *count, const struct slurm_access *access,
                    struct error *err)
{
    static const char *const arguments[] = { "sprio", "-h", "-o", "%i|%S|%y|%Y", NULL };
    struct text output = { 0 };
    *jobs = NULL;
    *count = 0;
    int result = slurm_ask(&output, arguments, "sprio", access, err);
    for (char *at = output.bytes, *line; !result && (line = strsep(&at, "\n"));) {
        char *whole = *line ? memory_text(line) : NULL;
        if (whole && !slurm_take_job(memory_append(jobs, count), line))
            result = fail(err, ERROR_DATA, "sprio: unexpected line '%s'", whole);
        free(whole);
    }
    text_free(&output);
    return result;
}

/* ---- updates ---- */

/* The number of unexpected messages after which no more updates are sent. */
#define UNEXPECTED_AT_MOST 20

struct slurm_updating {
    struct slurm_updated *updated;
    size_t unexpected;
    bool away, denied;
    char *message; /* the first one that is a failure, or NULL */
};

/* The messages of scontrol, in lower case and without names.  Releases use different ones. */
static const char *const messages_of_ended[] = {
    "invalid job id",    "already finished", "completing or completed",
    "no longer pending", "job is running",   NULL,
};
static const char *const messages_of_denial[] = {
    "invalid user id",
    "permission denied",
    "access denied",
    NULL,
};
/* After a lost connection, scontrol 22.05 prints the message about an unexpected message. */
static const char *const messages_of_absence[] = {
    "unable to contact", "unexpected message", "connect", "timed out",
    "zero bytes",        "communication",      "standby", NULL,
};

static bool slurm_message_is(const char *line, const char *const *messages)
{
    bool found = false;
    char *lower = ascii_lower(memory_text(line));
    for (size_t i = 0; messages[i] && !found; i++)
        found = strstr(lower, messages[i]) != NULL;
    free(lower);
    return found;
}

static bool slurm_take_message(void *context, char *line)
{
    struct slurm_updating *updating = context;
    log_note("%s", line);
    if (slurm_message_is(line, messages_of_ended)) {
        updating->updated->ended++;
        return true;
    }
    updating->denied = slurm_message_is(line, messages_of_denial);
    updating->away = !updating->denied && slurm_message_is(line, messages_of_absence);
    updating->unexpected++;
    if (!updating->message)
        updating->message = memory_text(line);
    return !updating->denied && !updating->away && updating->unexpected < UNEXPECTED_AT_MOST;
}

/* Reports the message of a failure. */
static int slurm_refuse(const struct slurm_updating *updating, struct error *err)
{
    if (updating->away)
        return fail(err, ERROR_GONE, "slurmctld does not answer: %s", updating->message);
    if (updating->denied)
        return fail(err, ERROR_DENIED,
                    "slurmctld rejects updates from this user: %s; they need SlurmUser, root, or a "
                    "user with AdminLevel Operator",
                    updating->message);
    return fail(err, ERROR_OTHER, "scontrol reported %zu errors, first: %s", updating->unexpected,
                updating->message);
}

int slurm_update(const struct site_update *updates, size_t count, const struct slurm_access *access,
                 struct slurm_updated *updated, struct error *err)
{
    static const char *const arguments[] = { "scontrol", NULL };
    struct text input = { 0 };
    struct slurm_updating updating = { .updated = updated };
    int status;
    *updated = (struct slurm_updated){ 0 };
    if (!count)
        return 0;
    for (size_t i = 0; i < count; i++) {
        apply_plan_add_command(&input, &updates[i]);
        text_add(&input, "\n");
    }
    const struct program program = { .arguments = arguments,
                                     .conf = access->conf,
                                     .input = &input,
                                     .deadline_ms = access->deadline_ms,
                                     .take_message = slurm_take_message,
                                     .context = &updating };
    int result = program_run(&program, &status, err);
    if (!result && updating.message)
        result = slurm_refuse(&updating, err);
    /* Jobs that have ended set the status to 1. */
    else if (!result && status && !updated->ended)
        result = fail(err, ERROR_OTHER, "scontrol ended with status %d", status);
    free(updating.message);
    text_free(&input);
    return result;
}
