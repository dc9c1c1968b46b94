#!/usr/bin/env python3
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
import os
import random
import sqlite3
import subprocess
import sys
import time

CLUSTER = 'demo'
NOW = 1750500000
DAY, HOUR, MINUTE = 86400, 3600, 60
PARENT = 2147483647  # sacctmgr shows it as shares `parent`
NONE = 4294967294
TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'slurmdbd', 'tables.sh')

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
QOS = ((1, 'normal', 100, 1.0, 85), (2, 'urgent', 200, 2.0, 4), (3, 'scavenger', 0, 0.25, 11))
NORMAL, URGENT, SCAVENGER = (qos[0] for qos in QOS)

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

TRES = ((1, 'cpu', ''), (2, 'mem', ''), (3, 'energy', ''), (4, 'node', ''), (5, 'billing', ''),
        (6, 'fs', 'disk'), (7, 'vmem', ''), (8, 'pages', ''), (1001, 'gres', 'gpu'))

PENDING, RUNNING, COMPLETED, CANCELLED, FAILED, TIMEOUT = 0, 1, 3, 4, 5, 6

# Actions in txn_table.
ADD_ACCOUNT, ADD_COORDINATOR, ADD_ASSOCIATION, ADD_CLUSTER, ADD_USER, ADD_QOS = 1402, 1403, 1404, 1405, 1406, 1447
MODIFY_ASSOCIATION, REMOVE_USER, REMOVE_ASSOCIATION = 1429, 1439, 1437

SLURM_CONF = '''# SPDX-License-Identifier: MIT
# The parts of a slurm.conf that determine priorities.
ClusterName={cluster}
SlurmctldHost=ctld
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
# Hides jobs and usage from other users; coordinators see those in their accounts.
#PrivateData=jobs,usage

PriorityType=priority/multifactor
PriorityDecayHalfLife=7-0
PriorityMaxAge=7-0
PriorityWeightFairshare=10000
PriorityWeightAge=1000
PriorityWeightPartition=500
PriorityWeightQOS=2000
PriorityWeightJobSize=0
PriorityWeightAssoc=0

GresTypes=gpu
{nodes}
{partitions}
'''


class Association:
    def __init__(self, parent, name, shares, habit=None):
        self.id, self.parent, self.shares, self.habit = 0, parent, shares, habit
        self.user, _, self.partition = name.partition('@') if habit else ('', '', '')
        self.account = parent.account if habit else name
        self.is_default = bool(self.user and not self.partition)
        self.made = self.touched = 0
        if parent is None:
            self.lineage = '/'
        else:
            last = f'0-{self.user}' if habit else name
            self.lineage = f'{parent.lineage}{last}/' + (f'{self.partition}/' if self.partition else '')

    def is_below(self, account):
        return self.account == account or bool(self.parent) and self.parent.is_below(account)

    def row(self):
        left = self.habit == 'left'
        return dict(creation_time=self.made, mod_time=self.touched, deleted=int(left), id_assoc=self.id,
                    user=self.user, acct=self.account, partition=self.partition,
                    parent_acct=self.parent.account if self.parent and not self.user else '',
                    id_parent=self.parent.id if self.parent else 0, lineage=self.lineage,
                    shares=1 if left else self.shares, is_def=int(self.is_default),
                    grp_tres_mins='' if self.user else LIMITS.get(self.account, ''),
                    qos='' if self.parent else ',1,2,3,')

    def is_at_work(self, day):
        """Return whether the association submits jobs on the day that is `day` days before NOW."""
        if self.is_below(GROUP):
            return day < GROUP_MADE
        if self.is_below(PAUSED):
            return not PAUSE[1] <= day < PAUSE[0]
        return self.habit != 'left' or day > USER_LEFT


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
            who.touched = now - USER_LEFT * DAY
        if not who.user and who.account == CHANGED:
            who.touched = spring(now)
    for number, who in enumerate(sorted(found, key=lambda who: who.made), 1):
        who.id = number
    return found


def spring(now):
    """Return 9:30 on the last 1st of March, April or May that is at least 30 days ago."""
    found = now - 30 * DAY
    found -= found % DAY
    while time.gmtime(found)[1:3] not in ((3, 1), (4, 1), (5, 1)):
        found -= DAY
    return found + 9 * HOUR + 30 * MINUTE


