#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Compares random trees and jobs, through the whole program on SQLite, with t/lib/reference.py.
Also tests changes that must make no difference.

FAIRMILL_LONG=1 tries 200 sites instead of 20, FAIRMILL_SITES=N tries N sites, and FAIRMILL_SEED=N
tries only site N."""

import copy
import os
import random
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import reference
import tap
from compare import unlike_reference
from program import publish, published, sqlite_settings, write_settings
from reference import NO_LIMIT, PARENT, SKEW, UNDEFINED
from seeds import seeds
from settings import for_program, for_reference
from site_drawing import TRES, Site

SHAPES = ('deep', 'wide', 'mixed', 'ties')
ZONES = ('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe')
PARTITIONS = ('p', 'p', 'p', 'gpu', 'debug', 'GPU', 'gpu,debug')
GRES = {1001: 'gres/gpu', 1002: 'gres/gpu:a100', 1003: 'license/x', 1004: 'bb/fast'}
WEIGHTS = ('CPU=1', 'cpu = 0.1', 'CPU=1.37', 'Mem=0.25G', 'mem=.5', 'MEM=3t', 'Mem=7k', 'Node=2', 'node=1e-3',
           'GRES/gpu=2.0', 'gres/GPU=12.345678', 'gres/gpu:A100=7', 'License/x=10K', 'bb/fast=9G',
           'billing=3', 'energy=0.001', 'Energy=0', 'gres/none=5', 'pages=3')
NAMED_PERIODS = ('daily', 'weekly', 'monthly', 'quarterly', 'yearly')


def random_shares(r, shape):
    if shape == 'ties':
        return r.choice((0, 1, 1, 1, 2, 2, PARENT))
    return r.choice((0, 1, 1, 2, 3, 10, 70, r.randrange(1, 10 ** 6), r.randrange(1, 10 ** 9),
                     PARENT, PARENT,
                     -1 if r.random() < .2 else 5))


def random_tree(r, shape, cluster):
    cluster.account('root', '')
    size = dict(deep=40, wide=3, mixed=r.randrange(5, 40), ties=r.randrange(6, 25))[shape]
    names, deleted = ['root'], {'root': 0}
    for i in range(size):
        above = names[-1] if shape == 'deep' and r.random() < .9 else r.choice(names)
        name = f'a{i:02d}'
        gone = int(deleted[above] or r.random() < (.01 if shape == 'deep' else .07))
        cluster.account(name, above, 1 if gone else random_shares(r, shape), deleted=gone)
        names.append(name)
        deleted[name] = gone
    taken = set()
    for i in range(dict(deep=50, wide=150, mixed=r.randrange(3, 100),
                        ties=r.randrange(8, 60))[shape]):
        key = (f'u{r.randrange(80):02d}', r.choice(names), r.choice(('', '', '', 'gpu', 'long')))
        if key in taken:
            continue
        taken.add(key)
        gone = int(deleted[key[1]] or r.random() < .1)
        cluster.user(key[0], key[1], 1 if gone else random_shares(r, shape), partition=key[2],
                     deleted=gone)


def random_tres(r, shape, largest):
    if shape == 'ties':
        return f'1=1,5={r.choice((0, 1, 2, 2, 4, 10))}'
    count = r.choice((0, 1, 2, 3, 5, 48, r.randrange(1, 1000), r.randrange(1, largest)))
    more = r.choice(('', '', '', f',1001={r.randrange(9)}', f',1001=4,1002={r.randrange(5)},1003=1',
                     f',1004={r.randrange(10 ** 6)}', ',1001=x,1001=2'))
    return more.lstrip(',') if r.random() < .02 else r.choice((f'1={count},2=512,3=18446744073709551614,4=1,5={count + 1}',) * 12 + (
        f'1={count}', f'5={count}', '', '2=5', f'2=junk,5={count}', '5=abc,1=3', '5=',
        '1=2,5=18446744073709551614',
        '5=18446744073709551615', '5=18446744073709551616', '5=-4', f'5={largest}')) + more


def random_jobs(r, shape, site, cluster, settings):
    now, span = settings['now'], max(settings['half_life'], 3600)
    lengths = (60, 3600) if shape == 'ties' else (1, 7, 60, 600, 3600, 86400,
                                                  r.randrange(1, 3 * 86400))
    places = [r.randrange(0, span) for _ in range(2)]
    largest = r.choice((10 ** 4, 10 ** 4, 2 ** 40, 2 ** 64 - 3))
    for row in cluster.associations:
        if not row['user'] and r.random() < .9:
            continue
        for _ in range(r.choice((0, 1, 1, 2, 4))):
            age = r.choice(places) if shape == 'ties' else int(span * r.choice((.1, 1, 3, 20, 80)) * r.random())
            start = max(1, now - age - r.choice(lengths))
            end = start + r.choice(lengths)
            kind = r.random()
            more = dict(tres=random_tres(r, shape, largest), partition=r.choice(PARTITIONS),
                        qos=1 if shape == 'ties' else r.choice((1, 1, 2, 3, 4, 5, 6, 7, 99)))
            if kind < .75 or shape == 'ties':
                cluster.job(row['id_assoc'], start, end, **more)
            elif kind < .80:
                cluster.job(row['id_assoc'], start, end,
                            submit=start + r.randrange(0, end - start + 2), **more)
            elif kind < .92:
                cluster.job(row['id_assoc'], start, 0,
                            limit=r.choice((0, 1, 60, 10 ** 4, 0xfffffffe, 0xffffffff)), **more)
            elif kind < .95:
                cluster.job(row['id_assoc'], start, start - 1, **more)
            elif kind < .98:
                cluster.job(row['id_assoc'], 0, r.choice((0, end)), submit=start, **more)
            else:
                cluster.job(row['id_assoc'], now + 1000, 0, **more)
    random_ends(r, cluster, now)
    for _ in range(2):
        cluster.job(10 ** 6, now - 100, now - 50, billing=3)


def random_ends(r, cluster, now):
    """Adds ends in the future, or far beyond the limit, to jobs that may have reached it."""
    for row in r.sample(cluster.associations, min(len(cluster.associations), 8)):
        start = now - r.choice((30, 3600, 2 * 86400, 20 * 86400))
        cluster.job(row['id_assoc'], start,
                    max(start, now + r.choice((-3600, -1, 0, 1, 299, 300, 301, 302, 86400, 10 * 365 * 86400))),
                    limit=r.choice((0, 1, 60, 1440, 0xfffffffe)), billing=r.randrange(1, 9))


def random_suspends(r, cluster, now):
    """Adds suspensions: open ones, overlapping ones, and some that end after their job."""
    for job in cluster.jobs:
        if r.random() < .7 or not job['time_start']:
            continue
        begin, end = job['time_start'], job['time_end'] or now
        starts = {r.randrange(max(0, begin - 20), max(begin, end) + 20) for _ in range(r.choice((1, 1, 2, 5)))}
        for start in starts | ({0} if r.random() < .05 else set()):
            cluster.suspend(job, start, r.choice((0, start, start - 1, start + r.randrange(1, 90),
                                                  start + r.randrange(1, max(2, end - begin)))))


def fit_billings(r, cluster, settings):
    """Makes the weights agree with the billing of many jobs."""
    names = {(*name.lower().partition('/')[::2],): number for number, name in (TRES | GRES).items()}
    weights = reference.read_weights(settings['tres_weights'], names)
    for job in cluster.jobs:
        kept = [word for word in job['tres_alloc'].split(',') if word and not word.startswith('5=')]
        try:
            billing = max(reference.made_by(','.join(kept), weights)) + r.choice((0, 0, 0, 0, 1, -1))
        except ValueError:
            continue
        if r.random() < .7 and billing >= 0:
            job['tres_alloc'] = ','.join(kept + [f'5={billing}'] * (billing > 0))


def random_charge(r):
    """Returns settings for the amount and the time of charges."""
    s = dict(charge=r.choice(('billing', 'auto', 'auto', 'cpu', 'tres', 'tres')),
             suspended=r.choice(('charged', 'omitted')),
             horizon=r.choice((None, None, None, 3600, 86400, 30 * 86400)))
    if s['charge'] == 'tres' or s['charge'] == 'auto' and r.random() < .8:
        weights = r.sample(WEIGHTS, r.randrange(1, 8))
        rule = r.choice(('', '', 'MAX_TRES', 'MAX_TRES', 'MAX_TRES_GRES', 'max_tres,MAX_TRES_GRES'))
        s['tres_weights'] = r.choice((',', ', ')).join(([rule] if rule else []) + weights)
    if r.random() < .4:
        s['qos_factors'] = {f'q{r.randrange(1, 9)}': r.choice(('0', '3', '0.1', '12.5', '1e-4'))
                            for _ in range(3)}
    if r.random() < .4:
        s['partition_usage_factors'] = {'gpu': r.choice(('2', '0.3')), 'debug': '0.5', 'none': '7'}
    return s


def random_settings(r):
    zone = r.choice(ZONES)
    s = dict(now=1750500000 + r.randrange(-10 ** 8, 10 ** 7), time_zone=zone,
             half_life=r.choice((0, 0, 0, 60, 3600, 86400, 7 * 86400, 7 * 86400, 14 * 86400,
                                 365 * 86400)),
             conformance=r.choice(('documents', 'slurmctld')),
             algorithm=r.choice(('fair_tree', 'classic', 'linear', 'depth_oblivious', 'pbs')),
             dampening=r.choice((1, 1, 2, 5)), **random_charge(r),
             open_job_cap=r.choice((86400, 60)), pbs_minimum_usage=r.choice((0, 0, 1)),
             capacity_half_lives=r.choice((2, 2, 1)))
    kind = r.random()
    if kind < .3:
        s['reset_period'] = r.choice(NAMED_PERIODS)
    elif kind < .5:
        s['reset_period'] = r.choice((90, 28 * 1440, 1440)) * 60
        s['reset_anchor'] = r.choice((0, '2023-03-26', '2024-02-29'))
    s['capacity'] = r.choice((None, 'auto', 1024))
    s['slurm_version'] = r.choice(('25.05', '25.11'))
    return s


def random_site(seed):
    r = random.Random(seed)
    shape = SHAPES[seed % len(SHAPES)]
    settings = random_settings(r)
    site = Site()
    site.qos.update({2: 0.0, 3: 0.5, 4: 2.0, 5: 1.37, 6: -1.0, 7: 0.1})
    site.tres.update(GRES)
    cluster = site.cluster('c%d' % seed)
    random_tree(r, shape, cluster)
    random_jobs(r, shape, site, cluster, settings)
    if settings.get('tres_weights') and settings['charge'] == 'auto':
        fit_billings(r, cluster, settings)
    random_suspends(r, cluster, settings['now'])
    if settings['capacity'] == 'auto':
        cluster.registered = '1=64,2=1000,5=100'
    return shape, site, settings


def run(folder, name, site, settings, order=None):
    source, results = f'{folder}/{name}.db', f'{folder}/{name}-results.db'
    site.write(source, order)
    write_settings(f'{folder}/{name}.conf',
                   sqlite_settings(source, results, *for_program(settings)))
    publish(f'{folder}/{name}.conf', settings['now'])
    return source, results


class Suspends:
    """Moves a cluster's suspensions when its jobs become other rows."""

    def __init__(self, cluster):
        self.of_job = {}
        for job, start, end in cluster.suspends:
            self.of_job.setdefault(id(job), []).append((start, end))
        self.cluster = cluster

    def hand_on(self, job, *others):
        for other in others:
            for start, end in self.of_job.get(id(job), ()):
                self.cluster.suspend(other, start, end)
        if id(job) in self.of_job:
            self.cluster.suspends = [row for row in self.cluster.suspends if row[0] is not job]
        return others


