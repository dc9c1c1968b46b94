#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests databases of the same site from seven releases of slurmdbd.  Every value must be the same
bit for bit, from each database and from copies in SQLite, and must agree with
t/lib/reference.py."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import reference
import tap
import waiting
from compare import differences, from_server, from_sqlite, priorities, unlike_reference
from mariadb import Server
from program import publish, published, sqlite_settings, write_settings

CLUSTERS = ('alpha', 'beta-2')
ASSOCIATIONS = {'alpha': 47}  # not deleted
REGISTERED = {'alpha': 8192, 'beta-2': 2048}  # billing
NOW = 1750500000
IN_SQLITE = ('20.11', '25.05')
# These settings remove differences between releases that are not due to the layout.
FAIRSHARE = dict(capacity_half_lives=2, slurm_version='24.11')
WEIGHTS = dict(age=1000, assoc=300, fairshare=10000, job_size=500, partition=200, qos=700)
FACTORS = dict(batch=30, gpu=100, big=7)
PRIORITY = dict({f'weight_{part}': weight for part, weight in WEIGHTS.items()},
                weight_tres='cpu=100,Mem=10,GRES/gpu=1000,gres/gpu:a100=1', favor_small='yes',
                partition_factors='batch:30, gpu:100, big:7')
TRES = {'cpu': 100.0, 'mem': 10.0, 'gres/gpu': 1000.0, 'gres/gpu:a100': 1.0}


def load(server, release):
    name = server.database('layout')
    done = subprocess.run(server.client(name), input=dump.text_of(release), text=True,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise RuntimeError(f'{release}: {done.stderr}')
    return name


def untied(rows):
    """Removes tie_order, which differs in newer layouts and changes no rank here."""
    for row in rows.values():
        del row['tie_order']
    return rows


def body():
    firsts, queues, compared = {}, {}, 0
    with Server() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        for release in dump.releases():
            source = load(server, release)
            for conformance in ('documents', 'slurmctld'):
                fairshare = dict(FAIRSHARE, conformance=conformance)
                write_settings(f'{folder}/m.conf', dict(
                    server.settings(source, server.database('layout_res'), None, fairshare),
                    priority=PRIORITY))
                publish(f'{folder}/m.conf', NOW)
                rows, queue = untied(from_server(server, 'layout_res')), priorities(server, 'layout_res')
                if conformance not in firsts:
                    firsts[conformance], queues[conformance] = rows, queue
                    check_first(rows, release, conformance)
                    continue
                wrong, count = differences(rows, firsts[conformance])
                compared += count
                tap.ok(count > 1000 and not wrong,
                       f"all values from {release}'s tables are the same bit for bit ({conformance})",
                       f'{len(wrong)} of {count} differ', *wrong[:10])
                tap.ok(len(queue) > 30 and queue == queues[conformance],
                       f"all priorities from {release}'s tables are the same ({conformance})")
        for release in IN_SQLITE:
            path = f'{folder}/{release}.db'
            copied = dump.to_sqlite(dump.text_of(release), path, CLUSTERS)
            tap.ok(copied > 400, f'{copied} rows of {release} were copied to SQLite')
            for conformance, first in firsts.items():
                results = f'{folder}/{release}-{conformance}.db'
                write_settings(f'{folder}/s.conf', dict(
                    sqlite_settings(path, results, None, dict(FAIRSHARE, conformance=conformance)),
                    priority=PRIORITY))
                publish(f'{folder}/s.conf', NOW)
                wrong, count = differences(untied(from_sqlite(results)), first)
                compared += count
                tap.ok(count > 1000 and not wrong,
                       f'SQLite and MariaDB give the same bits for {release} ({conformance})',
                       f'{len(wrong)} of {count} differ', *wrong[:10])
                check_values(path, results, release, conformance)
                check_queues(path, results, release, conformance)
    tap.ok(compared > 16000, f'{compared} values were compared')

def check_queues(path, results, release, conformance):
    wrong, compared = [], 0
    for cluster in CLUSTERS:
        queue = waiting.Queue(path, cluster, NOW, conformance, WEIGHTS, TRES, favor_small=True,
                              factors=FACTORS)
        of_cluster, count = waiting.differences(results, queue, cluster)
        wrong += of_cluster
        compared += count
    tap.ok(compared > 500 and not wrong,
           f'every priority agrees with the reference for {release} ({conformance})', *wrong[:10])


def check_values(path, results, release, conformance):
    wrong, compared = [], 0
    for cluster in CLUSTERS:
        expected, _ = reference.expected(path, cluster,
                                         dict(now=NOW, conformance=conformance,
                                              capacity=REGISTERED[cluster]))
        unlike, count = unlike_reference(published(results, cluster), expected, conformance)
        wrong += [f'{cluster} {text}' for text in unlike]
        compared += count
    tap.ok(compared > 1000 and not wrong,
           f'every value agrees with the reference for {release} ({conformance})',
           f'{len(wrong)} of {compared} differ', *wrong[:10])


def check_first(rows, release, conformance):
    of_alpha = [r for (cluster, _), r in rows.items() if cluster == 'alpha']
    tap.same(len(of_alpha), ASSOCIATIONS['alpha'],
             f'all existing associations of alpha are published ({release}, {conformance})')
    used = [r for r in rows.values() if float.fromhex(r['usage_raw']) > 0]
    tap.ok(len(used) > 40, f'{len(used)} associations have usage ({conformance})')
    tap.ok({c for c, _ in rows} == set(CLUSTERS), f'both clusters are published ({conformance})')


tap.main(body)
