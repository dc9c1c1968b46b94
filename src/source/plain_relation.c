/* SPDX-License-Identifier: MIT */
#include "source/plain_relation.h"

#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "source/reading.h"
#include "util/error.h"
#include "util/memory.h"

/* Adds the name of a relation, which may have a schema before a dot. */
static void add_relation(struct text *text, const char *name)
{
    const char *dot = strchr(name, '.');
    if (dot) {
        char *schema = memory_bytes(name, (size_t)(dot - name));
        text_add_identifier(text, schema);
        text_add(text, ".");
        free(schema);
    }
    text_add_identifier(text, dot ? dot + 1 : name);
}

void plain_add_grant(struct text *text, const struct db_settings *settings, const char *relation)
{
    if (!strchr(relation, '.'))
        db_add_grant(text, settings, "SELECT", NULL, relation);
}

static bool is_ascii(const char *text)
{
    while (*text && !(*text & 0x80))
        text++;
    return *text == '\0';
}

struct query plain_query_of(const struct source *source, const struct plain_query *asked,
                            struct text *sql, struct db_value *arguments)
{
    struct query query = { .arguments = arguments, .types = asked->types };
    bool by_cluster = source->cluster && is_ascii(source->cluster);
    text_format(sql, "SELECT %s FROM ", asked->select);
    add_relation(sql, asked->relation);
    text_add(sql, " ");
    if (asked->where)
        text_format(sql, "WHERE %s%s", asked->where, by_cluster ? " AND \"cluster\" = ?" : "");
    if (asked->argument)
        arguments[query.argument_count++] = *asked->argument;
    if (by_cluster)
        arguments[query.argument_count++] = db_text(source->cluster);
    query.sql = sql->bytes;
    return query;
}

int plain_explain_relation(const struct source *source, const char *relation, struct error *err)
{
    fail_in(err, "cannot read '%s'", relation);
    struct text grant = { 0 };
    if (err->class == ERROR_DENIED || err->class == ERROR_MISSING)
        plain_add_grant(&grant, source->db->settings, relation);
    if (grant.length) {
        struct error reason = *err;
        fail(err, reason.class, "%.1500s; if it exists, run: %s", reason.message, grant.bytes);
    }
    text_free(&grant);
    return -1;
}

int plain_read_relation(const struct source *source, const struct plain_query *asked,
                        row_taker take, void *context, struct error *err)
{
    struct text sql = { 0 };
    struct db_value arguments[2];
    const struct query query = plain_query_of(source, asked, &sql, arguments);
    int result = reading_each(source->db, &query, take, context, err);
    text_free(&sql);
    return result ? plain_explain_relation(source, asked->relation, err) : 0;
}

bool plain_is_of(const struct db_value *stored, const char *cluster)
{
    return stored->type == DB_TEXT && reads_as(stored->text.bytes, stored->text.length, cluster);
}
