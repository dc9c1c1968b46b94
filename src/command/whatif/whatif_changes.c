/* SPDX-License-Identifier: MIT */
#include "command/whatif/whatif_changes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/insight/scenario.h"
#include "results/published.h"
#include "results/published_find.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* The options for changes that are not in tried_settings. */
static const struct whatif_option {
    const char *name;
    enum whatif_kind kind;
} options[] = {
    { "shares", WHATIF_SHARES },       { "move", WHATIF_MOVE },
    { "add-usage", WHATIF_ADD_USAGE }, { "remove-user", WHATIF_REMOVE },
    { "weights", WHATIF_SETTING },     { NULL, WHATIF_SETTING },
};

static struct whatif_change *whatif_changes_add(struct whatif_changes *changes,
                                                enum whatif_kind kind, const char *option,
                                                const char *text)
{
    struct whatif_change *change = memory_append(&changes->list, &changes->count);
    *change = (struct whatif_change){ .kind = kind, .option = option, .text = memory_text(text) };
    return change;
}

/* Checks a value by assigning it in settings that are then discarded. */
static int check_setting(const struct whatif_change *change, struct error *err)
{
    const struct setting *setting = change->setting;
    struct settings scratch = { 0 };
    struct error reason;
    if (!setting_assign(setting, &scratch, change->value, &reason))
        return 0;
    return fail(err, ERROR_USAGE, "whatif: --%s '%s': %s", change->option, change->text,
                reason.message);
}

static int add_setting(struct whatif_changes *changes, const struct tried_setting *tried,
                       const char *text, const char *value, struct error *err)
{
    struct whatif_change *change = whatif_changes_add(changes, WHATIF_SETTING, tried->option, text);
    change->name = memory_text(tried->key);
    change->value = memory_text(value);
    change->needs_source = tried->needs_source;
    change->setting = setting_named(tried->section, tried->key);
    if (!change->setting)
        return fail(err, ERROR_USAGE,
                    "whatif: --weights '%s': unknown weight '%s'; use age, assoc, fairshare, "
                    "job_size, partition, qos or tres",
                    text, tried->key + strlen("weight_"));
    return check_setting(change, err);
}

/* Adds changes from text such as `age=1000,fairshare=5000` or `tres=CPU=100,Mem=50`.  The weights
 * of TRES depend on each job's request, which only the accounting database contains. */
static int whatif_changes_add_weights(struct whatif_changes *changes, const char *text,
                                      struct error *err)
{
    struct tried_setting weight = { .option = "weights", .section = "priority" };
    if (!strncmp(text, "tres=", 5)) {
        weight.key = "weight_tres";
        weight.needs_source = true;
        return add_setting(changes, &weight, text, text + 5, err);
    }
    const char *at = text;
    int result = 0;
    bool any = false;
    for (char *item; !result && (item = list_next(&at)); free(item)) {
        char *value = strchr(item, '=');
        struct text key = { 0 };
        any = true;
        if (value)
            *value++ = '\0';
        text_format(&key, "weight_%s", item);
        weight.key = key.bytes;
        result =
            value ? add_setting(changes, &weight, text, value, err)
                  : fail(err, ERROR_USAGE, "whatif: --weights '%s': must be NAME=NUMBER,...", text);
        text_free(&key);
    }
    return result || any ? result
                         : fail(err, ERROR_USAGE, "whatif: --weights '': must be NAME=NUMBER,...");
}

/* Splits NAME=VALUE.  The name of an account may contain `=`, but a number cannot. */
static int add_pair(struct whatif_changes *changes, const struct whatif_option *option,
                    const char *text, struct error *err)
{
    const char *sign = option->kind == WHATIF_MOVE ? strchr(text, '=') : strrchr(text, '=');
    struct whatif_change *change = whatif_changes_add(changes, option->kind, option->name, text);
    if (!sign || sign == text || !sign[1])
        return fail(err, ERROR_USAGE, "whatif: --%s '%s': must be NAME=%s", option->name, text,
                    option->kind == WHATIF_MOVE     ? "PARENT"
                    : option->kind == WHATIF_SHARES ? "SHARES"
                                                    : "HOURS");
    change->name = memory_bytes(text, (size_t)(sign - text));
    change->value = memory_text(sign + 1);
    return 0;
}

static int parse_shares(struct whatif_change *change, struct error *err)
{
    uint64_t shares;
    if (!strcmp(change->value, "parent")) {
        change->shares = SHARES_PARENT;
        return 0;
    }
    if (!number_unsigned(change->value, strlen(change->value), &shares) || shares >= SHARES_PARENT)
        return fail(err, ERROR_USAGE,
                    "whatif: --shares '%s': the shares of '%s' must be a whole number from 0 to "
                    "2147483646, or parent",
                    change->text, change->name);
    change->shares = (int32_t)shares;
    return 0;
}

