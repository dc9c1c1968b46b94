/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/command_line.h"
#include "command/whatif/whatif_changes.h"
#include "core/usage/entity.h"
#include "report/usage_unit.h"
#include "report/whatif.h"
#include "results/published.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_settings.h"
#include "settings/table.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The names of an association, in UTF-8 as in the results. */
struct who {
    const char *account, *user, *partition;
    /* The partition is empty, but the user has others in the account that have a partition. */
    bool beside_partitions;
};

static bool has_partitions(const struct published_cluster *cluster, const struct node *user)
{
    for (uint32_t i = 0; i < cluster->tree->count; i++) {
        const struct node *node = &cluster->tree->nodes[i];
        if (node->is_user && node->account == user->account && node->user == user->user &&
            *names_text(cluster->names, node->partition))
            return true;
    }
    return false;
}

static struct who who_is(const struct published_cluster *cluster, uint32_t id)
{
    const struct node *node = &cluster->tree->nodes[tree_place(cluster->tree, id)];
    const char *partition = names_text(cluster->names, node->partition);
    return (struct who){ names_text(cluster->names, node->account),
                         names_text(cluster->names, node->user), partition,
                         node->is_user && !*partition && has_partitions(cluster, node) };
}

/* Without a partition, sacctmgr also selects associations with a partition.  An empty partition
 * selects only associations without one. */
static void whatif_commands_add_where(struct command_line *line, const struct who *who,
                                      const char *cluster)
{
    if (*who->user) {
        command_line_add_name(line, "name", who->user);
        command_line_add_name(line, "account", who->account);
        if (*who->partition || who->beside_partitions)
            command_line_add_name(line, "partition", who->partition);
    } else
        command_line_add_name(line, "name", who->account);
    command_line_add_name(line, "cluster", cluster);
}

/* Adds the command, or a comment if no command can make the change. */
static void whatif_commands_end_line(struct command_line *line, struct whatif *whatif,
                                     const struct whatif_change *change)
{
    if (line->obstacle) {
        text_free(&line->text);
        text_format(&line->text, "# %s: --%s ", line->obstacle, change->option);
        text_add_printable(&line->text, change->text);
    }
    whatif_add_command(whatif, line->text.bytes);
    text_free(&line->text);
}

static void whatif_commands_add_shares(struct text *text, int64_t shares)
{
    if (shares == SHARES_PARENT)
        text_add(text, "parent");
    else
        text_format(text, "%" PRId64, shares);
}

/* Adds the words that name an association. */
static void whatif_commands_add_who(struct text *text, const struct who *who,
                                    const struct terminology *terms)
{
    if (*who->user)
        text_format(text, "%s '%s' of %s '%s'", terms->user, who->user, terms->account,
                    who->account);
    else
        text_format(text, "%s '%s'", terms->account, who->account);
    if (*who->partition)
        text_format(text, " in partition '%s'", who->partition);
}

static void whatif_commands_tell_shares(const struct whatif_change *change,
                                        const struct published_cluster *cluster,
                                        struct whatif *whatif)
{
    struct text sentence = { 0 };
    struct who who = who_is(cluster, change->ids[0]);
    uint32_t node = tree_place(cluster->tree, change->ids[0]);
    whatif_commands_add_who(&sentence, &who, terminology_of(cluster->settings));
    text_add(&sentence, " has shares ");
    whatif_commands_add_shares(&sentence, change->shares);
    text_add(&sentence, " instead of ");
    whatif_commands_add_shares(&sentence, cluster->tree->nodes[node].shares);
    whatif_add_change(whatif, sentence.bytes);
    text_free(&sentence);
}

static void tell_move(const struct whatif_change *change, const struct published_cluster *cluster,
                      struct whatif *whatif)
{
    const struct terminology *terms = terminology_of(cluster->settings);
    struct text sentence = { 0 };
    struct who who = who_is(cluster, change->ids[0]), parent = who_is(cluster, change->parent);
    whatif_commands_add_who(&sentence, &who, terms);
    text_add(&sentence, " moves to ");
    whatif_commands_add_who(&sentence, &parent, terms);
    whatif_add_change(whatif, sentence.bytes);
    text_free(&sentence);
}

