/* SPDX-License-Identifier: MIT */
#include "import/entities.h"

#include <stdlib.h>
#include <string.h>

#include "core/usage/entity.h"
#include "results/rows.h"
#include "source/pbs/fields.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The kinds of names: the entity kinds of jobs, and names in the usage file. */
#define KIND_OF_USAGE ENTITY_KINDS
#define KINDS (ENTITY_KINDS + 1)

static const char *kind_name(size_t kind)
{
    return kind == KIND_OF_USAGE ? "usage" : entity_kind_names[kind];
}

/* A name of one kind.  Its index is the name's index in `seen`. */
struct sighting {
    int64_t first;
    bool stored; /* the row in pbs_seen has this time */
};

/* A name that has shares or was seen.  Its index is the name's index in `names`. */
struct numbered {
    uint64_t number;
    int64_t first;
};

struct entities {
    struct db *db;
    const char *cluster;
    struct names *seen[KINDS];
    struct sighting *sightings[KINDS];
    struct names *names;
    struct numbered *numbered;
    size_t stored; /* number of names that are in the database */
    struct id_index *numbers;
    uint64_t next;
    struct text room;
};

static struct entities *entity_create(struct db *db, const char *cluster)
{
    struct entities *entities = memory_zeroed(1, sizeof *entities);
    *entities = (struct entities){ .db = db,
                                   .cluster = cluster,
                                   .names = names_create(),
                                   .numbers = id_index_create(),
                                   .next = ENTITY_UNLISTED };
    for (size_t kind = 0; kind < KINDS; kind++)
        entities->seen[kind] = names_create();
    return entities;
}

void entities_destroy(struct entities *entities)
{
    if (!entities)
        return;
    for (size_t kind = 0; kind < KINDS; kind++) {
        names_destroy(entities->seen[kind]);
        free(entities->sightings[kind]);
    }
    names_destroy(entities->names);
    free(entities->numbered);
    id_index_destroy(entities->numbers);
    text_free(&entities->room);
    free(entities);
}

/* Gives a name its number, unless it already has one. */
static void entity_add_number(struct entities *entities, struct part name, struct numbered numbered)
{
    uint32_t count = names_count(entities->names);
    if (names_add(entities->names, name.bytes, name.length) != count)
        return;
    if (id_index_add(entities->numbers, numbered.number, 0) != INDEX_NONE) {
        numbered.number = entities->next;
        id_index_add(entities->numbers, numbered.number, 0);
    }
    if (numbered.number >= entities->next)
        entities->next = numbered.number + 1;
    entities->numbered = memory_grown(entities->numbered, count, sizeof *entities->numbered);
    entities->numbered[count] = numbered;
}

/* Returns true if the name is new, or if `time` is before the time when it was first seen. */
static bool see(struct entities *entities, size_t kind, struct part name, int64_t time)
{
    uint32_t count = names_count(entities->seen[kind]);
    uint32_t at = names_add(entities->seen[kind], name.bytes, name.length);
    if (at < count && entities->sightings[kind][at].first <= time)
        return false;
    if (at == count)
        entities->sightings[kind] =
            memory_grown(entities->sightings[kind], count, sizeof **entities->sightings);
    entities->sightings[kind][at] = (struct sighting){ time, false };
    return true;
}

static void see_and_number(struct entities *entities, size_t kind, const char *name, int64_t time)
{
    struct part part = { name, strlen(name) };
    if (see(entities, kind, part, time))
        entity_add_number(entities, part, (struct numbered){ entities->next, time });
}

void entities_see_job(struct entities *entities, const struct entity_job *job, int64_t time)
{
    for (enum entity_kind kind = 0; kind < ENTITY_KINDS; kind++)
        see_and_number(entities, kind, entity_of(job, kind, &entities->room), time);
}

void entities_see_usage(struct entities *entities, const char *name, int64_t time)
{
    see_and_number(entities, KIND_OF_USAGE, name, time);
}

void entities_number(struct entities *entities, const char *name, int64_t number, int64_t time)
{
    bool is_free = number > ENTITY_UNKNOWN && number < ENTITY_UNLISTED;
    entity_add_number(entities, (struct part){ name, strlen(name) },
                      (struct numbered){ is_free ? (uint64_t)number : entities->next, time });
}

static int entity_read_numbers(struct entities *entities, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(entities->cluster);
    struct db_rows *rows = db_query(entities->db, sql_query_pbs_entity_read, &name, 1, "tii", err);
    while (db_fetch(rows, &row, err) > 0)
        entity_add_number(entities, (struct part){ row[0].text.bytes, row[0].text.length },
                          (struct numbered){ (uint64_t)db_value_integer(&row[1], 0),
                                             db_value_integer(&row[2], 0) });
    entities->stored = names_count(entities->names);
    return db_finish(rows);
}

static size_t kind_of(const struct db_value *value)
{
    size_t kind = 0;
    while (kind < KINDS && !reads_as(value->text.bytes, value->text.length, kind_name(kind)))
        kind++;
    return kind;
}

static int read_seen(struct entities *entities, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(entities->cluster);
    struct db_rows *rows = db_query(entities->db, sql_query_pbs_seen_read, &name, 1, "tti", err);
    while (db_fetch(rows, &row, err) > 0) {
        size_t kind = kind_of(&row[0]);
        if (kind < KINDS)
            see(entities, kind, (struct part){ row[1].text.bytes, row[1].text.length },
                db_value_integer(&row[2], 0));
    }
    for (size_t kind = 0; kind < KINDS; kind++) {
        for (uint32_t i = 0; i < names_count(entities->seen[kind]); i++)
            entities->sightings[kind][i].stored = true;
    }
    return db_finish(rows);
}

struct entities *entities_read(struct db *db, const char *cluster, struct error *err)
{
    struct entities *entities = entity_create(db, cluster);
    if (!entity_read_numbers(entities, err) && !read_seen(entities, err))
        return entities;
    entities_destroy(entities);
    return NULL;
}

static int store_seen(struct entities *entities, struct row_writer *rows, size_t kind,
                      struct error *err)
{
    for (uint32_t i = 0; i < names_count(entities->seen[kind]); i++) {
        struct sighting *sighting = &entities->sightings[kind][i];
        const struct row_field fields[] = {
            { "cluster", 't', db_text(entities->cluster) },
            { "kind", 't', db_text(kind_name(kind)) },
            { "name", 't', db_text(names_text(entities->seen[kind], i)) },
            { "first_seen", 'i', db_integer(sighting->first) },
        };
        if (!sighting->stored && rows_add(rows, fields, COUNT(fields), err))
            return -1;
        sighting->stored = true;
    }
    return 0;
}

static int store_numbers(struct entities *entities, struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = entities->db, .table = "pbs_entity" };
    for (; entities->stored < names_count(entities->names) && !result; entities->stored++) {
        const struct numbered *numbered = &entities->numbered[entities->stored];
        const struct row_field fields[] = {
            { "cluster", 't', db_text(entities->cluster) },
            { "name", 't', db_text(names_text(entities->names, (uint32_t)entities->stored)) },
            { "id_assoc", 'i', db_unsigned(numbered->number) },
            { "first_seen", 'i', db_integer(numbered->first) },
        };
        result = rows_add(&rows, fields, COUNT(fields), err);
    }
    return rows_end(&rows, result, err);
}

int entities_store(struct entities *entities, struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = entities->db, .table = "pbs_seen", .keys = 3 };
    for (size_t kind = 0; kind < KINDS && !result; kind++)
        result = store_seen(entities, &rows, kind, err);
    result = rows_end(&rows, result, err);
    return result ? -1 : store_numbers(entities, err);
}