static int parse_usage(struct whatif_change *change, struct error *err)
{
    uint64_t seconds;
    if (!amount_parse(change->value, strlen(change->value), 3600, &seconds))
        return fail(err, ERROR_USAGE,
                    "whatif: --add-usage '%s': the TRES-hours of '%s' must equal a whole number of "
                    "TRES-seconds above 0",
                    change->text, change->name);
    change->usage = (double)seconds;
    return 0;
}

int changes_add(struct whatif_changes *changes, const char *name, const char *text,
                struct error *err)
{
    for (int i = 0; i < TRIED_SETTINGS; i++)
        if (tried_settings[i].of_whatif && !strcmp(tried_settings[i].option, name))
            return add_setting(changes, &tried_settings[i], text, text, err);
    const struct whatif_option *option = options;
    while (option->name && strcmp(option->name, name) != 0)
        option++;
    if (!option->name)
        return fail(err, ERROR_USAGE, "whatif: unknown change '%s'; see `fairmill help whatif`",
                    name);
    if (option->kind == WHATIF_SETTING)
        return whatif_changes_add_weights(changes, text, err);
    if (option->kind == WHATIF_REMOVE) {
        whatif_changes_add(changes, option->kind, option->name, text)->name = memory_text(text);
        return 0;
    }
    if (add_pair(changes, option, text, err))
        return -1;
    struct whatif_change *change = &changes->list[changes->count - 1];
    return change->kind == WHATIF_SHARES      ? parse_shares(change, err)
           : change->kind == WHATIF_ADD_USAGE ? parse_usage(change, err)
                                              : 0;
}

/* Adds a change from a line: the first word is the option, and the remaining text is its value. */
static int whatif_changes_add_line(struct whatif_changes *changes, char *line, struct error *err)
{
    size_t length = strlen(line);
    while (length && strchr(" \t\r\n", line[length - 1]))
        line[--length] = '\0';
    line += strspn(line, " \t");
    if (!*line || *line == '#')
        return 0;
    char *value = line + strcspn(line, " \t");
    if (*value)
        *value++ = '\0';
    return changes_add(changes, line, value + strspn(value, " \t"), err);
}

int changes_add_file(struct whatif_changes *changes, const char *path, struct error *err)
{
    FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
    char *line = NULL;
    size_t room = 0, number = 0;
    int result = 0;
    if (!file)
        return fail(err, ERROR_USAGE, "whatif: cannot open '%s': %s", path, strerror(errno));
    while (!result && getline(&line, &room, file) >= 0) {
        number++;
        if (whatif_changes_add_line(changes, line, err))
            result = fail_in(err, "'%s', line %zu", path, number);
    }
    if (!result && ferror(file))
        result = fail(err, ERROR_USAGE, "whatif: cannot read '%s': %s", path, strerror(errno));
    free(line);
    if (file != stdin)
        fclose(file);
    return result;
}

void changes_free(struct whatif_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        free(changes->list[i].text);
        free(changes->list[i].name);
        free(changes->list[i].value);
        free(changes->list[i].ids);
    }
    free(changes->list);
    *changes = (struct whatif_changes){ 0 };
}

static void whatif_changes_add_id(struct whatif_change *change, uint32_t id)
{
    *memory_append(&change->ids, &change->id_count) = id;
}

/* The name before `=` must identify one association. */
static int whatif_changes_find_one(struct whatif_change *change, const struct published *published,
                                   const struct published_cluster *cluster, struct error *err)
{
    struct published_node named;
    bool account = change->kind == WHATIF_MOVE;
    int result = account ? published_find_account(published, cluster, change->name, &named, err)
                         : published_find(published, cluster, change->name, &named, err);
    if (result)
        return fail_in(err, "whatif: --%s '%s'", change->option, change->text);
    if (!named.node && change->kind != WHATIF_ADD_USAGE)
        return fail(err, ERROR_USAGE, "whatif: --%s '%s': '%s' is the root, which has no %s",
                    change->option, change->text, change->name, account ? "parent" : "shares");
    whatif_changes_add_id(change, cluster->tree->nodes[named.node].id);
    return 0;
}

static int find_move(struct whatif_change *change, const struct published *published,
                     const struct published_cluster *cluster, struct error *err)
{
    struct published_node parent;
    const struct tree *tree = cluster->tree;
    if (whatif_changes_find_one(change, published, cluster, err))
        return -1;
    if (published_find_account(published, cluster, change->value, &parent, err))
        return fail_in(err, "whatif: --move '%s'", change->text);
    change->parent = tree->nodes[parent.node].id;
    if (tree->nodes[tree_place(tree, change->ids[0])].is_user)
        return fail(err, ERROR_USAGE,
                    "whatif: --move '%s': '%s' is a user; only accounts can be moved", change->text,
                    change->name);
    if (tree->nodes[parent.node].is_user)
        return fail(err, ERROR_USAGE,
                    "whatif: --move '%s': '%s' is a user; a parent must be an account",
                    change->text, change->value);
    return 0;
}