class Job:
    """A submitted job with its number of cores and its run time in seconds."""

    def __init__(self, who, at, partition, cores, seconds, qos=NORMAL, **more):
        self.who, self.at, self.partition, self.cores = who, at, partition, cores
        self.seconds, self.qos, self.start, self.more = seconds, qos, 0, more
        self.place = PARTITIONS[partition.split(',')[0]]

    def tres(self):
        nodes, _, _, core, gpu = self.place
        _, per_node, memory, per_node_gpus = NODES[nodes]
        gpus = self.cores * per_node_gpus // per_node
        text = f'1={self.cores},2={self.cores * memory},4={self.nodes()},5={self.cores * core + gpus * gpu}'
        return text + (f',1001={gpus}' if gpus else '')

    def nodes(self):
        return -(-self.cores // NODES[self.place[0]][1])


def usual(who, day, midnight):
    """Return the average number of jobs that the user submits on a day."""
    date = time.gmtime(midnight)
    number = HABITS[who.habit][0] * QUIET_MONTHS.get(date.tm_mon, 1)
    if date.tm_wday >= 5:
        number *= .3
    if day < RUSH and who.account in IN_A_HURRY:
        number *= 1.5
    return number


def past(dice, everyone, now):
    """Yield the jobs that were submitted in a year, except in the last WAITING_HOURS hours."""
    for day in range(YEAR, -1, -1):
        midnight = (now // DAY - day) * DAY
        for who in everyone:
            if not who.habit or not who.is_at_work(day):
                continue
            _, partition, cores, hours = HABITS[who.habit]
            longest = PARTITIONS[partition][1] * MINUTE
            for _ in range(int(usual(who, day, midnight) * dice.uniform(.2, 1.8) + dice.random())):
                at = midnight + int(dice.triangular(7 * HOUR, 23 * HOUR, 14 * HOUR))
                seconds = int(hours * HOUR * min(dice.lognormvariate(0, .8), 6)) + MINUTE
                job = Job(who, at, who.partition or partition, dice.choice(cores), min(seconds, longest),
                          dice.choices(QOS, [q[4] for q in QOS])[0][0])
                if at < now - WAITING_HOURS * HOUR:
                    yield job


def queue(dice, everyone, now):
    """Yield recent, held and impossible pending jobs, and the tasks of an array."""
    def whose(user, partition):
        return max((who for who in everyone if who.user == user and who.partition in ('', partition)),
                   key=lambda who: (who.partition, who.is_default))

    asked = [job for job in QUEUE for _ in range(job[0])]
    dice.shuffle(asked)
    for place, (_, user, partition, cores, hours, qos) in enumerate(asked):
        ago = int((place + dice.random()) * WAITING_HOURS * HOUR / len(asked)) + 1
        yield Job(whose(user, partition), now - ago, partition, cores, hours * HOUR, qos)
    for (user, partition, cores, hours, ago), more in ((HELD, dict(priority=0, time_eligible=0)), (TOO_MUCH, {})):
        yield Job(whose(user, partition), now - ago * HOUR, partition, cores, hours * HOUR, **more)
    user, partition, cores, hours, ago = ARRAY
    at = now - ago * HOUR
    tasks = (1 << ARRAY_TASKS) - (1 << ARRAY_AT_ONCE)
    array = Job(whose(user, partition), at, partition, cores, hours * HOUR, array_max_tasks=ARRAY_AT_ONCE,
                array_task_str=f'0x{tasks:X}', array_task_pending=ARRAY_TASKS - ARRAY_AT_ONCE)
    yield array
    for task in range(ARRAY_AT_ONCE):
        job = Job(array.who, at, partition, cores, hours * HOUR, array=array, id_array_task=task)
        job.start = at + MINUTE
        yield job


def schedule(jobs):
    """Start each job, in order of submission, when enough cores are free."""
    free = {name: nodes * cores for name, (nodes, cores, _, _) in NODES.items()}
    running, clock = {name: [] for name in NODES}, dict.fromkeys(NODES, 0)
    for job in jobs:
        nodes = job.place[0]
        clock[nodes] = max(clock[nodes], job.at)
        while running[nodes] and (free[nodes] < job.cores or running[nodes][0][0] <= clock[nodes]):
            end, given_back = heapq.heappop(running[nodes])
            clock[nodes] = max(clock[nodes], end)
            free[nodes] += given_back
        free[nodes] -= job.cores
        job.start = clock[nodes]
        heapq.heappush(running[nodes], (job.start + job.seconds, job.cores))


def limit_and_end(dice, job):
    """Return the time limit in minutes, the end and the state."""
    limit = min(max(15, int(job.seconds * dice.uniform(1, 3)) // 900 * 15), job.place[1])
    end = job.start + min(job.seconds, limit * MINUTE)
    if job.seconds > limit * MINUTE:
        return limit, end, TIMEOUT
    return limit, end, dice.choices((COMPLETED, FAILED, CANCELLED), (90, 7, 3))[0]


def rows(dice, everyone, now):
    """Yield the rows of the job table at the time `now`."""
    ran = sorted(past(dice, everyone, now), key=lambda job: (job.at, job.who.id))
    schedule(ran)
    jobs = [job for job in ran if job.start <= now] + list(queue(dice, everyone, now))
    jobs.sort(key=lambda job: job.at)
    users = {who.user: 20000 + who.id for who in reversed(everyone)}
    numbers = {id(job): number for number, job in enumerate(jobs, 1)}
    for job in jobs:
        number, array = numbers[id(job)], job.more.pop('array', job if job.more.get('array_task_str') else None)
        limit, end, state = limit_and_end(dice, job)
        start = job.start if 0 < job.start <= now else 0
        if not start or end > now:
            end, state = 0, RUNNING if start else PENDING
        yield dict(dict(
            job_db_inx=number, id_job=1000 + number, id_assoc=job.who.id, account=job.who.account,
            partition=job.partition, job_name=job.who.habit, id_user=users[job.who.user], id_group=100, id_qos=job.qos,
            id_array_job=1000 + numbers[id(array)] if array else 0, id_array_task=NONE, array_task_str=None,
            array_task_pending=0, array_max_tasks=0, id_resv=0, id_wckey=0, het_job_id=0, het_job_offset=NONE, state_reason_prev=0, priority=1000, cpus_req=job.cores,
            nodes_alloc=job.nodes() if start else 0, timelimit=limit, state=state, time_submit=job.at,
            time_eligible=job.at, time_start=start, time_end=end, mod_time=end or start or job.at,
            tres_req=job.tres(), tres_alloc=job.tres() if start else ''), **job.more)


def insert(db, table, rows):
    """Insert rows, which all have the same columns."""
    names = list(rows[0])
    db.executemany('INSERT INTO "%s" (%s) VALUES (%s)' % (
        table, ', '.join(f'"{name}"' for name in names), ', '.join('?' * len(names))), (tuple(row.values()) for row in rows))


def transactions(everyone, now):
    """Yield the actions of administrators: (time, action, name, cluster, info)."""
    made = now - SITE_MADE * DAY
    yield made, ADD_CLUSTER, CLUSTER, '', f"mod_time={made}, shares=1, priority=NULL, def_qos_id=NULL, qos=',1,2,3,'"
    for _, name, priority, factor, _ in QOS[1:]:
        yield made, ADD_QOS, name, '', (f"mod_time={made}, description='{name}', flags=0, priority={priority}, "
                                        f'usage_factor={factor:f}')
    seen = set()
    for who in sorted(everyone[1:], key=lambda who: who.id):
        at, above = who.made, who.parent
        shares = SHARES_BEFORE if who.account == CHANGED and not who.user else who.shares
        if not who.user:
            yield at, ADD_ACCOUNT, who.account, '', f"description='{who.account}', organization='{above.account}', flags='0'"
        elif who.user not in seen:
            yield at, ADD_USER, who.user, '', 'admin_level=1'
        seen.add(who.user)
        place = f"parent_acct='{above.account}', user=''" if not who.user else f"user='{who.user}', `partition`='{who.partition}'"
        yield at, ADD_ASSOCIATION, f'id_assoc={who.id}', CLUSTER, (
            f"mod_time={at}, acct='{who.account}', is_def={int(who.is_default)}, {place}, id_parent='{above.id}', "
            f"lineage='{who.lineage}', shares={shares}, priority=NULL, def_qos_id=NULL, qos='', delta_qos=''")
    yield made, ADD_COORDINATOR, COORDINATOR[1], '', COORDINATOR[0]
    for who in everyone:
        if who.account == CHANGED and not who.user:
            yield who.touched, MODIFY_ASSOCIATION, f'(id_assoc={who.id})', CLUSTER, f'shares={who.shares}'
        if who.habit == 'left':
            yield who.touched, REMOVE_USER, f"name in('{who.user}')", '', None
            yield who.touched, REMOVE_ASSOCIATION, f'id_assoc={who.id}', CLUSTER, None


def registered():
    """Return the TRES of the whole cluster as slurmctld counts them."""
    cores = sum(nodes * cores for nodes, cores, _, _ in NODES.values())
    memory = sum(nodes * cores * memory for nodes, cores, memory, _ in NODES.values())
    return (f'1={cores},2={memory},4={sum(nodes for nodes, *_ in NODES.values())},5={cores},'
            f'1001={sum(nodes * gpus for nodes, _, _, gpus in NODES.values())}')


def node_names(name):
    return f'{name}[01-{NODES[name][0]:02d}]'


def slurm_conf():
    nodes = '\n'.join(f'NodeName={node_names(name)} CPUs={cores} RealMemory={cores * memory}' + (f' Gres=gpu:{gpus}' if gpus else '')
                      for name, (_, cores, memory, gpus) in NODES.items())
    partitions = '\n'.join(
        f'PartitionName={name} Nodes={node_names(nodes)} MaxTime={minutes} PriorityJobFactor={factor}'
        + (' Default=YES' if name == 'cpu' else '')
        + (f' TRESBillingWeights=CPU={core:.1f}' + (f',GRES/gpu={gpu:.1f}' if gpu else '') if (core, gpu) != (1, 0) else '')
        for name, (nodes, minutes, factor, core, gpu) in PARTITIONS.items())
    return SLURM_CONF.format(cluster=CLUSTER, nodes=nodes, partitions=partitions)


def suspend(db, dice, jobs):
    """Suspend five of the long jobs for ten minutes each."""
    long = [row for row in jobs if row['state'] == COMPLETED and row['time_end'] - row['time_start'] > 4 * HOUR]
    for row in dice.sample(long, 5):
        begin = row['time_start'] + HOUR
        insert(db, CLUSTER + '_suspend_table', [dict(job_db_inx=row['job_db_inx'], id_assoc=row['id_assoc'],
                                                     time_start=begin, time_end=begin + 10 * MINUTE)])
        db.execute(f'UPDATE "{CLUSTER}_job_table" SET time_suspended = ? WHERE job_db_inx = ?',
                   (10 * MINUTE, row['job_db_inx']))


def fill(db, now):
    dice = random.Random(4)
    made = now - SITE_MADE * DAY
    everyone = associations(now)
    people = {}
    for who in everyone:
        people.setdefault(who.user, who)
    insert(db, 'cluster_table', [dict(creation_time=made, mod_time=made, name=CLUSTER, id=1, control_host='ctld',
                                      control_port=6817, rpc_version=45 << 8, federation='', fed_state=0)])
    insert(db, 'convert_version_table', [dict(version=16)])
    insert(db, 'tres_table', [dict(creation_time=made, id=i, type=kind, name=name) for i, kind, name in TRES])
    insert(db, 'qos_table', [dict(creation_time=made, mod_time=made, id=i, name=name, description=name, priority=priority,
                                  usage_factor=factor) for i, name, priority, factor, _ in QOS])
    insert(db, 'acct_table', [dict(creation_time=who.made, mod_time=who.made, name=who.account, description=who.account,
                                   organization=(who.parent or who).account) for who in everyone if not who.user])
    insert(db, 'user_table', [dict(creation_time=who.made, mod_time=who.touched, deleted=int(who.habit == 'left'), name=name,
                                   admin_level=1) for name, who in sorted(people.items()) if name])
    insert(db, 'acct_coord_table', [dict(creation_time=made, mod_time=made, acct=COORDINATOR[0], user=COORDINATOR[1])])
    insert(db, CLUSTER + '_assoc_table', [who.row() for who in everyone])
    insert(db, 'txn_table', [dict(timestamp=at, action=action, name=name, actor='root', cluster=cluster, info=info)
                             for at, action, name, cluster, info in sorted(transactions(everyone, now), key=lambda row: row[0])])
    insert(db, CLUSTER + '_event_table', [dict(
        time_start=made, node_name='', cluster_nodes=','.join(map(node_names, NODES)), reason='Cluster Registered TRES',
        tres=registered())])
    jobs = list(rows(dice, everyone, now))
    insert(db, CLUSTER + '_job_table', jobs)
    suspend(db, dice, jobs)
    return jobs


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit('usage: make-demo.py DATABASE [NOW]')
    path, now = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else NOW
    conf = os.path.join(os.path.dirname(path), 'slurm.conf')
    for each in (path, conf):
        if os.path.exists(each):
            sys.exit(f"'{each}' already exists")
    with open(conf, 'w', encoding='ascii') as file:
        file.write(slurm_conf())
    db = sqlite3.connect(path)
    tables = subprocess.run([TABLES, 'sqlite'], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout
    db.executescript(tables.replace('@CLUSTER@', CLUSTER))
    jobs = fill(db, now)
    db.commit()
    db.close()
    states = [row['state'] for row in jobs]
    print(f'{len(jobs)} jobs of a year, {states.count(RUNNING)} running, {states.count(PENDING)} pending')


if __name__ == '__main__':
    main()
