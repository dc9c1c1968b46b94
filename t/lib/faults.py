# SPDX-License-Identifier: MIT
"""Creates a site on a server with known values, and disturbs runs.  Afterwards, results must be
complete old or new ones, fairmill_run must be correct, and the next run must succeed without
help."""

import os
import subprocess
import threading
import time

import tap
from program import FAIRMILL, write_settings
from proxy import Proxy

LONG = os.environ.get('FAIRMILL_LONG') == '1'
# The number of runs at a time.  More of them would only wait for a processor.
RIGS = min(16, 4 * os.cpu_count())
NOW = 1750500000
USERS = {'big': 600, 'small': 25}
JOBS = {'big': 6000, 'small': 25}
SOURCE = 'faults_acct'
READER, WRITER = 'faults_reader', 'faults_writer'
RUN = ['run']


def draw(server, name=SOURCE, jobs=None):
    """Fills slurmdbd's tables with two clusters.  Every job still runs, so the usage shows the time
    of the run."""
    jobs = jobs or JOBS
    server.accounting(name, USERS)
    text = [server.LENIENT,
            "INSERT INTO qos_table (creation_time, id, name, usage_factor) VALUES (1, 1, 'normal', 1);"]
    for cluster, users in USERS.items():
        text.append(f"INSERT INTO cluster_table (creation_time, name) VALUES (1, '{cluster}');")
        rows = ["(1, 1, 'root', '', '')"]
        rows += [f"(1, {1000 + i // 50}, 'a{i}', '', 'root')" for i in range(0, users, 50)]
        rows += [f"(1, {2000 + i}, 'a{i - i % 50}', 'u{i}', '')" for i in range(users)]
        text.append(f'INSERT INTO {cluster}_assoc_table (creation_time, id_assoc, acct, "user", parent_acct) '
                    f"VALUES {', '.join(rows)};")
        text.append(f'INSERT INTO {cluster}_job_table (job_db_inx, id_job, id_assoc, id_qos, time_submit, time_start, tres_alloc, account) '
                    f"SELECT n, n, 2000 + n % {users}, 1, {NOW} - 1000 - n % 100, {NOW} - 1000 - n % 100, "
                    f"CONCAT('1=1,5=', n % 11), 'a' FROM {server.numbers(jobs[cluster])};")
    server.sql('\n'.join(text), name)
    for user in (READER, WRITER):
        server.login(user)
    server.allow(READER, 'SELECT', name)
    return name


