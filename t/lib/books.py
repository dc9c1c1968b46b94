# SPDX-License-Identifier: MIT
"""An accounting database of one cluster, and a controller that sends its jobs to it.  Rows arrive
and change in every way that slurmctld and slurmdbd allow: pending jobs first, ends late, and
several rows for one job."""

import copy
import heapq
from collections import Counter

import site_drawing

CLUSTER = 'history'
JOBS, SUSPENDS, ASSOCIATIONS = (f'{CLUSTER}_{name}_table' for name in ('job', 'suspend', 'assoc'))
QOS, TRANSACTIONS = 'qos_table', 'txn_table'
KEYS = {QOS: 'id', TRANSACTIONS: 'id', ASSOCIATIONS: 'id_assoc', JOBS: 'job_db_inx', SUSPENDS: 'job_db_inx'}

PENDING, RUNNING, COMPLETED, CANCELLED, FAILED = 0, 1, 3, 4, 5
REQUEUED, RESIZING = 1 << 10, 1 << 13
NONE = 0xfffffffe

DAY = 86400

# Columns that these tests do not use.
PLAIN_JOB = dict(deleted=0, account='', cpus_req=1, job_name='j', id_array_job=0,
                 id_array_task=NONE, id_resv=0, id_wckey=0, id_user=1000, id_group=1000,
                 het_job_id=0, het_job_offset=NONE, state_reason_prev=0, nodes_alloc=1,
                 priority=1, tres_req='')


class Books:
    """The rows.  They are replaced and never changed, so that a copy is cheap.  A job's row has its
    suspensions, pairs of start and end."""

    def __init__(self):
        self.qos = {}           # factors by id
        self.associations = {}  # by id_assoc
        self.transactions = {}  # by id
        self.jobs = {}          # by job_db_inx
        self.key_of = {}        # by (id_job, time_submit), which slurmdbd keeps unique
        self.next_key = self.next_association = 1

    def copy(self):
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(other, name, dict(value))
        return other

    def receive(self, row):
        """Stores a record as slurmdbd does: updates the row, or creates it if it is missing."""
        key = self.key_of.get((row['id_job'], row['time_submit']))
        if key is None:
            key = row.get('job_db_inx') or self.next_key
            self.next_key += 1
        self.put(dict(row, job_db_inx=key))

    def put(self, row):
        self.jobs[row['job_db_inx']] = row
        self.key_of[row['id_job'], row['time_submit']] = row['job_db_inx']

    def change(self, key, **values):
        self.put(dict(self.jobs[key], **values))

    def remove(self, key):
        row = self.jobs.pop(key)
        del self.key_of[row['id_job'], row['time_submit']]
        return row

    def open_keys(self):
        return [key for key, row in self.jobs.items() if not row['time_end']]

    def ends(self):
        """Returns the end times of jobs that have run."""
        return [row['time_end'] for row in self.jobs.values()
                if 0 < row['time_start'] <= row['time_end']]

    def add_association(self, acct, user='', partition='', parent_acct='', shares=1):
        number = self.next_association
        self.next_association += 1
        self.associations[number] = dict(id_assoc=number, acct=acct, user=user, partition=partition,
                                         parent_acct=parent_acct, shares=shares, deleted=0)
        return number

    def change_association(self, number, **values):
        self.associations[number] = dict(self.associations[number], **values)

    def tell(self, at, action, name, info='', cluster=CLUSTER):
        number = max(self.transactions, default=0) + 1
        self.transactions[number] = dict(id=number, timestamp=at, action=action, name=name, actor='root',
                                         cluster=cluster, info=info)

    def tell_of(self, at, number, before, row):
        """Logs slurmdbd's transaction for a change of an association; None means that it does not
        exist."""
        lived, lives = (each is not None and not each['deleted'] for each in (before, row))
        if lived and not lives:
            others = [each for each in self.associations.values() if each['user'] == before['user'] != '']
            if others and at % 2 and all(each['deleted'] for each in others):
                self.tell(at, 1439, f"name='{before['user']}'", cluster='')
            else:
                self.tell(at, 1437, f'id_assoc={number}')
        elif lives and not lived:
            self.tell(at, 1404, f'id_assoc={number}', f"mod_time={at}, acct='{row['acct']}', user='{row['user']}', "
                      f"`partition`='{row['partition']}', parent_acct='{row['parent_acct']}', shares={row['shares']}")
        elif lives and row['shares'] != before['shares']:
            self.tell(at, 1429, f'(id_assoc={number})', f"shares={row['shares']}")

    def found(self, users, deleted=0):
        """Returns the IDs of users' associations, or of accounts other than the root."""
        return [row['id_assoc'] for row in self.associations.values()
                if bool(row['user']) == users and row['acct'] != 'root' and row['deleted'] == deleted]

    def below(self, number):
        """Returns the IDs of an account and of everything below it."""
        found = [number]
        for above in found:
            row = self.associations[above]
            if not row['user']:
                found += [other['id_assoc'] for other in self.associations.values()
                          if (other['acct'] if other['user'] else other['parent_acct']) == row['acct']]
        return found

    def tables(self):
        """Returns {table: {key: rows}}."""
        associations = [dict(dict(creation_time=1, mod_time=1), **row) for row in self.associations.values()]
        site_drawing.place(associations)
        for row in associations:
            del row['lft'], row['rgt']  # the newest releases do not have these columns
        jobs, suspends = {}, {}
        for key, row in self.jobs.items():
            jobs[key] = [{name: value for name, value in row.items() if name != 'suspends'}]
            suspends[key] = [dict(job_db_inx=key, id_assoc=row['id_assoc'], time_start=start, time_end=end)
                             for start, end in row['suspends']]
        return {
            QOS: {number: [dict(id=number, name=f'q{number}', creation_time=1, deleted=0,
                                usage_factor=factor)] for number, factor in self.qos.items()},
            ASSOCIATIONS: {row['id_assoc']: [row] for row in associations},
            TRANSACTIONS: {number: [row] for number, row in self.transactions.items()},
            JOBS: jobs,
            SUSPENDS: suspends,
        }


