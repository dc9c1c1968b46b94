# SPDX-License-Identifier: MIT
"""Writes the accounting database and the slurm.conf files of an invented site with Slurm.

A program defines Clusters, their Associations and their Jobs, and passes them to create().  Times are
in epoch seconds."""

import os
import re
import sqlite3
import subprocess
from typing import NamedTuple

NOW = 1750500000  # 2025-06-21T10:00:00 UTC, the end of all demonstrations
DAY, HOUR, MINUTE = 86400, 3600, 60
PARENT = 2147483647  # sacctmgr shows it as shares `parent`
NONE = 4294967294
TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'slurmdbd', 'tables.sh')

TRES = ((1, 'cpu', ''), (2, 'mem', ''), (3, 'energy', ''), (4, 'node', ''), (5, 'billing', ''),
        (6, 'fs', 'disk'), (7, 'vmem', ''), (8, 'pages', ''), (1001, 'gres', 'gpu'))

PENDING, RUNNING, COMPLETED, CANCELLED, FAILED, TIMEOUT = 0, 1, 3, 4, 5, 6

# Actions in txn_table.
ADD_ACCOUNT, ADD_COORDINATOR, ADD_ASSOCIATION, ADD_CLUSTER, ADD_USER, ADD_QOS = 1402, 1403, 1404, 1405, 1406, 1447
MODIFY_ASSOCIATION, REMOVE_USER, REMOVE_ASSOCIATION = 1429, 1439, 1437