/* For Slurm: describes the sacctmgr command that sets shares or a parent. */
static void describe_modification(const struct whatif_changes *changes, size_t which,
                                  const struct published_cluster *cluster, struct whatif *whatif)
{
    const struct whatif_change *change = &changes->list[which];
    struct command_line line = { 0 };
    struct who who = who_is(cluster, change->ids[0]);
    command_line_add_words(&line, *who.user ? "sacctmgr modify user where"
                                            : "sacctmgr modify account where");
    whatif_commands_add_where(&line, &who, cluster->name);
    command_line_add_words(&line, "set");
    if (change->kind == WHATIF_MOVE) {
        command_line_add_name(&line, "parent", who_is(cluster, change->parent).account);
    } else {
        struct text shares = { 0 };
        text_add(&shares, "fairshare=");
        whatif_commands_add_shares(&shares, change->shares);
        command_line_add(&line, shares.bytes);
        text_free(&shares);
    }
    whatif_commands_end_line(&line, whatif, change);
}

static void describe_usage(const struct whatif_change *change,
                           const struct published_cluster *cluster, struct whatif *whatif)
{
    struct command_line line = { 0 };
    struct text sentence = { 0 }, hours = { 0 };
    struct who who = who_is(cluster, change->ids[0]);
    whatif_commands_add_who(&sentence, &who, terminology_of(cluster->settings));
    const char *unit = published_unit(cluster);
    if (unit) {
        text_format(&sentence, " has used %.10g (", change->usage);
        text_add_printable(&sentence, unit);
        text_add(&sentence, ") more");
    } else {
        const struct usage_unit *usage = usage_unit_of(cluster->settings);
        text_format(&sentence, " has used %.10g %s more", change->usage / 3600, usage->hours);
        whatif->definition = usage->definition;
    }
    if (*who.user) {
        text_format(&hours, "%sh", change->value);
        command_line_add_words(&line, "fairmill ledger debit");
        command_line_add(&line, hours.bytes);
        command_line_add_name(&line, "--user", who.user);
        command_line_add_name(&line, "--account", who.account);
        if (*who.partition)
            command_line_add_name(&line, "--partition", who.partition);
        command_line_add_name(&line, "--cluster", cluster->name);
        command_line_add_words(&line, "--why 'as in whatif'");
    } else
        line.obstacle = "the ledger can debit only users";
    whatif_add_change(whatif, sentence.bytes);
    whatif->own_values = true;
    whatif_commands_end_line(&line, whatif, change);
    text_free(&sentence);
    text_free(&hours);
}

/* Returns true if the user keeps an association in this account after the removals so far. */
static bool user_stays(const struct published_cluster *cluster, const bool *gone,
                       const struct node *node, uint32_t account)
{
    for (uint32_t i = 0; i < cluster->tree->count; i++) {
        const struct node *other = &cluster->tree->nodes[i];
        if (!gone[i] && other->is_user && other->user == node->user && other->account == account)
            return true;
    }
    return false;
}

/* Returns an association that the user keeps, or NULL.  Sets `*several` to true if the user keeps
 * associations in several accounts. */
static const struct node *next_account(const struct published_cluster *cluster, const bool *gone,
                                       const struct node *node, bool *several)
{
    const struct node *next = NULL;
    *several = false;
    for (uint32_t i = 0; i < cluster->tree->count; i++) {
        const struct node *other = &cluster->tree->nodes[i];
        if (gone[i] || !other->is_user || other->user != node->user)
            continue;
        *several |= next && next->account != other->account;
        next = next ? next : other;
    }
    return next;
}

/* Adds the command that makes `account` the user's default account.  slurmdbd does not remove a
 * default account while the user has other accounts.  The results do not show which account is the
 * default one.  If `perhaps` is true, adds the command as a comment, for the case that the default
 * account is removed. */
