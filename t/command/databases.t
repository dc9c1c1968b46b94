#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Databases that are missing, locked, of another version, or out of room; and what check says."""

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
    place.ends(69, 'an accounting database that is not there is not available', 'run', '--now',
               NOW + 1)
    place.says('and named', 'a.db')
    tap.ok(not os.path.exists(place.path('a.db')), 'it is not made by looking for it')
    tap.same(place.state()[0], kept[0], 'old results are whole')
    os.rename(place.path('away.db'), place.path('a.db'))
    place.settings({'results.database': '/nonexistent/folder/r.db', 'source.deadline': '1 s'})
    place.ends(78, 'results that cannot be there have no tables', 'run', '--now', NOW + 1)
    place.says('and the message says to run init', 'fairmill init')
    for driver, side in itertools.product(SERVERS, ('source', 'results')):
        place.settings({f'{side}.driver': driver, f'{side}.socket': '/nonexistent/s',
                        'source.deadline': '1 s'})
        place.ends(69, f'a server of the {side} that is down is not available ({driver})', 'run',
                   '--now', NOW + 1)
    place.settings()
    place.change('ALTER TABLE tiny_job_table RENAME TO hidden')
    place.ends(78, 'a missing table is a matter of settings or privileges', 'run', '--now', NOW + 1)
    place.says('and named', 'tiny_job_table')
    place.change('ALTER TABLE hidden RENAME TO tiny_job_table')
    place.change('ALTER TABLE tiny_job_table RENAME COLUMN tres_alloc TO something')
    place.ends(78, 'so is a missing column', 'run', '--now', NOW + 1)
    place.says('and named', 'tres_alloc')
    with open(place.path('text.db'), 'w', encoding='ascii') as file:
        file.write('this is no database\n' * 100)
    place.settings({'source.database': place.path('text.db'), 'source.deadline': '1 s'})
    place.run('run', '--now', NOW + 1)
    tap.ok(place.err and 'text.db' in place.err, 'a file that is no database is named', place.err)
    tap.same(place.state()[0], kept[0], 'old results are whole after all this')


