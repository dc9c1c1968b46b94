#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
"""Tests that the results stay small on PostgreSQL, where each run leaves one dead row for each
association.  A run's own reads through the views prune dead rows.  Otherwise autovacuum, configured
in sql/schema/dialects.txt, frees their space after each run, and the next run reuses it.  A
long-running reader delays this only while it reads.

The default is a few runs.  FAIRMILL_LONG=1 does 30 runs on 20 000 associations, and tests other
storage parameters.  FAIRMILL_RELIABILITY=FILE appends the rows of doc/reliability.md to a file."""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import site_drawing
import tap
from faults import LONG
from place import NOW
from postgres import NewPostgres
from program import fairmill, write_settings
from server import Session

USERS = dict(big=18000, small=1998) if LONG else dict(big=1800, small=198)
RUNS = 30 if LONG else 6
READ_FOR = 6 if LONG else 3
TABLE = 'fairmill_value'
# Dead rows are half of all rows, and pages are not filled completely.
TWICE = 2.2

rows = []


def draw(folder):
    lines = []
    for cluster, users in USERS.items():
        lines += [f'cluster {cluster}', 'root/']
        for i in range(users):
            if i % 50 == 0:
                lines.append(f'  account{i}/ {i % 7 + 1}')
            lines.append(f'    user{i} {i % 5 + 1}')
            lines.append(f'job account{i - i % 50}.user{i} start={NOW - 1000 - i} billing={i % 11}')
    site_drawing.draw('\n'.join(lines)).write(f'{folder}/a.db')


class Results:
    """A database of results, and its size."""

    def __init__(self, server, folder, name, parameters=''):
        self.server, self.name = server, server.database(f'bloat_{name}')
        self.settings = f'{folder}/{name}.conf'
        write_settings(self.settings, dict(source=dict(driver='sqlite', database=f'{folder}/a.db'),
                                           results=server.connection(self.name), usage=dict(half_life=0)))
        self.now = NOW
        self.command('init')
        if parameters:
            self.sql(f'ALTER TABLE {TABLE} {parameters}')

    def sql(self, text):
        return self.server.sql(text, self.name)

    def command(self, *arguments):
        status, out, err = fairmill(self.settings, *arguments)
        if status:
            raise RuntimeError(f'{arguments} ended with {status}: {out}{err}')

    def run(self, *arguments):
        """Runs fairmill and returns the size of the table in bytes."""
        self.now += 300
        self.command('run', '--now', self.now, *arguments)
        return int(self.sql(f"SELECT pg_relation_size('{TABLE}')")[0][0])

    def statistics(self):
        (dead, live), = self.sql('SELECT n_dead_tup, n_live_tup FROM pg_stat_user_tables '
                                 f"WHERE relname = '{TABLE}'")
        return int(dead), int(live)

    def vacuumed(self, patience=120):
        """Waits until no rows are dead.  Autovacuum checks every second here, and every minute by
        default.  It does nothing if the run has pruned all dead rows."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            dead, live = self.statistics()
            if live and dead < live / 100:
                return True
            time.sleep(.2)
        return False

    def runs(self, count, patience=120):
        """Returns (sizes, the number of times that space was free before the next run)."""
        sizes, cleared = [], 0
        for _ in range(count):
            sizes.append(self.run())
            cleared += self.vacuumed(patience)
        return sizes, cleared


def note(what, sizes, runs):
    megabytes = [f'{size / 1e6:.1f}' for size in (sizes[0], max(sizes), sizes[-1])]
    tap.diag(f'{what}: heap of {megabytes[0]} MB after the first run, at most {megabytes[1]}, {megabytes[2]} after '
             f'the last of {runs}')
    rows.append(f'| {what} | {runs} | {" | ".join(megabytes)} |')


def nobody_reads(server, folder):
    results = Results(server, folder, 'alone')
    sizes, cleared = results.runs(RUNS)
    tap.ok(cleared == RUNS, 'space is free after each run', f'{cleared} of {RUNS}')
    tap.ok(max(sizes) < TWICE * sizes[0], 'the table is at most twice the size of its rows', sizes)
    index = int(results.sql(f"SELECT pg_indexes_size('{TABLE}')")[0][0])
    tap.ok(index < sizes[0], 'the index is smaller than the rows', index, sizes[0])
    note('as it is', sizes, RUNS)
    return results


def one_of_many(results):
    """The cluster has a tenth of all rows.  By default autovacuum waits for a fifth, which takes
    two runs."""
    cleared = 0
    for _ in range(3):
        results.run('--cluster', 'small')
        cleared += results.vacuumed()
    tap.ok(cleared == 3, 'space is free if a run replaces one small cluster', cleared, results.statistics())


def somebody_reads(server, folder):
    results = Results(server, folder, 'read')
    first = results.run()
    results.vacuumed()
    with Session(server, results.name) as reader:
        reader.do(f'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM {TABLE}')
        meanwhile, _ = results.runs(READ_FOR, patience=3)
        said = reader.do(f'SELECT count(DISTINCT computed_at), min(computed_at) FROM fairmill_fairshare')
        reader.do('COMMIT')
    tap.same(said, [f'1\t{NOW + 300}'], 'a long-running reader sees one run')
    tap.ok(max(meanwhile) < (READ_FOR + TWICE) * first,
           f'the reader prevents cleanup of {READ_FOR} runs', first, meanwhile)
    cleared = results.vacuumed()
    later, more = results.runs(max(4, RUNS - READ_FOR - 1))
    # The time until autovacuum starts depends on the load of the host.
    tap.ok((cleared or more) and max(later) <= max(meanwhile),
           'runs after the reader find free space', meanwhile, later)
    if not cleared or more < len(later):
        tap.diag(f'autovacuum ran {more + cleared} times in {len(later) + 1} runs')
    sizes = [first, *meanwhile, *later]
    note(f'with a reader for {READ_FOR} runs', sizes, len(sizes))


def otherwise(server, folder):
    """Tests storage parameters that sql/schema/dialects.txt does not use."""
    for what, parameters in (('fillfactor = 50', 'SET (fillfactor = 50)'),
                             ('without autovacuum', 'SET (autovacuum_enabled = off)')):
        results = Results(server, folder, f'other{len(rows)}', parameters)
        sizes, _ = results.runs(RUNS, patience=30 if 'fill' in what else 0)
        note(what, sizes, RUNS)
    # One small cluster is replaced.
    for what, parameters in (('one cluster with a tenth of all rows', ''),
                             ('the same with autovacuum_vacuum_scale_factor = 0.2, the default',
                              'RESET (autovacuum_vacuum_scale_factor)')):
        results = Results(server, folder, f'other{len(rows)}', parameters)
        sizes = [results.run()]
        results.vacuumed()
        for _ in range(RUNS - 1):
            sizes.append(results.run('--cluster', 'small'))
            results.vacuumed(4)
        note(what, sizes, RUNS)


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder, NewPostgres('-c', 'autovacuum_naptime=1s') as server:
        draw(folder)
        one_of_many(nobody_reads(server, folder))
        somebody_reads(server, folder)
        if LONG:
            otherwise(server, folder)
    if os.environ.get('FAIRMILL_RELIABILITY'):
        with open(os.environ['FAIRMILL_RELIABILITY'], 'a', encoding='utf-8') as file:
            file.write('\n'.join(rows) + '\n')


tap.main(body)