/* Finds all associations of a user, as sacctmgr does, or with `account/user` only the associations
 * in that account. */
static int find_user(struct whatif_change *change, const struct published *published,
                     const struct published_cluster *cluster, struct error *err)
{
    for (uint32_t i = 0; i < cluster->tree->count; i++) {
        struct association_name name = published_name(cluster, i);
        if (!*name.user || association_name_match(&name, change->name) == NAME_OTHER)
            continue;
        if (permissions_show(&published->permissions, cluster->name, name.account, name.user))
            whatif_changes_add_id(change, cluster->tree->nodes[i].id);
    }
    if (change->id_count)
        return 0;
    if (permissions_are_limited_on(&published->permissions, cluster->name, PRIVATE_USAGE))
        return permissions_deny(change->name, err);
    name_unknown("user", change->name, err);
    return fail_in(err, "whatif: --remove-user '%s'", change->text);
}

static int check_change(const struct whatif_change *change, const struct settings *settings,
                        struct error *err)
{
    const struct scheduler *scheduler = scheduler_of(settings);
    bool is_parent = change->kind == WHATIF_SHARES && change->shares == SHARES_PARENT;
    const char *why = change->kind == WHATIF_REMOVE        ? scheduler->no_removal
                      : is_parent                          ? scheduler->no_parent_shares
                      : !strcmp(change->option, "weights") ? scheduler->no_weights
                                                           : NULL;
    return why ? fail(err, ERROR_USAGE, "whatif: --%s '%s': not available with layout = %s: %s",
                      change->option, change->text, settings->layout, why)
               : 0;
}

int changes_find(struct whatif_changes *changes, const struct published *published,
                 const struct published_cluster *cluster, struct error *err)
{
    int result = 0;
    for (size_t i = 0; !result && i < changes->count; i++) {
        struct whatif_change *change = &changes->list[i];
        if (check_change(change, cluster->settings, err))
            return -1;
        if (change->kind == WHATIF_MOVE)
            result = find_move(change, published, cluster, err);
        else if (change->kind == WHATIF_REMOVE)
            result = find_user(change, published, cluster, err);
        else if (change->kind != WHATIF_SETTING)
            result = whatif_changes_find_one(change, published, cluster, err);
    }
    return result;
}

bool changes_need_source(const struct whatif_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->list[i].needs_source)
            return true;
    return false;
}

bool changes_read_anew(const struct whatif_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->list[i].kind == WHATIF_SETTING)
            return true;
    return false;
}

void changes_set(const struct whatif_changes *changes, struct settings *settings)
{
    struct error ignored;
    for (size_t i = 0; i < changes->count; i++) {
        const struct whatif_change *change = &changes->list[i];
        if (change->kind == WHATIF_SETTING)
            setting_assign(change->setting, settings, change->value, &ignored);
    }
}

static int whatif_changes_make(const struct whatif_change *change, struct scenario *scenario,
                               size_t row, const struct decay_table *decay, struct error *err)
{
    size_t parent;
    struct wide usage;
    switch (change->kind) {
    case WHATIF_SHARES:
        scenario->rows[row].shares = change->shares;
        break;
    case WHATIF_MOVE:
        parent = scenario_find(scenario, change->parent);
        if (parent == NO_ROW || !scenario_move(scenario, row, parent))
            return fail(err, ERROR_USAGE, "whatif: --move '%s': the new parent '%s' is %s%s%s",
                        change->text, change->value,
                        parent == row ? "the account itself" : "below '",
                        parent == row ? "" : change->name, parent == row ? "" : "'");
        break;
    case WHATIF_ADD_USAGE:
        if (!decay_table_sum_of(decay, change->usage, &usage) ||
            !wide_add(&scenario->usage[row], &usage))
            return fail(err, ERROR_USAGE,
                        "whatif: --add-usage '%s': exceeds the range of fairmill's integers",
                        change->text);
        break;
    case WHATIF_REMOVE:
        scenario->rows[row].deleted = true;
        break;
    case WHATIF_SETTING:
        break;
    }
    return 0;
}

int changes_make(const struct whatif_changes *changes, struct scenario *scenario,
                 const struct decay_table *decay, struct error *err)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct whatif_change *change = &changes->list[i];
        for (size_t j = 0; j < change->id_count; j++) {
            size_t row = scenario_find(scenario, change->ids[j]);
            if (row == NO_ROW)
                return fail(
                    err, ERROR_OTHER,
                    "whatif: --%s '%s': association %u is no longer in the accounting database",
                    change->option, change->text, change->ids[j]);
            if (whatif_changes_make(change, scenario, row, decay, err))
                return -1;
        }
    }
    return 0;
}