def versions(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    kept = place.state()
    (version,), = place.query('SELECT max(version) FROM fairmill_schema')
    place.query('INSERT INTO fairmill_schema (version, made_at) VALUES (?, 1)', version + 1)
    for command in ('run', 'show', 'init'):
        place.ends(78, f'{command} refuses results of a later release', command)
        place.says('and says what to do', 'newer fairmill', 'restore the backup')
    tap.same(place.state(), kept, 'and changes nothing')
    place.query('DELETE FROM fairmill_schema')
    place.ends(78, 'results of no version are refused', 'run')
    place.says('and the message says to run init', 'fairmill init')


def columns(place):
    return {table: {row[1] for row in place.query(f"PRAGMA table_info('{table}')")}
            for table, in place.query("SELECT name FROM sqlite_master WHERE type = 'table'")}


def upgrade(place):
    """Results of an older release."""
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
    place.ends(78, 'results of 0.1.0 are refused', 'run', '--now', NOW + 10000)
    place.says('and the message says to run init', 'fairmill init')
    place.succeed('init')
    tap.same({table: sorted(wanted[table] - columns(place)[table]) for table in wanted},
             {table: [] for table in wanted}, 'init gives them all columns')
    tap.same({table: place.query(f'SELECT count(*) FROM {table}') for table in kept}, kept, 'and nothing is lost')
    place.ends(0, 'the next run goes on from there', 'run', '--now', NOW + 10000)
    tap.same(place.usage('physics.alice', 'physics.bob'), [250, 100], 'with the entry of the ledger')


def lost_columns(place):
    """Of tables that are of this very version."""
    place.ready()
    wanted = columns(place)

    def drop(table, column):
        for view, in place.query("SELECT name FROM sqlite_master WHERE type = 'view'"):
            place.query(f'DROP VIEW {view}')
        place.drop_column('r.db', table, column)
    drop('fairmill_value', 'linear_usage')
    place.succeed('init')
    place.ends(0, 'init adds a column that a table has lost, as a run says that it does', 'run', '--now', NOW)
    tap.same(columns(place), wanted, 'so that all are there again')
    drop('fairmill_seal', 'as_of')
    place.ends(1, 'a column that the database will not add fails', 'init')
    place.says('and is named, with its table', "'fairmill_seal'", "'as_of'")


def rewrite_tables(place, old, new):
    """Have the tables say `new` in the place of `old`: what their file would have, made with another SQLite."""
    db = sqlite3.connect(place.path('r.db'))
    db.execute('PRAGMA writable_schema = ON')
    db.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'table'", (old, new))
    db.commit()
    db.close()


def strict(place):
    """SQLite knows STRICT tables from 3.37 on."""
    place.ready()
    knows = sqlite3.sqlite_version_info >= (3, 37)
    tables = place.query("SELECT sql FROM sqlite_master WHERE type = 'table' AND name LIKE 'fairmill%'")
    tap.same({'STRICT' in sql for sql, in tables}, {knows}, 'tables are STRICT where SQLite knows that')
    place.succeed('init', '--print')
    tap.same('STRICT' in place.out, knows, 'as init --print has it')
    rewrite_tables(place, ') STRICT, WITHOUT ROWID', ') WITHOUT ROWID')
    place.ends(0, 'tables that an older SQLite made serve a run', 'run', '--now', NOW)
    place.ends(0, 'and verify finds nothing wrong with them', 'verify')
    rewrite_tables(place, ') WITHOUT ROWID', ') STRICT, WITHOUT ROWID')
    for command in (['run', '--now', str(NOW + 60)], ['show'], ['init']):
        place.ends(0 if knows else 78, f"STRICT tables are {'read' if knows else 'refused'} by {command[0]}", *command)
        if not knows:
            place.says('with the SQLite that it takes, and the one that there is', '3.37', sqlite3.sqlite_version)


def untouched(place):
    """Nothing is ever written to the source."""
    place.ready()
    with open(place.path('a.db'), 'rb') as file:
        before = file.read()
    os.chmod(place.path('a.db'), 0o444)
    for command in (('check',), ('run', '--now', NOW), ('run', '--now', NOW, '--dry-run'),
                    ('show',)):
        place.succeed(*command)
    with open(place.path('a.db'), 'rb') as file:
        tap.ok(file.read() == before, 'no byte of the accounting database has changed')
    names = sorted(name for name in os.listdir(place.folder) if name.startswith('a.db'))
    tap.same(names, ['a.db'], 'and nothing lies beside it')


def same(place):
    """Where init would refuse, nobody is told to run it."""
    place.ready()
    place.settings({'results.database': place.path('a.db')})
    for command in ('init', 'run', 'check', 'show'):
        place.ends(78, f"'{command}' refuses the accounting database as that of results", command)
        place.says('and tells why', 'is an accounting database', 'share_database')
    place.settings({'results.database': place.path('a.db'), 'results.share_database': 'yes'})
    place.ends(78, 'where it is shared there are no results yet', 'run')
    place.says('and init makes them', 'run `fairmill init`')


def check(place):
    place.site()
    place.settings()
    place.run('check')
    tap.ok(not os.path.exists(place.path('r.db')), 'check makes no results database')
    place.succeed('init')
    place.ends(0, 'check ends well where a run would', 'check')
    tap.ok('reset_period' in place.out + place.err,
           'it warns of half_life 0 without a reset period', place.out, place.err)
    tap.same([len(t) for t in place.state()], [0, 0, 0], 'and writes nothing')
    place.settings({'usage.half_life': '7-0'})
    place.succeed('check')
    tap.ok('reset_period' not in place.out + place.err, 'it does not warn where usage decays',
           place.out, place.err)
    place.settings({'usage.reset_period': 'monthly'})
    place.succeed('check')
    tap.ok('reset_period' not in place.out + place.err, 'nor where it is reset', place.out, place.err)


TIED = 'root/\n  A/ 1\n    a1 1 use 10\n    a2 1 use 90\n  B/ 1\n    b1 1 use 40\n    b2 1 use 60\n'


def conformance_count(place):
    place.ready(TIED)
    place.succeed('check')
    # a2 has 1 or 3, b2 has 2 or 1: t/data/golden/fair_tree.txt.
    tap.ok('ranks that differ between documents and slurmctld: 2\n' in place.out,
           'check says how many ranks differ between documents and slurmctld', place.out, place.err)


def printed(place):
    """init --print opens no database."""
    for driver in SERVERS:
        place.settings({'source.driver': driver, 'source.database': 'slurm_acct_db',
                        'source.user': 'reader', 'source.socket': '/nonexistent/s',
                        'results.driver': driver, 'results.database': 'fairmill',
                        'results.user': 'writer', 'results.socket': '/nonexistent/s'})
        place.ends(0, f'init --print needs no server ({driver})', 'init', '--print')
        tap.ok('GRANT SELECT' in place.out and 'CREATE TABLE' in place.out
               and 'fairmill_sshare' in place.out,
               f'it prints tables, views and GRANTs ({driver})', place.out[:500])
        secrets = [name for name in ('job_script', 'job_env', 'step_table') if name in place.out]
        tap.same(secrets, [], f"it grants nothing on tables with users' secrets ({driver})")
        tap.ok('GRANT ALL' not in place.out.upper(), f'and never everything ({driver})')
        quote = '`' if driver == 'mysql' else '"'
        tap.ok(f'ON {quote}tres_table{quote} TO' in place.out or f'.{quote}tres_table{quote} TO' in place.out,
               f'it grants tres_table, which names the TRES of limits ({driver})', place.out)
        place.ends(0, f'with a cluster it prints its GRANTs ({driver})', 'init', '--print',
                   '--cluster', 'tiny')
        tap.ok(f'{quote}tres_req{quote}) ON' in place.out and 'suspend_table' not in place.out,
               f'of what the settings need and no more ({driver})', place.out[-900:])
        place.settings({'source.driver': driver, 'source.database': 'slurm_acct_db',
                        'source.user': 'reader', 'usage.charge': 'tres',
                        'usage.tres_weights': 'CPU=1', 'usage.suspended': 'omitted',
                        'usage.partition_usage_factors': 'gpu:2'})
        place.ends(0, f'other settings need other GRANTs ({driver})', 'init', '--print',
                   '--cluster', 'tiny')
        tap.ok(f'{quote}partition{quote}, ' in place.out and 'tiny_suspend_table' in place.out, f'which are there ({driver})', place.out[-900:])


def lock_files(place):
    return sorted(name for name in os.listdir(place.folder) if name.startswith('r.db')
                  and name not in ('r.db', 'r.db-wal', 'r.db-shm'))


def locks(place):
    place.ready(SMALL + 'cluster other\nroot/\n  x use 1\n')
    place.succeed('run', '--now', NOW)
    files = lock_files(place)
    held = [name for name in files if 'tiny' in name] or files
    tap.ok(held, 'a lock file lies beside the results', os.listdir(place.folder))
    open_files = [open(place.path(name), 'r+b') for name in held]
    for file in open_files:
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.lockf(file, fcntl.LOCK_EX)
    began = time.monotonic()
    place.ends(75, 'a run that finds the lock held ends with 75', 'run', '--now', NOW + 10)
    tap.ok(time.monotonic() - began < 20, 'and at once')
    clusters = dict(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare'))
    tap.same(clusters['tiny'], NOW, 'the locked cluster has its old results')
    if len(held) < len(files):
        tap.same(clusters['other'], NOW + 10, 'the other cluster is done')
    place.ends(0, 'readers do not mind the lock', 'show')
    for file in open_files:
        file.close()
    place.ends(0, 'the lock ends with whoever held it', 'run', '--now', NOW + 10)


def modes(place):
    """Who may do what with files that are made is the umask's to say; never may everybody write."""
    for umask, most in ((0o000, 0o644), (0o027, 0o640), (0o077, 0o600)):
        place.site(SMALL)
        place.settings()
        for name in list(os.listdir(place.folder)):
            if name.startswith('r.db'):
                os.unlink(place.path(name))
        for command in (('init',), ('run', '--now', NOW), ('show',)):
            place.ends(0, f"under the umask {umask:03o} '{command[0]}' works", *command,
                       preexec_fn=lambda mask=umask: os.umask(mask))
        made = {name: os.stat(place.path(name)).st_mode & 0o777
                for name in os.listdir(place.folder) if name.startswith('r.db')}
        tap.ok(len(made) > 3 and not any(mode & ~most for mode in made.values()),
               f'and no file is more open than {most:o}', {name: oct(mode) for name, mode in made.items()})


BIG = 3000


def stopped(place):
    """A run that is stopped in its middle holds the lock; when it goes on it is done, when it is killed the lock goes with it."""
    place.ready('root/\n' + ''.join(f'  u{i} {i} use {i}\n' for i in range(BIG)))
    place.succeed('run', '--now', NOW)
    for ending, expected in ((signal.SIGCONT, 0), (signal.SIGKILL, -signal.SIGKILL)):
        process, refused = catch(place)
        if not tap.ok(refused, 'while a run is under way another one ends with 75'):
            continue
        process.send_signal(ending)
        if ending == signal.SIGKILL:
            process.send_signal(signal.SIGCONT)
        process.communicate(timeout=tap.HANG)
        tap.same(process.returncode, expected, f'the stopped run ends with {expected}')
        place.ends(0, 'and the next one needs no help', 'run', '--now', NOW + 100, '--replace')
        tap.same(place.query('SELECT count(*), count(DISTINCT run_id), min(computed_at) FROM fairmill_fairshare'), [(BIG + 1, 1, NOW + 100)],
                 'and publishes whole results')


def holds_lock(process):
    """Whether it holds a lock by flock(), which is the database's advisory lock."""
    folder = f'/proc/{process.pid}/fdinfo'
    try:
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding='ascii') as file:
                if 'FLOCK' in file.read():
                    return True
    except OSError:
        pass  # it has closed the file, or ended
    return False


def catch(place):
    """Stops a run that holds the lock, whenever it takes it, so that another one is refused.  What has ended before it
    is stopped is tried again."""
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
                 f'four runs at once leave whole results (round {round_ + 1})')
    tap.ok(len(statuses) == 24 and set(statuses) <= {0, 75} and statuses.count(0) >= 6,
           'each of them ended with 0 or 75', statuses)


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
    tap.ok(status == 69 and 'r.db' in place.err, 'a run without room for its results ends with 69',
           status, place.err)
    tap.same(place.state()[0], kept, 'old results are whole')
    place.ends(0, 'the next run needs no help', 'run', '--now', NOW + 20)
    tap.same(place.query('SELECT count(*), min(computed_at) FROM fairmill_fairshare'),
             [(2001, NOW + 20)], 'and publishes')