def cut_in_two(r, site, horizon, now):
    """Cuts every finished job in two, if possible, at a random second.  Within the horizon, both
    parts must be within it, and a limit that counts begins with the row."""
    other = copy.deepcopy(site)
    cut = 0
    for cluster in other.clusters:
        jobs, suspends = [], Suspends(cluster)
        for job in cluster.jobs:
            begin, end = max(job['time_start'], job['time_submit']), job['time_end']
            if job['time_start'] == 0 or end - begin < 2 or horizon and now - begin > horizon or \
                    end > now + SKEW and job['timelimit'] not in NO_LIMIT:
                jobs.append(job)
                continue
            cut += 1
            middle = r.randrange(begin + 1, end)
            jobs += suspends.hand_on(job, dict(job, time_end=middle),
                                     dict(job, time_start=middle, time_submit=middle))
        cluster.jobs = jobs
    return other, cut


def split_in_width(site, settings):
    """Replaces a job of width k by k jobs of width 1, if k is small.  Only the first has the TRES that
    are not charged."""
    other = copy.deepcopy(site)
    split = 0
    if settings['charge'] in ('auto', 'tres'):
        return other, split
    for cluster in other.clusters:
        jobs, suspends = [], Suspends(cluster)
        for job in cluster.jobs:
            counts = dict(word.split('=') for word in job['tres_alloc'].split(',') if word)
            charged = '5' if settings['charge'] == 'billing' else '1'
            width = counts.get(charged, '')
            if not width.isdigit() or not 2 <= int(width) <= 60:
                jobs.append(job)
                continue
            split += 1
            counts[charged] = '1'
            tres = ','.join('='.join(pair) for pair in counts.items())
            rest = [dict(job, tres_alloc=f'{charged}=1') for _ in range(int(width) - 1)]
            jobs += suspends.hand_on(job, dict(job, tres_alloc=tres), *rest)
        cluster.jobs = jobs
    return other, split


