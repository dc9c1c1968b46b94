/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "report/share_file.h"
#include "util/error.h"
#include "util/text.h"

/* Reads arbitrary bytes as the output of `sacctmgr dump`.  A valid file must be the same after it
 * is written and read again. */

static void check_name(const char *name)
{
    must(utf8_valid(name, strlen(name)), "a name is UTF-8");
}

static void check_entry(const struct share_set *set, const struct share_entry *entry)
{
    check_name(entry->account);
    check_name(entry->user);
    check_name(entry->partition);
    must(*entry->account && entry->line, "each entry has an account and a line");
    must(entry->shares >= 0, "shares are not negative");
    must(share_set_find(set, entry->account, entry->user, entry->partition) == entry,
         "each entry is found");
    const char *above = *entry->user ? entry->account : entry->parent;
    const struct share_entry *parent = share_set_account(set, above);
    must(entry == set->entries || (parent && parent < entry && parent->depth + 1 == entry->depth),
         "parents precede their children");
}

static void check_writing(const struct share_set *set)
{
    struct text text = { 0 };
    struct share_set again;
    struct error err;
    if (!share_file_add(&text, set, &err)) {
        must(!share_file_read(&again, (struct span){ text.bytes, text.length }, &err),
             "a written file can be read");
        must(again.count == set->count, "all entries are written");
        for (size_t i = 0; i < set->count; i++) {
            const struct share_entry *entry = &set->entries[i];
            const struct share_entry *other =
                share_set_find(&again, entry->account, entry->user, entry->partition);
            must(other && other->shares == entry->shares && !strcmp(other->parent, entry->parent),
                 "each entry is the same after writing and reading");
        }
        share_set_free(&again);
    }
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct share_set set;
    struct error err;
    char *exact = exact_copy(bytes, size);
    if (!share_file_read(&set, (struct span){ exact, size }, &err)) {
        must(set.count > 0 && set.cluster && *set.cluster, "a file has a cluster");
        for (size_t i = 0; i < set.count; i++)
            check_entry(&set, &set.entries[i]);
        check_writing(&set);
        share_set_free(&set);
    }
    free(exact);
    return 0;
}
