/* SPDX-License-Identifier: MIT */
#include "db/mysql/mysql_session.h"

#include <string.h>

#include "util/error.h"
#include "util/number.h"
#include "util/text.h"

/* How far a replica is behind: MariaDB and MySQL say it in one of many columns, whose name begins
 * like this, with a row for each server that they replicate. */
#define LAG_COLUMN "Seconds_Behind_"

static bool is_mariadb(const struct mysql_session *session)
{
    return strstr(mysql_get_server_info(session->mysql), "MariaDB") != NULL;
}

static const char *status_statement(const struct mysql_session *session)
{
    if (is_mariadb(session))
        return "SHOW ALL SLAVES STATUS";
    return mysql_get_server_version(session->mysql) >= 80022 ? "SHOW REPLICA STATUS"
                                                             : "SHOW SLAVE STATUS";
}

static int fail_status(struct mysql_session *session, struct error *err)
{
    session_fail_connection(session, err);
    fail_in(err, "cannot tell how far a replica lags");
    if (err->class != ERROR_DENIED)
        return -1;
    struct error reason = *err;
    struct text grant = { 0 };
    mysql_add_monitor_grant(&grant, session->base.settings, is_mariadb(session));
    fail(err, reason.class, "%.1500s; max_lag needs: %s", reason.message, grant.bytes);
    text_free(&grant);
    return -1;
}

/* The place of that column; the number of columns where it is not there. */
static unsigned find_lag_column(MYSQL_RES *status)
{
    const MYSQL_FIELD *fields = mysql_fetch_fields(status);
    unsigned count = mysql_num_fields(status), column = 0;
    while (column < count && strncmp(fields[column].name, LAG_COLUMN, strlen(LAG_COLUMN)) != 0)
        column++;
    return column;
}

/* The lag of the row that is farthest behind.  NULL: replication stands still, or does not reach
 * the other server. */
static int64_t worst_lag(MYSQL_RES *status, unsigned column)
{
    int64_t worst = 0;
    MYSQL_ROW row;
    while ((row = mysql_fetch_row(status))) {
        int64_t lag;
        if (!row[column] || !number_signed(row[column], strlen(row[column]), &lag))
            lag = DB_LAG_UNBOUNDED;
        worst = lag > worst ? lag : worst;
    }
    return worst;
}

int session_replica_lag(struct db *db, int64_t *lag_s, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    const char *statement = status_statement(session);
    if (mysql_real_query(session->mysql, statement, strlen(statement)))
        return fail_status(session, err);
    MYSQL_RES *status = mysql_store_result(session->mysql);
    if (!status)
        return fail_status(session, err);
    unsigned column = find_lag_column(status);
    int result = 0;
    if (column < mysql_num_fields(status))
        *lag_s = worst_lag(status, column);
    else
        result = fail(err, ERROR_OTHER, "%s: the server does not say how far it lags",
                      session->base.name);
    mysql_free_result(status);
    return result;
}