static void whatif_commands_choose_default(const struct whatif_change *change,
                                           const struct node *account,
                                           const struct published_cluster *cluster, bool perhaps,
                                           struct whatif *whatif)
{
    struct command_line line = { 0 };
    if (perhaps)
        text_add(&line.text, "# if the user's default account is removed, choose another first:");
    command_line_add_words(&line, "sacctmgr modify user where");
    command_line_add_name(&line, "name", names_text(cluster->names, account->user));
    command_line_add_name(&line, "cluster", cluster->name);
    command_line_add_words(&line, "set");
    command_line_add_name(&line, "defaultaccount", names_text(cluster->names, account->account));
    whatif_commands_end_line(&line, whatif, change);
}

/* Removes all associations that `who` has in an account, or only the one with this partition or
 * without a partition. */
static void whatif_commands_delete_user(const struct whatif_change *change, struct who who,
                                        bool all, const struct published_cluster *cluster,
                                        struct whatif *whatif)
{
    struct command_line line = { 0 };
    if (all) {
        who.partition = "";
        who.beside_partitions = false;
    }
    command_line_add_words(&line, "sacctmgr delete user where");
    whatif_commands_add_where(&line, &who, cluster->name);
    whatif_commands_end_line(&line, whatif, change);
}

static const struct node *removed_node(const struct whatif_change *change, size_t which,
                                       const struct published_cluster *cluster)
{
    return &cluster->tree->nodes[tree_place(cluster->tree, change->ids[which])];
}

static void delete_accounts(const struct whatif_change *change,
                            const struct published_cluster *cluster, const bool *gone,
                            struct whatif *whatif)
{
    for (size_t i = 0; i < change->id_count; i++) {
        const struct node *node = removed_node(change, i, cluster);
        bool all = !user_stays(cluster, gone, node, node->account), again = false;
        for (size_t j = i + 1; j < change->id_count; j++)
            again |= removed_node(change, j, cluster)->account == node->account;
        if (!all || !again)
            whatif_commands_delete_user(change, who_is(cluster, change->ids[i]), all, cluster,
                                        whatif);
    }
}

/* Any removed account may be the default account.  So the account that remains longest is made the
 * default account first. */
static void describe_removal(const struct whatif_change *change,
                             const struct published_cluster *cluster, bool *gone,
                             struct whatif *whatif)
{
    bool several, account_goes = false;
    for (size_t i = 0; i < change->id_count; i++) {
        struct text sentence = { 0 };
        struct who who = who_is(cluster, change->ids[i]);
        gone[tree_place(cluster->tree, change->ids[i])] = true;
        whatif_commands_add_who(&sentence, &who, terminology_of(cluster->settings));
        text_add(&sentence, " is removed");
        whatif_add_change(whatif, sentence.bytes);
        text_free(&sentence);
    }
    const struct node *last = removed_node(change, change->id_count - 1, cluster);
    for (size_t i = 0; i < change->id_count; i++)
        account_goes |= !user_stays(cluster, gone, last, removed_node(change, i, cluster)->account);
    const struct node *next = next_account(cluster, gone, last, &several);
    if (account_goes && (next || change->id_count > 1))
        whatif_commands_choose_default(change, next ? next : last, cluster, several, whatif);
    delete_accounts(change, cluster, gone, whatif);
}

/* Returns true if slurm.conf sets the value and the settings file does not override it.  The value
 * is then changed in slurm.conf, so that Slurm and fairmill use the same value. */
static bool is_of_slurm_conf(const struct settings *settings, const struct setting *setting)
{
    return *settings->slurm_path &&
           settings->origins[setting - settings_table].from != FROM_SETTINGS;
}

/* Returns the last change of this kind to this association's line. */
static const struct whatif_change *line_change(const struct whatif_changes *changes, uint32_t id,
                                               enum whatif_kind kind)
{
    for (size_t i = changes->count; i-- > 0;)
        if (changes->list[i].kind == kind && changes->list[i].ids[0] == id)
            return &changes->list[i];
    return NULL;
}

/* Adds a field of a line of resource_group.  Spaces separate fields. */
static void whatif_commands_add_field(struct command_line *line, const char *name)
{
    if (!*name || strpbrk(name, " \t#") || !utf8_is_printable(name))
        line->obstacle = "resource_group cannot contain this name";
    text_format(&line->text, " %s", name);
}

