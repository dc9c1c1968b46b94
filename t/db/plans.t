#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests that an incremental run reads the job table through the indexes of slurmdbd's tables in
every database.  The number of rows that it reads does not grow with old jobs.  The same applies to
commands that need the jobs of one user, or of the last days, and to waits, which needs the counts of
some days."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import tap
from mariadb import IS_MYSQL, NewServer, Server, numbers
from postgres import Postgres
from program import fairmill, sqlite_settings, write_settings

RELEASE = '25.05'
CLUSTER = 'alpha'
NOW = 1750500000
JOBS = 60000  # one each minute, for forty days
FIRST = 1 << 20

# SQL that counts to JOBS in each database.
COUNTERS = dict(
    mysql=f'SELECT n FROM {numbers(JOBS)}',
    pgsql=f'SELECT n FROM generate_series(1, {JOBS}) AS n',
    sqlite='WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c'
           f' WHERE n < {JOBS}) SELECT n FROM c')
TIMES = {'job_db_inx': f'{FIRST} + n', 'id_job': f'{FIRST} + n',
         'time_submit': f'{NOW - JOBS * 60} + n * 60 - 600',
         'time_eligible': f'{NOW - JOBS * 60} + n * 60 - 600',
         'time_start': f'{NOW - JOBS * 60} + n * 60 - 500',
         'id_assoc': f'CASE WHEN n % 100 = 0 THEN (SELECT MIN(id_assoc) FROM "{CLUSTER}_assoc_table" WHERE "user" <> \'\''
                     ' AND deleted = 0) ELSE t.id_assoc END',
         'time_end': f'CASE WHEN n % 1000 = 0 THEN 0 ELSE {NOW - JOBS * 60} + n * 60 END'}


def fill(driver, columns):
    """Returns SQL that multiplies a row of the job table."""
    picked = ', '.join(TIMES.get(name, f't."{name}"') for name in columns)
    names = ', '.join(f'"{name}"' for name in columns)
    return (f'INSERT INTO "{CLUSTER}_job_table" ({names}) SELECT {picked} FROM'
            f' ({COUNTERS[driver]}) c, (SELECT * FROM "{CLUSTER}_job_table" WHERE'
            f' time_end > 0 ORDER BY job_db_inx LIMIT 1) t')


def crowd():
    """Returns SQL that makes one in twelve jobs open, as tasks of arrays with a limit of running
    tasks.  Some tasks wait for the limit."""
    waits = '"job_db_inx" % 10 = 9'
    return (f'UPDATE "{CLUSTER}_job_table" SET "time_end" = 0, "id_array_job" = "job_db_inx" - "job_db_inx" % 10, "array_max_tasks" = 4,'
            f' "time_eligible" = CASE WHEN {waits} THEN 4294967295 ELSE "time_eligible" END,'
            f' "time_start" = CASE WHEN {waits} THEN 0 ELSE "time_start" END'
            f' WHERE "job_db_inx" > {FIRST + JOBS - JOBS // 6} AND "job_db_inx" % 2 = 1')


def run(settings, now, wanted, driver):
    status, out, err = fairmill(settings, 'run', '-v', '--cluster', CLUSTER, '--now', now)
    tap.ok(status == 0 and f'{CLUSTER}: {wanted}' in err, f'{driver}: the run is {wanted}', out, err)


