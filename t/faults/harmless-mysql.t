#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""slurmdbd on MariaDB or MySQL is not affected by fairmill; see t/lib/harmless.py.

It takes a quarter of a minute, or three minutes with FAIRMILL_LONG=1."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import harmless
import mariadb
import tap
from harmless import SOURCE


class Mariadb(mariadb.Server):
    def __enter__(self):
        super().__enter__()
        try:
            self.sql("INSTALL SONAME 'metadata_lock_info'")
        except RuntimeError as problem:
            if 'already' not in str(problem):
                tap.skip_all('the server has no plugin metadata_lock_info')
        return self


MARIADB_LOOK = f"""
        SELECT 'blocks', b.trx_mysql_thread_id, ''
        FROM information_schema.innodb_lock_waits w
        JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id
        UNION ALL
        SELECT 'holds', thread_id, CONCAT(lock_mode, ' ', table_name)
        FROM information_schema.metadata_lock_info WHERE table_schema = '{SOURCE}'
        UNION ALL
        SELECT 'waits', id, CONCAT(user, ' ', state)
        FROM information_schema.processlist
        WHERE state LIKE 'Waiting for%' AND db = '{SOURCE}'
        UNION ALL
        SELECT 'is', id, user FROM information_schema.processlist WHERE db = '{SOURCE}'"""
MYSQL_LOOK = f"""
        SELECT 'blocks', t.processlist_id, ''
        FROM performance_schema.data_lock_waits w
        JOIN performance_schema.threads t ON t.thread_id = w.blocking_thread_id
        UNION ALL
        SELECT 'holds', t.processlist_id, CONCAT(m.lock_type, ' ', m.object_name)
        FROM performance_schema.metadata_locks m
        JOIN performance_schema.threads t ON t.thread_id = m.owner_thread_id
        WHERE m.object_type = 'TABLE' AND m.object_schema = '{SOURCE}' AND m.lock_status = 'GRANTED'
        UNION ALL
        SELECT 'waits', id, CONCAT(user, ' ', state)
        FROM performance_schema.processlist
        WHERE state LIKE 'Waiting for%' AND db = '{SOURCE}'
        UNION ALL
        SELECT 'is', id, user FROM performance_schema.processlist WHERE db = '{SOURCE}'"""


class Words:
    server = staticmethod(lambda: mariadb.NewServer('--performance-schema=ON') if mariadb.IS_MYSQL else Mariadb())
    LOOK = MYSQL_LOOK if mariadb.IS_MYSQL else MARIADB_LOOK
    UPSERT = 'ON DUPLICATE KEY UPDATE {column} = {table}VALUES({column})'
    ALL = 'ALL'
    LOCK = 'LOCK TABLES big_job_table READ'
    # net_write_timeout and idle_readonly_transaction_timeout of fairmill's sessions are 10 seconds.
    ways = {'': dict(by_path=True)}
    amid = r'"partition", j\."time_eligible" FROM "big_job_table"', 'execute'
    between = r'"partition", j\."time_eligible" FROM "big_job_table"', 'prepare', None


harmless.main(Words)
