#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Create the accounting database of an invented site of real size, to look at.

    make-site.py DATABASE [USERS]

A university with six faculties and USERS users (default: 3000) has two clusters: `alder` with CPUs and
`birch` with three types of GPUs.  The SQLite file has the tables of slurmdbd, with a year of jobs up to
2025-06-21 10:00 UTC.  alder.slurm.conf and birch.slurm.conf are created in the same directory.  The
clusters shrink with the number of users.

Some projects have a GrpTRESMins limit, and each project has a coordinator.  Jobs start in the order of
a simple priority by age and usage, so the queue depends on fairshare.
"""

import heapq
import math
import random
import sys
import time

from slurm_site import (DAY, HOUR, MINUTE, NOW, PENDING, QOS, RUNNING, TRES, Association, Cluster, Job, create, fill, insert, job_rows,
                        number_associations)

USERS, YEAR, MADE = 3000, 365, NOW - 900 * DAY
DECAY = 14 * DAY  # half-life of the usage that decides which job starts
LOAD, LOAD_AT_LAST = .94, 1.07  # submitted core time in a week, as a part of the capacity
HEAD_START = 4 * DAY  # of the first user over the last one
LATE = {1: 0, 2: -2 * DAY, 3: 2 * DAY}  # by QOS
TRIED = 12  # jobs that may start before a job that does not fit
QUIET_MONTHS = {8: .7, 12: .75, 1: .9}
ALL_QOS = (QOS(1, 'normal', 100, 1.0, 91), QOS(2, 'urgent', 200, 2.0, 2), QOS(3, 'scavenger', 0, 0.25, 7))

# Faculties with their shares, and their departments.
FACULTIES = {
    'science': (30, 'physics chemistry astronomy mathematics geology oceans'),
    'engineering': (25, 'mechanics materials flight power structures robots'),
    'medicine': (15, 'genomics imaging pharmacy neurology epidemics'),
    'computing': (15, 'learning vision language systems graphics'),
    'life': (10, 'ecology botany zoology farming'),
    'society': (5, 'economics linguistics psychology archaeology'),
}
USERS_OF_PROJECT, USERS_OF_TWO = 13, .12

TYPES = ((1002, 'h100'), (1003, 'a100'), (1004, 'l40s'))
H100, A100, L40S = TYPES
# Nodes: number, cores, MB per core, GPUs, their type.  Partitions: nodes, minutes, factor, billing of a core and a GPU.
ALDER = dict(nodes={'n': (384, 64, 4000), 'm': (24, 64, 24000)},
             partitions={'batch': ('n', 2880, 1, 1, 0), 'long': ('n', 10080, 0, 1, 0), 'short': ('n', 120, 4, 1, 0),
                         'bigmem': ('m', 4320, 1, 3, 0)})
BIRCH = dict(nodes={'h': (32, 64, 12000, 4, H100), 'a': (40, 48, 8000, 4, A100), 'l': (6, 64, 8000, 8, L40S)},
             partitions={'a100': ('a', 2880, 1, 0, 2), 'h100': ('h', 2880, 1, 0, 5), 'l40s': ('l', 1440, 2, 0, 1)})

# Habits on each cluster: percentage of users, jobs on a working day, partitions, cores or GPUs, usual hours.
HABITS = {
    'alder': {
        'simulation': (4, 1.1, ('batch', 'batch', 'long'), (128, 256, 256, 512, 1024, 2048), 9),
        'mesh': (8, 1.2, ('batch', 'batch', 'long'), (64, 128, 128, 256), 8),
        'ensemble': (7, 3.5, ('batch',), (32, 64, 64, 128), 3),
        'assembly': (5, 1, ('bigmem',), (16, 32, 64), 8),
        'analysis': (30, 1.5, ('batch', 'batch', 'short'), (4, 8, 16, 32, 64), 2),
        'course': (14, .35, ('short',), (1, 2, 4, 8), .5),
        'idle': (32, 0, ('short',), (1,), 1),
    },
    'birch': {
        'pretrain': (4, .5, ('h100',), (4, 8, 8, 16), 18),
        'train': (22, .8, ('a100', 'a100', 'h100'), (1, 2, 4, 4, 8), 9),
        'sweep': (10, 2.4, ('a100', 'l40s'), (1, 1, 2), 4),
        'infer': (22, 1.2, ('l40s', 'l40s', 'a100'), (1, 1, 2), 3),
        'course': (14, .3, ('l40s',), (1,), 1),
        'idle': (28, 0, ('l40s',), (1,), 1),
    },
}
ON_BIRCH = {'computing': .75, 'medicine': .4, 'science': .25, 'engineering': .25, 'life': .2, 'society': .3}
LIMITED = .3  # of all projects have a budget
# A budget is the usage divided by one of these.
USED_OF_LIMIT = (.25, .35, .4, .5, .55, .6, .65, .7, .72, .75, .8, .83, .86, .9, .93, .97, 1.15)

BEGINS = 'b br d dr f fl g gr h j k kl l m n p pr r s st t tr v w z'.split()
VOWELS = 'a e i o u a e i o ai ei ou'.split()
ENDS = 'n r l s th nd rk m x lt'.split()


def invented(dice, taken, syllables):
    """Return a new word."""
    while True:
        word = ''.join(dice.choice(BEGINS) + dice.choice(VOWELS) for _ in range(syllables)) + dice.choice(ENDS)
        if word not in taken:
            taken.add(word)
            return word


class Site:
    """The accounts and users of both clusters."""

    def __init__(self, dice, users):
        self.dice, self.taken, self.coordinators = dice, set(), []
        scale = users / USERS
        self.clusters = []
        for name, hardware in (('alder', ALDER), ('birch', BIRCH)):
            nodes = {each: (max(2, round(group[0] * scale)), *group[1:]) for each, group in hardware['nodes'].items()}
            self.clusters.append(Cluster(name, MADE, nodes, hardware['partitions'], half_life='14-0'))
            self.clusters[-1].everyone = [Association(None, 'root', 1)]
        departments = [(faculty, name) for faculty, (_, names) in FACULTIES.items() for name in names.split()]
        size = {(faculty, name): dice.lognormvariate(0, .5) * math.sqrt(FACULTIES[faculty][0]) for faculty, name in departments}
        for faculty, (shares, names) in FACULTIES.items():
            self.account('root', faculty, shares)
            for name in names.split():
                self.account(faculty, name, max(1, round(10 * size[faculty, name])))
                self.fill_department(faculty, name, max(2, round(users * size[faculty, name] / sum(size.values()))))
        for cluster in self.clusters:
            for who in cluster.everyone:
                who.made = who.touched = max(who.made, MADE)
            number_associations(cluster.everyone)

    def account(self, parent, name, shares, clusters=None):
        for cluster in clusters or self.clusters:
            above = next(who for who in cluster.everyone if not who.user and who.account == parent)
            cluster.everyone.append(Association(above, name, shares))

    def fill_department(self, faculty, department, users):
        projects = [f'{department[:4]}-{invented(self.dice, self.taken, 1)}' for _ in range(max(1, round(users / USERS_OF_PROJECT)))]
        size = [self.dice.lognormvariate(0, .7) for _ in projects]
        for project, each in zip(projects, size):
            self.account(department, project, max(1, round(10 * each * self.dice.lognormvariate(0, .3))))
        people = [invented(self.dice, self.taken, 2) for _ in range(users)]
        members = {project: [person] for project, person in zip(projects, people)}
        for person in people[len(projects):]:
            members[self.dice.choices(projects, size)[0]].append(person)
        for person in people:
            if self.dice.random() < USERS_OF_TWO:
                other = self.dice.choice(projects)
                members[other].extend([person] * (person not in members[other]))
        for project in projects:
            self.coordinators.append((project, members[project][0]))
            for person in members[project]:
                self.join(faculty, project, person)

    def join(self, faculty, project, person):
        """Add the user to the project on one or both clusters."""
        for cluster in self.clusters:
            habits = HABITS[cluster.name]
            if cluster.name == 'birch' and self.dice.random() > ON_BIRCH[faculty]:
                continue
            above = next(who for who in reversed(cluster.everyone) if who.account == project)
            above = above if not above.user else above.parent
            who = Association(above, person, 1, self.dice.choices(list(habits), [habit[0] for habit in habits.values()])[0])
            who.is_default = all(other.user != person for other in cluster.everyone)
            # A third of the users came in the year of the jobs.
            who.made = MADE if self.dice.random() < .67 else NOW - self.dice.randrange(10, YEAR) * DAY
            who.diligence = self.dice.lognormvariate(-.2, .6)
            begin = self.dice.randrange(-200, YEAR)
            who.busy = [(begin + 30, begin - self.dice.randrange(30, 300))] if self.dice.random() < .5 else [(YEAR + 1, -1)]
            cluster.everyone.append(who)


def is_busy(who, day):
    return who.made < NOW - day * DAY and any(first >= day > last for first, last in who.busy)


def submitted(dice, cluster):
    """Yield the jobs of a year."""
    habits, units = HABITS[cluster.name], cluster.name == 'birch'
    users = [who for who in cluster.everyone if who.user and habits[who.habit][1]]
    for day in range(YEAR, -1, -1):
        midnight = (NOW // DAY - day) * DAY
        date = time.gmtime(midnight)
        today = QUIET_MONTHS.get(date.tm_mon, 1) * (.45 if date.tm_wday >= 5 else 1)
        for who in users:
            if not is_busy(who, day):
                continue
            _, number, partitions, sizes, hours = habits[who.habit]
            for _ in range(int(number * today * who.diligence * dice.uniform(.2, 1.8) + dice.random())):
                at = midnight + int(dice.triangular(6 * HOUR, 24 * HOUR, 14 * HOUR))
                partition = dice.choice(partitions)
                place = cluster.partitions[partition]
                group = cluster.nodes[place.nodes]
                seconds = min(int(hours * HOUR * min(dice.lognormvariate(0, .8), 6)) + MINUTE, place.minutes * MINUTE)
                if at >= NOW:
                    continue
                size = dice.choice(sizes)
                gpus = min(size, group.count * group.gpus) if units else 0
                cores = gpus * group.cores // group.gpus if units else min(size, group.count * group.cores // 2)
                qos = dice.choices(ALL_QOS, [qos.percent for qos in ALL_QOS])[0].id
                yield Job(cluster, who, at, partition, cores, seconds, qos, gpus)


def bearable(dice, cluster, group, jobs):
    """Return the jobs of a group of nodes, without those that users would not submit in weeks in which
    the nodes are busy.  In the last weeks they submit more."""
    weeks = {}
    for job in jobs:
        if job.place.nodes == group:
            weeks.setdefault((NOW - job.at) // (7 * DAY), []).append(job)
    capacity = cluster.nodes[group].count * cluster.nodes[group].cores * 7 * DAY
    for week, found in weeks.items():
        kept = (LOAD_AT_LAST if week < 2 else LOAD) * capacity / sum(job.cores * job.seconds for job in found)
        yield from (job for job in found if dice.random() < kept)


class Fairshare:
    """The Fair Tree factor of each user, computed once a day from the usage so far."""

    def __init__(self, cluster):
        self.children, self.usage, self.factors, self.day = {}, {}, {}, 0
        self.root = cluster.everyone[0]
        for who in cluster.everyone[1:]:
            self.children.setdefault(who.parent.id, []).append(who)
        self.users = sum(bool(who.user) for who in cluster.everyone)

    def charge(self, who, amount):
        while who:
            self.usage[who.id] = self.usage.get(who.id, 0) + amount
            who = who.parent

    def of(self, who, at):
        day = at // DAY
        if day != self.day:
            kept = .5 ** ((day - self.day) * DAY / DECAY)
            self.usage = {name: amount * kept for name, amount in self.usage.items()}
            self.factors, self.day = {}, day
            self.rank(self.root)
        return self.factors[who.id]

    def rank(self, account):
        children = self.children.get(account.id, [])
        for who in sorted(children, key=lambda who: (self.usage.get(who.id, 0) / who.shares, who.id)):
            if who.user:
                self.factors[who.id] = 1 - len(self.factors) / self.users
            else:
                self.rank(who)


class Group:
    """The queue of a group of nodes."""

    def __init__(self, group):
        self.free, self.pending = group.count * group.cores, []

    def startable(self):
        """Yield the jobs that can start: the first ones, and short jobs behind a job that does not fit."""
        passed = []
        while self.pending and len(passed) < TRIED:
            key, number, job = heapq.heappop(self.pending)
            if job.cores > self.free or passed and job.seconds > 2 * HOUR:
                passed.append((key, number, job))
                continue
            self.free -= job.cores
            yield job
        for each in passed:
            heapq.heappush(self.pending, each)


def start_jobs(cluster, jobs):
    """Start the jobs, which are in order of submission."""
    groups = {name: Group(group) for name, group in cluster.nodes.items()}
    fairshare, running, coming = Fairshare(cluster), [], iter(jobs)
    job, number = next(coming), 0
    while job or running:
        if job and (not running or job.at <= running[0][0]):
            clock, name, number = job.at, job.place.nodes, number + 1
            late = HEAD_START * (1 - fairshare.of(job.who, clock)) + LATE[job.qos] - 8 * HOUR * job.place.factor
            heapq.heappush(groups[name].pending, (clock + late, number, job))
            job = next(coming, None)
        else:
            clock, name, given_back = heapq.heappop(running)
            groups[name].free += given_back
        for started in groups[name].startable():
            started.start = clock
            heapq.heappush(running, (clock + started.seconds, name, started.cores))
            fairshare.charge(started.who, started.seconds * (started.cores * started.place.core + started.gpus * started.place.gpu))


def jobs_of(dice, cluster):
    """Return the jobs of the cluster in order of submission."""
    def order(job):
        return job.at, job.who.id
    jobs = sorted(submitted(dice, cluster), key=order)
    jobs = sorted((job for group in cluster.nodes for job in bearable(dice, cluster, group, jobs)), key=order)
    start_jobs(cluster, jobs)
    return jobs


def set_limits(dice, cluster, jobs):
    """Give some projects a GrpTRESMins limit that fits their usage."""
    number, usage = (1001 if cluster.name == 'birch' else 1), {}
    for job in jobs:
        if 0 < job.start < NOW:
            end = min(job.start + job.seconds, NOW)
            left = .5 ** ((NOW - (job.start + end) / 2) / DECAY)
            usage[job.who.account] = usage.get(job.who.account, 0) + (job.gpus or job.cores) * (end - job.start) / 60 * left
    for who in cluster.everyone:
        used = usage.get(who.account, 0)
        if not who.user and used > 1000 and dice.random() < LIMITED:
            wanted = used / dice.choice(USED_OF_LIMIT)
            unit = 10 ** (int(math.log10(wanted)) - 1)
            who.limits = f'{number}={math.ceil(wanted / unit) * unit}'


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit('usage: make-site.py DATABASE [USERS]')
    dice = random.Random(8)
    site = Site(dice, int(sys.argv[2]) if len(sys.argv) == 3 else USERS)
    people = {who.user for cluster in site.clusters for who in cluster.everyone if who.user}
    numbers = {name: 20000 + number for number, name in enumerate(sorted(people))}

    def write(db):
        jobs = {cluster.name: jobs_of(dice, cluster) for cluster in site.clusters}
        for cluster in site.clusters:
            set_limits(dice, cluster, jobs[cluster.name])
        fill(db, site.clusters, ALL_QOS, site.coordinators, tres=TRES + tuple((number, 'gres', f'gpu:{name}') for number, name in TYPES))
        for cluster in site.clusters:
            insert(db, f'{cluster.name}_job_table', job_rows(dice, jobs[cluster.name], numbers, NOW))
            states = dict(db.execute(f'SELECT state, count(*) FROM {cluster.name}_job_table GROUP BY state'))
            print(f'{cluster.name}: {sum(states.values())} jobs of a year, {states.get(RUNNING, 0)} running, {states.get(PENDING, 0)} pending')

    create(sys.argv[1], site.clusters, write)


if __name__ == '__main__':
    main()