def try_driver(driver, folder, sections, sql, touched, most, why):
    """Tests a driver. sql() executes a statement; touched() returns a counter of rows read from the
    job table."""
    source, results = sections
    settings = f'{folder}/{driver}.conf'
    write_settings(settings, dict(source=source, results=results))
    status, out, err = fairmill(settings, 'init')
    if status:
        raise RuntimeError(out + err)
    before = touched()
    run(settings, NOW, 'full', driver)
    full = touched() - before
    tap.ok(full > most, f'{driver}: a full run reads the table', f'{full} {why}')
    before = touched()
    run(settings, NOW + 300, 'incremental', driver)
    some = touched() - before
    tap.ok(0 < some < most, f'{driver}: an incremental run reads little of it', f'{some} {why}')
    before = touched()
    for job in range(FIRST + 10001, FIRST + 10004):
        status, out, err = fairmill(settings, 'ledger', 'refund', job, '--cluster', CLUSTER, '--at', NOW,
                                    '--why', 'a test', '--yes')
        tap.ok(status == 0, f'{driver}: a job is refunded', out, err)
    run(settings, NOW + 600, 'incremental', driver)
    some = touched() - before
    tap.ok(0 < some < most, f'{driver}: refunded jobs are found by their IDs', f'{some} {why}')
    try_commands(driver, settings, touched, full)
    sql(crowd())
    sql(dict(mysql=f'ANALYZE TABLE "{CLUSTER}_job_table"').get(driver, f'ANALYZE "{CLUSTER}_job_table"'))
    status, out, err = fairmill(settings, 'run', '--full', '--now', NOW + 900)
    tap.ok(not status, f'{driver}: a full run with many open jobs succeeds', out, err)
    before = touched()
    run(settings, NOW + 1200, 'incremental', driver)
    some = touched() - before
    # Open jobs are read for their new usage, for the stored state, if they are pending, and for the
    # TRES that they may still use.  SQLite reads pages, which contain other jobs.  MySQL also counts
    # the rows of the results.
    most = full * (0.9 if driver == 'sqlite' else 0.67 if driver == 'mysql' and IS_MYSQL else 0.45)
    tap.ok(0 < some < most, f'{driver}: with many open jobs only these are read', f'{some} {why}', full)


