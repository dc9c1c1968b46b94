/* SPDX-License-Identifier: MIT */
#include "core/fairshare/release.h"

#include <stddef.h>
#include <string.h>

/* The protocol is SLURM_*_PROTOCOL_VERSION of Slurm's slurm_protocol_common.h. */
const struct release releases[] = {
    { .name = "20.11", .protocol = 36 << 8, .needs_priority_type = true },
    { .name = "21.08", .protocol = 37 << 8, .needs_priority_type = true },
    { .name = "22.05", .protocol = 38 << 8, .needs_priority_type = true, .leaves_spec_cpus = true },
    { .name = "23.02",
      .protocol = 39 << 8,
      .needs_priority_type = true,
      .sprio_names_qos = true,
      .leaves_spec_cpus = true },
    { .name = "23.11", .protocol = 40 << 8, .sprio_names_qos = true, .leaves_spec_cpus = true },
    { .name = "24.05",
      .protocol = 41 << 8,
      .takes_least_accrue_limit = true,
      .sprio_names_qos = true,
      .leaves_spec_cpus = true },
    { .name = "24.11",
      .protocol = 42 << 8,
      .takes_least_accrue_limit = true,
      .hides_split_tasks = true,
      .sprio_names_qos = true,
      .leaves_spec_cpus = true },
    { .name = "25.05",
      .protocol = 43 << 8,
      .takes_least_accrue_limit = true,
      .hides_split_tasks = true,
      .only_direct_users_coordinate = true,
      .sprio_names_qos = true,
      .leaves_spec_cpus = true },
    { .name = "25.11",
      .protocol = 44 << 8,
      .takes_least_accrue_limit = true,
      .hides_split_tasks = true,
      .gives_roots_factor = true,
      .leaves_accounts_out = true,
      .only_direct_users_coordinate = true,
      .sprio_names_qos = true,
      .leaves_spec_cpus = true },
    { .name = "26.05",
      .protocol = 45 << 8,
      .takes_least_accrue_limit = true,
      .hides_split_tasks = true,
      .gives_roots_factor = true,
      .leaves_accounts_out = true,
      .only_direct_users_coordinate = true,
      .sprio_names_qos = true,
      .leaves_spec_cpus = true },
    { .name = NULL },
};

const struct release *release_named(const char *version)
{
    for (const struct release *each = releases; each->name; each++) {
        size_t length = strlen(each->name);
        if (!strncmp(version, each->name, length) && (!version[length] || version[length] == '.'))
            return each;
    }
    return NULL;
}

const struct release *release_of_protocol(uint64_t protocol)
{
    const struct release *found = releases;
    for (const struct release *each = releases; each->name; each++)
        if (each->protocol <= protocol)
            found = each;
    return found;
}