/* For OpenPBS: describes the line of resource_group once, with all changes to it. */
static void describe_group_line(const struct whatif_changes *changes, size_t which,
                                const struct published_cluster *cluster, struct whatif *whatif)
{
    const struct whatif_change *change = &changes->list[which];
    uint32_t id = change->ids[0], place = tree_place(cluster->tree, id);
    const struct whatif_change *shares = line_change(changes, id, WHATIF_SHARES);
    const struct whatif_change *move = line_change(changes, id, WHATIF_MOVE);
    const struct node *node = &cluster->tree->nodes[place];
    uint32_t parent = move ? tree_place(cluster->tree, move->parent) : node->parent;
    struct command_line line = { 0 };
    struct who who = who_is(cluster, id);
    if (change != (!move || (shares && shares > move) ? shares : move))
        return;
    text_add(&line.text, "# resource_group:");
    whatif_commands_add_field(&line, *who.user ? who.user : who.account);
    text_format(&line.text, " %" PRIu32, id);
    if (!parent || parent == NO_NODE)
        text_add(&line.text, " root");
    else
        whatif_commands_add_field(&line,
                                  names_text(cluster->names, cluster->tree->nodes[parent].account));
    text_format(&line.text, " %" PRId32, shares ? shares->shares : node->shares);
    if (id == ENTITY_UNKNOWN && !move) {
        text_free(&line.text);
        text_format(&line.text, "# sched_config: unknown_shares: %" PRId32, change->shares);
    } else if (place == 0 || id == ENTITY_UNKNOWN)
        line.obstacle = "OpenPBS creates this group automatically";
    else if (id >= ENTITY_UNLISTED)
        line.obstacle =
            "an entity without a line in resource_group has one share; add a line for it first";
    whatif_commands_end_line(&line, whatif, change);
}

/* Describes the command that changes an association's shares or parent. */
typedef void describer(const struct whatif_changes *changes, size_t which,
                       const struct published_cluster *cluster, struct whatif *whatif);
static describer *const describers[SCHEDULERS] = {
    [SCHEDULER_SLURM] = describe_modification,
    [SCHEDULER_OPENPBS] = describe_group_line,
};

/* sacctmgr cannot change these settings, so this function adds the line for the settings file. */
static void describe_setting(const struct whatif_change *change, const struct settings *settings,
                             struct whatif *whatif)
{
    const struct setting *setting = change->setting;
    struct text sentence = { 0 }, words = { 0 }, command = { 0 };
    text_format(&sentence, "%s is %s%s", setting->key, change->value,
                setting_is_minutes(setting, change->value) ? " min" : "");
    if (is_of_slurm_conf(settings, setting) && slurm_setting_add(&words, setting, change->value)) {
        text_add(&command, "# slurm.conf: ");
    } else {
        whatif->own_values = true;
        text_format(&command, "# fairmill.conf, [%s]: ", setting->section);
        text_format(&words, "%s = %s", setting->key, change->value);
    }
    text_add_printable(&command, words.bytes);
    whatif_add_change(whatif, sentence.bytes);
    whatif_add_command(whatif, command.bytes);
    text_free(&sentence);
    text_free(&words);
    text_free(&command);
}

void changes_describe(const struct whatif_changes *changes, const struct published_cluster *cluster,
                      const struct settings *settings, struct whatif *whatif)
{
    describer *describe = describers[scheduler_of(cluster->settings)->kind];
    bool *gone = memory_zeroed(cluster->tree->count, sizeof *gone);
    for (size_t i = 0; i < changes->count; i++) {
        const struct whatif_change *change = &changes->list[i];
        switch (change->kind) {
        case WHATIF_SHARES:
            whatif_commands_tell_shares(change, cluster, whatif);
            describe(changes, i, cluster, whatif);
            break;
        case WHATIF_MOVE:
            tell_move(change, cluster, whatif);
            describe(changes, i, cluster, whatif);
            break;
        case WHATIF_ADD_USAGE:
            describe_usage(change, cluster, whatif);
            break;
        case WHATIF_REMOVE:
            describe_removal(change, cluster, gone, whatif);
            break;
        case WHATIF_SETTING:
            describe_setting(change, settings, whatif);
            break;
        }
    }
    free(gone);
}