def busy(place):
    """Somebody writes to the results; a short while is waited for, a long one is not."""
    place.ready(keys={'source.deadline': '2 s'})
    place.succeed('run', '--now', NOW)
    db = sqlite3.connect(place.path('r.db'), isolation_level=None)
    db.execute('BEGIN IMMEDIATE')
    process = place.start('run', '--now', NOW + 10)
    time.sleep(.5)
    db.execute('COMMIT')
    process.communicate(timeout=tap.HANG)
    tap.same(process.returncode, 0, 'a writer that is soon done is waited for')
    db.execute('BEGIN IMMEDIATE')
    began = time.monotonic()
    place.ends(69, 'one that is not makes the results unavailable', 'run', '--now', NOW + 20)
    tap.ok(time.monotonic() - began < 20, 'before long')
    # One more whole wait would make twelve of a run, and twenty of them a minute of the ledger's entry.
    for seconds, most, command in ((6, 11.5, ('run', '--now', NOW + 20)),
                                   (3, 20, ('ledger', 'credit', 5, '-u', 'bob', '--why', 'x', '--yes'))):
        place.settings({'source.deadline': f'{seconds} s'})
        began = time.monotonic()
        place.ends(69, f"so it does for '{command[0]}'", *command)
        took = time.monotonic() - began
        tap.ok(took < most, f'with a deadline of {seconds} seconds within {most}', took)
    db.execute('ROLLBACK')
    db.close()
    tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(NOW + 10,)],
             'old results are whole')


def body():
    for part in (missing, versions, upgrade, lost_columns, strict, untouched, same, modes, check, conformance_count, printed, locks, stopped,
                 together, no_room, busy):
        with Place() as place:
            part(place)


tap.main(body)