def try_commands(driver, settings, touched, full):
    """Compares the number of rows that commands read with a full run."""
    _, out, _ = fairmill(settings, 'show', '--csv', '-a', '-o', 'id,account,username', '--clusters', CLUSTER)
    users = [row.split(',') for row in out.splitlines()[1:] if not row.endswith(',')]
    _, account, user = min(users, key=lambda row: int(row[0]))
    for arguments, most in ((('explain', f'{account}/{user}', '--jobs'), full // 4),
                            # It reads one of six weeks, to compute the usage per second.
                            (('forecast', f'{account}/{user}', '--days', 1, '--now', NOW + 900), full // 2),
                            # With the decay epochs of that time, none of the six weeks is too old.
                            (('forecast', f'{account}/{user}', '--days', 300, '--now', NOW + 900), full // 2)):
        before = touched()
        status, out, err = fairmill(settings, *arguments, '--clusters', CLUSTER)
        some = touched() - before
        tap.ok(status == 0 and 0 < some < most,
               f'{driver}: {arguments[0]} reads little of the table', some, full, out, err)


WAIT_DAYS, WAIT_ASSOCIATIONS = 400, 250  # 100,000 rows


def try_waits(driver, settings, sql, touched, most, why):
    """Tests that waits reads only the days of its period.  touched() returns a counter of rows read
    from fairmill_wait_final."""
    counter = COUNTERS[driver].replace(str(JOBS), str(WAIT_DAYS * WAIT_ASSOCIATIONS))
    day = f'{NOW - NOW % 86400} - 86400 * (n % {WAIT_DAYS} + 60)'
    sql(f"INSERT INTO fairmill_wait_final SELECT '{CLUSTER}', {day}, 9000 + (n - n % {WAIT_DAYS}) / {WAIT_DAYS}, 'a', 'x', 60, 1"
        f' FROM ({counter}) c')
    sql(dict(mysql='ANALYZE TABLE fairmill_wait_final').get(driver, 'ANALYZE'))
    before = touched()
    status, out, err = fairmill(settings, 'waits', '--since', NOW - 64 * 86400, '--until', NOW - 62 * 86400, '--clusters', CLUSTER, '--by',
                                'partition', '--csv')
    some = touched() - before
    tap.ok(status == 0 and 0 < some < most, f'{driver}: waits reads only the days of its period', f'{some} {why}', out, err)


def characters_read():
    """Returns the characters read by this process and the children that it waited for."""
    with open('/proc/self/io', encoding='ascii') as file:
        return int(file.readline().split()[1])


def try_sqlite(folder, path):
    db = sqlite3.connect(path)
    with db:
        columns = [row[1] for row in db.execute(f'PRAGMA table_info("{CLUSTER}_job_table")')]
        db.execute(fill('sqlite', columns))
    size, = db.execute('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size'
                       ).fetchone()
    db.close()
    sections = sqlite_settings(path, f'{folder}/results.db')

    def sql(statement):
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute(statement)

    try_driver('sqlite', folder, (sections['source'], sections['results']), sql, characters_read, size // 4, 'bytes')

    def results(statement):
        with contextlib.closing(sqlite3.connect(f'{folder}/results.db')) as db, db:
            db.execute(statement)

    try_waits('sqlite', f'{folder}/sqlite.conf', results, characters_read, WAIT_DAYS * WAIT_ASSOCIATIONS * 10, 'bytes')


def try_mariadb(folder, text):
    # MySQL counts reads of all tables together, so this test needs a server of its own.
    with NewServer() if IS_MYSQL else Server() as server:
        source, results = server.database('plans'), server.database('plans_fm')
        subprocess.run(server.client(source), input=text, text=True, check=True)
        columns = server.columns(f'{CLUSTER}_job_table', source)
        server.sql(f"SET sql_mode = 'ANSI_QUOTES'; {fill('mysql', columns)};"
                   f' ANALYZE TABLE "{CLUSTER}_job_table"', source)
        if not IS_MYSQL:
            server.sql('SET GLOBAL userstat = 1')

        def rows_read(database=source, table=f'{CLUSTER}_job_table'):
            if IS_MYSQL:  # the job table is by far the largest
                return int(server.sql("SHOW GLOBAL STATUS LIKE 'Innodb_rows_read'")[0][1])
            rows = server.sql('SELECT ROWS_READ FROM information_schema.TABLE_STATISTICS WHERE'
                              f" TABLE_SCHEMA = '{database}' AND TABLE_NAME = '{table}'")
            return int(rows[0][0]) if rows else 0

        try_driver('mysql', folder, (server.connection(source), server.connection(results)),
                   lambda statement: server.sql(f"SET sql_mode = 'ANSI_QUOTES'; {statement}", source), rows_read, JOBS // 10, 'rows')
        try_waits('mysql', f'{folder}/mysql.conf', lambda statement: server.sql(statement, results),
                  lambda: rows_read(results, 'fairmill_wait_final'), WAIT_DAYS * WAIT_ASSOCIATIONS // 20, 'rows')


def try_postgres(folder, path):
    with Postgres() as server:
        source, results = 'plans', server.database('plans_fm')
        server.copy_sqlite(path, source, (CLUSTER, 'beta-2'))
        columns = server.columns(f'{CLUSTER}_job_table', source)
        server.sql(fill('pgsql', columns), source)
        server.sql(f'ANALYZE "{CLUSTER}_job_table"', source)

        def rows_read(database=source, table=f'{CLUSTER}_job_table'):
            """Statistics are updated a moment after a session's end."""
            time.sleep(1)
            return int(server.sql('SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM'
                                  f" pg_stat_user_tables WHERE relname = '{table}'", database)[0][0])

        try_driver('pgsql', folder, (server.connection(source), server.connection(results)),
                   lambda statement: server.sql(statement, source), rows_read, JOBS // 10, 'rows')
        try_waits('pgsql', f'{folder}/pgsql.conf', lambda statement: server.sql(statement, results),
                  lambda: rows_read(results, 'fairmill_wait_final'), WAIT_DAYS * WAIT_ASSOCIATIONS // 20, 'rows')


def body():
    text = dump.text_of(RELEASE)
    with tempfile.TemporaryDirectory() as folder:
        path = f'{folder}/a.db'
        dump.to_sqlite(text, path, (CLUSTER, 'beta-2'))
        try_mariadb(folder, text)
        try_postgres(folder, path)
        try_sqlite(folder, path)


tap.main(body)
