#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Readers see only complete results while runs are in progress, and a killed run leaves complete
results.

20 polls and 10 kills for each driver; 200 and 100 with FAIRMILL_LONG=1."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import site_drawing
import tap
from mariadb import Server
from program import FAIRMILL, fairmill, write_settings

LONG = os.environ.get('FAIRMILL_LONG') == '1'
POLLS, KILLS = (200, 100) if LONG else (20, 10)
USERS = {'big': 2500, 'small': 40}
NOW = 1750500000

# One statement shows for each cluster whether all rows are of one run and one time, whether this
# run is recorded, and whether the rows agree.  Without decay, sums are exact.
POLL = """
SELECT f.cluster, count(*), count(DISTINCT f.run_id), min(f.run_id), count(DISTINCT f.computed_at),
    sum(CASE WHEN f.user_name <> '' THEN f.usage_raw END),
    sum(CASE WHEN f.parent_id IS NULL THEN f.usage_raw END),
    min(f.computed_at), count(r.run_id)
FROM fairmill_fairshare f
LEFT JOIN fairmill_run r ON r.cluster = f.cluster AND r.run_id = f.run_id AND r.status = 'done'
GROUP BY f.cluster ORDER BY f.cluster
"""
VIEW = 'SELECT cluster, count(*) FROM fairmill_sshare GROUP BY cluster ORDER BY cluster'


class OnSqlite:
    name = 'SQLite'

    def __init__(self, folder):
        self.path = f'{folder}/r.db'
        self.results = dict(driver='sqlite', database=self.path)

    def rows(self, sql):
        db = sqlite3.connect(self.path, timeout=30)
        try:
            return [tuple(row) for row in db.execute(sql)]
        finally:
            db.close()


class OnMariadb:
    name = 'MariaDB'

    def __init__(self, server):
        self.server = server
        self.database = server.database('reader_res')
        self.results = dict(driver='mysql', socket=server.socket, user='root',
                            database=self.database)

    def rows(self, sql):
        return [(row[0], *(float(cell) for cell in row[1:]))
                for row in self.server.sql(sql, self.database)]


def draw(folder):
    lines = []
    for cluster, users in USERS.items():
        lines += [f'cluster {cluster}', 'root/']
        for i in range(users):
            if i % 50 == 0:
                lines.append(f'  a{i}/ {i % 7 + 1}')
            lines.append(f'    u{i} {i % 5 + 1}')
            lines.append(f'job a{i - i % 50}.u{i} start={NOW - 1000 - i} billing={i % 11}')
    site_drawing.draw('\n'.join(lines)).write(f'{folder}/a.db')


