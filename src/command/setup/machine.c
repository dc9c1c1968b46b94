/* SPDX-License-Identifier: MIT */
#include "command/setup/machine.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "command/setup/script.h"
#include "command/setup/servers.h"
#include "settings/slurm/slurm_conf.h"
#include "settings/slurm/slurm_read.h"
#include "util/error.h"
#include "util/memory.h"

static bool machine_has(const char *path)
{
    return !access(path, F_OK);
}

/* Returns the first path that exists, or NULL.  `paths` ends with NULL. */
static const char *machine_first(const char *const *paths)
{
    while (*paths && !machine_has(*paths))
        paths++;
    return *paths;
}

/* ---- Slurm's files ---- */

/* A key of a file, and the fact that gets its value. */
struct machine_key {
    const char *key, *fact;
};
static const struct machine_key keys_of_slurm[] = { { "ClusterName", "cluster" },
                                                    { "AccountingStorageHost", "slurmdbd" },
                                                    { NULL, NULL } };
static const struct machine_key keys_of_slurmdbd[] = { { "StorageHost", "host" },
                                                       { "StoragePort", "port" },
                                                       { "StorageLoc", "database" },
                                                       { NULL, NULL } };

struct machine_reading {
    struct script *script;
    const struct machine_key *keys;
    const char *cluster; /* for %c in the name of an included file */
};

/* Returns true if settings and SQL can contain the value without quotes. */
static bool machine_is_plain(const char *value)
{
    return *value && !value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_.:-")];
}

static int machine_take_line(void *context, struct slurm_place place, char *line, struct error *err)
{
    (void)err;
    struct machine_reading *reading = context;
    struct slurm_pair pair;
    while (slurm_pair_next(&line, &pair))
        for (const struct machine_key *key = reading->keys; key->key; key++) {
            if (strcasecmp(pair.key, key->key) != 0)
                continue;
            if (machine_is_plain(pair.value))
                script_set(reading->script, key->fact, pair.value);
            else
                script_note(reading->script, "'%s', line %u: cannot use this value of %s",
                            place.file, place.line, key->key);
        }
    reading->cluster = script_fact(reading->script, "cluster");
    return 0;
}

/* Sets the facts that the keys name.  Returns false, and adds the reason to the findings, if the
 * file cannot be read. */
static bool machine_read(struct script *script, const char *path, const struct machine_key *keys)
{
    struct machine_reading reading = { script, keys, script_fact(script, "cluster") };
    struct slurm_reader reader = { machine_take_line, &reading, &reading.cluster, script->arena };
    struct slurm_files files = { 0 };
    struct error err;
    bool is_read = !slurm_file_read(&reader, path, &files, &err);
    if (!is_read)
        script_note(script, "%s", err.message);
    free(files.each);
    return is_read;
}

/* slurmdbd looks for its file in the directory of slurm.conf. */
static void machine_find_slurmdbd(struct script *script, const char *slurm_conf)
{
    struct text path = { 0 };
    const char *slash = slurm_conf ? strrchr(slurm_conf, '/') : NULL;
    text_add_bytes(&path, slash ? slurm_conf : "/etc/slurm/",
                   slash ? (size_t)(slash + 1 - slurm_conf) : strlen("/etc/slurm/"));
    text_add(&path, "slurmdbd.conf");
    if (!machine_has(path.bytes)) {
        const char *host = script_fact(script, "slurmdbd");
        host = *host ? host : "localhost";
        script_set(script, "host", host);
        script_note(script, "no '%s'; slurmdbd and its database are assumed on %s", path.bytes,
                    host);
    } else if (machine_read(script, path.bytes, keys_of_slurmdbd)) {
        script_note(script, "'%s': database %s on %s", path.bytes, script_fact(script, "database"),
                    script_fact(script, "host"));
    } else {
        script_note(script, "so the defaults of slurmdbd are assumed; `sudo fairmill setup` can "
                            "read the file");
    }
    text_free(&path);
}

void machine_find_slurm(struct script *script)
{
    struct error err;
    const char *path = slurm_conf_find(&err), *named = getenv("SLURM_CONF");
    script_set(script, "host", "localhost");
    script_set(script, "port", "3306");
    script_set(script, "database", "slurm_acct_db");
    if (!path)
        script_note(script, "no slurm.conf; write its path to the line that begins with slurm=");
    else if (machine_read(script, path, keys_of_slurm)) {
        /* The service of runs does not have the variable. */
        script_set(script, "slurm", named && *named ? path : "auto");
        script_note(script, "'%s': cluster %s", path, script_fact(script, "cluster"));
    }
    machine_find_slurmdbd(script, path);
}

/* ---- Database servers ---- */

/* The default paths of MariaDB and MySQL in Debian, Enterprise Linux, SUSE, and builds of one's
 * own. */
