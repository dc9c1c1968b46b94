# SPDX-License-Identifier: MIT
"""A second implementation of priorities, written from the facts about Slurm's formulas, without any
code of fairmill.  It has one rule in each line, and reads the accounting database in SQLite."""

import sqlite3

WEIGHTS = ('age', 'assoc', 'fairshare', 'job_size', 'partition', 'qos')
NO_VALUE, INFINITE = 0xfffffffe, 0xffffffff


def is_held(job):
    """Returns whether a job is held.  The priority of a row is written once; a job that was
    released later is eligible since then."""
    return not job['priority'] and job['time_eligible'] <= job['time_submit']


class Queue:
    def __init__(self, path, cluster, now, conformance='documents', weights=None, tres_weights=None,
                 max_age=7 * 86400, favor_small=False, flags=(), factors=None, max_time=None,
                 totals=None):
        """Reads the queue. weights: {part: weight}; tres_weights: {'gres/gpu': weight}; factors and
        max_time by partition; totals: {partition: {'gres/gpu': count}}, by default the
        cluster's."""
        self.now, self.documents = now, conformance == 'documents'
        self.weights = dict.fromkeys(WEIGHTS, 1 if self.documents else 0) | (weights or {})
        self.max_age, self.favor_small, self.flags = max_age, favor_small, set(flags)
        self.factors, self.max_time, self.totals = factors or {}, max_time or {}, totals or {}
        with sqlite3.connect(path) as db:
            db.row_factory = sqlite3.Row
            self.jobs = [row for row in db.execute(
                f'SELECT * FROM "{cluster}_job_table" WHERE time_end = 0 OR time_end > ?', (now,))
                if row['time_submit'] <= now and (not row['time_start'] or row['time_start'] > now)]
            self.qos = {row['id']: row for row in db.execute('SELECT * FROM qos_table')}
            self.associations = {row['id_assoc']: row for row in db.execute(
                f'SELECT * FROM "{cluster}_assoc_table" WHERE deleted = 0')}
            names = {row['type'] + ('/' + row['name'] if row['name'] else ''): row['id']
                     for row in db.execute('SELECT * FROM tres_table')}
            registered = db.execute(f"SELECT tres FROM \"{cluster}_event_table\" WHERE node_name = '' "
                                    'AND time_end = 0 ORDER BY time_start DESC').fetchone()
        db.close()
        self.registered = tres_of(registered['tres'])
        self.tres = sorted((names[name], name, weight) for name, weight in (tres_weights or {}).items())
        self.of_associations = {i: self.inherited(i) for i in self.associations}

    def has(self, flag):
        return flag in self.flags or flag.startswith('NO_NORMAL') and 'NO_NORMAL_ALL' in self.flags

    def inherited(self, number):
        """Returns an association's own priority, or the nearest one above."""
        while number:
            row = self.associations[number]
            if row['priority'] is not None:
                return row['priority']
            number = self.parent(row)
        return None

    def parent(self, row):
        account = row['acct'] if row['user'] else row['parent_acct']
        return next((i for i, other in self.associations.items()
                     if not other['user'] and other['acct'] == account and i != row['id_assoc']), None)

    def age(self, job, partition, nodes, limit):
        since = job['time_submit'] if self.has('ACCRUE_ALWAYS') else job['time_eligible']
        if not since or since > self.now or (is_held(job) and not self.has('ACCRUE_ALWAYS')):
            return 0.0
        longest = self.max_time.get(partition)
        if self.documents and (nodes > self.registered[4] or longest and limit > longest):
            return 0.0
        return min(1.0, (self.now - since) / self.max_age)

    def job_size(self, nodes, cpus, limit):
        all_nodes, all_cpus = self.registered[4], self.registered[1]
        if self.has('SMALL_RELATIVE_TO_TIME'):
            size = max(nodes * all_cpus / all_nodes, float(cpus)) / limit / all_cpus
            size = 1 - size if self.favor_small else size
        elif self.documents:
            size = ((all_nodes - nodes + 1) if self.favor_small else nodes) / all_nodes
        elif self.favor_small:
            size = (max(all_nodes - nodes, 0) / all_nodes + (all_cpus - cpus) / all_cpus) / 2
        else:
            size = (nodes / all_nodes + cpus / all_cpus) / 2
        return min(max(size, 0.0), 1.0)

    def part(self, value, highest, flag):
        return float(value) if self.has(flag) else value / highest if highest else 0.0

    def row(self, job, partition, qos, fairshare):
        tres = tres_of(job['tres_req'])
        nodes, cpus = tres.get(4, 1), tres.get(1) or job['cpus_req']
        limit = job['timelimit']
        if limit in (0, NO_VALUE):
            limit = self.max_time.get(partition, INFINITE)
        factors = dict(
            age=self.age(job, partition, nodes, limit), fairshare=fairshare or 0.0,
            job_size=self.job_size(nodes, cpus, limit),
            partition=self.part(self.factors.get(partition, 0 if self.documents else 1),
                                max(1, *self.factors.values()), 'NO_NORMAL_PART'),
            qos=self.part(self.of_qos(qos), max(self.of_qos(row) for row in self.qos.values()),
                          'NO_NORMAL_QOS'),
            assoc=self.part(self.of_associations.get(job['id_assoc']) or 0,
                            max(value or 0 for value in self.of_associations.values()), 'NO_NORMAL_ASSOC'))
        totals = self.totals.get(partition, {})
        parts = [(name, self.part(tres.get(number, 0), totals.get(name, self.registered.get(number, 0)),
                                  'NO_NORMAL_TRES'), weight) for number, name, weight in self.tres]
        total = 0.0
        for name in WEIGHTS:
            total += factors[name] * self.weights[name]
        of_tres = 0.0
        for _, part, weight in parts:
            of_tres += part * weight
        total = min(max(total + of_tres, 1.0), 4294967295.0) if not is_held(job) else 0.0
        return dict({f'{name}_factor': factors[name] for name in WEIGHTS},
                    **{f'{name}_weighted': factors[name] * self.weights[name] for name in WEIGHTS},
                    tres_factors=','.join(f'{name}={part * weight / weight:.2f}'
                                          for name, part, weight in parts if part),
                    tres_weighted=','.join(f'{name}={part * weight:.0f}' for name, part, weight in parts if part),
                    priority=int(total), priority_norm=total / 4294967295.0)

    @staticmethod
    def of_qos(row):
        return 0 if row['deleted'] else row['priority'] or 0

    def rows(self, fairshare):
        """Returns {(job_db_inx, partition, QOS): {column: value}}; fairshare by association."""
        found = {}
        for job in self.jobs:
            qos = self.qos[job['id_qos']]
            rows = {(str(job['job_db_inx']), name, qos['name']):
                    self.row(job, name, qos, fairshare.get(job['id_assoc']))
                    for name in job['partition'].split(',')}
            best = max(rows, key=lambda key: rows[key]['priority_norm'])
            found.update((key, dict(row, best=int(key == best), id_job=job['id_job']))
                         for key, row in rows.items())
        return found


def tres_of(text):
    return {int(number): int(count) for number, count in
            (item.split('=') for item in text.split(',') if item)}


def differences(path, queue, cluster):
    """Returns the differences in SQLite's tables, and the number of compared values."""
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        fairshare = dict(tuple(row) for row in db.execute(
            "SELECT id_assoc, fairshare FROM fairmill_fairshare WHERE cluster = ? AND user_name <> ''",
            (cluster,)))
        got = {(row['job_db_inx'], row['partition_name'], row['qos']): row for row in db.execute(
            'SELECT * FROM fairmill_job_priority WHERE cluster = ?', (cluster,))}
    db.close()
    wanted = queue.rows(fairshare)
    wrong = [f'{key} is in one only' for key in set(got) ^ set(wanted)]
    compared = 0
    for key in set(got) & set(wanted):
        for column, value in wanted[key].items():
            compared += 1
            if got[key][column] != value:
                wrong.append(f'{key} {column}: {got[key][column]}, expected {value}')
    return wrong, compared