def whole(rows):
    """Returns why these are not the complete results of one run for each cluster, or ''."""
    if [row[0] for row in rows] != sorted(USERS):
        return f'clusters {[row[0] for row in rows]}'
    for cluster, count, runs, _, instants, of_users, of_root, _, recorded in rows:
        accounts = -(-USERS[cluster] // 50) + 1
        if count != USERS[cluster] + accounts:
            return f'{count} rows of {cluster}'
        if runs != 1 or instants != 1:
            return f'{runs} runs and {instants} instants in {cluster}'
        if recorded != count:
            return f'the run of {count - recorded} rows of {cluster} is not on record'
        if of_users != of_root:
            return f'users of {cluster} have {of_users}, the root has {of_root}'
    return ''


def start(settings, now):
    return subprocess.Popen([FAIRMILL, '-c', settings, 'run', '--now', str(now), '--replace'],
                            stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def poll(on, settings):
    polls, runs, wrong, seen, during = 0, 0, [], set(), 0
    while (polls < POLLS or runs < 4) and runs < 50 * POLLS:
        process = start(settings, NOW + runs)
        runs += 1
        while True:
            over = process.poll() is not None
            rows = on.rows(POLL)
            polls += 1
            during += not over
            wrong += [why for why in [whole(rows)] if why]
            seen |= {row[:1] + row[3:4] for row in rows}
            views = on.rows(VIEW)
            if [(c, int(n)) for c, n in views] != [(row[0], int(row[1])) for row in rows]:
                wrong.append(f'the view has {views}')
            if over:
                break
        if process.returncode:
            wrong.append(f'run {runs} ended with {process.returncode}: {process.stderr.read().decode()}')
        process.stderr.close()
    tap.ok(not wrong, f'{polls} polls of {on.name} during {runs} runs saw only complete runs',
           *wrong[:5])
    tap.ok(during >= polls // 3 and len(seen) >= 6,
           'polls happen during runs and see their changes', during, len(seen))


def finish(settings, now):
    """Starts the next run.  A server may need a moment to see that the holder of the lock ended."""
    deadline = time.monotonic() + 20
    while True:
        status, out, err = fairmill(settings, 'run', '--now', now, '--replace')
        if status != 75 or time.monotonic() > deadline:
            return status, out + err
        time.sleep(.05)


def kill(on, settings, wanted):
    r = random.Random(int(os.environ.get('FAIRMILL_SEED', time.time_ns() % 10 ** 6)))
    began = time.monotonic()
    status, said = finish(settings, NOW)
    lasts = time.monotonic() - began
    killed, wrong, old, new, last = 0, [said] if status else [], 0, 0, NOW
    for number in range(20 * KILLS):
        if killed == KILLS:
            break
        now = NOW + 100 + 2 * number
        process = start(settings, now)
        time.sleep(r.random() * lasts)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode != -signal.SIGKILL:
            last = now
            continue
        killed += 1
        rows = on.rows(POLL)
        wrong += [why for why in [whole(rows)] if why]
        for row in rows:
            if row[7] not in (last, now):
                wrong.append(f'{row[0]} is of {row[7]}')
            old += row[7] == last
            new += row[7] == now
        status, said = finish(settings, now + 1)
        last = now + 1
        if status or said:
            wrong.append(f'the next run ended with {status}: {said}')
        rows = on.rows(POLL)
        wrong += [why for why in [whole(rows)] if why]
        if [row[7] for row in rows] != [now + 1] * len(USERS):
            wrong.append('the next run was not published')
        if [row[6] for row in rows] != wanted(now + 1):
            wrong.append(f'the next run gave {[row[6] for row in rows]}, expected {wanted(now + 1)}')
    tap.ok(killed == KILLS and not wrong,
           f'{killed} kills on {on.name} left complete results, and the next run was correct',
           *wrong[:5])
    tap.ok(old + new == killed * len(USERS), f'{old} results were from the run before, {new} from the killed run')


def at_once(on, settings):
    """Starts several runs for the same time, as from several hosts."""
    statuses, wrong = [], []
    for number in range(5):
        processes = [start(settings, NOW + 10 ** 6 + number) for _ in range(4)]
        for process in processes:
            process.communicate(timeout=tap.HANG)
            statuses.append(process.returncode)
        rows = on.rows(POLL)
        wrong += [why for why in [whole(rows)] if why]
        # Two runs may each have locked one cluster.
        if [row[7] for row in rows] != [NOW + 10 ** 6 + number] * len(USERS):
            wrong.append(f'round {number}: {[row[7] for row in rows]}')
    tap.ok(not wrong and len(statuses) == 20 and set(statuses) <= {0, 75},
           f'of four concurrent runs on {on.name} one publishes, the others end with 75', statuses, *wrong)


def wanted(now):
    """Returns the root's usage in each cluster; all jobs still run."""
    return [float(sum((now - NOW + 1000 + i) * (i % 11) for i in range(users))) for _,
            users in sorted(USERS.items())]


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        draw(folder)
        with Server() as server:
            for on in (OnSqlite(folder), OnMariadb(server)):
                settings = f'{folder}/{on.name}.conf'
                write_settings(settings, dict(source=dict(driver='sqlite',
                                                          database=f'{folder}/a.db'),
                                                          results=on.results,
                                              usage=dict(half_life=0)))
                for command in (('init',), ('run', '--now', NOW - 1)):
                    status, out, err = fairmill(settings, *command)
                    tap.ok(status == 0, f'{command[0]} on {on.name} succeeds', out, err)
                poll(on, settings)
                kill(on, settings, wanted)
                at_once(on, settings)


tap.main(body)
