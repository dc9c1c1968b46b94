/* SPDX-License-Identifier: MIT */
#include "report/share_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/association.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

static const char *share_set_text(struct share_set *list, const char *text)
{
    return text ? arena_copy(list->arena, text, strlen(text)) : NULL;
}

struct share_set share_set_create(const char *cluster)
{
    struct share_set list = { .arena = arena_create(),
                              .keys = names_create(),
                              .pairs = names_create(),
                              .users = names_create() };
    list.cluster = share_set_text(&list, cluster);
    return list;
}

void share_set_free(struct share_set *list)
{
    if (!list->arena)
        return;
    arena_destroy(list->arena);
    free(list->entries);
    names_destroy(list->keys);
    names_destroy(list->pairs);
    names_destroy(list->users);
    free(list->first_of_user);
    *list = (struct share_set){ 0 };
}

/* Returns a key: the names, each with a NUL after it.  `partition` may be NULL. */
static struct text share_set_key_of(const char *account, const char *user, const char *partition)
{
    struct text key = { 0 };
    text_add_bytes(&key, account, strlen(account) + 1);
    text_add_bytes(&key, user, strlen(user) + 1);
    if (partition)
        text_add_bytes(&key, partition, strlen(partition) + 1);
    return key;
}

static uint32_t report_share_set_find(const struct names *names, const char *account,
                                      const char *user, const char *partition)
{
    struct text key = share_set_key_of(account, user, partition);
    uint32_t number = names_find(names, key.bytes, key.length);
    text_free(&key);
    return number;
}

static uint32_t report_share_set_add(struct names *names, const char *account, const char *user,
                                     const char *partition)
{
    struct text key = share_set_key_of(account, user, partition);
    uint32_t number = names_add(names, key.bytes, key.length);
    text_free(&key);
    return number;
}

static void index_user(struct share_set *list, const struct share_entry *entry)
{
    uint32_t known = names_count(list->users);
    if (names_add(list->users, entry->user, strlen(entry->user)) == known) {
        list->first_of_user = memory_grown(list->first_of_user, known, sizeof(size_t));
        list->first_of_user[known] = list->count;
    }
    report_share_set_add(list->pairs, entry->account, entry->user, NULL);
    if (*entry->partition)
        report_share_set_add(list->pairs, entry->account, entry->user, "*");
}

bool share_set_add(struct share_set *list, const struct share_entry *entry)
{
    if (report_share_set_add(list->keys, entry->account, entry->user, entry->partition) !=
        list->count)
        return false;
    if (*entry->user)
        index_user(list, entry);
    struct share_entry *added = memory_append(&list->entries, &list->count);
    *added = *entry;
    added->account = share_set_text(list, entry->account);
    added->user = share_set_text(list, entry->user);
    added->partition = share_set_text(list, entry->partition);
    added->parent = share_set_text(list, entry->parent);
    added->default_account = share_set_text(list, entry->default_account);
    added->description = share_set_text(list, entry->description);
    added->organization = share_set_text(list, entry->organization);
    return true;
}

struct share_entry *share_set_find(const struct share_set *list, const char *account,
                                   const char *user, const char *partition)
{
    uint32_t number = report_share_set_find(list->keys, account, user, partition);
    return number == INDEX_NONE ? NULL : &list->entries[number];
}

struct share_entry *share_set_account(const struct share_set *list, const char *account)
{
    return share_set_find(list, account, "", "");
}

const struct share_entry *share_set_user(const struct share_set *list, const char *user)
{
    uint32_t number = names_find(list->users, user, strlen(user));
    return number == INDEX_NONE ? NULL : &list->entries[list->first_of_user[number]];
}

bool share_set_has_pair(const struct share_set *list, const char *account, const char *user)
{
    return report_share_set_find(list->pairs, account, user, NULL) != INDEX_NONE;
}

bool share_set_has_partitions(const struct share_set *list, const char *account, const char *user)
{
    return report_share_set_find(list->pairs, account, user, "*") != INDEX_NONE;
}

void share_set_take_case(struct share_set *list, const struct share_set *like)
{
    struct share_set taken = share_set_create(list->cluster);
    for (size_t i = 0; i < list->count; i++) {
        struct share_entry entry = list->entries[i];
        char *name = ascii_lower(memory_text(entry.user));
        if (*name && !share_set_user(like, entry.user) && share_set_user(like, name))
            entry.user = name;
        share_set_add(&taken, &entry);
        free(name);
    }
    share_set_free(list);
    *list = taken;
}

void share_add(struct text *text, int32_t shares)
{
    if (shares == SHARES_PARENT)
        text_add(text, "parent");
    else
        text_format(text, "%" PRId32, shares);
}
