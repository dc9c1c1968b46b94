#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests that a replica as source is read only if its lag is at most max_lag."""

import os
import re
import signal
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mariadb import MONITOR, NAME, Primary, Replica
from postgres import NewPostgres, Standby
from program import fairmill, write_settings

SITE = '''
CREATE TABLE associations (cluster VARCHAR(64), id INTEGER, parent_id INTEGER, account VARCHAR(64),
    user_name VARCHAR(64), partition_name VARCHAR(64), shares INTEGER, deleted INTEGER);
CREATE TABLE used (cluster VARCHAR(64), id INTEGER, time_start BIGINT, time_end BIGINT,
    charge DOUBLE PRECISION);
INSERT INTO associations VALUES ('c', 1, NULL, 'root', '', '', 1, 0), ('c', 2, 1, 'root', 'u', '', 1, 0);
'''
READER = 'lag_reader'
PATIENCE = 30  # a run that fails because of lag does so at once, regardless of its deadline


class Rig:
    """A primary, its replica, and runs that read from one of them."""

    def __init__(self, folder, primary, replica, database):
        self.folder, self.primary, self.replica, self.database = folder, primary, replica, database
        self.conf, self.results = f'{folder}/f.conf', f'{folder}/r.db'
        self.hours = 0

    def use(self):
        """Adds one hour of usage on the primary."""
        self.hours += 1
        self.primary.sql(f"INSERT INTO used VALUES ('c', 2, {3600 * self.hours}, {3600 * (self.hours + 1)}, 1)",
                         self.database)

    def run(self, max_lag, command='run', server=None, **more):
        source = dict((server or self.replica).connection(self.database), user=READER, deadline='60 s',
                      layout='plain', usage='used', **more)
        if max_lag is not None:
            source['max_lag'] = max_lag
        write_settings(self.conf, dict(source=source, results=dict(driver='sqlite', database=self.results),
                                       usage=dict(half_life=0)))
        began = time.monotonic()
        self.status, self.out, self.err = fairmill(self.conf, *command.split())
        self.seconds = time.monotonic() - began
        return self.status

    def published(self):
        db = sqlite3.connect(self.results)
        try:
            return [row[0] for row in db.execute("SELECT usage_raw FROM fairmill_fairshare WHERE user_name = 'u'")]
        finally:
            db.close()

    def succeeds(self, statement, max_lag, **more):
        self.run(max_lag, **more)
        tap.ok(self.status == 0 and self.published() == [3600 * self.hours], statement, self.status, self.err,
               self.published() if not self.status else '')

    def refuses(self, statement, max_lag, *said, **more):
        kept = self.published()
        self.run(max_lag, **more)
        tap.ok(self.status == 69 and self.published() == kept, f'{statement} ends with 69 and keeps the old results',
               self.status, self.err)
        tap.ok(all(text in self.err for text in (self.database, 'max_lag', *said)),
               f'the message explains the lag ({statement})',
               self.err)
        tap.ok(self.seconds < PATIENCE, 'the run fails at once', self.seconds)


def lag_told(rig):
    found = re.search(r'lags (\d+) s', rig.err)
    return int(found.group(1)) if found else -1


def wait(condition, what):
    if not tap.until(condition, every=.1):
        raise RuntimeError(f'never: {what}')


def grants_of_mysql(rig):
    rig.run(None, 'init --print')
    tap.ok(MONITOR not in rig.out, 'without max_lag init --print grants no monitoring', rig.err)
    rig.run('1 m', 'init --print')
    tap.ok(f"GRANT {MONITOR} ON *.* TO '{READER}'@'localhost'" in rig.out,
           'with max_lag init --print grants monitoring', rig.out)
    rig.run(None, 'init')
    rig.run(None)
    tap.ok(rig.status == 0, 'without max_lag a replica is a source like any other', rig.err)
    rig.run('1 m')
    granted = re.search(rf"GRANT {MONITOR} ON \*\.\* TO '\w+'@'\w+'", rig.err)
    tap.ok(rig.status == 78 and granted and rig.err.count('\n') == 1,
           'one message names a missing privilege and its GRANT', rig.status, rig.err)
    rig.primary.sql(granted.group(0))
    rig.replica.catch_up()


