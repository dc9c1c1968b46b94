# SPDX-License-Identifier: MIT
"""Captures of live clusters (t/data/live4 and live5): the accounting database, the slurm.conf, and
the controller's output for associations and the queue."""

import csv
import lzma
import os
import re

import dump
from program import publish, published, sqlite_settings, write_settings

CAPTURES, CAPTURES_5 = (sorted(os.listdir(os.path.join(dump.DATA, data))) for data in ('live4', 'live5'))

# There are no headings in sprio.psv.
SPRIO = ('job', 'user', 'partition', 'priority', 'age', 'assoc', 'fairshare', 'job_size', 'partition_weighted',
         'qos', 'site', 'tres', 'nice', 'qos_name')

_record = re.compile(r'^ClusterName=\S+ Account=(\S+) UserName=([^ (]*)\S* Partition=(\S*) .*\bID=(\d+)\n'
                     r'.*\n +UsageRaw/Norm/Efctv=([0-9.]+)/', re.MULTILINE)


class Capture:
    def __init__(self, name):
        self.name = name
        self.data = 'live5' if name in CAPTURES_5 else 'live4'
        self.cluster = name.partition('_')[0]
        self.conf = self.path('slurm.conf')
        # The controller's newest decay cycle, to which all output belongs.
        self.now = int(self.text('meta').split()[0])

    def path(self, file):
        return os.path.join(dump.DATA, self.data, self.name, file)

    def text(self, file):
        opened = lzma.open if file.endswith('.xz') else open
        with opened(self.path(file), 'rt', encoding='utf-8') as stream:
            return stream.read()

    def usages(self):
        """Returns {id_assoc: UsageRaw}, with two decimals."""
        return {int(number): float(usage)
                for *_, number, usage in _record.findall(self.text('assoc_mgr.txt.xz'))}

    def sshare(self):
        """Returns {(account, user, partition): {heading: text}}."""
        with open(self.path('sshare_m.psv'), encoding='utf-8', newline='') as file:
            return {(row['Account'].strip(), row['User'], row['Partition']): row
                    for row in csv.DictReader(file, delimiter='|', quoting=csv.QUOTE_NONE)}

    def sprio(self):
        """Returns a row for each pending job and partition."""
        return [dict(zip(SPRIO, line.split('|'))) for line in self.text('sprio.psv').splitlines()]

    def recorded(self):
        """Returns the jobs in the database."""
        text, table = dump.read(self.data, self.name, 'accounting.sql.xz'), f'{self.cluster}_job_table'
        column = dump.tables(text)[table][1].index('id_job')
        return {row[column] for row in dump.rows(text, table)}

    def load(self, folder, **sections):
        """Loads the capture into SQLite, with settings like the controller's; returns the path of
        the settings."""
        self.source, self.results, settings = (f'{folder}/{self.name}.{end}' for end in ('source', 'results', 'conf'))
        dump.to_sqlite(dump.read(self.data, self.name, 'accounting.sql.xz'), self.source, [self.cluster])
        wanted = sqlite_settings(self.source, self.results) | dict(slurm=dict(conf=self.conf))
        wanted['fairshare'] = dict(conformance='slurmctld')
        wanted['source']['clusters'] = self.cluster
        for section, keys in sections.items():
            wanted[section] = wanted.get(section, {}) | keys
        write_settings(settings, wanted)
        return settings

    def publish(self, folder, **sections):
        """Returns {id_assoc: {column: value}} as of the controller's newest decay cycle."""
        publish(self.load(folder, **sections), self.now)
        return published(self.results, self.cluster)