def associations(cluster):
    return 1 + -(-USERS[cluster] // 50) + USERS[cluster]


def wanted(cluster, now, jobs=None):
    """Returns the root's usage."""
    return float(sum((now - NOW + 1000 + n % 100) * (n % 11)
                     for n in range(1, (jobs or JOBS)[cluster] + 1)))


# One statement is one snapshot.  It shows the run and time of each cluster's rows, and whether they
# agree with each other and with the recorded run.
POLL = """
SELECT f.cluster, count(*), count(DISTINCT f.run_id), count(DISTINCT f.computed_at),
    min(f.computed_at), count(r.run_id), min(r.as_of),
    sum(CASE WHEN f.user_name <> '' THEN f.usage_raw END),
    sum(CASE WHEN f.parent_id IS NULL THEN f.usage_raw END)
FROM fairmill_fairshare f
LEFT JOIN fairmill_run r ON r.cluster = f.cluster AND r.run_id = f.run_id AND r.status = 'done'
GROUP BY f.cluster ORDER BY f.cluster
"""


class Outcome:
    def __init__(self):
        self.status = None
        self.said = ''
        self.seconds = 0
        self.published = {}  # {cluster: 'old' or 'new'}
        self.wrong = []      # violated conditions
        self.fired = []      # number of times that each fault happened

    @property
    def results(self):
        return '/'.join(sorted(set(self.published.values())))

    def __str__(self):
        return f'status {self.status}, {self.results} results, {self.seconds:.1f} s: {self.said.strip()}'


class Rig:
    """Results of its own for the site of draw(), so that several rigs can run at the same time."""

    def __init__(self, server, folder, name, source=SOURCE, jobs=None):
        self.server, self.name, self.source, self.jobs = server, name, source, jobs
        # Other servers only for reading, or for attempts to write.
        self.source_server = self.results_server = server
        self.results = server.database(f'faults_res_{name}')
        server.allow(WRITER, 'SELECT, INSERT, UPDATE, DELETE', self.results)
        self.conf = os.path.join(folder, f'{name}.conf')
        self.now = NOW
        self.seen_sql = set()
        self.owner = os.path.join(folder, f'{name}-init.conf')
        write_settings(self.owner, server.settings(source, self.results))
        self.write(self.conf, {}, {}, 60)
        self.command('init', settings=self.owner)
        self.last = {}
        wrong = self.next_run()
        if wrong:
            raise RuntimeError(wrong)

    def write(self, path, source, results, deadline):
        """Writes settings; `source` and `results` contain an unusual way to connect."""
        def section(server, database, user, at):
            keys = server.connection(database)
            if at:
                keys = dict(driver=keys['driver'], database=database)
            return dict(keys, user=user, **at)
        write_settings(path, dict(
            source=dict(section(self.source_server, self.source, READER, source), deadline=f'{deadline} s'),
            results=section(self.results_server, self.results, WRITER, results), usage=dict(half_life=0),
            # All jobs still run, so a run of today has each of them on every day.
            retention=dict(history_days=30)))

    def command(self, *arguments, settings=None):
        done = subprocess.run([FAIRMILL, '-c', settings or self.conf, *map(str, arguments)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=tap.HANG, check=False)
        if done.returncode:
            raise RuntimeError(f'{arguments} ended with {done.returncode}: {done.stdout.decode()}')

    def rows(self, text):
        return self.server.sql(text, self.results)

    def judge(self, now, outcome):
        """Adds to the outcome the published results of a run for this time and their errors.  A
        stopped server may complete its work between the reads of results and of runs.  In this case
        both are read again."""
        while True:
            rows = self.rows(POLL)
            said = self.rows(f'SELECT cluster, status, message FROM fairmill_run WHERE as_of = {now}')
            outcome.wrong += self.look(now, rows, outcome.published)
            wrong = self.compare(said, outcome.published)
            if not wrong or self.rows(POLL) == rows:
                break
        outcome.wrong += wrong

    def look(self, now, rows, published):
        """Returns the errors in the results themselves."""
        wrong = []
        rows = {row[0]: row[1:] for row in rows}
        for cluster in USERS:
            if cluster not in rows:
                wrong.append(f'{cluster} has no rows')
                continue
            count, runs, instants, at, recorded, as_of, of_users, of_root = map(float, rows[cluster])
            if (count, runs, instants, recorded) != (associations(cluster), 1, 1, count) or at != as_of:
                wrong.append(f'{cluster} is not whole: {rows[cluster]}')
            right = wanted(cluster, int(at), self.jobs)
            if of_users != of_root or of_root != right:
                wrong.append(f'{cluster} has {of_users} and {of_root}, not {right}')
            if at not in (now, self.last.get(cluster, now)):
                wrong.append(f'{cluster} is of {at}, neither {now} nor {self.last[cluster]}')
            published[cluster] = 'new' if at == now else 'old'
            if at == now:
                self.last[cluster] = now
        return wrong

    @staticmethod
    def compare(rows, published):
        """Returns the differences between the recorded runs for a time and the published
        results."""
        said, wrong = {}, []
        for cluster, status, message in rows:
            said.setdefault(cluster, []).append((status, message))
        for cluster, results in published.items():
            done = [status for status, _ in said.get(cluster, [])].count('done')
            if done != int(results == 'new'):
                wrong.append(f'{cluster}: {done} runs are on record as done: {said}')
            if any(status not in ('done', 'failed') or (status == 'failed') != bool(message)
                   for status, message in said.get(cluster, [])):
                wrong.append(f'{cluster}: on record is {said}')
        return wrong

    def next_run(self):
        """Starts a run without a fault.  A server may need a while to see that a lock's holder is
        gone.  Each attempt has a time of its own, because one cluster may be published while
        another is locked."""
        end = time.monotonic() + 20
        while True:
            self.now += 10
            done = subprocess.run([FAIRMILL, '-c', self.conf, *RUN, '--now', str(self.now)],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=tap.HANG, check=False)
            if done.returncode != 75 or time.monotonic() > end:
                break
            time.sleep(.05)
        outcome = Outcome()
        self.judge(self.now, outcome)
        if done.returncode or done.stdout or outcome.results != 'new':
            outcome.wrong.append(f'the next run ended with {done.returncode}, {outcome.results} results: '
                                 f'{done.stdout.decode()}')
        return outcome.wrong

    def disturbed(self, source=(), results=(), deadline=2, by_path=False, to_port=False, after=None,
                  started=None, judge=True):
        """Starts one run with faults on the way to either database.  The way is TCP to the proxy and a
        unix socket after it, unix sockets (by_path), or TCP (to_port) all the way.
        `started(process)` is called after the start, and `after()` after the end.  Effects of
        `after()` must be gone before the next run."""
        self.now += 10
        outcome = Outcome()
        with Proxy(self.source_server, *source, to_port=to_port and self.source_server.port) as to_source, \
                Proxy(self.results_server, *results, to_port=to_port and self.results_server.port) as to_results:
            def at(proxy):
                return dict(socket=proxy.socket) if by_path else dict(host='127.0.0.1', port=proxy.port)
            conf = self.conf + '-faults'
            self.write(conf, at(to_source), at(to_results), deadline)
            began = time.monotonic()
            process = subprocess.Popen([FAIRMILL, '-c', conf, *RUN, '--now', str(self.now)],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT)
            if started:
                started(process)
            try:
                said, _ = process.communicate(timeout=tap.HANG)
            except subprocess.TimeoutExpired:
                process.kill()
                said, _ = process.communicate()
                outcome.wrong.append(f'it hung for {tap.HANG} s')
            outcome.seconds = time.monotonic() - began
            outcome.status, outcome.said = process.returncode, said.decode()
            if after:
                after()
            self.steps = to_source.steps, to_results.steps
            self.seen_sql |= set(to_source.statements())
            outcome.wrong += to_source.problems + to_results.problems
            # The last message of the program may still be on its way through the proxy when the
            # program has ended.
            patience = time.monotonic() + 2
            while not all(fault.happened for fault in (*source, *results)) and time.monotonic() < patience:
                time.sleep(0.02)
            outcome.fired = [fault.happened for fault in (*source, *results)]
            if judge:
                self.judge(self.now, outcome)
        if outcome.status == 0 and (outcome.results != 'new' or outcome.said):
            outcome.wrong.append('it ended with 0')
        if outcome.status != 0 and not outcome.said.startswith('fairmill: '):
            outcome.wrong.append('it did not say why')
        return outcome


class Report:
    """Rows of doc/reliability.md, appended to the file that FAIRMILL_RELIABILITY names."""

    def __init__(self):
        self.rows = {}

    def note(self, fault, where, outcome):
        self.count(fault, where, outcome.status, outcome.results)

    def count(self, fault, where, status, results):
        counts = self.rows.setdefault((fault, where), {})
        key = f'{status}, {results or "old"}'
        counts[key] = counts.get(key, 0) + 1

    def write(self):
        path = os.environ.get('FAIRMILL_RELIABILITY')
        if not path:
            return
        with open(path, 'a', encoding='utf-8') as file:
            for (fault, where), counts in self.rows.items():
                outcomes = '; '.join(f'{count} x {what}' if len(counts) > 1 else what
                                     for what, count in sorted(counts.items()))
                file.write(f'| {fault} | {where} | {sum(counts.values())} | {outcomes} |\n')


def at_once(work, rigs):
    """Passes each piece of work, a function of a rig, to the next free rig; returns the results in
    order."""
    results = [None] * len(work)
    guard = threading.Lock()
    todo = list(enumerate(work))

    def labour(rig):
        while True:
            with guard:
                if not todo:
                    return
                number, piece = todo.pop(0)
            try:
                results[number] = piece(rig)
            except Exception as problem:  # pylint: disable=broad-except
                results[number] = problem
    threads = [threading.Thread(target=labour, args=(rig,)) for rig in rigs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