static const char *const mysql_sockets[] = { "/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock",
                                             "/run/mysql/mysql.sock", "/tmp/mysql.sock", NULL };
static const char *const postgres_directories[] = { "/run/postgresql", "/tmp", NULL };

static void machine_note_server(struct script *script, const struct greeting *greeting,
                                const char *where)
{
    script_note(script, "%s %s answers on %s", greeting->is_mariadb ? "MariaDB" : "MySQL",
                greeting->version, where);
    script_set(script, "client", greeting->is_mariadb ? "mariadb" : "mysql");
}

static void machine_find_mysql(struct script *script)
{
    struct greeting greeting;
    const char *host = script_fact(script, "host"), *port = script_fact(script, "port");
    bool is_here = server_host_is_here(host);
    for (const char *const *path = mysql_sockets; is_here && *path; path++)
        if (server_greets_at(*path, &greeting)) {
            machine_note_server(script, &greeting, *path);
            script_set(script, "socket", *path);
            return;
        }
    if (server_greets_on(host, port, &greeting)) {
        struct text where = { 0 };
        text_format(&where, "%s, port %s%s", host, port, greeting.has_tls ? ", with TLS" : "");
        machine_note_server(script, &greeting, where.bytes);
        text_free(&where);
        script_set(script, "remote", "yes");
        /* For `localhost`, the client library would use the socket. */
        if (strcmp(host, "localhost") == 0)
            script_set(script, "host", "127.0.0.1");
        script_set(script, "tls", greeting.has_tls ? "required" : NULL);
        return;
    }
    script_set(script, "remote", is_here ? NULL : "yes");
    script_set(script, "client", "mariadb");
    script_note(script, "no server of MariaDB or MySQL answers on %s, port %s%s", host, port,
                is_here ? ", or on a socket" : "");
}

static void machine_find_postgres(struct script *script)
{
    for (const char *const *directory = postgres_directories; *directory; directory++) {
        struct text path = { 0 };
        text_format(&path, "%s/.s.PGSQL.5432", *directory);
        bool answers = server_is_postgres(path.bytes);
        text_free(&path);
        if (!answers)
            continue;
        script_note(script, "PostgreSQL answers in '%s'", *directory);
        script_set(script, "pgsocket", *directory);
        return;
    }
    script_note(script, "PostgreSQL does not answer on port 5432 of this host");
}

void machine_find_servers(struct script *script)
{
    script_set(script, "pgsocket", postgres_directories[0]);
    script_set(script, "pgport", "5432");
    machine_find_mysql(script);
    machine_find_postgres(script);
}

/* ---- Other programs ---- */

static void machine_find_web(struct script *script)
{
    static const char *const apache[] = { "/usr/sbin/apache2", "/usr/sbin/httpd", NULL };
    static const char *const nginx[] = { "/usr/sbin/nginx", NULL };
    static const char *const apache_directories[] = { "/etc/apache2/conf-available",
                                                      "/etc/httpd/conf.d", NULL };
    static const char *const nginx_directories[] = { "/etc/nginx/snippets", "/etc/nginx/default.d",
                                                     NULL };
    const char *of_apache = machine_first(apache) ? machine_first(apache_directories) : NULL;
    const char *of_nginx = machine_first(nginx) ? machine_first(nginx_directories) : NULL;
    script_set(script, "apache", of_apache);
    script_set(script, "a2enconf", of_apache == apache_directories[0] ? "yes" : NULL);
    script_set(script, "nginx", of_nginx);
    script_set(script, "web", of_apache ? of_apache : of_nginx);
    if (of_apache)
        script_note(script, "Apache reads '%s'", of_apache);
    if (of_nginx)
        script_note(script, "nginx reads '%s'", of_nginx);
    if (!of_apache && !of_nginx)
        script_note(script, "no Apache and no nginx");
}

static void machine_find_metrics(struct script *script)
{
    static const char *const directories[] = { "/var/lib/prometheus/node-exporter",
                                               "/var/lib/node_exporter/textfile_collector",
                                               "/var/lib/node_exporter", NULL };
    static const char *const groups[] = { "prometheus", "node-exporter", "node_exporter", NULL };
    const char *directory = machine_first(directories), *const *group = groups;
    while (*group && !getgrnam(*group))
        group++;
    script_set(script, "metrics", *group ? directory : NULL);
    script_set(script, "metrics_group", *group);
    if (directory && *group)
        script_note(script, "node_exporter of group %s reads '%s'", *group, directory);
    else
        script_note(script, "no textfile directory of node_exporter");
}

void machine_find_services(struct script *script)
{
    bool systemd = machine_has("/run/systemd/system");
    script_set(script, "systemd", systemd ? "yes" : NULL);
    script_note(script, systemd ? "systemd runs" : "systemd does not run; cron starts the runs");
    machine_find_web(script);
    machine_find_metrics(script);
}