SLURM_CONF = '''# SPDX-License-Identifier: MIT
# The parts of a slurm.conf that determine priorities.
ClusterName={cluster.name}
SlurmctldHost=ctld
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
# Hides jobs and usage from other users; coordinators see those in their accounts.
#PrivateData=jobs,usage

PriorityType=priority/multifactor
PriorityDecayHalfLife={cluster.half_life}
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


class Nodes(NamedTuple):
    """A group of equal nodes.  `memory` is in MB per core; `gpu` is the number and name of the TRES of
    its GPUs, in addition to gres/gpu."""
    count: int
    cores: int
    memory: int
    gpus: int = 0
    gpu: tuple = ()

    def gres(self):
        return ''.join(('gpu', *(f':{kind}' for _, kind in [self.gpu][:len(self.gpu)]), f':{self.gpus}')) if self.gpus else ''

    def tres(self, gpus):
        """Return the text of slurmdbd for a number of GPUs."""
        return ''.join(f',{number}={gpus}' for number in (1001, *self.gpu[:1])) if gpus else ''


class Partition(NamedTuple):
    """`minutes` is the time limit, `factor` is PriorityJobFactor, and `core` and `gpu` are billed for
    each core and GPU."""
    nodes: str
    minutes: int
    factor: int
    core: int
    gpu: int

    def weights(self):
        if (self.core, self.gpu) == (1, 0):
            return ''
        return ' TRESBillingWeights=' + ','.join(f'{name}={weight:.1f}' for name, weight in (('CPU', self.core), ('GRES/gpu', self.gpu)) if weight)


class QOS(NamedTuple):
    id: int
    name: str
    priority: int
    factor: float
    percent: int


class Cluster:
    """A cluster with groups of nodes and partitions, by name.  The first partition is the default.
    `made` is the time of its creation."""

    def __init__(self, name, made, nodes, partitions, half_life='7-0'):
        self.name, self.made, self.half_life, self.everyone = name, made, half_life, []
        self.nodes = {name: Nodes(*group) for name, group in nodes.items()}
        self.partitions = {name: Partition(*partition) for name, partition in partitions.items()}

    def node_names(self, name):
        width = max(2, len(str(self.nodes[name].count)))
        return f'{name}[{1:0{width}d}-{self.nodes[name].count:0{width}d}]'

    def billing(self, name):
        """Return the billing of a group of nodes: for each node, the highest of its partitions that have weights."""
        group = self.nodes[name]
        billed = [group.cores * each.core + group.gpus * each.gpu for each in self.partitions.values() if each.nodes == name and each.weights()]
        return group.count * max(billed, default=group.cores)

    def registered(self):
        """Return the TRES of the whole cluster as slurmctld counts them."""
        groups = self.nodes.values()
        cores = sum(group.count * group.cores for group in groups)
        gpus = {}
        for group in groups:
            for number in (1001, *group.gpu[:1]):
                gpus[number] = gpus.get(number, 0) + group.count * group.gpus
        return (f'1={cores},2={sum(group.count * group.cores * group.memory for group in groups)},'
                f'4={sum(group.count for group in groups)},5={sum(map(self.billing, self.nodes))}' +
                ''.join(f',{number}={count}' for number, count in sorted(gpus.items()) if count))

    def slurm_conf(self):
        nodes = '\n'.join(f'NodeName={self.node_names(name)} CPUs={group.cores} RealMemory={group.cores * group.memory}'
                          + (f' Gres={group.gres()}' if group.gpus else '') for name, group in self.nodes.items())
        default = next(iter(self.partitions))
        partitions = '\n'.join(
            f'PartitionName={name} Nodes={self.node_names(each.nodes)} MaxTime={each.minutes} PriorityJobFactor={each.factor}'
            + (' Default=YES' if name == default else '')
            + each.weights()
            for name, each in self.partitions.items())
        return SLURM_CONF.format(cluster=self, nodes=nodes, partitions=partitions)


class Association:
    """An account or, with a habit, the user `name` or `name@partition`.  The habit is the name of their
    jobs."""

    def __init__(self, parent, name, shares, habit=None):
        self.id, self.parent, self.shares, self.habit = 0, parent, shares, habit
        self.user, _, self.partition = name.partition('@') if habit else ('', '', '')
        self.account = parent.account if habit else name
        self.is_default = bool(self.user and not self.partition)
        self.made = self.touched = 0
        self.removed, self.limits = False, ''
        if parent is None:
            self.lineage = '/'
        else:
            last = f'0-{self.user}' if habit else name
            self.lineage = f'{parent.lineage}{last}/' + (f'{self.partition}/' if self.partition else '')

    def is_below(self, account):
        return self.account == account or bool(self.parent) and self.parent.is_below(account)

    def row(self):
        return dict(creation_time=self.made, mod_time=self.touched, deleted=int(self.removed), id_assoc=self.id,
                    user=self.user, acct=self.account, partition=self.partition,
                    parent_acct=self.parent.account if self.parent and not self.user else '',
                    id_parent=self.parent.id if self.parent else 0, lineage=self.lineage,
                    shares=1 if self.removed else self.shares, is_def=int(self.is_default),
                    grp_tres_mins=self.limits, qos='' if self.parent else ',1,2,3,')


def number_associations(everyone):
    """Give the associations of a cluster ids in order of creation."""
    for number, who in enumerate(sorted(everyone, key=lambda who: who.made), 1):
        who.id = number


class Job:
    """A submitted job with its number of cores and its run time in seconds.  Jobs without a number of
    GPUs get the GPUs of their part of a node."""

    def __init__(self, cluster, who, at, partition, cores, seconds, qos, gpus=None, **more):
        self.who, self.at, self.partition, self.cores = who, at, partition, cores
        self.seconds, self.qos, self.start, self.more = seconds, qos, 0, more
        self.place = cluster.partitions[partition.split(',')[0]]
        self.group = cluster.nodes[self.place.nodes]
        self.gpus = cores * self.group.gpus // self.group.cores if gpus is None else gpus

    def tres(self):
        bill = self.cores * self.place.core + self.gpus * self.place.gpu
        return f'1={self.cores},2={self.cores * self.group.memory},4={self.nodes()},5={bill}' + self.group.tres(self.gpus)

    def nodes(self):
        return -(-self.cores // self.group.cores)


def limit_and_end(dice, job):
    """Return the time limit in minutes, the end and the state."""
    limit = min(max(15, int(job.seconds * dice.uniform(1, 3)) // 900 * 15), job.place.minutes)
    end = job.start + min(job.seconds, limit * MINUTE)
    if job.seconds > limit * MINUTE:
        return limit, end, TIMEOUT
    return limit, end, dice.choices((COMPLETED, FAILED, CANCELLED), (90, 7, 3))[0]


def job_rows(dice, jobs, users, now):
    """Yield the rows of the job table at the time `now`, for jobs in order of submission.  `users` has
    the number of each user."""
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
    rows = iter(rows)
    first = next(rows)
    db.execute(statement := 'INSERT INTO "%s" (%s) VALUES (%s)' % (
        table, ', '.join(f'"{name}"' for name in first), ', '.join('?' * len(first))), tuple(first.values()))
    db.executemany(statement, (tuple(row.values()) for row in rows))


def additions(clusters, qos, coordinators):
    """Yield the transactions that made the site: (time, action, name, cluster, info).  `coordinators` is
    pairs of an account and a user."""
    for cluster in clusters:
        yield (cluster.made, ADD_CLUSTER, cluster.name, '',
               f"mod_time={cluster.made}, shares=1, priority=NULL, def_qos_id=NULL, qos=',1,2,3,'")
    made = clusters[0].made
    for each in qos[1:]:
        yield made, ADD_QOS, each.name, '', (f"mod_time={made}, description='{each.name}', flags=0, priority={each.priority}, "
                                            f'usage_factor={each.factor:f}')
    seen = set()
    for cluster in clusters:
        for who in sorted(cluster.everyone[1:], key=lambda who: who.id):
            at, above = who.made, who.parent
            if not who.user and (who.account, '') not in seen:
                yield at, ADD_ACCOUNT, who.account, '', f"description='{who.account}', organization='{above.account}', flags='0'"
            elif who.user and who.user not in seen:
                yield at, ADD_USER, who.user, '', 'admin_level=1'
            seen.add(who.user or (who.account, ''))
            place = f"user='{who.user}', `partition`='{who.partition}'" if who.user else f"parent_acct='{above.account}', user=''"
            yield at, ADD_ASSOCIATION, f'id_assoc={who.id}', cluster.name, (
                f"mod_time={at}, acct='{who.account}', is_def={int(who.is_default)}, {place}, id_parent='{above.id}', "
                f"lineage='{who.lineage}', shares={getattr(who, 'shares_before', who.shares)}, priority=NULL, def_qos_id=NULL, "
                "qos='', delta_qos=''")
    for account, user in coordinators:
        yield made, ADD_COORDINATOR, user, '', account


def fill(db, clusters, qos, coordinators, transactions=(), tres=TRES):
    """Fill the tables of the site, except those of jobs.  `transactions` follow those that made it."""
    made, accounts, people = clusters[0].made, {}, {}
    for cluster in clusters:
        for who in cluster.everyone:
            if who.user:
                people.setdefault(who.user, who)
            else:
                accounts.setdefault(who.account, who)
    insert(db, 'cluster_table', [dict(creation_time=cluster.made, mod_time=cluster.made, name=cluster.name, id=number, control_host='ctld',
                                      control_port=6817, rpc_version=45 << 8, federation='', fed_state=0)
                                 for number, cluster in enumerate(clusters, 1)])
    insert(db, 'convert_version_table', [dict(version=16)])
    insert(db, 'tres_table', [dict(creation_time=made, id=i, type=kind, name=name) for i, kind, name in tres])
    insert(db, 'qos_table', [dict(creation_time=made, mod_time=made, id=each.id, name=each.name, description=each.name,
                                  priority=each.priority, usage_factor=each.factor) for each in qos])
    insert(db, 'acct_table', [dict(creation_time=who.made, mod_time=who.made, name=who.account, description=who.account,
                                   organization=(who.parent or who).account) for who in accounts.values()])
    insert(db, 'user_table', [dict(creation_time=who.made, mod_time=who.touched, deleted=int(who.removed), name=name,
                                   admin_level=1) for name, who in sorted(people.items())])
    insert(db, 'acct_coord_table', [dict(creation_time=made, mod_time=made, acct=account, user=user) for account, user in coordinators])
    insert(db, 'txn_table', [dict(timestamp=at, action=action, name=name, actor='root', cluster=cluster, info=info)
                             for at, action, name, cluster, info in sorted(
                                 (*additions(clusters, qos, coordinators), *transactions), key=lambda row: row[0])])
    for cluster in clusters:
        insert(db, cluster.name + '_assoc_table', [who.row() for who in cluster.everyone])
        insert(db, cluster.name + '_event_table', [dict(
            time_start=cluster.made, node_name='', cluster_nodes=','.join(map(cluster.node_names, cluster.nodes)),
            reason='Cluster Registered TRES', tres=cluster.registered())])


def create(path, clusters, write):
    """Create the SQLite file with slurmdbd's tables, and call write(db).  Write the slurm.conf of each
    cluster to the same directory: slurm.conf, or CLUSTER.slurm.conf if there are several."""
    confs = [('slurm.conf' if len(clusters) == 1 else f'{cluster.name}.slurm.conf', cluster) for cluster in clusters]
    confs = [(os.path.join(os.path.dirname(path), name), cluster) for name, cluster in confs]
    for each in (path, *(conf for conf, _ in confs)):
        if os.path.exists(each):
            raise SystemExit(f"'{each}' already exists")
    for conf, cluster in confs:
        with open(conf, 'w', encoding='ascii') as file:
            file.write(cluster.slurm_conf())
    db = sqlite3.connect(path)
    script = subprocess.run([TABLES, 'sqlite'], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout
    tables = list(dict.fromkeys(statement.replace('@CLUSTER@', cluster.name) for cluster in clusters
                                for statement in re.split(r'(?<=;)\n', script)))
    # SQLite inserts faster if the indexes are made later.
    for wanted in (False, True):
        db.executescript(''.join(each for each in tables if each.lstrip().startswith('CREATE INDEX') == wanted))
        if not wanted:
            write(db)
            db.commit()
    db.close()
