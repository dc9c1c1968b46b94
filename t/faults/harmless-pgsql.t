#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
"""Writers of the accounting database on PostgreSQL are not affected by fairmill; see
t/lib/harmless.py.

It takes a quarter of a minute, or three minutes with FAIRMILL_LONG=1."""

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import faults
import harmless
from harmless import SOURCE
from postgres import NewPostgres


class Server(NewPostgres):
    """A server that also listens on TCP."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            super().__init__('-c', 'listen_addresses=127.0.0.1', port=free.getsockname()[1])

    def __enter__(self):
        super().__enter__()
        with open(f'{self.socket}/data/pg_hba.conf', 'a', encoding='utf-8') as file:
            file.write('host all all 127.0.0.1/32 trust\n')
        self.sql('SELECT pg_reload_conf()')
        return self

# Full runs, which read jobs with COPY.
faults.RUN.append('--full')


class Words:
    server = Server
    LOOK = f"""
        SELECT 'blocks', b.pid, a.wait_event
        FROM pg_stat_activity a CROSS JOIN unnest(pg_blocking_pids(a.pid)) b(pid)
        WHERE a.wait_event_type = 'Lock' AND a.datname = '{SOURCE}'
        UNION ALL
        SELECT 'holds', l.pid, l.mode || ' ' || CAST(l.relation AS text)
        FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE l.relation IS NOT NULL AND l.granted AND d.datname = '{SOURCE}'
        UNION ALL
        SELECT 'is', pid, CAST(usename AS text) FROM pg_stat_activity WHERE datname = '{SOURCE}'"""
    UPSERT = 'ON CONFLICT ({key}) DO UPDATE SET {column} = {table}excluded.{column}'
    ALL = 'ALL'
    LOCK = 'BEGIN; LOCK TABLE big_job_table IN SHARE MODE'
    # idle_in_transaction_session_timeout and tcp_user_timeout of fairmill's sessions are 10
    # seconds.  While it reads rows from a unix socket, fairmill has its own timer.
    ways = {' (TCP)': dict(to_port=True), ' (unix socket)': dict(by_path=True)}
    amid = r'COPY .*"partition", j\."time_eligible" FROM "big_job_table"', 'sync'
    between = 'FROM "big_assoc_table"', 'sync', 0


harmless.main(Words)
