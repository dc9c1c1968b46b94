#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests databases that are missing, locked, full or of another version, and `fairmill check` on
them."""

import fcntl
import itertools
import os
import resource
import signal
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import sqlite
import tap
from place import NOW, SMALL, Place
from program import DRIVERS

SERVERS = [driver for driver in DRIVERS if driver != 'sqlite']


def missing(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    kept = place.state()
    os.rename(place.path('a.db'), place.path('away.db'))
    place.settings({'source.deadline': '1 s'})
    place.ends(69, 'a run without the accounting database exits with status 69', 'run', '--now',
               NOW + 1)
    place.says('the error names the missing accounting database', 'a.db')
    tap.ok(not os.path.exists(place.path('a.db')), 'a run does not create the accounting database')
    tap.same(place.state()[0], kept[0], 'the old results stay if the accounting database is missing')
    os.rename(place.path('away.db'), place.path('a.db'))
    place.settings({'results.database': '/nonexistent/folder/r.db', 'source.deadline': '1 s'})
    place.ends(78, 'a run without the results database exits with status 78', 'run', '--now', NOW + 1)
    place.says('the error for missing results proposes init', 'fairmill init')
    for driver, side in itertools.product(SERVERS, ('source', 'results')):
        place.settings({f'{side}.driver': driver, f'{side}.socket': '/nonexistent/s',
                        'source.deadline': '1 s'})
        place.ends(69, f'a run exits with 69 if the {side} server is down ({driver})', 'run',
                   '--now', NOW + 1)
    place.settings()
    place.change('ALTER TABLE tiny_job_table RENAME TO hidden')
    place.ends(78, 'a run exits with 78 if an accounting table is missing', 'run', '--now', NOW + 1)
    place.says('the error names the missing table', 'tiny_job_table')
    place.change('ALTER TABLE hidden RENAME TO tiny_job_table')
    place.change('ALTER TABLE tiny_job_table RENAME COLUMN tres_alloc TO something')
    place.ends(78, 'a run exits with 78 if an accounting column is missing', 'run', '--now', NOW + 1)
    place.says('the error names the missing column', 'tres_alloc')
    with open(place.path('text.db'), 'w', encoding='ascii') as file:
        file.write('this is no database\n' * 100)
    place.settings({'source.database': place.path('text.db'), 'source.deadline': '1 s'})
    place.run('run', '--now', NOW + 1)
    tap.ok(place.err and 'text.db' in place.err, 'the error names a file that is not a database', place.err)
    tap.same(place.state()[0], kept[0], 'the old results stay after all these errors')


def versions(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    kept = place.state()
    (version,), = place.query('SELECT max(version) FROM fairmill_schema')
    place.query('INSERT INTO fairmill_schema (version, made_at) VALUES (?, 1)', version + 1)
    for command in ('run', 'show', 'init'):
        place.ends(78, f'{command} rejects results of a later release', command)
        place.says(f'the error of {command} proposes a newer fairmill or a backup', 'newer fairmill', 'restore the backup')
    tap.same(place.state(), kept, 'commands do not change results of a later release')
    place.query('DELETE FROM fairmill_schema')
    place.ends(78, 'results without a version are rejected', 'run')
    place.says('the error for results without a version proposes init', 'fairmill init')


def columns(place):
    return {table: {row[1] for row in place.query(f"PRAGMA table_info('{table}')")}
            for table, in place.query("SELECT name FROM sqlite_master WHERE type = 'table'")}


def upgrade(place):
    """Tests the upgrade of results of 0.1.0."""
    place.ready()
    wanted = columns(place)
    for name in ('r.db', 'r.db-wal', 'r.db-shm'):
        if os.path.exists(place.path(name)):
            os.unlink(place.path(name))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'releases', '0.1.0.sql'), encoding='utf-8') as file:
        db = sqlite3.connect(place.path('r.db'))
        db.executescript(sqlite.fit(file.read()))
        db.close()
    kept = {table: place.query(f'SELECT count(*) FROM {table}')
            for table in ('fairmill_ledger', 'fairmill_history', 'fairmill_share_change', 'fairmill_run')}
    place.ends(78, 'a run rejects results of 0.1.0', 'run', '--now', NOW + 10000)
    place.says('the error for results of 0.1.0 proposes init', 'fairmill init')
    place.succeed('init')
    tap.same({table: sorted(wanted[table] - columns(place)[table]) for table in wanted},
             {table: [] for table in wanted}, 'init adds all missing columns')
    tap.same({table: place.query(f'SELECT count(*) FROM {table}') for table in kept}, kept, 'init keeps all rows')
    place.ends(0, 'the next run after the upgrade succeeds', 'run', '--now', NOW + 10000)
    tap.same(place.usage('physics.alice', 'physics.bob'), [250, 100], 'the ledger entry of 0.1.0 counts in the next run')


def lost_columns(place):
    """Tests columns that are missing from tables of the current version."""
    place.ready()
    wanted = columns(place)

    def drop(table, column):
        for view, in place.query("SELECT name FROM sqlite_master WHERE type = 'view'"):
            place.query(f'DROP VIEW {view}')
        place.drop_column('r.db', table, column)
    drop('fairmill_value', 'linear_usage')
    place.succeed('init')
    place.ends(0, 'init adds a missing column, and the next run succeeds', 'run', '--now', NOW)
    tap.same(columns(place), wanted, 'all columns exist after init')
    drop('fairmill_seal', 'as_of')
    place.ends(1, 'init fails if it cannot add a column', 'init')
    place.says('the error names the table and the column', "'fairmill_seal'", "'as_of'")


def rewrite_tables(place, old, new):
    """Replaces `old` by `new` in the stored definitions, as if another SQLite had created the
    tables."""
    db = sqlite3.connect(place.path('r.db'))
    db.execute('PRAGMA writable_schema = ON')
    db.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'table'", (old, new))
    db.commit()
    db.close()


def strict(place):
    """SQLite supports STRICT tables since 3.37."""
    place.ready()
    knows = sqlite3.sqlite_version_info >= (3, 37)
    tables = place.query("SELECT sql FROM sqlite_master WHERE type = 'table' AND name LIKE 'fairmill%'")
    tap.same({'STRICT' in sql for sql, in tables}, {knows}, 'tables are STRICT if SQLite supports it')
    place.succeed('init', '--print')
    tap.same('STRICT' in place.out, knows, 'init --print has STRICT if SQLite supports it')
    rewrite_tables(place, ') STRICT, WITHOUT ROWID', ') WITHOUT ROWID')
    place.ends(0, 'a run accepts tables that an older SQLite created', 'run', '--now', NOW)
    place.ends(0, 'verify finds no differences in tables of an older SQLite', 'verify')
    rewrite_tables(place, ') WITHOUT ROWID', ') STRICT, WITHOUT ROWID')
    for command in (['run', '--now', str(NOW + 60)], ['show'], ['init']):
        place.ends(0 if knows else 78, f"STRICT tables are {'accepted' if knows else 'rejected'} by {command[0]}", *command)
        if not knows:
            place.says('the error names the required and the installed SQLite', '3.37', sqlite3.sqlite_version)


def untouched(place):
    """No command writes to the accounting database."""
    place.ready()
    with open(place.path('a.db'), 'rb') as file:
        before = file.read()
    os.chmod(place.path('a.db'), 0o444)
    for command in (('check',), ('run', '--now', NOW), ('run', '--now', NOW, '--dry-run'),
                    ('show',)):
        place.succeed(*command)
    with open(place.path('a.db'), 'rb') as file:
        tap.ok(file.read() == before, 'the accounting database is unchanged byte by byte')
    names = sorted(name for name in os.listdir(place.folder) if name.startswith('a.db'))
    tap.same(names, ['a.db'], 'commands create no files next to the accounting database')


def same(place):
    """If init would reject the database, no error proposes init."""
    place.ready()
    place.settings({'results.database': place.path('a.db')})
    for command in ('init', 'run', 'check', 'show'):
        place.ends(78, f'{command} rejects the accounting database as results database', command)
        place.says(f'the error of {command} names the reason and share_database', 'is an accounting database', 'share_database')
    place.settings({'results.database': place.path('a.db'), 'results.share_database': 'yes'})
    place.ends(78, 'with share_database, a run reports missing results', 'run')
    place.says('the error for the shared database proposes init', 'run `fairmill init`')


def check(place):
    place.site()
    place.settings()
    place.run('check')
    tap.ok(not os.path.exists(place.path('r.db')), 'check does not create the results database')
    place.succeed('init')
    place.ends(0, 'check succeeds if a run would succeed', 'check')
    tap.ok('reset_period' in place.out + place.err,
           'check warns about half_life 0 without a reset period', place.out, place.err)
    tap.same([len(t) for t in place.state()], [0, 0, 0], 'check writes nothing to the results')
    place.settings({'usage.half_life': '7-0'})
    place.succeed('check')
    tap.ok('reset_period' not in place.out + place.err, 'check does not warn if usage decays',
           place.out, place.err)
    place.settings({'usage.reset_period': 'monthly'})
    place.succeed('check')
    tap.ok('reset_period' not in place.out + place.err, 'check does not warn if usage is reset', place.out, place.err)


TIED = 'root/\n  A/ 1\n    a1 1 use 10\n    a2 1 use 90\n  B/ 1\n    b1 1 use 40\n    b2 1 use 60\n'


def conformance_count(place):
    place.ready(TIED)
    place.succeed('check')
    # a2 has rank 1 or 3, b2 has 2 or 1: t/data/golden/fair_tree.txt.
    tap.ok('ranks that differ between documents and slurmctld: 2\n' in place.out,
           'check counts the ranks that differ between documents and slurmctld', place.out, place.err)


def printed(place):
    """Tests `init --print`, which opens no database."""
    for driver in SERVERS:
        place.settings({'source.driver': driver, 'source.database': 'slurm_acct_db',
                        'source.user': 'reader', 'source.socket': '/nonexistent/s',
                        'results.driver': driver, 'results.database': 'fairmill',
                        'results.user': 'writer', 'results.socket': '/nonexistent/s'})
        place.ends(0, f'init --print needs no server ({driver})', 'init', '--print')
        tap.ok('GRANT SELECT' in place.out and 'CREATE TABLE' in place.out
               and 'fairmill_sshare' in place.out,
               f'init --print prints tables, views and GRANTs ({driver})', place.out[:500])
        secrets = [name for name in ('job_script', 'job_env', 'step_table') if name in place.out]
        tap.same(secrets, [], f"init --print grants no table with users' secrets ({driver})")
        tap.ok('GRANT ALL' not in place.out.upper(), f'init --print does not print GRANT ALL ({driver})')
        quote = '`' if driver == 'mysql' else '"'
        tap.ok(f'ON {quote}tres_table{quote} TO' in place.out or f'.{quote}tres_table{quote} TO' in place.out,
               f'init --print grants tres_table, which has the names of TRES ({driver})', place.out)
        place.ends(0, f'init --print --cluster succeeds ({driver})', 'init', '--print',
                   '--cluster', 'tiny')
        tap.ok(f'{quote}tres_req{quote}) ON' in place.out and 'suspend_table' not in place.out,
               f'init --print grants only the columns that the settings need ({driver})', place.out[-900:])
        place.settings({'source.driver': driver, 'source.database': 'slurm_acct_db',
                        'source.user': 'reader', 'usage.charge': 'tres',
                        'usage.tres_weights': 'CPU=1', 'usage.suspended': 'omitted',
                        'usage.partition_usage_factors': 'gpu:2'})
        place.ends(0, f'init --print succeeds with other settings ({driver})', 'init', '--print',
                   '--cluster', 'tiny')
        tap.ok(f'{quote}partition{quote}, ' in place.out and 'tiny_suspend_table' in place.out,
               f'init --print grants the columns that other settings need ({driver})',
               place.out[-900:])


def lock_files(place):
    return sorted(name for name in os.listdir(place.folder) if name.startswith('r.db')
                  and name not in ('r.db', 'r.db-wal', 'r.db-shm'))


def locks(place):
    place.ready(SMALL + 'cluster other\nroot/\n  x use 1\n')
    place.succeed('run', '--now', NOW)
    files = lock_files(place)
    held = [name for name in files if 'tiny' in name] or files
    tap.ok(held, 'a run creates lock files next to the results', os.listdir(place.folder))
    open_files = [open(place.path(name), 'r+b') for name in held]
    for file in open_files:
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.lockf(file, fcntl.LOCK_EX)
    began = time.monotonic()
    place.ends(75, 'a run exits with status 75 if its lock is held', 'run', '--now', NOW + 10)
    tap.ok(time.monotonic() - began < 20, 'a run does not wait for a held lock')
    clusters = dict(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare'))
    tap.same(clusters['tiny'], NOW, 'the locked cluster keeps its old results')
    if len(held) < len(files):
        tap.same(clusters['other'], NOW + 10, 'the other cluster has new results')
    place.ends(0, 'show reads results while the lock is held', 'show')
    for file in open_files:
        file.close()
    place.ends(0, "a run succeeds after the lock's holder has exited", 'run', '--now', NOW + 10)


def modes(place):
    """The umask decides the mode of created files, but others must never get write access."""
    for umask, most in ((0o000, 0o644), (0o027, 0o640), (0o077, 0o600)):
        place.site(SMALL)
        place.settings()
        for name in list(os.listdir(place.folder)):
            if name.startswith('r.db'):
                os.unlink(place.path(name))
        for command in (('init',), ('run', '--now', NOW), ('show',)):
            place.ends(0, f'with umask {umask:03o}, {command[0]} succeeds', *command,
                       preexec_fn=lambda mask=umask: os.umask(mask))
        made = {name: os.stat(place.path(name)).st_mode & 0o777
                for name in os.listdir(place.folder) if name.startswith('r.db')}
        tap.ok(len(made) > 3 and not any(mode & ~most for mode in made.values()),
               f'with umask {umask:03o}, files have at most mode {most:o}', {name: oct(mode) for name, mode in made.items()})


BIG = 3000


def stopped(place):
    """A stopped run holds the lock.  It finishes if it is continued.  If it is killed, the lock is
    released."""
    place.ready('root/\n' + ''.join(f'  u{i} {i} use {i}\n' for i in range(BIG)))
    place.succeed('run', '--now', NOW)
    for ending, expected in ((signal.SIGCONT, 0), (signal.SIGKILL, -signal.SIGKILL)):
        process, refused = stop_with_lock(place)
        if not tap.ok(refused, 'during a run, a second run exits with status 75'):
            continue
        process.send_signal(ending)
        if ending == signal.SIGKILL:
            process.send_signal(signal.SIGCONT)
        process.communicate(timeout=tap.HANG)
        tap.same(process.returncode, expected, f'the stopped run exits with {expected}')
        place.ends(0, f'the next run after exit status {expected} succeeds', 'run', '--now', NOW + 100, '--replace')
        tap.same(place.query('SELECT count(*), count(DISTINCT run_id), min(computed_at) FROM fairmill_fairshare'), [(BIG + 1, 1, NOW + 100)],
                 f'the next run after exit status {expected} publishes complete results')


def holds_lock(process):
    """Returns whether the process holds a lock by flock(), as the results database does."""
    folder = f'/proc/{process.pid}/fdinfo'
    try:
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding='ascii') as file:
                if 'FLOCK' in file.read():
                    return True
    except OSError:
        pass  # the process has closed the file or exited
    return False


def stop_with_lock(place):
    """Stops a run while it holds the lock, so that another run is rejected.

    If a run ends before it is stopped, the function tries again.  Returns (process, True) or (None,
    False)."""
    for _ in range(100):
        process = place.start('run', '--now', NOW + 50, '--replace')
        tap.until(lambda run=process: holds_lock(run) or run.poll() is not None, every=.001)
        process.send_signal(signal.SIGSTOP)
        status = place.run('run', '--now', NOW + 60, '--replace')
        if status == 75:
            return process, True
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=tap.HANG)
    return None, False


def together(place):
    place.ready('root/\n' + ''.join(f'  u{i} {i} use {i}\n' for i in range(500)))
    statuses = []
    for round_ in range(6):
        processes = [place.start('run', '--now', NOW + round_) for _ in range(4)]
        for process in processes:
            process.communicate(timeout=tap.HANG)
            statuses.append(process.returncode)
        tap.same(place.query('SELECT count(*), count(DISTINCT run_id), min(computed_at) FROM fairmill_fairshare'), [(501, 1, NOW + round_)],
                 f'four runs at once leave complete results (round {round_ + 1})')
    tap.ok(len(statuses) == 24 and set(statuses) <= {0, 75} and statuses.count(0) >= 6,
           'each of the runs at once exits with 0 or 75', statuses)


def no_room(place):
    place.ready('root/\n' + ''.join(f'  u{i} {i} use {i}\n' for i in range(2000)),
                {'source.deadline': '2 s'})
    place.succeed('run', '--now', NOW)
    kept = place.state()[0]

    def narrow():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        size = os.path.getsize(place.path('r.db')) + 4096
        resource.setrlimit(resource.RLIMIT_FSIZE, (min(size, 65536), min(size, 65536)))

    status = place.run('run', '--now', NOW + 10, preexec_fn=narrow)
    tap.ok(status == 69 and 'r.db' in place.err, 'a run without space for its results exits with status 69',
           status, place.err)
    tap.same(place.state()[0], kept, 'the old results stay if there is no space')
    place.ends(0, 'the next run with enough space succeeds', 'run', '--now', NOW + 20)
    tap.same(place.query('SELECT count(*), min(computed_at) FROM fairmill_fairshare'),
             [(2001, NOW + 20)], 'the next run publishes complete results')


def busy(place):
    """Another program writes to the results.  A run waits for it, but only until the deadline."""
    place.ready(keys={'source.deadline': '2 s'})
    place.succeed('run', '--now', NOW)
    db = sqlite3.connect(place.path('r.db'), isolation_level=None)
    db.execute('BEGIN IMMEDIATE')
    process = place.start('run', '--now', NOW + 10)
    time.sleep(.5)
    db.execute('COMMIT')
    process.communicate(timeout=tap.HANG)
    tap.same(process.returncode, 0, 'a run waits for a writer that finishes soon')
    db.execute('BEGIN IMMEDIATE')
    began = time.monotonic()
    place.ends(69, 'a run exits with status 69 if a writer does not finish', 'run', '--now', NOW + 20)
    tap.ok(time.monotonic() - began < 20, 'a run does not wait much longer than the deadline')
    # If it waited twice, a run would take 12 s.  If it waited 20 times, the ledger would take a
    # minute.
    for seconds, most, command in ((6, 11.5, ('run', '--now', NOW + 20)),
                                   (3, 20, ('ledger', 'credit', 5, '-u', 'bob', '--why', 'x', '--yes'))):
        place.settings({'source.deadline': f'{seconds} s'})
        began = time.monotonic()
        place.ends(69, f'{command[0]} exits with status 69 if a writer does not finish', *command)
        took = time.monotonic() - began
        tap.ok(took < most, f'{command[0]} ends within {most} s with a deadline of {seconds} s', took)
    db.execute('ROLLBACK')
    db.close()
    tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(NOW + 10,)],
             'the old results stay if a writer does not finish')


def body():
    for part in (missing, versions, upgrade, lost_columns, strict, untouched, same, modes, check, conformance_count, printed, locks, stopped,
                 together, no_room, busy):
        with Place() as place:
            part(place)


tap.main(body)
