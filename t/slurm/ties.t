#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests ties and order with Python's fractions: random sites with small numbers, where many values
tie in many ways, run through the whole program.

FAIRMILL_LONG=1 tries 400 sites instead of 40, FAIRMILL_SITES=N tries N sites, and FAIRMILL_SEED=N
tries only site N."""

import os
import random
import sqlite3
import sys
import tempfile
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import reference
import tap
from program import publish, published, sqlite_settings, write_settings
from reference import PARENT, UNDEFINED
from seeds import seeds
from settings import for_program, for_reference
from site_drawing import Site

ALGORITHMS = ('classic', 'pbs', 'linear', 'depth_oblivious', 'fair_tree')
FACTORS = dict(classic='classic_factor', pbs='pbs_factor', linear='linear_factor',
               depth_oblivious='depth_oblivious_factor')
NOW = 1750500000


def draw_like(r, cluster, above, depth, name, twin):
    """Adds accounts below each other.  A twin has the same tree again, possibly with other
    shares."""
    shares = r.choice((0, 1, 1, 1, 2, 2, 3, 6, PARENT)) if not twin else 1
    cluster.account(name, above, shares)
    uses = r.choice(((0, 1, 2, 3), (0, 0, 6), (2, 2), (1, 3, 9, 27), (7,), (0,)))
    scale = r.choice((1, 1, 2, 3))
    for i, use in enumerate(uses):
        user = cluster.user(f'u{i}{name}', name, r.choice((scale, scale, scale * 2, 1, 0, PARENT)))
        if use:
            start = NOW - 7200 - r.choice((0, 0, 86400))
            cluster.job(user, start, start + 60, billing=use * r.choice((1, scale)))
    for i in range(r.choice((0, 1, 2)) if depth < 4 else 0):
        draw_like(r, cluster, name, depth + 1, f'{name}{i}', False)


def random_site(seed):
    r = random.Random(seed)
    site = Site()
    cluster = site.cluster('c')
    cluster.account('root', '')
    for i in range(r.randrange(2, 5)):
        state = r.getstate()
        draw_like(r, cluster, 'root', 1, f'a{i}', False)
        if r.random() < .5:
            after = r.getstate()
            r.setstate(state)
            draw_like(r, cluster, 'root', 1, f't{i}', r.random() < .3)
            r.setstate(after)
    settings = dict(now=NOW, time_zone='UTC', half_life=r.choice((0, 7 * 86400)),
                    conformance=r.choice(('documents', 'slurmctld')),
                    algorithm=ALGORITHMS[seed % len(ALGORITHMS)], dampening=r.choice((1, 3)), charge='billing',
                    suspended='charged', horizon=None, open_job_cap=86400,
                    pbs_minimum_usage=r.choice((0, 0, 1)), capacity_half_lives=2,
                    capacity=r.choice((.001, 1, 1000)), slurm_version=r.choice(('25.05', '25.11')))
    return site, settings


def tree_of(path, settings):
    """Returns the reference's tree, with its fractions."""
    settings = dict(reference.DEFAULTS, **settings)
    db = sqlite3.connect(path)
    root, nodes, heirs = reference.read_tree(db, 'c')
    clock = reference.Clock(settings['half_life'], settings['now'])
    settings['weights'] = None
    first, _, _ = reference.add_usage(db, 'c', root, heirs, clock, settings)
    db.close()
    rows = reference.values(root, nodes, clock, first, settings)
    return root, nodes, rows


def oblivious(node, root):
    """Returns R if it is a fraction, which requires that k is 1; otherwise None."""
    if node.fair is root:
        return Fraction(node.total, root.total) / node.S if root.total and node.S else Fraction(0)
    above = oblivious(node.fair, root)
    if above is None or node.is_parent or above == 0 or not node.S:
        return above if node.S else None
    siblings = sum(m.total for m in node.fair.level if not m.is_parent)
    local = Fraction(node.total, siblings) * node.fair.level_shares / node.shares if siblings else Fraction(0)
    return above * local if local == 0 or (above - 1) * (local - 1) >= 0 else None


