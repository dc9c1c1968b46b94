/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/priority/priority.h"
#include "report/share_file.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

static const char *const says_no[] = {
    "contains a quote or '='",
    "contains a control character",
    "contains a capital letter",
    "is empty",
};

/* Returns the reason why a file cannot contain the name, or NULL if it can. */
static const char *obstacle(const char *name, bool keeps_case)
{
    if (!*name)
        return says_no[3];
    if (strpbrk(name, "'\"="))
        return says_no[0];
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return says_no[1];
        else if (!keeps_case && *at >= 'A' && *at <= 'Z')
            return says_no[2];
    return NULL;
}

struct share_file_writer {
    struct text *text;
    const struct share_set *list;
    /* the first name that the file cannot contain, its kind and the reason */
    const char *kind, *name, *obstacle;
};

static void share_file_writer_add_name(struct share_file_writer *writer, const char *kind,
                                       const char *name, bool keeps_case)
{
    const char *found = obstacle(name, keeps_case);
    if (found && !writer->obstacle) {
        writer->kind = kind;
        writer->name = name;
        writer->obstacle = found;
    }
    text_add(writer->text, "'");
    for (const char *at = name; *at; at++)
        text_format(writer->text, strchr("\\#", *at) ? "\\%c" : "%c", *at);
    text_add(writer->text, "'");
}

static void share_file_writer_end_line(struct share_file_writer *writer,
                                       const struct share_entry *entry)
{
    if (*entry->partition) {
        text_add(writer->text, ":Partition=");
        share_file_writer_add_name(writer, "partition", entry->partition, false);
    }
    if (entry->default_account) {
        text_add(writer->text, ":DefaultAccount=");
        share_file_writer_add_name(writer, "account", entry->default_account, false);
    }
    text_add(writer->text, ":Fairshare=");
    share_add(writer->text, entry->shares);
    if (entry->priority != PRIORITY_NONE)
        text_format(writer->text, ":Priority=%" PRIu32, entry->priority);
    text_add(writer->text, "\n");
}

static const char *account_above(const struct share_entry *entry)
{
    return *entry->user ? entry->account : entry->parent;
}

/* Returns the account that is the parent of an entry in the file, or NULL if it is missing. */
static const struct share_entry *share_file_writer_above(const struct share_set *list,
                                                         const struct share_entry *entry)
{
    return share_set_account(list, account_above(entry));
}

/* In a damaged database, the account of an entry might not exist. */
static int check_accounts(const struct share_set *list, struct error *err)
{
    for (size_t i = 1; i < list->count; i++) {
        const struct share_entry *entry = &list->entries[i];
        if (!share_file_writer_above(list, entry))
            return fail(err, ERROR_DATA,
                        "sacctmgr's format cannot represent association %" PRIu32
                        ": its account '%s' does not exist",
                        entry->id, account_above(entry));
    }
    return 0;
}

static int in_order(const void *a, const void *b, void *context)
{
    const struct share_entry *one = *(const struct share_entry *const *)a;
    const struct share_entry *other = *(const struct share_entry *const *)b;
    const struct share_entry *parent = share_file_writer_above(context, one),
                             *others = share_file_writer_above(context, other);
    if (parent->depth != others->depth)
        return parent->depth < others->depth ? -1 : 1;
    int order = strcmp(parent->account, others->account);
    if (!order)
        order = !*one->user - !*other->user;
    if (!order)
        order = *one->user ? strcmp(one->user, other->user) : strcmp(one->account, other->account);
    return order ? order : strcmp(one->partition, other->partition);
}

static void add_entries(struct share_file_writer *writer)
{
    const struct share_set *list = writer->list;
    const struct share_entry **sorted = memory_zeroed(list->count, sizeof *sorted), *parent = NULL;
    size_t count = list->count - 1;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &list->entries[i + 1];
    qsort_r(sorted, count, sizeof *sorted, in_order, (void *)list);
    for (size_t i = 0; i < count; i++) {
        const struct share_entry *entry = sorted[i], *next = share_file_writer_above(list, entry);
        if (next != parent) {
            text_add(writer->text, "Parent - ");
            share_file_writer_add_name(writer, "account", next->account, false);
            text_add(writer->text, "\n");
        }
        parent = next;
        text_add(writer->text, *entry->user ? "User - " : "Account - ");
        share_file_writer_add_name(writer, *entry->user ? "user" : "account",
                                   *entry->user ? entry->user : entry->account, *entry->user);
        share_file_writer_end_line(writer, entry);
    }
    free(sorted);
}

int share_file_add(struct text *text, const struct share_set *list, struct error *err)
{
    struct share_file_writer writer = { .text = text, .list = list };
    if (check_accounts(list, err))
        return -1;
    text_add(text, "Cluster - ");
    share_file_writer_add_name(&writer, "cluster", list->cluster, false);
    share_file_writer_end_line(&writer, &list->entries[0]);
    add_entries(&writer);
    return writer.obstacle ? fail(err, ERROR_DATA,
                                  "sacctmgr's format cannot represent the name of %s '%s': it %s",
                                  writer.kind, writer.name, writer.obstacle)
                           : 0;
}
