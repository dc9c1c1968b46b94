#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""What a run does when SQLite's files fail it: no room at any byte, a lock that stays, files that
are removed, replaced, read-only or damaged.  Results are the old ones or the new ones and whole,
and the next run is right without help.

More instants and sizes with FAIRMILL_LONG=1."""

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
    """A place with results, and runs that each have an instant of their own."""

    def __enter__(self):
        super().__enter__()
        self.ready(SITE, {'source.deadline': '2 s'})
        self.now = self.last = NOW
        self.succeed('run', '--now', NOW)
        return self

    def published(self):
        """The instant of what is there, after a look at all of it."""
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
        """The instant of what a reader would find if all processes died now, locks or not."""
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
        """'old' or 'new'; ValueError where that is wrong."""
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
        """(status, 'old' or 'new', what it said); `mend` undoes the fault before anybody looks."""
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
    """The log may grow up to some byte, the database too: wherever a write may fail."""
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
               f'without room at one of {len(sizes)} sizes a run ends with 69, names the file, and old results stay',
               got, *wrong)


def full_disk():
    """A file system that is full, where we may make one."""
    with Trial() as place, small_disk(place.folder, 8) as small:
        if not small:
            tap.diag('no file system of our own: that a disk is full is only tried by limits')
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
            # SQLite's readers need room too: they make the index of the log.
            status, results, said = place.attempt('disk full', 'results', mend=full.close)
            got.setdefault((status, results), []).append(left)
            if status and (status != 69 or 'r.db' not in said):
                wrong.append((left, status, said))
            place.next_run()
        tap.ok(not wrong and (69, 'old') in got and (0, 'new') in got,
               'on a full disk a run ends with 69, names the file, and old results stay', got, *wrong)


def full_temporary():
    """Temporary files are on another disk than the results.  SQLite sorts there the associations that a run asks
    for by lineage, and the use of days goes there beyond some 50,000 sums."""
    users, rolled = 60000, NOW - NOW % 3600 - 3600
    with Place() as place, small_disk(place.folder, 40) as small:
        if not small:
            tap.diag('no file system of our own: that temporary files have no room is not tried')
            return
        place.ready(f'root/\n  u\njob root.u start={NOW - 1000} billing=3\n', {'fairshare.conformance': 'slurmctld'})
        place.multiply('tiny_assoc_table', "user = 'u'", users, id_assoc='10 + i', user="'u' || i")
        place.multiply('tiny_job_table', 'TRUE', users, job_db_inx='10 + i', id_job='10 + i', id_assoc='10 + i')
        place.succeed('run', '--now', NOW)
        with leave_room(small, 4096):
            place.ends(69, 'where sorting has no room a run ends with 69', 'run', '--now', NOW + 9000,
                       env=os.environ | {'SQLITE_TMPDIR': small})
        tap.ok(f"'{small}'" in place.err and 'temporary file' in place.err and "cluster 'tiny'" in place.err,
               'which names the folder', place.err)
        tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(NOW,)], 'and old results stay')
        row = place.query("SELECT as_of, message FROM fairmill_run WHERE status = 'failed'")
        tap.ok(len(row) == 1 and row[0][0] == NOW + 9000 and small in row[0][1], 'and the row of the run says so', row)
        no_room_for_days(place, small, NOW + 18000, 'of jobs')
        place.change('INSERT INTO tiny_last_ran_table VALUES (?, 0, 0)', rolled)
        place.change('INSERT INTO tiny_assoc_usage_hour_table (creation_time, id, id_tres, time_start, alloc_secs) VALUES (1, 10, 1, ?, 36)',
                     rolled - 3600)
        place.multiply('tiny_assoc_usage_hour_table', 'TRUE', users, id='10 + i')
        place.settings({'usage.source': 'rollup', 'fairshare.capacity': 1})
        no_room_for_days(place, small, NOW + 36000, 'of rollups')


def no_room_for_days(place, small, now, whose):
    with leave_room(small, 4096):
        place.ends(0, f'where the use of days {whose} has no room a run is done', 'run', '--now', now,
                   env=os.environ | {'TMPDIR': small, 'SQLITE_TMPDIR': place.folder})
    found = place.query("SELECT detail FROM fairmill_finding WHERE kind = 'days_incomplete' AND last_seen = ? AND detail LIKE ?",
                        now, f"%'{small}'%")
    tap.same(len(found), 1, 'with a finding that names the folder')
    place.ends(0, 'with room it is done', 'run', '--now', now + 9000, env=os.environ | {'TMPDIR': small, 'SQLITE_TMPDIR': small})
    found = place.query("SELECT detail FROM fairmill_finding WHERE kind = 'days_incomplete' AND last_seen = ?", now + 9000)
    tap.same(found, [], 'without one')


def no_memory():
    """Less and less memory than a run needs; how much it needs to begin is what a site of one user takes."""
    users = 60000
    with Place() as place:
        place.ready(f'root/\n  u\njob root.u start={NOW - 1000} billing=3\n')

        def attempt(now, megabytes):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            return place.run('run', '--now', now, preexec_fn=limit)
        least = next((size for size in range(16, 400, 2) if not attempt(NOW, size)), 0)
        if not least:
            tap.diag('this program wants more addresses than any: that memory ends is not tried')
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
        tap.ok(not wrong and failed > 2, 'without memory a run names its cluster, leaves a row, and old results stay',
               f'{failed} sizes from {least} MB', *wrong)
        tap.same((place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), place.err), ([(now,)], ''),
                 'the first run that has enough needs no help')


def locked():
    with Trial() as place:
        db = sqlite3.connect(place.path('r.db'), isolation_level=None)
        db.execute('BEGIN IMMEDIATE')
        status, results, said = place.attempt('another writer that does not end', 'results')
        tap.ok((status, results) == (69, 'old') and 'r.db' in said and 'locked' in said,
               'another writer that does not end: 69 in time, which names the file, and old results', status, said)
        db.execute('ROLLBACK')
        db.close()
        place.next_run()
        db = sqlite3.connect(place.path('a.db'), isolation_level=None)
        db.execute('PRAGMA locking_mode = EXCLUSIVE')
        db.execute('BEGIN EXCLUSIVE')
        status, results, said = place.attempt('another writer that does not end', 'source')
        tap.ok((status, results) == (69, 'old') and 'a.db' in said and 'locked' in said,
               'a source that somebody is writing: 69 in time, which names the file, and old results', status, said)
        db.execute('ROLLBACK')
        db.close()
        place.next_run()


def amid(place, meanwhile, attempts):
    """Stops runs at one instant after another, calls meanwhile() while they are stopped, and yields
    (status, instant of the run, whether it had published when it was stopped)."""
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
    """Also what was written to a file that nobody can find any more is not published."""
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
               f'{before} runs whose results were removed before they were published told so, and made no file',
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
               f'{before} runs whose results were replaced before they were published wrote to the new file, or gave way to what is in it',
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
            # Who is nobody may not get at where it was built.
            somebody['executable'] = shutil.copy(FAIRMILL, place.path('fairmill'))

        def attempt(what, path):
            return place.attempt(what, 'results', mend=lambda: os.chmod(path, 0o755), **somebody)
        for name in locks:
            os.unlink(name)
        os.chmod(place.folder, 0o555)
        status, results, said = attempt('directory without write permission', place.folder)
        tap.ok((status, results) == (78, 'old') and 'r.db' in said,
               'a folder that may not be written: 78, which names the file, and old results', status, said)
        os.chmod(place.path('r.db'), 0o444)
        status, results, said = attempt('file without write permission', place.path('r.db'))
        tap.ok((status, results) == (78, 'old') and 'r.db' in said,
               'results that may not be written: 78, which names the file, and old results', status, said)
        now = place.step()
        status = place.run('run', '--now', now, **somebody)
        tap.ok(status == 0 and place.seen(status, now) == 'new', 'the next run needs no help', status, place.err)


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
        tap.ok(not wrong, 'a source that was cut short is not computed with; the file is named', statuses, *wrong)


def body():
    for part in (no_room, locked, removed, replaced, read_only, damaged, no_memory, full_disk, full_temporary):
        part()
    report.write()


tap.main(body)
