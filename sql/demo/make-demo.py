#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Create the accounting database of an invented site, to try fairmill.

    make-demo.py DATABASE [NOW]

The SQLite file has the tables of slurmdbd: a university with three faculties and about forty users,
and a year of jobs up to NOW (in epoch seconds; the default is 2025-06-21 10:00 UTC).  Some jobs are still
running or pending.  The slurm.conf of the cluster is created in the same directory.  The same NOW
always creates the same site.

During that year a group was founded (energy), a group ran no jobs for months (materials), an
account got more shares (physics, in spring), and a user left (goran).  For the last two weeks,
two accounts have computed more because of a deadline.  Two accounts have a GrpTRESMins limit.
txn_table has the changes that slurmdbd records.
"""

import heapq
import random
import sys
import time

from slurm_site import (COMPLETED, DAY, HOUR, MINUTE, MODIFY_ASSOCIATION, NOW, PARENT, PENDING, QOS, REMOVE_ASSOCIATION, REMOVE_USER,
                        RUNNING, Association, Cluster, Job, create, fill, insert, job_rows, number_associations)

CLUSTER = 'demo'

# Accounts end in a slash and have shares.  Users have shares and a habit.  The shares and the habit
# of `name@partition` apply in that partition only.
SITE = '''
science/            50
  physics/          40
    astro/           2
      anders         1  simulation
      beatriz        1  simulation
      chidi          2  analysis
      dagmar         1  idle
    optics/          1
      emre           1  analysis
      fatima         1  course
      goran          1  left
    hanna            1  analysis
  chemistry/        30
    dynamics/        3
      ines           1  simulation
      jun            1  analysis
      kaya           1  training
    spectra/         1
      lars           1  analysis
      meera          1  course
    nikos       parent  analysis
  maths/            30
    olga             1  course
    pavel            1  course
    quynh            1  analysis
    anders           1  course
engineering/        30
  fluids/            2
    rosa            10  simulation
    sven             5  simulation
    tariq            5  analysis
  robotics/          2
    ulrike           1  training
    vikram           1  analysis
    vikram@gpu       3  training
    wanda            1  course
  materials/         1
    xavier           1  simulation
    yuki             1  analysis
    zsofia           1  idle
  energy/            1
    tove             2  simulation
    umberto          1  course
medicine/           20
  genomics/          3
    aisha            1  pipeline
    bogdan           1  pipeline
    carmen           2  analysis
    dmitri           1  pipeline
  imaging/           2
    elif             1  training
    femi             1  training
    greta            1  course
  trials/            1
    hugo             1  idle
    irina            1  course
teaching/       parent
  jonas              1  course
  katya              1  course
  liam               1  course
  mona               1  idle
'''

# Times and durations of the site's history, in days; times are before NOW.
YEAR, SITE_MADE, GROUP_MADE, USER_LEFT, RUSH = 365, 400, 170, 5, 14
GROUP, PAUSED, PAUSE = 'energy', 'materials', (250, 4)
CHANGED, SHARES_BEFORE = 'physics', 30
COORDINATOR = 'physics', 'hanna'
IN_A_HURRY = 'astro', 'fluids'
QUIET_MONTHS = {8: .6, 12: .7}

# jobs on a working day, partition, possible numbers of cores, usual hours
HABITS = {
    'simulation': (1.6, 'cpu', (64, 64, 128, 256), 9),
    'analysis': (3, 'cpu', (4, 8, 16, 32), 3),
    'pipeline': (5, 'highmem', (4, 8, 16, 32), 5),
    'course': (1, 'short', (1, 2, 4), .5),
    'training': (2, 'gpu', (8, 8, 16, 32), 10),
    'left': (3, 'cpu', (32, 64), 4),
    'idle': (0, 'cpu', (1,), 1),
}

# name of the nodes, their number, cores per node, memory per core in MB, GPUs per node
NODES = {
    'c': (20, 64, 4000, 0),
    'g': (4, 32, 8000, 4),
    'm': (2, 64, 16000, 0),
}
# nodes, time limit in minutes, PriorityJobFactor, billing per core and per GPU
PARTITIONS = {
    'cpu': ('c', 2880, 1, 1, 0),
    'short': ('c', 120, 5, 1, 0),
    'gpu': ('g', 2880, 1, 1, 16),
    'highmem': ('m', 2880, 1, 2, 0),
}

# GrpTRESMins limits of accounts: CPU-minutes and GPU-minutes
LIMITS = {'astro': '1=5000000', 'robotics': '1001=100000'}

# id, name, priority, UsageFactor, percentage of jobs
ALL_QOS = (QOS(1, 'normal', 100, 1.0, 85), QOS(2, 'urgent', 200, 2.0, 4), QOS(3, 'scavenger', 0, 0.25, 11))
NORMAL, URGENT, SCAVENGER = (qos.id for qos in ALL_QOS)

# Pending jobs of the last hours, in which no job started: number, user, partition, cores, hours,
# QOS.
WAITING_HOURS = 3
QUEUE = (
    (4, 'anders', 'cpu', 256, 8, NORMAL),
    (4, 'beatriz', 'cpu', 128, 12, NORMAL),
    (1, 'beatriz', 'cpu', 64, 1, URGENT),
    (3, 'ines', 'cpu', 128, 8, NORMAL),
    (2, 'jun', 'cpu', 32, 4, NORMAL),
    (2, 'rosa', 'cpu', 256, 12, NORMAL),
    (1, 'sven', 'cpu', 64, 20, SCAVENGER),
    (2, 'xavier', 'cpu', 128, 6, NORMAL),
    (2, 'tove', 'cpu', 64, 6, NORMAL),
    (1, 'chidi', 'short', 32, 1, NORMAL),
    (1, 'hanna', 'cpu', 32, 2, NORMAL),
    (2, 'lars', 'cpu', 16, 3, NORMAL),
    (1, 'quynh', 'short', 8, 1, NORMAL),
    (1, 'wanda', 'cpu', 4, 2, SCAVENGER),
    (2, 'bogdan', 'highmem', 16, 4, NORMAL),
    (1, 'carmen', 'highmem,cpu', 32, 4, NORMAL),
    (2, 'elif', 'gpu', 16, 10, NORMAL),
    (1, 'femi', 'gpu', 32, 10, URGENT),
    (2, 'vikram', 'gpu', 16, 6, NORMAL),
)
# Other pending jobs: user, partition, cores, hours, hours since they were submitted.
HELD = ('emre', 'cpu', 16, 2, 30)
TOO_MUCH = ('yuki', 'cpu', 2048, 10, 20 * 24)  # more cores than the cluster has
ARRAY = ('aisha', 'highmem', 8, 10, 9)
ARRAY_TASKS, ARRAY_AT_ONCE = 40, 4


def is_at_work(who, day):
    """Return whether the association submits jobs on the day that is `day` days before NOW."""
    if who.is_below(GROUP):
        return day < GROUP_MADE
    if who.is_below(PAUSED):
        return not PAUSE[1] <= day < PAUSE[0]
    return not who.removed or day > USER_LEFT


def associations(now):
    """Return the associations of SITE, parents first, with ids in order of creation."""
    root = Association(None, 'root', 1)
    found, path, users = [root], [(-1, root)], set()
    for line in SITE.strip().splitlines():
        indent = len(line) - len(line.lstrip())
        name, shares, *habit = line.split()
        while path[-1][0] >= indent:
            path.pop()
        shares = PARENT if shares == 'parent' else int(shares)
        found.append(Association(path[-1][1], name.rstrip('/'), shares, *habit))
        path.append((indent, found[-1]))
    for who in found:
        who.made = who.touched = now - (GROUP_MADE if who.is_below(GROUP) else SITE_MADE) * DAY
        who.is_default = who.is_default and who.user not in users
        users.add(who.user)
        if who.habit == 'left':
            who.removed, who.touched = True, now - USER_LEFT * DAY
        if not who.user:
            who.limits = LIMITS.get(who.account, '')
        if not who.user and who.account == CHANGED:
            who.touched, who.shares_before = spring(now), SHARES_BEFORE
    number_associations(found)
    return found


def spring(now):
    """Return 9:30 on the last 1st of March, April or May that is at least 30 days ago."""
    found = now - 30 * DAY
    found -= found % DAY
    while time.gmtime(found)[1:3] not in ((3, 1), (4, 1), (5, 1)):
        found -= DAY
    return found + 9 * HOUR + 30 * MINUTE


def usual(who, day, midnight):
    """Return the average number of jobs that the user submits on a day."""
    date = time.gmtime(midnight)
    number = HABITS[who.habit][0] * QUIET_MONTHS.get(date.tm_mon, 1)
    if date.tm_wday >= 5:
        number *= .3
    if day < RUSH and who.account in IN_A_HURRY:
        number *= 1.5
    return number


def past(dice, cluster, now):
    """Yield the jobs that were submitted in a year, except in the last WAITING_HOURS hours."""
    for day in range(YEAR, -1, -1):
        midnight = (now // DAY - day) * DAY
        for who in cluster.everyone:
            if not who.habit or not is_at_work(who, day):
                continue
            _, partition, cores, hours = HABITS[who.habit]
            longest = PARTITIONS[partition][1] * MINUTE
            for _ in range(int(usual(who, day, midnight) * dice.uniform(.2, 1.8) + dice.random())):
                at = midnight + int(dice.triangular(7 * HOUR, 23 * HOUR, 14 * HOUR))
                seconds = int(hours * HOUR * min(dice.lognormvariate(0, .8), 6)) + MINUTE
                job = Job(cluster, who, at, who.partition or partition, dice.choice(cores), min(seconds, longest),
                          dice.choices(ALL_QOS, [qos.percent for qos in ALL_QOS])[0].id)
                if at < now - WAITING_HOURS * HOUR:
                    yield job


def queue(dice, cluster, now):
    """Yield recent, held and impossible pending jobs, and the tasks of an array."""
    def whose(user, partition):
        return max((who for who in cluster.everyone if who.user == user and who.partition in ('', partition)),
                   key=lambda who: (who.partition, who.is_default))

    asked = [job for job in QUEUE for _ in range(job[0])]
    dice.shuffle(asked)
    for place, (_, user, partition, cores, hours, qos) in enumerate(asked):
        ago = int((place + dice.random()) * WAITING_HOURS * HOUR / len(asked)) + 1
        yield Job(cluster, whose(user, partition), now - ago, partition, cores, hours * HOUR, qos)
    for (user, partition, cores, hours, ago), more in ((HELD, dict(priority=0, time_eligible=0)), (TOO_MUCH, {})):
        yield Job(cluster, whose(user, partition), now - ago * HOUR, partition, cores, hours * HOUR, NORMAL, **more)
    user, partition, cores, hours, ago = ARRAY
    at = now - ago * HOUR
    tasks = (1 << ARRAY_TASKS) - (1 << ARRAY_AT_ONCE)
    array = Job(cluster, whose(user, partition), at, partition, cores, hours * HOUR, NORMAL, array_max_tasks=ARRAY_AT_ONCE,
                array_task_str=f'0x{tasks:X}', array_task_pending=ARRAY_TASKS - ARRAY_AT_ONCE)
    yield array
    for task in range(ARRAY_AT_ONCE):
        job = Job(cluster, array.who, at, partition, cores, hours * HOUR, NORMAL, array=array, id_array_task=task)
        job.start = at + MINUTE
        yield job


def schedule(jobs):
    """Start each job, in order of submission, when enough cores are free."""
    free = {name: count * cores for name, (count, cores, *_) in NODES.items()}
    running, clock = {name: [] for name in NODES}, dict.fromkeys(NODES, 0)
    for job in jobs:
        nodes = job.place.nodes
        clock[nodes] = max(clock[nodes], job.at)
        while running[nodes] and (free[nodes] < job.cores or running[nodes][0][0] <= clock[nodes]):
            end, given_back = heapq.heappop(running[nodes])
            clock[nodes] = max(clock[nodes], end)
            free[nodes] += given_back
        free[nodes] -= job.cores
        job.start = clock[nodes]
        heapq.heappush(running[nodes], (job.start + job.seconds, job.cores))


def rows(dice, cluster, now):
    """Yield the rows of the job table at the time `now`."""
    ran = sorted(past(dice, cluster, now), key=lambda job: (job.at, job.who.id))
    schedule(ran)
    jobs = [job for job in ran if job.start <= now] + list(queue(dice, cluster, now))
    jobs.sort(key=lambda job: job.at)
    return job_rows(dice, jobs, {who.user: 20000 + who.id for who in reversed(cluster.everyone)}, now)


def changes(everyone):
    """Yield the transactions after the site was made."""
    for who in everyone:
        if who.account == CHANGED and not who.user:
            yield who.touched, MODIFY_ASSOCIATION, f'(id_assoc={who.id})', CLUSTER, f'shares={who.shares}'
        if who.removed:
            yield who.touched, REMOVE_USER, f"name in('{who.user}')", '', None
            yield who.touched, REMOVE_ASSOCIATION, f'id_assoc={who.id}', CLUSTER, None


def suspend(db, dice, jobs):
    """Suspend five of the long jobs for ten minutes each."""
    long = [row for row in jobs if row['state'] == COMPLETED and row['time_end'] - row['time_start'] > 4 * HOUR]
    for row in dice.sample(long, 5):
        begin = row['time_start'] + HOUR
        insert(db, CLUSTER + '_suspend_table', [dict(job_db_inx=row['job_db_inx'], id_assoc=row['id_assoc'],
                                                     time_start=begin, time_end=begin + 10 * MINUTE)])
        db.execute(f'UPDATE "{CLUSTER}_job_table" SET time_suspended = ? WHERE job_db_inx = ?',
                   (10 * MINUTE, row['job_db_inx']))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit('usage: make-demo.py DATABASE [NOW]')
    now = int(sys.argv[2]) if len(sys.argv) == 3 else NOW
    cluster = Cluster(CLUSTER, now - SITE_MADE * DAY, NODES, PARTITIONS)
    cluster.everyone = associations(now)

    def write(db):
        dice = random.Random(4)
        fill(db, [cluster], ALL_QOS, [COORDINATOR], changes(cluster.everyone))
        jobs = list(rows(dice, cluster, now))
        insert(db, CLUSTER + '_job_table', jobs)
        suspend(db, dice, jobs)
        states = [row['state'] for row in jobs]
        print(f'{len(jobs)} jobs of a year, {states.count(RUNNING)} running, {states.count(PENDING)} pending')

    create(sys.argv[1], [cluster], write)


if __name__ == '__main__':
    main()
