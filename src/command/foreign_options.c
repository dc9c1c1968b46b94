/* SPDX-License-Identifier: MIT */
#include "command/foreign_options.h"

#include <stddef.h>
#include <string.h>

static const struct foreign_option foreign_options[] = {
    { "sprio", "prio", "federation", 0, "the jobs of a federation", "--clusters" },
    { "sprio", "prio", "local", 0, "the local jobs of a federation", "--clusters" },
    { "sprio", "prio", "sibling", 0, "sibling jobs of a federation", "--clusters" },
    { "sshare", NULL, "all", 'a', "the associations of all users", NULL },
    { "sshare", NULL, "accounts", 'A', "accounts", NULL },
    { "sshare", NULL, "long", 'l', "more columns", NULL },
    { "sshare", NULL, "partition", 'm', "the column of partitions", NULL },
    { "sshare", NULL, "clusters", 'M', "clusters", NULL },
    { "sshare", NULL, "noheader", 'n', "output without headings", NULL },
    { "sshare", NULL, "format", 'o', "columns", NULL },
    { "sshare", NULL, "parsable", 'p', "output with '|' after each field", NULL },
    { "sshare", NULL, "parsable2", 'P', "output with '|' between fields", NULL },
    { "sshare", NULL, "users", 'u', "users", NULL },
    { "sshare", NULL, "Users", 'U', "users without accounts", NULL },
    { "sshare", NULL, "verbose", 'v', "more messages", NULL },
    { "sshare", "show", "helpformat", 0, "the list of columns", "`fairmill show --csv`" },
    { "pbsfs", "show", NULL, 'd', "a decay of all usage", "`fairmill run`" },
    { "pbsfs", "show", NULL, 'e', "the removal of unknown entities", "`fairmill forget`" },
    { "pbsfs", "show", NULL, 'g', "one entity", "--pbs --entity NAME" },
    { "pbsfs", "show", NULL, 's', "new usage of an entity", "`fairmill ledger`" },
    { "pbsfs", "show", NULL, 't', "the tree", "--pbs" },
};

const struct foreign_option *foreign_option_find(const char *command, bool like_sprio,
                                                 const char *name, char letter)
{
    for (size_t i = 0; i < sizeof foreign_options / sizeof *foreign_options; i++) {
        const struct foreign_option *option = &foreign_options[i];
        if (letter ? option->letter != letter : !option->name || strcmp(option->name, name) != 0)
            continue;
        if (option->command ? !strcmp(option->command, command) : !like_sprio)
            return option;
    }
    return NULL;
}
