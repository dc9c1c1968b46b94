/* SPDX-License-Identifier: MIT */
#include "core/usage/entity.h"

#include <string.h>

#include "util/text.h"

const char *const entity_kind_names[] = { "euser", "egroup",       "Account_Name",
                                          "queue", "egroup:euser", NULL };

enum entity_kind entity_kind_of(const char *name)
{
    int kind = 0;
    while (entity_kind_names[kind] && strcmp(entity_kind_names[kind], name) != 0)
        kind++;
    return (enum entity_kind)kind;
}

const char *entity_of(const struct entity_job *job, enum entity_kind kind, struct text *room)
{
    const char *const texts[] = { job->euser, job->egroup, job->account, job->queue, "" };
    if (*texts[kind])
        return texts[kind];
    room->length = 0;
    text_format(room, "%s:%s", job->egroup, job->euser);
    return room->bytes;
}
