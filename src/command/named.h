/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_NAMED_H
#define FAIRMILL_COMMAND_NAMED_H

#include <stdint.h>

struct error;
struct option_list;
struct settings;
struct snapshot;
struct snapshots;

/* What a user calls by name: a user, an account, or `account/user[/partition]`, which is one and no
 * other, as `account/` is. */
struct named {
    const struct snapshot *snapshot;
    uint32_t node;
};

/* Read what is published of these clusters; of all, where the list is empty. */
int named_read(const struct settings *settings, const struct option_list *clusters,
               struct snapshots *snapshots, struct error *err);
/* Find a name in what was read, or in one of these only.  ERROR_USAGE lists the candidates where
 * there are several. */
int named_find(const struct snapshots *snapshots, const struct snapshot *only, const char *asked,
               struct named *named, struct error *err);
/* Likewise, where only an account can be meant: users count where no account has that name. */
int named_find_account(const struct snapshots *snapshots, const struct snapshot *only,
                       const char *asked, struct named *named, struct error *err);

#endif