def on_mysql(folder):
    with Primary() as primary, Replica(primary) as replica:
        rig = Rig(folder, primary, replica, primary.database('lag_acct'))
        primary.sql(SITE, rig.database)
        primary.sql(f"CREATE USER {READER}@localhost; GRANT SELECT ON lag_acct.* TO {READER}@localhost")
        replica.catch_up()
        grants_of_mysql(rig)
        rig.use()
        replica.catch_up()
        rig.succeeds(f'{NAME}: a replica in step is read', '5 s')
        rig.run('5 s', 'check')
        tap.ok(rig.status == 0 and 'replication lag: 0 s, max_lag is 5 s' in rig.out,
               'check prints the lag', rig.out, rig.err)
        rig.succeeds('a primary has no lag', '0', server=primary)

        replica.stop()
        rig.refuses(f'{NAME}: a stopped replica', '1 d', 'without bound')
        rig.run('1 d', 'check')
        tap.ok(rig.status == 69 and 'receives no more changes' in rig.out,
               'check ends with the status of the run', rig.out, rig.err)
        rig.succeeds('without max_lag a stopped replica is read', None)

        replica.change(DELAY=3600)
        rig.use()
        rig.hours -= 1  # not replicated yet
        # The lag of a replica that has just started is unknown at first, and then 0 for a moment.
        wait(lambda: rig.run('2 s') == 69 and 'without bound' not in rig.err, 'lag')
        rig.refuses(f'{NAME}: a delayed replica', '2 s', 'max_lag is 2 s')
        tap.ok(2 < lag_told(rig) < 60, 'the message contains the lag', rig.err)
        rig.succeeds('a replica that lags less than max_lag is read', '1 h')
        rig.hours += 1
        replica.change(DELAY=0)
        replica.catch_up()
        # For another moment, the replica reports the lag of the last event.
        wait(lambda: rig.run('2 s') == 0, 'step')
        rig.succeeds('a replica that has caught up is read again', '2 s')
        tap.same(failures(rig), {True}, 'failed runs are recorded with their reason')

        os.kill(primary.pid, signal.SIGTERM)
        wait(lambda: rig.run('1 d') == 69, 'loss of the primary')
        rig.refuses(f'{NAME}: a replica whose primary is down', '1 d', 'without bound')


def failures(rig):
    db = sqlite3.connect(rig.results)
    try:
        return {'max_lag' in row[0] or MONITOR in row[0]
                for row in db.execute("SELECT message FROM fairmill_run WHERE status = 'failed'")}
    finally:
        db.close()


def on_postgres(folder):
    with NewPostgres('-c', 'synchronous_commit=on') as primary:
        primary.database('lag_acct')
        primary.sql(SITE, 'lag_acct')
        primary.sql(f'CREATE ROLE {READER} LOGIN; GRANT SELECT ON associations, used TO {READER}', 'lag_acct')
        with Standby(primary) as standby:
            rig = Rig(folder, primary, standby, 'lag_acct')
            rig.run('1 m', 'init')
            standby.catch_up()
            rig.succeeds('PostgreSQL: a standby without new changes is read', '5 s')
            tap.same(standby.sql('SELECT pg_last_xact_replay_timestamp()'), [[None]],
                     'the standby has not replayed anything yet')
            standby_lags(rig)
            os.kill(primary.pid, signal.SIGINT)
            wait(lambda: standby.sql('SELECT count(*) FROM pg_stat_wal_receiver') == [['0']], 'loss of the primary')
            time.sleep(2)
            rig.refuses('PostgreSQL: a standby whose primary is down', '1 s', 'max_lag is 1 s')
            rig.succeeds('a standby is read if its primary was lost less than max_lag ago', '1 h')


def standby_lags(rig):
    standby = rig.replica
    rig.use()
    standby.catch_up()
    rig.succeeds('a standby in step is read', '5 s')
    time.sleep(2.5)
    rig.succeeds('a standby in step does not lag if its primary is idle', '1 s')
    rig.run('5 s', 'check')
    tap.ok(rig.status == 0 and 'replication lag: 0 s, max_lag is 5 s' in rig.out,
           'check prints that the standby does not lag', rig.out, rig.err)
    rig.succeeds('a primary does not lag', '0', server=rig.primary)

    standby.configure('recovery_min_apply_delay', '700ms')
    time.sleep(2.5)
    rig.use()
    standby.receive_all()
    rig.succeeds('changes that have just arrived are replayed first', '2 s')
    standby.configure('recovery_min_apply_delay', '1h')
    rig.use()
    rig.hours -= 1  # not replayed yet
    time.sleep(2.5)
    rig.refuses('PostgreSQL: a delayed standby', '1 s', 'max_lag is 1 s')
    tap.ok(1 < lag_told(rig) < 60, 'the message contains the lag', rig.err)
    rig.succeeds('a standby that lags less than max_lag is read', '1 h')
    rig.hours += 1
    standby.configure('recovery_min_apply_delay', '0')
    standby.catch_up()
    rig.succeeds('a standby that has caught up is read again', '1 s')

    standby.sql('SELECT pg_wal_replay_pause()')
    rig.use()
    rig.hours -= 1
    time.sleep(2.5)
    rig.refuses('PostgreSQL: a paused standby', '1 s', 'max_lag is 1 s')
    rig.hours += 1
    standby.sql('SELECT pg_wal_replay_resume()')
    standby.catch_up()
    rig.succeeds('a resumed standby is read again', '1 s')


def body():
    for part in (on_mysql, on_postgres):
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            part(folder)


tap.main(body)
