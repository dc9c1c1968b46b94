/* SPDX-License-Identifier: MIT */
#include "settings/slurm/slurm_read.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "settings/slurm/slurm_conf.h"
#include "settings/slurm/slurm_nodes.h"
#include "settings/slurm/slurm_record.h"
#include "settings/slurm/slurm_value.h"
#include "util/error.h"
#include "util/memory.h"

/* What is made of the lines. */
struct target {
    struct slurm_conf *conf;
    struct slurm_nodes *nodes;
};

static int read_value(struct slurm_conf *conf, struct slurm_given *given,
                      const struct slurm_line *line, struct error *err)
{
    struct slurm_place place = line->place;
    const struct slurm_pair *pair = &line->first;
    const char *rest = line->rest + strspn(line->rest, " \t\r\n\v\f");
    if (*rest)
        return fail(err, ERROR_SETTINGS, "'%s', line %u: something behind the value of %s",
                    place.file, place.line, pair->key);
    *given = (struct slurm_given){
        arena_copy(conf->arena, pair->value, strlen(pair->value)),
        place,
    };
    return 0;
}

static int read_line(void *context, struct slurm_place place, char *text, struct error *err)
{
    struct target *target = context;
    struct slurm_line line = { .place = place, .rest = text };
    /* The line may hold a secret, so it is not printed. */
    if (!slurm_pair_next(&line.rest, &line.first))
        return fail(err, ERROR_SETTINGS, "'%s', line %u: neither KEY=VALUE nor an Include",
                    place.file, place.line);
    if (!strcasecmp(line.first.key, "Include"))
        return fail(err, ERROR_SETTINGS,
                    "'%s', line %u: an Include with a =, which Slurm rejects: write `Include FILE`",
                    place.file, place.line);
    if (slurm_kind_of(line.first.key) != SLURM_KINDS)
        return slurm_nodes_add(target->nodes, &line, err);
    for (int key = 0; key < SLURM_KEYS; key++)
        if (!strcasecmp(line.first.key, slurm_key_name((enum slurm_key)key)))
            return read_value(target->conf, &target->conf->given[key], &line, err);
    /* Other keys do not concern us. */
    return 0;
}

const char *slurm_conf_find(struct error *err)
{
    static const char *const places[] = { "/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf" };
    const char *named = getenv("SLURM_CONF");
    if (named && *named)
        return named;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!access(places[i], F_OK))
            return places[i];
    fail(err, ERROR_SETTINGS, "SLURM_CONF names no slurm.conf, and there is none at '%s' or '%s'",
         places[0], places[1]);
    return NULL;
}

static void note_dampening(struct slurm_conf *conf)
{
    const struct slurm_given *given = &conf->given[SLURM_DAMPENING_FACTOR];
    uint64_t number;
    if (given->value && slurm_number(given->value, UINT16_MAX, &number) && !number)
        slurm_conf_note(conf, given->place, "%s = 0, by which slurmctld divides; it counts as 1",
                        slurm_key_name(SLURM_DAMPENING_FACTOR));
}

int slurm_conf_read(struct slurm_conf **read, const char *path, struct error *err)
{
    struct slurm_conf *conf = memory_zeroed(1, sizeof *conf);
    conf->arena = arena_create();
    conf->path = arena_copy(conf->arena, path, strlen(path));
    struct target target = { conf, slurm_nodes_create(conf) };
    const struct slurm_reader reader = {
        .take = read_line,
        .context = &target,
        .cluster = &conf->given[SLURM_CLUSTER_NAME].value,
        .arena = conf->arena,
    };
    int result = slurm_file_read(&reader, path, &conf->files, err);
    if (!result)
        result = slurm_nodes_finish(target.nodes, err);
    note_dampening(conf);
    slurm_nodes_destroy(target.nodes);
    if (result) {
        slurm_conf_destroy(conf);
        return -1;
    }
    *read = conf;
    return 0;
}
