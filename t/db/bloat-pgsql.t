#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
"""The results stay small on PostgreSQL, where each run leaves as many dead rows as there are
associations: the run's own look through the views prunes them, or autovacuum, as sql/schema/dialects.txt
sets it, makes room after each run, and the next one fills it.  Who reads for long keeps that room from being made, but only for so long.

A few runs; 30 on 20 000 associations, and with other storage parameters too, with FAIRMILL_LONG=1.
FAIRMILL_RELIABILITY=FILE adds the rows of doc/reliability.md to a file."""

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
# Where what is dead is half of all, and somewhat more for what is not quite filled.
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
    """A database of results, and what it weighs."""

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
        """Returns what the table weighs then, in bytes."""
        self.now += 300
        self.command('run', '--now', self.now, *arguments)
        return int(self.sql(f"SELECT pg_relation_size('{TABLE}')")[0][0])

    def statistics(self):
        (dead, live), = self.sql('SELECT n_dead_tup, n_live_tup FROM pg_stat_user_tables '
                                 f"WHERE relname = '{TABLE}'")
        return int(dead), int(live)

    def vacuumed(self, patience=120):
        """Waits until nothing is dead.  Autovacuum looks every second here, and every minute elsewhere; it
        does not come if the run has pruned all of it."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            dead, live = self.statistics()
            if live and dead < live / 100:
                return True
            time.sleep(.2)
        return False

    def runs(self, count, patience=120):
        """(sizes, how often there was room before the next run)"""
        sizes, cleared = [], 0
        for _ in range(count):
            sizes.append(self.run())
            cleared += self.vacuumed(patience)
        return sizes, cleared


def note(what, sizes, runs):
    megabytes = [f'{size / 1e6:.1f}' for size in (sizes[0], max(sizes), sizes[-1])]
    tap.diag(f'{what}: heap of {megabytes[0]} MB after the first run, at most {megabytes[1]}, {megabytes[2]} after the last of {runs}')
    rows.append(f'| {what} | {runs} | {" | ".join(megabytes)} |')


def nobody_reads(server, folder):
    results = Results(server, folder, 'alone')
    sizes, cleared = results.runs(RUNS)
    tap.ok(cleared == RUNS, 'there is room after each run', f'{cleared} of {RUNS}')
    tap.ok(max(sizes) < TWICE * sizes[0], 'so that the table never weighs more than twice its rows', sizes)
    index = int(results.sql(f"SELECT pg_indexes_size('{TABLE}')")[0][0])
    tap.ok(index < sizes[0], 'and its index less than its rows', index, sizes[0])
    note('as it is', sizes, RUNS)
    return results


def one_of_many(results):
    """A tenth of all rows: a fifth, which is what autovacuum waits for elsewhere, takes two runs."""
    cleared = 0
    for _ in range(3):
        results.run('--cluster', 'small')
        cleared += results.vacuumed()
    tap.ok(cleared == 3, 'also where a run renews one small cluster among larger ones', cleared, results.statistics())


def somebody_reads(server, folder):
    results = Results(server, folder, 'read')
    first = results.run()
    results.vacuumed()
    with Session(server, results.name) as reader:
        reader.do(f'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM {TABLE}')
        meanwhile, _ = results.runs(READ_FOR, patience=3)
        said = reader.do(f'SELECT count(DISTINCT computed_at), min(computed_at) FROM fairmill_fairshare')
        reader.do('COMMIT')
    tap.same(said, [f'1\t{NOW + 300}'], 'who reads for long sees one run')
    tap.ok(max(meanwhile) < (READ_FOR + TWICE) * first,
           f'and keeps what {READ_FOR} runs leave from being cleared away', first, meanwhile)
    cleared = results.vacuumed()
    later, more = results.runs(max(4, RUNS - READ_FOR - 1))
    # How soon autovacuum comes hangs on what else the machine does.
    tap.ok((cleared or more) and max(later) <= max(meanwhile), 'but not longer: the runs after that find room', meanwhile, later)
    if not cleared or more < len(later):
        tap.diag(f'autovacuum came {more + cleared} times in {len(later) + 1} runs')
    sizes = [first, *meanwhile, *later]
    note(f'with a reader for {READ_FOR} runs', sizes, len(sizes))


def otherwise(server, folder):
    """What sql/schema/dialects.txt does not do."""
    for what, parameters in (('fillfactor = 50', 'SET (fillfactor = 50)'),
                             ('without autovacuum', 'SET (autovacuum_enabled = off)')):
        results = Results(server, folder, f'other{len(rows)}', parameters)
        sizes, _ = results.runs(RUNS, patience=30 if 'fill' in what else 0)
        note(what, sizes, RUNS)
    # One small cluster is renewed.
    for what, parameters in (('one cluster with a tenth of all rows', ''),
                             ('the same with autovacuum_vacuum_scale_factor = 0.2, the usual',
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
