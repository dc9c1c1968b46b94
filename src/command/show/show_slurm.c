/* SPDX-License-Identifier: MIT */
#include "command/show/show_slurm.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "core/fairshare/release.h"
#include "report/shares.h"
#include "report/slurm_json.h"
#include "results/health.h"
#include "results/published_tres.h"
#include "results/tres_names.h"
#include "settings/scheduler.h"
#include "util/memory.h"
#include "util/text.h"

/* ---- Usage by TRES ---- */

/* The TRES that each Slurm has, in the order of their ids, which is the order of sshare. */
static const char *const show_slurm_tres[] = { "cpu",     "mem",     "energy", "node",
                                               "billing", "fs/disk", "vmem",   "pages" };
#define FIXED_TRES (sizeof show_slurm_tres / sizeof *show_slurm_tres)

struct seconds_reading {
    struct share_list *list;
    size_t next;                    /* the next row that gets its usage */
    size_t places[KEPT_TRES_LIMIT]; /* of each TRES of the list in struct published_seconds */
};

/* Returns the place of a TRES among those that each Slurm has; FIXED_TRES for others. */
static size_t show_slurm_place(const char *tres)
{
    size_t place = 0;
    while (place < FIXED_TRES && strcmp(show_slurm_tres[place], tres) != 0)
        place++;
    return place;
}

/* Sets the names of the list's TRES: first those that each Slurm has, then the others in the order
 * of their numbers. */
static void show_slurm_name_tres(struct seconds_reading *reading,
                                 const struct tres_numbers *numbers)
{
    struct share_list *list = reading->list;
    const char **names = arena_take(list->arena, KEPT_TRES_LIMIT * sizeof *names);
    list->tres = names;
    for (size_t place = 0; place <= FIXED_TRES; place++)
        for (size_t i = 0; i < KEPT_TRES_LIMIT; i++) {
            const char *name = numbers->names[i];
            if (!name || show_slurm_place(name) != place)
                continue;
            reading->places[list->tres_count] = i;
            names[list->tres_count++] = utf8_copy_in(list->arena, name, strlen(name));
        }
}

/* Both queries return the rows in the order of the ids. */
static void show_slurm_add_seconds(void *context, int64_t id,
                                   const struct published_seconds *seconds)
{
    struct seconds_reading *reading = context;
    struct share_list *list = reading->list;
    double used[KEPT_TRES_LIMIT];
    int64_t running[KEPT_TRES_LIMIT];
    while (reading->next < list->count && list->rows[reading->next].id < id)
        reading->next++;
    if (reading->next == list->count || list->rows[reading->next].id != id)
        return;
    for (size_t i = 0; i < list->tres_count; i++) {
        used[i] = seconds->used[reading->places[i]];
        running[i] = seconds->running[reading->places[i]];
    }
    share_list_set_seconds(list, reading->next, used, running);
}

int show_slurm_read_tres(const struct published *published, const struct published_cluster *cluster,
                         const struct row_ids *ids, struct share_list *list, struct error *err)
{
    struct seconds_reading reading = { .list = list };
    struct tres_numbers numbers = { 0 };
    int result = tres_names_read(published->db, cluster->name, &numbers, err);
    if (!result) {
        show_slurm_name_tres(&reading, &numbers);
        result =
            published_seconds_read(published, cluster, ids, show_slurm_add_seconds, &reading, err);
    }
    tres_numbers_free(&numbers);
    return result;
}

/* ---- The document ---- */

/* Returns the name of a login's group, or NULL.  The caller frees it. */
static char *show_slurm_group(const char *login)
{
    const struct passwd *user = getpwnam(login);
    const struct group *group = user ? getgrgid(user->pw_gid) : NULL;
    return group ? utf8_copy(group->gr_name, strlen(group->gr_name)) : NULL;
}

/* Returns the command line as UTF-8, ended by NULL.  The caller frees the array and its texts. */
static char **show_slurm_command(const struct invocation *invocation)
{
    size_t count = (size_t)invocation->count;
    char **words = memory_zeroed(count + 3, sizeof *words);
    words[0] = memory_text("fairmill");
    words[1] = memory_text(invocation->command->name);
    for (size_t i = 0; i < count; i++)
        words[2 + i] = utf8_copy(invocation->arguments[i], strlen(invocation->arguments[i]));
    return words;
}

int show_slurm_answer(const struct command_context *context,
                      const struct published_cluster *cluster, const struct share_list *list,
                      struct error *err)
{
    struct text warning = { 0 };
    if (health_add_age_warning(context->published.db, cluster->name, cluster->as_of, &warning, err))
        return -1;
    char *login = command_login(context->invocation->client);
    char *user = utf8_copy(login, strlen(login)), *group = show_slurm_group(login);
    char **command = show_slurm_command(context->invocation);
    const struct release *release = cluster->options.release;
    const struct slurm_json_meta meta = {
        .user = user,
        .group = group,
        .command = (const char *const *)command,
        .release = release ? release->name : NULL,
        .from_slurmdbd = source_type_of(cluster->settings)->is_slurmdbd,
        .warning = warning.length ? warning.bytes : NULL,
    };
    slurm_json_answer(list, &meta, context->answer);
    for (char **word = command; *word; word++)
        free(*word);
    free(command);
    free(group);
    free(user);
    free(login);
    text_free(&warning);
    return 0;
}
