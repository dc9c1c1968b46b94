/* SPDX-License-Identifier: MIT */
#include "db/common.h"
#include "util/text.h"

/*
 * Privileges in PostgreSQL, as a script for psql.  PostgreSQL lacks CREATE ROLE IF NOT EXISTS, so a
 * SELECT composes the statement if the role is missing, and \gexec runs it.  GRANT applies only to
 * the connected database, so \connect precedes it.
 */

static const char *account(const struct db_settings *settings)
{
    return db_given(settings->login)  ? settings->login
           : db_given(settings->user) ? settings->user
                                      : "fairmill";
}

static void add_connect(struct text *text, const struct db_settings *settings)
{
    text_add(text, "\\connect ");
    text_add_identifier(text, settings->database);
    text_add(text, "\n");
}

static void pgsql_privilege_add_role(struct text *text, const char *role, const char *options)
{
    text_format(text, "SELECT format('CREATE ROLE %%I%s', ", options);
    text_add_quoted(text, '\'', role);
    text_add(text, ") WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = ");
    text_add_quoted(text, '\'', role);
    text_add(text, ")\\gexec\n");
}

static void pgsql_privilege_add_grant(struct text *text, const struct db_settings *settings,
                                      const char *privileges, const char *const *columns,
                                      const char *table)
{
    text_format(text, "GRANT %s", privileges);
    for (size_t i = 0; columns && columns[i]; i++) {
        text_add(text, i ? ", " : " (");
        text_add_identifier(text, columns[i]);
    }
    text_add(text, columns ? ") ON " : " ON ");
    text_add_identifier(text, table);
    text_add(text, " TO ");
    text_add_identifier(text, account(settings));
}

static void add_connect_grant(struct text *text, const struct db_settings *settings)
{
    text_add(text, "GRANT CONNECT ON DATABASE ");
    text_add_identifier(text, settings->database);
    text_add(text, " TO ");
    text_add_identifier(text, account(settings));
    text_add(text, ";\n");
}

static void pgsql_privilege_add_role_grant(struct text *text, const struct db_settings *settings,
                                           const char *role)
{
    text_format(text, "GRANT %s TO ", role);
    text_add_identifier(text, account(settings));
}

/*
 * A login through the unix socket needs no password, so this SQL can create it.  The administrator
 * must create any other login.
 */
static void pgsql_privilege_add_login(struct text *text, const struct db_settings *settings)
{
    if (db_logs_in_by_socket(settings)) {
        pgsql_privilege_add_role(text, account(settings), " LOGIN");
        return;
    }
    text_add(text, "-- First: CREATE ROLE ");
    text_add_identifier(text, account(settings));
    text_add(text, " LOGIN PASSWORD '...'\n");
}

/*
 * Tables belong to the role that created them, and only their owner can alter them.  So
 * fairmill_owner creates them.
 */
static void pgsql_privilege_add_before_tables(struct text *text, const struct db_settings *results)
{
    text_add(text, "SELECT format('CREATE DATABASE %I TEMPLATE template0 ENCODING ''UTF8''', ");
    text_add_quoted(text, '\'', results->database);
    text_add(text, ") WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = ");
    text_add_quoted(text, '\'', results->database);
    text_add(text, ")\\gexec\n");
    add_connect(text, results);
    text_add(
        text,
        "\n-- Roles of the results: fairmill_owner runs `fairmill init`, fairmill_writer runs\n"
        "-- `fairmill run`, fairmill_reader reads everything, fairmill_dashboard reads data\n"
        "-- without user names.\n");
    pgsql_privilege_add_role(text, "fairmill_owner", "");
    pgsql_privilege_add_role(text, "fairmill_writer", "");
    pgsql_privilege_add_role(text, "fairmill_reader", "");
    pgsql_privilege_add_role(text, "fairmill_dashboard", "");
    text_add(text, "GRANT USAGE, CREATE ON SCHEMA public TO fairmill_owner;\n"
                   "GRANT USAGE ON SCHEMA public TO fairmill_writer, fairmill_reader, "
                   "fairmill_dashboard;\n"
                   "SET ROLE fairmill_owner;\n\n");
}

static void pgsql_privilege_add_after_tables(struct text *text, const struct db_settings *results,
                                             const struct db_table *tables, size_t table_count,
                                             const char *const *nameless)
{
    struct text login = { 0 };
    text_add_identifier(&login, account(results));
    text_add(text, "RESET ROLE;\n\n-- Privileges on these tables and on tables of later "
                   "releases.\n");
    pgsql_privilege_add_login(text, results);
    text_format(text,
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public"
                " TO fairmill_writer;\n"
                "GRANT SELECT ON ALL TABLES IN SCHEMA public TO fairmill_reader;\n"
                "ALTER DEFAULT PRIVILEGES FOR ROLE fairmill_owner, %s IN SCHEMA public\n"
                "    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO fairmill_writer;\n"
                "ALTER DEFAULT PRIVILEGES FOR ROLE fairmill_owner, %s IN SCHEMA public\n"
                "    GRANT SELECT ON TABLES TO fairmill_reader;\n"
                "GRANT fairmill_writer TO %s;\n",
                login.bytes, login.bytes, login.bytes);
    for (size_t i = 0; i < table_count; i++)
        if (tables[i].only_grows) {
            text_add(text, "REVOKE UPDATE, DELETE ON ");
            text_add_identifier(text, tables[i].name);
            text_add(text, " FROM fairmill_writer;\n");
        }
    for (size_t i = 0; nameless[i]; i++)
        text_format(text, "GRANT SELECT ON \"%s\" TO fairmill_dashboard;\n", nameless[i]);
    text_free(&login);
}

static void add_before_grants(struct text *text, const struct db_settings *source)
{
    add_connect(text, source);
    pgsql_privilege_add_login(text, source);
}

const struct db_privileges pgsql_privileges = {
    .add_grant = pgsql_privilege_add_grant,
    .add_connect_grant = add_connect_grant,
    .add_role_grant = pgsql_privilege_add_role_grant,
    .add_before_tables = pgsql_privilege_add_before_tables,
    .add_after_tables = pgsql_privilege_add_after_tables,
    .add_before_grants = add_before_grants,
};
