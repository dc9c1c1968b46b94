#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the accounting database of a site that does not exist, for a first look at fairmill.

    make-demo.py DATABASE [NOW]

The file is what slurmdbd would have written: a university with three faculties, some forty
users, a month of jobs up to NOW (epoch seconds; the clock's time if not given), some of them
still running and some still waiting.  The same NOW makes the same site.
"""

import heapq
import os
import random
import sqlite3
import sys
import time

CLUSTER = 'demo'
DAY, HOUR, MINUTE = 86400, 3600, 60
PARENT = 2147483647  # what sacctmgr shows as shares `parent`
TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'slurmdbd', 'sqlite.sql')

# Accounts end in a slash and have shares.  Users have shares and a habit; `name@partition` has
# them in that partition only.
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
  chemistry/        35
    dynamics/        3
      ines           1  simulation
      jun            1  simulation
      kaya           1  training
    spectra/         1
      lars           1  analysis
      meera          1  course
    nikos       parent  analysis
  maths/            25
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
    vikram           1  training
    vikram@gpu       3  training
    wanda            1  course
  materials/         1
    xavier           1  simulation
    yuki             1  analysis
    zsofia           1  idle
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

# jobs on a working day, partition, cores to choose from, hours that are usual
HABITS = {
    'simulation': (4, 'cpu', (64, 128, 256, 512), 6),
    'analysis': (9, 'cpu', (4, 8, 16, 64), 2),
    'pipeline': (28, 'cpu', (1, 4, 8, 16), 1.5),
    'course': (3, 'cpu', (1, 2, 4), .5),
    'training': (6, 'gpu', (8, 16, 32), 5),
    'left': (8, 'cpu', (64, 128), 4),
    'idle': (0, 'cpu', (1,), 1),
}

# cores, cores of a node, memory of a core in MiB, GPUs of a core
PARTITIONS = {
    'cpu': (40 * 64, 64, 4000, 0),
    'gpu': (8 * 32, 32, 8000, 1 / 8),
}
GPU_BILLING = 16  # TRESBillingWeights of partition gpu: CPU=1.0,GRES/gpu=16.0

# id, name, UsageFactor, how often it is chosen
QOS = ((1, 'normal', 1.0, 85), (2, 'urgent', 2.0, 5), (3, 'scavenger', 0.25, 10))

TRES = ((1, 'cpu', ''), (2, 'mem', ''), (3, 'energy', ''), (4, 'node', ''), (5, 'billing', ''),
        (6, 'fs', 'disk'), (7, 'vmem', ''), (8, 'pages', ''), (1001, 'gres', 'gpu'))

PENDING, RUNNING, COMPLETED, CANCELLED, FAILED, TIMEOUT = 0, 1, 3, 4, 5, 6


class Association:
    def __init__(self, number, parent, name, shares, habit=None):
        self.id, self.parent, self.shares, self.habit = number, parent, shares, habit
        self.user, _, self.partition = name.partition('@') if habit else ('', '', '')
        self.account = parent.account if habit else name
        if parent is None:
            self.lineage = '/'
        else:
            last = f'0-{self.user}' if habit else name
            self.lineage = f'{parent.lineage}{last}/' + (f'{self.partition}/' if self.partition else '')

    def row(self, since, now):
        left = self.habit == 'left'
        return dict(creation_time=since, mod_time=now - 5 * DAY if left else since, deleted=int(left), id_assoc=self.id,
                    user=self.user, acct=self.account, partition=self.partition,
                    parent_acct=self.parent.account if self.parent and not self.user else '',
                    id_parent=self.parent.id if self.parent else 0, lineage=self.lineage,
                    shares=1 if left else self.shares, is_def=int(bool(self.user) and not self.partition),
                    qos=',1,2,3,' if not self.parent else '')


def associations():
    """The drawing above, parents first."""
    root = Association(1, None, 'root', 1)
    found, path = [root], [(-1, root)]
    for line in SITE.strip().splitlines():
        indent = len(line) - len(line.lstrip())
        name, shares, *habit = line.split()
        while path[-1][0] >= indent:
            path.pop()
        shares = PARENT if shares == 'parent' else int(shares)
        found.append(Association(len(found) + 1, path[-1][1], name.rstrip('/'), shares, *habit))
        path.append((indent, found[-1]))
    return found


def submissions(dice, everyone, now):
    """What was submitted in a month, oldest first: (time, association, habit's draw)."""
    wanted = []
    for day in range(30, -1, -1):
        midnight = (now // DAY - day) * DAY
        weekend = time.gmtime(midnight).tm_wday >= 5
        for who in everyone:
            if not who.habit or who.habit == 'left' and day < 6:
                continue
            usual, partition, cores, hours = HABITS[who.habit]
            usual *= .3 if weekend else 1
            for _ in range(int(usual * dice.uniform(.2, 1.8) + dice.random())):
                at = midnight + int(dice.triangular(7 * HOUR, 23 * HOUR, 14 * HOUR))
                seconds = int(hours * HOUR * min(dice.lognormvariate(0, .8), 6)) + MINUTE
                wanted.append((at, who, who.partition or partition, dice.choice(cores), seconds,
                               dice.choices(QOS, [q[3] for q in QOS])[0][0]))
    # A deadline is near, and at no hour of the day is the queue empty.
    for who in (who for who in everyone if who.habit == 'simulation'):
        for _ in range(3):
            wanted.append((now - dice.randrange(1, HOUR), who, 'cpu', 512, 6 * HOUR, 1))
    return sorted((w for w in wanted if w[0] < now), key=lambda w: (w[0], w[1].id))


def schedule(wanted):
    """First come, first served: with each submission the instant at which its cores are free."""
    free = {name: partition[0] for name, partition in PARTITIONS.items()}
    running = {name: [] for name in PARTITIONS}
    clock = dict.fromkeys(PARTITIONS, 0)
    for at, who, partition, cores, seconds, qos in wanted:
        clock[partition] = max(clock[partition], at)
        while running[partition] and (free[partition] < cores or running[partition][0][0] <= clock[partition]):
            end, given_back = heapq.heappop(running[partition])
            clock[partition] = max(clock[partition], end)
            free[partition] += given_back
        free[partition] -= cores
        heapq.heappush(running[partition], (clock[partition] + seconds, cores))
        yield at, clock[partition], who, partition, cores, seconds, qos


def tres(partition, cores):
    _, per_node, memory, gpus_per_core = PARTITIONS[partition]
    gpus = int(cores * gpus_per_core)
    text = f'1={cores},2={cores * memory},4={-(-cores // per_node)},5={cores + GPU_BILLING * gpus}'
    return text + (f',1001={gpus}' if gpus else '')


def jobs(dice, everyone, now):
    """Rows as slurmctld would have left them at `now`."""
    users = {who.user: 20000 + who.id for who in reversed(everyone)}
    for number, (at, start, who, partition, cores, seconds, qos) in enumerate(
            schedule(submissions(dice, everyone, now)), 1):
        limit = max(15, int(seconds * dice.uniform(1, 3)) // 900 * 15)
        end = start + min(seconds, limit * MINUTE)
        state = TIMEOUT if seconds > limit * MINUTE else dice.choices((COMPLETED, FAILED, CANCELLED), (90, 7, 3))[0]
        if start > now:
            start, end, state = 0, 0, PENDING
        elif end > now:
            end, state = 0, RUNNING
        yield dict(
            job_db_inx=number, id_job=1000 + number, id_assoc=who.id, account=who.account, partition=partition,
            job_name=who.habit, id_user=users[who.user], id_group=100, id_qos=qos, id_resv=0, id_wckey=0,
            het_job_id=0, het_job_offset=4294967294, state_reason_prev=0, priority=1000, cpus_req=cores,
            nodes_alloc=-(-cores // PARTITIONS[partition][1]) if start else 0, timelimit=limit, state=state,
            time_submit=at, time_eligible=at, time_start=start, time_end=end, mod_time=end or start or at,
            tres_req=tres(partition, cores), tres_alloc=tres(partition, cores) if start else '')


def insert(db, table, rows):
    for row in rows:
        db.execute('INSERT INTO "%s" (%s) VALUES (%s)' % (
            table, ', '.join(f'"{name}"' for name in row), ', '.join('?' * len(row))), list(row.values()))


def fill(db, now):
    dice = random.Random(11)
    since = now - 400 * DAY
    everyone = associations()
    accounts = [who for who in everyone if not who.user]
    cores = sum(partition[0] for partition in PARTITIONS.values())
    gpus = int(sum(p[0] * p[3] for p in PARTITIONS.values()))

    insert(db, 'cluster_table', [dict(creation_time=since, mod_time=since, name=CLUSTER, id=1, control_host='ctld',
                                      control_port=6817, federation='', fed_state=0)])
    insert(db, 'tres_table', [dict(creation_time=since, id=i, type=kind, name=name) for i, kind, name in TRES])
    insert(db, 'qos_table', [dict(creation_time=since, mod_time=since, id=i, name=name, description=name,
                                  usage_factor=factor) for i, name, factor, _ in QOS])
    insert(db, 'acct_table', [dict(creation_time=since, mod_time=since, name=who.account, description=who.account,
                                   organization=(who.parent or who).account) for who in accounts])
    insert(db, 'user_table', [dict(creation_time=since, mod_time=since, name=name, admin_level=1)
                              for name in sorted({who.user for who in everyone} - {''})])
    insert(db, CLUSTER + '_assoc_table', [who.row(since, now) for who in everyone])
    insert(db, CLUSTER + '_event_table', [dict(
        time_start=since, node_name='', cluster_nodes='c[01-40],g[1-8]', reason='Cluster Registered TRES',
        tres=f'1={cores},2={sum(p[0] * p[2] for p in PARTITIONS.values())},4=48,5={cores + GPU_BILLING * gpus},1001={gpus}')])

    rows = list(jobs(dice, everyone, now))
    insert(db, CLUSTER + '_job_table', rows)
    suspended = [row for row in rows if row['state'] == COMPLETED and row['time_end'] - row['time_start'] > 4 * HOUR]
    for row in dice.sample(suspended, 5):
        begin = row['time_start'] + HOUR
        insert(db, CLUSTER + '_suspend_table', [dict(job_db_inx=row['job_db_inx'], id_assoc=row['id_assoc'],
                                                     time_start=begin, time_end=begin + 10 * MINUTE)])
        db.execute(f'UPDATE "{CLUSTER}_job_table" SET time_suspended = ? WHERE job_db_inx = ?',
                   (10 * MINUTE, row['job_db_inx']))
    return rows


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit('usage: make-demo.py DATABASE [NOW]')
    path, now = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else int(time.time())
    if os.path.exists(path):
        sys.exit(f"'{path}' is there already")
    db = sqlite3.connect(path)
    with open(TABLES, encoding='utf-8') as file:
        db.executescript(file.read().replace('@CLUSTER@', CLUSTER))
    rows = fill(db, now)
    db.commit()
    db.close()
    states = [row['state'] for row in rows]
    print(f'{len(rows)} jobs of a month, {states.count(RUNNING)} running, {states.count(PENDING)} pending')


if __name__ == '__main__':
    main()
