#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Damages databases at random: cells, rows, columns, tables, and the tree of associations.  No
command may crash or hang, and every failure has a reason.  Objects that the damage cannot affect
have the values of an undamaged site.  Derived data is repaired by the next two runs."""

import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mutation import AFTER, CLUSTERS, NOT_DERIVED, Surgeon, bases, difference, of_cluster, snapshot
from program import FAIRMILL
from seeds import seeds

LONG = os.environ.get('FAIRMILL_LONG') == '1'
STATUSES = 0, 1, 64, 65, 69, 75, 78
CRASHED = 99  # the exit status that sanitizers use
FOUND = 1500, 2860  # seeds that found the first errors
# Tables that every run checks, and tables that it checks in segments.
AT_ONCE = {'fairmill_seal', 'fairmill_seal_usage', 'fairmill_seal_open', 'fairmill_seal_odd', 'fairmill_usage_open',
           'fairmill_usage_span'}
IN_TURN = {'fairmill_usage_day', 'fairmill_wait_final', 'fairmill_wait_open', 'fairmill_kept'}

READERS = '''check | check --json | show | show --json | show --tree --all | show --pbs alpha | status | status --json
status --nagios --max-age 30m | explain alice --clusters alpha | explain alice carol --clusters alpha | explain dora --jobs --clusters alpha
explain physics chemistry --clusters beta | history alice --clusters alpha | history physics --usage --clusters alpha --json
whatif --shares alice=77 --clusters alpha | whatif --half-life 3-0 | whatif --algorithm classic --add-usage carol=50
forecast alice --clusters alpha | forecast dora --days 40 --clusters beta --json | report --output page.html | metrics
diff printed --clusters alpha | diff printed | prio | prio --long --weights | prio --json | ledger list | ledger list --json
ledger credit 3h --user bob --clusters alpha --why test --dry-run | ledger undo 1 --dry-run | compare | compare --json
run --dry-run | run --full | run | forget old --dry-run | verify | verify --json | verify --repair | ledger export'''
READERS = [reader.split() for reader in re.split(r' \| |\n', READERS)]


class Trial:
    """One damage, and the results of all commands."""

    def __init__(self, base, side, seed, verdicts):
        self.seed, self.base, self.side, self.verdicts = seed, base, side, verdicts
        base.copy()
        self.place = base.place
        self.r = random.Random(-1 - seed)
        self.damage = Surgeon(base, side, seed).operate()

    def wrong(self, verdict, *words):
        self.verdicts[verdict].append(f'seed {self.seed}, {self.base.name}, {self.side}: {self.damage}:\n    '
                                      + '\n    '.join(str(word)[:700] for word in words))

    def do(self, *arguments):
        """Returns the exit status, or None if it is unknown, and the messages."""
        said = ' '.join(map(str, arguments))
        options = f'exitcode={CRASHED}:detect_leaks={int(LONG)}:quarantine_size_mb=8'
        environment = dict(os.environ, ASAN_OPTIONS=options, UBSAN_OPTIONS='print_stacktrace=1')
        try:
            done = subprocess.run([FAIRMILL, '-c', os.path.join(self.place, 'fm.conf'), *map(str, arguments)],
                                  cwd=self.place, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=tap.HANG, check=False)
        except subprocess.TimeoutExpired:
            self.wrong('ends', f"'{said}' hangs")
            return None, ''
        err = done.stderr.decode(errors='replace')
        if done.returncode not in (STATUSES if '--nagios' not in arguments else (0, 1, 2, 3)):
            self.wrong('ends', f"'{said}' ended with {done.returncode}", err[:3000])
            return None, err
        if done.returncode and arguments[0] not in ('check', 'status', 'diff', 'verify'):
            self.judge_message(said, done.returncode, err)
        return done.returncode, err

    def judge_message(self, said, status, err):
        lines = err.splitlines()
        if not lines or not lines[0].startswith('fairmill: '):
            self.wrong('says', f"'{said}' ended with {status} and said {err!r}")
        elif 'as_of' in self.damage.names and 'before the published values' in err:
            pass  # messages have no names of columns
        elif said.startswith(('run', 'init')) and not any(name in err for name in self.damage.names):
            self.wrong('names', f"'{said}' ended with {status} and names none of {sorted(self.damage.names)}", err)

    def run(self, number):
        status, err = self.do('run', '--now', AFTER[number])
        return status, err, snapshot(os.path.join(self.place, 'r.db'))

    def judge_untouched(self, number, published):
        """Checks clusters and associations that the damage cannot affect."""
        damage = self.damage
        for cluster in CLUSTERS:
            expected = of_cluster(self.base.after[number], cluster)
            if damage.clusters is not None and cluster not in damage.clusters:
                wrong = difference(of_cluster(published, cluster), expected)
                if wrong:
                    self.wrong('untouched', f'{cluster}: {wrong}')

    def read(self, most):
        for reader in self.r.sample(READERS, most):
            self.do(*reader)

    def of_source(self):
        status, err, published = self.run(0)
        if status is None:
            return
        self.judge_untouched(0, published)
        for cluster in CLUSTERS:
            mine, before = of_cluster(published, cluster), of_cluster(self.base.before, cluster)
            done = value_of(mine, 'computed_at') == AFTER[0]
            if not done and not self.damage.retires and mine['fairmill_fairshare'] != before['fairmill_fairshare']:
                self.wrong('whole', f'{cluster}: {difference(mine, before)}', err)
            if done and self.damage.associations is not None and self.damage.clusters == {cluster}:
                self.judge_associations(cluster, mine, of_cluster(self.base.after[0], cluster))
        self.read(3 if LONG else 1)

    def judge_associations(self, cluster, mine, expected):
        """Checks the usage of associations that are not in the damaged rows, and are not above an
        association in them."""
        parents = {dict(row)['id_assoc']: dict(row)['parent_id'] for row in expected['fairmill_fairshare']}
        # An invalid ID is read as 0.
        touched, unknown = set(), {0} | {i for i in self.damage.associations if i not in self.base.ids[cluster]}
        for number in self.damage.associations:
            while number in parents:
                touched.add(number)
                number = parents[number]
        if [i for i in self.damage.associations if i not in parents and i not in unknown]:
            return  # a deleted association's usage moves to an account above
        wrong = []
        for got, wanted in zip(mine['fairmill_fairshare'], expected['fairmill_fairshare']):
            got, wanted = dict(got), dict(wanted)
            if wanted['id_assoc'] not in touched and got['usage_raw'] != wanted['usage_raw']:
                wrong.append((wanted['id_assoc'], got['usage_raw'], wanted['usage_raw']))
        days = [[row for row in rows['fairmill_usage_day'] if dict(row)['id_assoc'] not in touched | unknown]
                for rows in (mine, expected)]
        if days[0] != days[1]:
            wrong.append(difference({'fairmill_usage_day': days[0]}, {'fairmill_usage_day': days[1]}))
        if wrong:
            self.wrong('associations', f'{cluster}: {wrong}')

    def changed(self):
        """Returns the clusters with changed rows of stored state."""
        found = snapshot(os.path.join(self.place, 'r.db'))
        return [c for c in CLUSTERS if difference(of_cluster(found, c), of_cluster(self.base.before, c))]

    def of_results(self):
        changed = self.changed()
        status, err, published = self.run(0)
        if status is None:
            return
        derived = not self.damage.tables & NOT_DERIVED
        if derived and not self.damage.lost:
            self.judge_values(status, err, published)
            self.judge_words(changed)
        mended = not self.damage.lost or self.do('init')[0] == 0
        if not self.damage.lost:
            self.judge_untouched(0, published)
        wrong = self.unlike_twin(0, published)
        if wrong:
            status, err, published = self.run(1)
            wrong = self.unlike_twin(1, published)
        if status is not None and wrong and derived and mended:
            self.judge_healing(status, err, wrong)
        self.read(3 if LONG else 1)

    def judge_values(self, status, err, published):
        """Damaged sums and days do not stop a run."""
        wrong = [difference({table: of_cluster(published, c)[table]}, {table: of_cluster(self.base.after[0], c)[table]})
                 for c in CLUSTERS for table in ('fairmill_fairshare', 'fairmill_job_priority')]
        if status or any(wrong):
            self.wrong('values', f'{[w for w in wrong if w]} after a run that ended with {status}', err)

    def judge_words(self, changed):
        if self.damage.tables <= AT_ONCE and self.base.seals:
            for cluster in changed:
                (kind, why), = query(os.path.join(self.place, 'r.db'),
                                     'SELECT kind, why FROM fairmill_run WHERE cluster = ? ORDER BY run_id DESC LIMIT 1', cluster)
                if kind != 'full' or not why:
                    self.wrong('words', f'{cluster}: the run was {kind}, {why}')

    def judge_healing(self, status, err, wrong):
        if not self.damage.tables & IN_TURN:
            self.wrong('healed', f'{wrong} after a run that ended with {status}', err)
        status, err = self.do('run', '--full', '--now', AFTER[1])
        wrong = self.unlike_twin(1, snapshot(os.path.join(self.place, 'r.db')))
        if status is not None and wrong:
            self.wrong('full', f'{wrong} after a full run that ended with {status}', err)

    def unlike_twin(self, number, published):
        for cluster in CLUSTERS:
            wrong = difference(of_cluster(published, cluster), of_cluster(self.base.after[number], cluster))
            if wrong:
                return f'{cluster}: {wrong}'
        return ''


def query(path, sql, *arguments):
    with sqlite3.connect(path) as db:
        rows = db.execute(sql, arguments).fetchall()
    db.close()
    return rows


def value_of(rows, column):
    rows = rows.get('fairmill_fairshare')
    return dict(rows[0]).get(column) if rows else None


def body():
    statements = dict(
        ends='no command crashes, hangs, or ends with an undocumented status',
        says='every failure has a reason',
        names='every failure of a run names the damaged object',
        untouched='a cluster that the damage cannot affect has undamaged values',
        whole='a failed cluster keeps its complete old results',
        associations='associations outside the damaged jobs have undamaged usage',
        values='damaged sums, days and results stop no run and change no value',
        words='a run that finds changed stored state reads everything and says why',
        healed='after two runs the stored state has undamaged values',
        full='after a full run derived data has undamaged values')
    verdicts = {name: [] for name in statements}
    folder = tempfile.mkdtemp(prefix='fm')
    try:
        all_bases = bases(folder)
        count = 0
        numbers = seeds(200, 3000)
        for seed in numbers if len(numbers) == 1 else sorted({*numbers, *FOUND}):
            side = 'source' if seed // len(all_bases) % 2 == 0 else 'results'
            trial = Trial(all_bases[seed % len(all_bases)], side, seed, verdicts)
            if trial.damage.what:
                trial.of_source() if side == 'source' else trial.of_results()
                count += 1
            shutil.rmtree(trial.place)
        tap.diag(f'{count} damages')
    finally:
        shutil.rmtree(folder)
    for name, statement in statements.items():
        tap.ok(not verdicts[name], f'databases are damaged at random: {statement}', *verdicts[name][:20])


tap.main(body)