def bits(results):
    return {key: {c: v.hex() if isinstance(v, float) else v for c,
                  v in row.items() if c != 'run_id'}
            for key, row in published(results).items()}


def try_site(folder, seed):
    shape, site, settings = random_site(seed)
    what = f"site {seed} ({shape}, {settings['conformance']}, half-life {settings['half_life']})"
    source, results = run(folder, f's{seed}', site, settings)
    registered = site.clusters[0].registered
    expected, findings = reference.expected(source, f'c{seed}', for_reference(settings, registered, GRES))
    rows = published(results, f'c{seed}')
    wrong, compared = unlike_reference(rows, expected, settings['conformance'])
    tap.ok(not wrong and compared > 0 and rows, f'every value of {what} agrees with the reference',
           f'{len(wrong)} of {compared} differ', *wrong[:12])
    if findings:
        db = sqlite3.connect(results)
        listed, = db.execute('SELECT count(*) FROM fairmill_finding').fetchone()
        db.close()
        tap.ok(listed > 0, f'the ignored charges of {what} are findings')
    plain = bits(results)

    r = random.Random(seed)
    _, shuffled = run(folder, f's{seed}x', site, settings, lambda rows: r.sample(rows, len(rows)))
    tap.ok(plain and bits(shuffled) == plain, f'the order of rows of {what} changes no bit')
    other, cut = cut_in_two(r, site, settings['horizon'], settings['now'])
    if cut:
        tap.ok(bits(run(folder, f's{seed}c', other, settings)[1]) == plain,
               f'cutting {cut} jobs of {what} in two changes no bit')
    other, split = split_in_width(site, settings)
    if split:
        tap.ok(bits(run(folder, f's{seed}w', other, settings)[1]) == plain,
               f'splitting {split} jobs of {what} into jobs of width 1 changes no bit')
    other = dict(settings, conformance='slurmctld' if settings['conformance'] == 'documents'
                 else 'documents')
    merged = [n for n, row in reference.expected(source, f'c{seed}',
                                                 for_reference(other, registered, GRES))[0].items()
              if row['fair_tree_rank'] not in (UNDEFINED, expected[n]['fair_tree_rank'])]
    return compared, cut, split, len(merged)


def body():
    tap.ok(reference.self_check() > 20, 'the reference agrees with itself')
    sites = seeds(20, 200)
    counts = []
    for seed in sites:
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            counts.append(try_site(folder, seed))
    compared, cut, split, merged = (sum(column) for column in zip(*counts))
    if len(sites) >= 20:
        tap.ok(compared > 1000 * len(sites) and min(cut, split, merged) > len(sites),
               f'{compared} values were compared, {cut} jobs cut, {split} split; {merged} ranks depend on the '
               'conformance', 'too few')


tap.main(body)
