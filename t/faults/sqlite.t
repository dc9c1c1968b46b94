#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests runs while SQLite's files fail: no space at any byte, a permanent lock, files that are
removed, replaced, read-only or damaged.  Results are complete old or new ones, and the next run
succeeds without help.

FAIRMILL_LONG=1 tests more times and sizes."""

import contextlib
import os
import resource
import shutil
import signal
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from faults import LONG, Report
from place import NOW, Place
from program import FAIRMILL
from small_disk import leave_room, small_disk

USERS = 1500
SITE = 'root/\n' + ''.join(f'  u{i} {i % 5 + 1}\n' for i in range(USERS)) + ''.join(
    f'job root.u{i} start={NOW - 1000} billing={i % 11}\n' for i in range(USERS))
NOBODY = 65534

report = Report()


class Trial(Place):
    """A place with results, and runs that each have a different time."""

    def __enter__(self):
        super().__enter__()
        self.ready(SITE, {'source.deadline': '2 s'})
        self.now = self.last = NOW
        self.succeed('run', '--now', NOW)
        return self

    def published(self):
        """Returns the time of the published results, after a check of all of them."""
        rows = self.query("SELECT count(*), count(DISTINCT f.run_id), count(DISTINCT f.computed_at), min(f.computed_at), "
                          "count(r.run_id), sum(CASE WHEN f.user_name <> '' THEN f.usage_raw END), "
                          "sum(CASE WHEN f.parent_id IS NULL THEN f.usage_raw END) "
                          "FROM fairmill_fairshare f LEFT JOIN fairmill_run r ON r.cluster = f.cluster "
                          "AND r.run_id = f.run_id AND r.status = 'done' AND r.as_of = f.computed_at")
        count, runs, instants, at, recorded, of_users, of_root = rows[0]
        wanted = float(sum(i % 11 for i in range(USERS)) * ((at or 0) - NOW + 1000))
        if (count, runs, instants, recorded, of_users, of_root) != (
                USERS + 1, 1, 1, USERS + 1, wanted, wanted):
            raise ValueError(f'the results are not whole: {rows}, expected usage {wanted}')
        return at

    def would_be_published(self):
        """Returns the time of the results that a reader would find if all processes ended now,
        regardless of locks."""
        for end in ('', '-wal'):
            if os.path.exists(self.path('r.db' + end)):
                shutil.copy(self.path('r.db' + end), self.path('copy.db' + end))
        at = self._query('copy.db', 'SELECT max(computed_at) FROM fairmill_fairshare')[0][0]
        for end in ('', '-wal', '-shm'):
            if os.path.exists(self.path('copy.db' + end)):
                os.unlink(self.path('copy.db' + end))
        return at

    def step(self):
        self.now += 10
        return self.now

    def seen(self, status, now):
        """Returns 'old' or 'new'; raises ValueError if the results are wrong."""
        at = self.published()
        if at not in (self.last, now):
            raise ValueError(f'results are of {at}, neither {self.last} nor {now}')
        if status == 0 and at != now:
            raise ValueError(f'it ended with 0 and published nothing: {self.err}')
        if status != 0 and not self.err.startswith('fairmill: '):
            raise ValueError(f'it ended with {status} and did not say why: {self.err}')
        recorded = self.query("SELECT count(*) FROM fairmill_run WHERE as_of = ? AND status = 'done'", now)
        if recorded != [(int(at == now),)]:
            raise ValueError(f'{recorded} runs are on record as done for {now}, published is {at}')
        self.last = at
        return 'new' if at == now else 'old'

    def next_run(self):
        now = self.step()
        status = self.run('run', '--now', now)
        if (status, self.out + self.err, self.seen(status, now)) != (0, '', 'new'):
            raise ValueError(f'the next run ended with {status}: {self.out}{self.err}')

    def attempt(self, fault, where, mend=None, **more):
        """Returns (status, 'old' or 'new', the messages); `mend` undoes the fault before the
        check."""
        now = self.step()
        began = time.monotonic()
        status = self.run('run', '--now', now, **more)
        if time.monotonic() - began > 20:
            raise ValueError(f'it took {time.monotonic() - began} s')
        if mend:
            mend()
        said, results = self.err, self.seen(status, now)
        report.count(fault, where, status, results)
        return status, results, said


def no_room():
    """The log and the database may grow up to a limit, so every write may fail."""
    with Trial() as place:
        size = os.path.getsize(place.path('r.db'))
        sizes = range(4096, size + 65536, (size + 65536) // (60 if LONG else 16))
        got, wrong = {}, []
        for limit in sizes:
            def narrow(limit=limit):
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            status, results, said = place.attempt('no space (file size limit)', 'results', preexec_fn=narrow)
            got.setdefault((status, results), []).append(limit)
            if status and (status != 69 or 'r.db' not in said):
                wrong.append((limit, status, said))
            place.next_run()
        tap.ok(not wrong and (69, 'old') in got,
               f'without space at {len(sizes)} sizes a run ends with 69 and keeps old results',
               got, *wrong)


def full_disk():
    """Tests a full file system, if one can be created."""
    with Trial() as place, small_disk(place.folder, 8) as small:
        if not small:
            tap.diag('cannot create a file system: a full disk is only tested with limits')
            return
        place.query('PRAGMA wal_checkpoint(TRUNCATE)')
        for name in os.listdir(place.folder):
            if name.startswith('r.db'):
                shutil.move(place.path(name), small)
                os.symlink(os.path.join(small, name), place.path(name))
        place.settings({'source.deadline': '2 s', 'results.database': os.path.join(small, 'r.db')})
        got, wrong = {}, []
        for left in range(0, 1200000, 100000 if not LONG else 20000):
            full = contextlib.ExitStack()
            full.enter_context(leave_room(small, left))
            # SQLite's readers need space too, because they create the index of the log.
            status, results, said = place.attempt('disk full', 'results', mend=full.close)
            got.setdefault((status, results), []).append(left)
            if status and (status != 69 or 'r.db' not in said):
                wrong.append((left, status, said))
            place.next_run()
        tap.ok(not wrong and (69, 'old') in got and (0, 'new') in got,
               'on a full disk a run ends with 69 and keeps old results', got, *wrong)


def full_temporary():
    """Tests temporary files on another disk than the results.  SQLite sorts associations by lineage
    there, and fairmill stores the usage of days there beyond some 50,000 sums."""
    users, rolled = 60000, NOW - NOW % 3600 - 3600
    with Place() as place, small_disk(place.folder, 40) as small:
        if not small:
            tap.diag('cannot create a file system: full temporary files are not tested')
            return
        place.ready(f'root/\n  u\njob root.u start={NOW - 1000} billing=3\n', {'fairshare.conformance': 'slurmctld'})
        place.multiply('tiny_assoc_table', "user = 'u'", users, id_assoc='10 + i', user="'u' || i")
        place.multiply('tiny_job_table', 'TRUE', users, job_db_inx='10 + i', id_job='10 + i', id_assoc='10 + i')
        place.succeed('run', '--now', NOW)
        with leave_room(small, 4096):
            place.ends(69, 'a run without space for sorting ends with 69', 'run', '--now', NOW + 9000,
                       env=os.environ | {'SQLITE_TMPDIR': small})
        tap.ok(f"'{small}'" in place.err and 'temporary file' in place.err and "cluster 'tiny'" in place.err,
               'the error names the directory of temporary files', place.err)
        tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(NOW,)],
                 'the failed run keeps old results')
        row = place.query("SELECT as_of, message FROM fairmill_run WHERE status = 'failed'")
        tap.ok(len(row) == 1 and row[0][0] == NOW + 9000 and small in row[0][1],
               'the row of the failed run has the message', row)
        no_room_for_days(place, small, NOW + 18000, 'of jobs')
        place.change('INSERT INTO tiny_last_ran_table VALUES (?, 0, 0)', rolled)
        place.change('INSERT INTO tiny_assoc_usage_hour_table (creation_time, id, id_tres, time_start, alloc_secs) VALUES (1, 10, 1, ?, 36)',
                     rolled - 3600)
        place.multiply('tiny_assoc_usage_hour_table', 'TRUE', users, id='10 + i')
        place.settings({'usage.source': 'rollup', 'fairshare.capacity': 1})
        no_room_for_days(place, small, NOW + 36000, 'of rollups')


def no_room_for_days(place, small, now, whose):
    with leave_room(small, 4096):
        place.ends(0, f'a run without space for the use of days {whose} succeeds', 'run', '--now', now,
                   env=os.environ | {'TMPDIR': small, 'SQLITE_TMPDIR': place.folder})
    found = place.query("SELECT detail FROM fairmill_finding WHERE kind = 'days_incomplete' AND last_seen = ? AND detail LIKE ?",
                        now, f"%'{small}'%")
    tap.same(len(found), 1, 'a finding names the directory')
    place.ends(0,
               'a run with enough space succeeds',
               'run', '--now', now + 9000, env=os.environ | {'TMPDIR': small, 'SQLITE_TMPDIR': small})
    found = place.query("SELECT detail FROM fairmill_finding WHERE kind = 'days_incomplete' AND last_seen = ?", now + 9000)
    tap.same(found, [], 'the run with enough space has no finding')


def no_memory():
    """Tests runs with too little memory, from the memory that a site with one user needs."""
    users = 60000
    with Place() as place:
        place.ready(f'root/\n  u\njob root.u start={NOW - 1000} billing=3\n')

        def attempt(now, megabytes):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            return place.run('run', '--now', now, preexec_fn=limit)
        least = next((size for size in range(16, 400, 2) if not attempt(NOW, size)), 0)
        if not least:
            tap.diag('this program needs too many addresses: the end of memory is not tested')
            return
        place.multiply('tiny_assoc_table', "user = 'u'", users, id_assoc='10 + i', user="'u' || i")
        place.multiply('tiny_job_table', 'TRUE', users, job_db_inx='10 + i', id_job='10 + i', id_assoc='10 + i')
        wrong, failed, now, size = [], 0, NOW, least
        while True:
            now += 10
            status = attempt(now, size)
            if not status:
                break
            failed += 1
            rows = place.query('SELECT status, message FROM fairmill_run WHERE as_of = ?', now)
            if (status != 1 or "fairmill: cluster 'tiny': " not in place.err or 'out of memory' not in place.err
                    or len(rows) != 1 or rows[0][0] != 'failed' or 'out of memory' not in rows[0][1]):
                wrong.append((size, status, place.err, rows))
            if place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare') != [(NOW,)]:
                wrong.append((size, 'the results are not the old ones'))
            size += 3 if LONG else 7
        tap.ok(not wrong and failed > 2, 'without memory a run names its cluster, is recorded, and keeps old results',
               f'{failed} sizes from {least} MB', *wrong)
        tap.same((place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), place.err), ([(now,)], ''),
                 'the first run with enough memory succeeds')


def locked():
    with Trial() as place:
        db = sqlite3.connect(place.path('r.db'), isolation_level=None)
        db.execute('BEGIN IMMEDIATE')
        status, results, said = place.attempt('another writer that does not end', 'results')
        tap.ok((status, results) == (69, 'old') and 'r.db' in said and 'locked' in said,
               'another writer that does not end: 69 with the file, and old results', status, said)
        db.execute('ROLLBACK')
        db.close()
        place.next_run()
        db = sqlite3.connect(place.path('a.db'), isolation_level=None)
        db.execute('PRAGMA locking_mode = EXCLUSIVE')
        db.execute('BEGIN EXCLUSIVE')
        status, results, said = place.attempt('another writer that does not end', 'source')
        tap.ok((status, results) == (69, 'old') and 'a.db' in said and 'locked' in said,
               'a source locked by a writer: 69 with the file, and old results', status, said)
        db.execute('ROLLBACK')
        db.close()
        place.next_run()


def amid(place, meanwhile, attempts):
    """Stops runs at one time after another, calls meanwhile() while they are stopped, and yields
    (status, time of the run, whether it had published when it was stopped)."""
    began = time.monotonic()
    place.next_run()
    lasts = time.monotonic() - began
    for number in range(attempts):
        now = place.step()
        process = place.start('run', '--now', now)
        time.sleep(lasts * (number + .5) / attempts)
        process.send_signal(signal.SIGSTOP)
        if process.poll() is None:
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        done = place.would_be_published() == now
        meanwhile()
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=tap.HANG)
        place.err = err.decode()
        yield process.returncode, now, done


def removed():
    """Rows that were written to a removed file are not published."""
    attempts = 60 if LONG else 14
    with Trial() as place:
        shutil.copy(place.path('r.db'), place.path('kept.db'))

        def remove():
            for name in ('r.db', 'r.db-wal', 'r.db-shm'):
                if os.path.exists(place.path(name)):
                    os.unlink(place.path(name))
        wrong, before, after = [], 0, 0
        for status, _, done in amid(place, remove, attempts):
            before += not done
            after += done
            if not done and (status not in (69, 78) or 'r.db' not in place.err):
                wrong.append((status, place.err))
            if os.path.exists(place.path('r.db')):
                wrong.append('the file was made again')
                remove()
            if not done:
                report.count('file removed before the commit', 'results', status, 'none')
            shutil.copy(place.path('kept.db'), place.path('r.db'))
            place.last = place.published()
            place.next_run()
        tap.ok(not wrong and before >= 3,
               f'{before} runs whose results were removed before the commit failed and created no file',
               f'{after} had published', *wrong)


def replaced():
    attempts = 60 if LONG else 14
    with Trial() as place:
        shutil.copy(place.path('r.db'), place.path('kept.db'))

        def replace():
            shutil.copy(place.path('kept.db'), place.path('fresh.db'))
            for name in ('r.db-wal', 'r.db-shm'):
                if os.path.exists(place.path(name)):
                    os.unlink(place.path(name))
            os.rename(place.path('fresh.db'), place.path('r.db'))
        wrong, before = [], 0
        for status, now, done in amid(place, replace, attempts):
            before += not done
            place.last = NOW
            try:
                results = place.seen(status if not done else 1, now) if status or not done else 'old'
            except ValueError as problem:
                wrong.append((status, done, problem))
                results = '?'
            if not done and status not in (0, 69, 75):
                wrong.append((status, place.err))
            if not done:
                report.count('file replaced before the commit', 'results', status, results)
            place.last = place.published()
            place.next_run()
        tap.ok(not wrong and before >= 3,
               f'{before} runs whose results were replaced wrote to the new file or kept it',
               *wrong)
    with Trial() as place:
        def renew():
            shutil.copy(place.path('a.db'), place.path('b.db'))
            os.rename(place.path('b.db'), place.path('a.db'))
        wrong = []
        for status, now, _ in amid(place, renew, attempts):
            if status or place.seen(status, now) != 'new':
                wrong.append((status, place.err))
            report.count('file replaced by a newer copy during a run', 'source', status, 'new')
        tap.ok(not wrong, f'{attempts} runs whose source was replaced by a newer copy read one of the two', *wrong)


def read_only():
    with Trial() as place:
        somebody = dict(user=NOBODY, group=NOBODY, extra_groups=[]) if os.geteuid() == 0 else {}
        names = [place.path(name) for name in os.listdir(place.folder)]
        locks = [name for name in names if name.endswith('.lock')]
        if somebody:
            for name in names + [place.folder]:
                os.chown(name, NOBODY, NOBODY)
            # The user nobody might have no access to the build directory.
            somebody['executable'] = shutil.copy(FAIRMILL, place.path('fairmill'))

        def attempt(what, path):
            return place.attempt(what, 'results', mend=lambda: os.chmod(path, 0o755), **somebody)
        for name in locks:
            os.unlink(name)
        os.chmod(place.folder, 0o555)
        status, results, said = attempt('directory without write permission', place.folder)
        tap.ok((status, results) == (78, 'old') and 'r.db' in said,
               'a read-only directory: 78, the name of the file, and old results', status, said)
        os.chmod(place.path('r.db'), 0o444)
        status, results, said = attempt('file without write permission', place.path('r.db'))
        tap.ok((status, results) == (78, 'old') and 'r.db' in said,
               'read-only results: 78, the name of the file, and old results', status, said)
        now = place.step()
        status = place.run('run', '--now', now, **somebody)
        tap.ok(status == 0 and place.seen(status, now) == 'new',
               'the next run succeeds without help', status, place.err)


def damaged():
    with Trial() as place:
        shutil.copy(place.path('a.db'), place.path('kept.db'))
        size = os.path.getsize(place.path('a.db'))
        wrong, statuses = [], set()
        for part in (.9, .5, .1):
            with open(place.path('a.db'), 'r+b') as file:
                file.truncate(int(size * part) // 4096 * 4096)
            status, results, said = place.attempt('file truncated', 'source')
            statuses.add(status)
            if status == 0 or results != 'old' or 'a.db' not in said:
                wrong.append((part, status, said))
            shutil.copy(place.path('kept.db'), place.path('a.db'))
            place.next_run()
        tap.ok(not wrong, 'a run with a truncated source fails and names the file', statuses, *wrong)


def body():
    for part in (no_room, locked, removed, replaced, read_only, damaged, no_memory, full_disk, full_temporary):
        part()
    report.write()


tap.main(body)