def worth(algorithm, node, root, settings):
    """Returns a value that is larger for a better rank, or None if it is not known."""
    if algorithm in ('classic', 'depth_oblivious') and reference.is_of_25_11(settings) and \
            node.is_parent and node.fair is root:
        return Fraction(-1)
    if algorithm == 'linear':
        while node.is_parent and node.fair is not root:
            node = node.fair
        return Fraction(0) if node.barren and not node.is_parent and not node.fair.level_shares else \
            min(Fraction(1), max(Fraction(0), (node.S - node.linear + 1) / 2))
    if not node.S:
        return Fraction(-10 ** 30)
    if algorithm == 'depth_oblivious':
        ratio = oblivious(node, root)
        return None if ratio is None else -ratio
    return -(node.classic if algorithm == 'classic' else node.tree_usage) / node.S


def try_order(rows, worths, name, algorithm):
    """Returns the errors in the published order."""
    wrong = []
    if algorithm == 'depth_oblivious':
        return wrong
    best = sorted(worths.values(), reverse=True)
    place = {}
    for i, value in enumerate(best):
        place.setdefault(value, i + 1)
    for number, value in worths.items():
        if rows[number]['fairshare_order'] != place[value]:
            wrong.append(f"{name[number]}: order {rows[number]['fairshare_order']}, not {place[value]}")
    return wrong


def try_site(folder, seed):
    site, settings = random_site(seed)
    source, results = f'{folder}/{seed}.db', f'{folder}/{seed}-r.db'
    site.write(source)
    write_settings(f'{folder}/{seed}.conf', sqlite_settings(source, results, *for_program(settings)))
    publish(f'{folder}/{seed}.conf', settings['now'])
    root, nodes, expected = tree_of(source, for_reference(settings))
    rows = published(results, 'c')
    wrong, ties, unlike = [], 0, 0
    name = {n.id: f'{n.account}.{n.user}' for n in nodes.values()}
    for algorithm, column in FACTORS.items():
        ranked = [n for n in nodes.values() if n is not root and rows[n.id][column] is not None]
        wrong += [f'{algorithm}: {name[n.id]} has no factor' for n in nodes.values()
                  if (n in ranked) != (expected[n.id][column] is not None)]
        worths = {n.id: worth(algorithm, n, root, settings) for n in ranked}
        groups = {}
        for number, value in worths.items():
            if value is not None:
                groups.setdefault(value, []).append(number)
        before = None
        for value in sorted(groups, reverse=True):
            factors = {rows[number][column] for number in groups[value]}
            ties += len(groups[value]) - 1
            if len(factors) > 1:
                wrong.append(f"{algorithm}: equal are {[name[n] for n in groups[value]]}, but {factors}")
            if before is not None and max(factors) > before:
                wrong.append(f"{algorithm}: {[name[n] for n in groups[value]]} are behind, but have {factors} over {before}")
            before = min(factors)
        unlike += len(groups)
        if algorithm == settings['algorithm']:
            wrong += try_order(rows, worths, name, algorithm)
    if settings['algorithm'] == 'fair_tree':
        for number, row in rows.items():
            rank = expected[number]['fair_tree_rank']
            order = rank if rank in (None, UNDEFINED) else sum(n.user != '' for n in nodes.values()) + 1 - rank
            if rank is not UNDEFINED and row['fairshare_order'] != order:
                wrong.append(f"{name[number]}: order {row['fairshare_order']}, rank {rank}")
    return [f"site {seed} ({settings['algorithm']}, {settings['conformance']}): {what}" for what in wrong], ties, unlike


def body():
    sites = seeds(40, 400)
    wrong, ties, unlike = [], 0, 0
    for seed in sites:
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            more = try_site(folder, seed)
        wrong, ties, unlike = wrong + more[0], ties + more[1], unlike + more[2]
    tap.ok(not wrong, f'{ties} tied values have one factor, {unlike} different values are in order',
           f'{len(wrong)} do not', *wrong[:20])
    if len(sites) >= 40:
        tap.ok(ties > 40 * len(sites) and unlike > 40 * len(sites),
               'the sites have many ties and many different values', ties, unlike)


tap.main(body)