def changes(before, after):
    """Returns [(table, keys of removed or changed rows, new or changed rows)]."""
    found = []
    for table, rows in after.items():
        old = before.get(table, {})
        gone = [key for key, each in old.items() if each and rows.get(key) != each]
        new = [row for key, each in rows.items() if old.get(key) != each for row in each]
        if gone or new:
            found.append((table, gone, new))
    return found


class Job:
    def __init__(self, row):
        self.row = row
        self.known = True  # to the controller


class Controller:
    """Sends a record for each event of a job.  Records wait in `unsent`, in order, while there is
    no connection to slurmdbd."""

    KINDS = dict(plain=50, cancelled=8, requeued=8, resized=8, array=6, het=5, forgotten=7, weeks=5,
                 suspended=7, held=3, odd=3)

    def __init__(self, r, now, pace, grain, sluids):
        self.r, self.now, self.pace, self.grain = r, now, pace, grain
        self.sluids = sluids  # number of the cluster in their highest bits, or None
        self.events, self.unsent, self.seen = [], [], Counter()
        self.users, self.qos = [], [1]
        self.next_id = self.serial = 1

    # ---- time ----

    def work(self, until, submissions):
        for _ in range(submissions):
            self.at(self.within(self.now, until), self.submit, None)
        while self.events and self.events[0][0] <= until:
            at, _, happen, job, more = heapq.heappop(self.events)
            if job is None or job.known:
                happen(at, job, *more)
        self.now = until

    def at(self, instant, happen, job, *more):
        self.serial += 1
        heapq.heappush(self.events, (instant, self.serial, happen, job, more))

    def rounded(self, seconds):
        return seconds - seconds % self.grain

    def within(self, start, end):
        return min(end, self.rounded(self.r.randrange(start, max(start, end) + 1)) + self.grain)

    def span(self):
        pace = self.pace
        return self.rounded(self.r.choice((0, 1, pace // 20, pace // 3, pace, self.r.randrange(3 * pace),
                                           self.r.randrange(8 * pace))))

    # ---- jobs ----

    def new(self, at, **more):
        row = dict(PLAIN_JOB, id_job=self.new_id(), mod_time=at, id_assoc=self.r.choice(self.users),
                   id_qos=self.r.choice(self.qos), time_submit=at, time_eligible=at, time_start=0,
                   time_end=0, time_suspended=0, suspends=(), state=PENDING, tres_alloc='',
                   partition=self.r.choice(('p', 'p', 'gpu', 'debug', 'gpu,debug')),
                   timelimit=self.r.choice((0, 60, 1440, 10 ** 4, NONE, 0xffffffff)))
        return self.as_row_of_its_own(dict(row, **more))

    def new_id(self):
        self.next_id += 1
        return self.next_id - 1

    def as_row_of_its_own(self, row):
        row.pop('job_db_inx', None)
        if self.sluids is not None:
            self.serial += 1
            row['job_db_inx'] = (self.sluids << 52 | (row['mod_time'] * 1000 + self.serial % 1000) << 10
                                 | self.serial % 1024)
        return Job(row)

    def send(self, job, at, **values):
        job.row = dict(job.row, mod_time=at, **values)
        self.unsent.append(job.row)

    def tres(self):
        r = self.r
        count = r.choice((1, 1, 2, 5, 48, r.randrange(1, 1000), r.randrange(1, 2 ** 33)))
        return r.choice((f'1={count},2=512,3=18446744073709551614,4=1,5={count + 1}',) * 8 +
                        (f'1={count}', f'5={count}', '', '2=5', '1=2,5=junk'))

    def submit(self, at, _):
        if self.users:
            kind, = self.r.choices(list(self.KINDS), self.KINDS.values())
            self.seen[kind] += 1
            getattr(self, kind)(at)

    def pending(self, at, **more):
        """Adds a pending job.  Some jobs are first reported when they start."""
        job = self.new(at, **more)
        if self.r.random() < .85:
            self.send(job, at)
        return job

    def plain(self, at):
        self.at(at + self.span(), self.start, self.pending(at), self.end, self.span())

    def weeks(self, at):
        self.at(at + self.span(), self.start, self.pending(at), self.end,
                self.rounded(self.r.randrange(7 * DAY, 50 * DAY)))

    def suspended(self, at):
        self.at(at + self.span(), self.start, self.pending(at), self.suspend, self.span())

    def suspend(self, at, job):
        """Suspends the job, possibly several times, and possibly until its end."""
        self.send(job, at, suspends=(*job.row['suspends'], (at, 0)))
        self.at(at + self.span() + self.grain, self.r.choice((self.resume, self.resume, self.end)), job)

    def resume(self, at, job):
        self.send(job, at, suspends=self.closed(job, at))
        self.at(at + self.span() + self.grain, self.r.choice((self.suspend, self.end)), job)

    def closed(self, job, at):
        return tuple((start, end or at) for start, end in job.row['suspends'])

    def cancelled(self, at):
        self.at(at + self.span(), self.end, self.pending(at), CANCELLED)

    def held(self, at):
        job = self.new(at, time_eligible=0, priority=0)
        self.send(job, at)
        self.at(at + 400 * DAY, self.end, job, CANCELLED)

    def odd(self, at):
        """Starts a job in the future, possibly with an end before the start."""
        start = at + self.r.choice((100, 200, 20 * self.pace))
        job = self.new(at, time_start=start, state=RUNNING, tres_alloc=self.tres())
        self.send(job, at)
        self.at(at + self.span(), self.end, job)

    def forgotten(self, at):
        """Makes the controller forget a job while it runs, or before."""
        job = self.pending(at)
        if self.r.random() < .5:
            self.at(at + self.span(), self.start, job, self.forget, self.span())
        else:
            self.at(at + self.span(), self.forget, job)

    def requeued(self, at):
        self.at(at + self.span(), self.start, self.pending(at), self.requeue, self.span() + self.grain)

    def resized(self, at):
        self.at(at + self.span(), self.start, self.pending(at), self.resize, self.span() + self.grain)

    def het(self, at):
        wait, length, first = self.span(), self.span(), self.next_id
        for offset in range(self.r.choice((2, 3))):
            job = self.pending(at, het_job_id=first, het_job_offset=offset)
            self.at(at + wait, self.start, job, self.end, length)

    def array(self, at):
        """Creates an array, whose row for all pending tasks becomes the last task's row."""
        master = self.new(at, id_array_job=self.next_id)
        self.send(master, at)
        starts = sorted(self.span() for _ in range(self.r.randrange(2, 6)))
        for number, wait in enumerate(starts):
            self.at(at + wait, self.task, master, number, number == len(starts) - 1, self.span())

    def task(self, at, master, number, last, length):
        job = master
        if not last:
            job = self.new(at, **{name: master.row[name] for name in (
                'id_array_job', 'id_assoc', 'id_qos', 'timelimit', 'time_submit')})
        job.row = dict(job.row, id_array_task=number)
        self.start(at, job, self.end, length)

    def start(self, at, job, then, length):
        values = dict(time_start=at, time_eligible=at, state=RUNNING, tres_alloc=self.tres())
        if self.users and self.r.random() < .05:
            values['id_assoc'] = self.r.choice(self.users)
        self.send(job, at, **values)
        self.at(at + length, then, job)

    def end(self, at, job, state=None):
        self.send(job, at, time_end=at, suspends=self.closed(job, at),
                  state=state or self.r.choice((COMPLETED, COMPLETED, FAILED)))
        job.known = False

    def forget(self, at, job):
        job.known = False

    def requeue(self, at, job):
        self.send(job, at, time_end=at, state=REQUEUED)
        job.known = False
        again = self.as_row_of_its_own(dict(job.row, time_submit=at, time_eligible=at + 120, time_start=0,
                                            time_end=0, state=PENDING, tres_alloc='', suspends=()))
        self.send(again, at)
        self.at(at + self.span(), self.start, again, self.end, self.span())

    def resize(self, at, job):
        self.send(job, at, time_end=at, state=RESIZING)
        job.known = False
        rest = self.as_row_of_its_own(dict(job.row, time_submit=at, time_end=0, state=RUNNING))
        self.send(rest, at, tres_alloc=self.tres())
        self.at(at + self.span(), self.end, rest)

    # ---- events of the controller ----

    def knows(self):
        """Returns (id_job, time_submit) of the jobs that it has not reported completely."""
        live = {(job.row['id_job'], job.row['time_submit'])
                for _, _, _, job, _ in self.events if job is not None and job.known}
        return live | {(row['id_job'], row['time_submit']) for row in self.unsent}

    def cold_start(self):
        for _, _, _, job, _ in self.events:
            if job is not None:
                job.known = False
