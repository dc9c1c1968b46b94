#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""On a large cluster, `explain` of one name reads only the levels above it.  Tests that its output is
the output of the complete tree, with each algorithm.  Only the sentence about the next days is
missing."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

LIMIT = 5000  # number of associations up to which the complete tree is read
# a0, a7 and a14 have no shares, so they are tied.  c has `parent` shares.
SITE = 'cluster tiny\nroot/\n' + '\n'.join(
    f'  a{i}/ {i % 7}\n    b{i}/ {i % 3 + 1}\n      same {i + 1}\n' + '\n'.join(f'      u{i}x{k} {k % 5}' for k in range(6)) for i in range(20)) + (
    '\n  c/ parent\n    d/ 2\n      v 1\n    w 3\n    y parent\n') + '\n'.join(
    f'job {"b%d.u%dx%d" % (i, i, k)} start={NOW - 90000 - 700 * i} end={NOW - 1000 * (k + 1)} billing={1 + (i * 7 + k) % 5}'
    for i in range(20) for k in range(4) if i % 4) + (
    f'\njob d.v start={NOW - 9000} end={NOW - 1000} billing=3\njob c.w start={NOW - 9000} end={NOW - 100} billing=4\n'
    f'job b0.u0x1 start={NOW - 9000} end={NOW - 100} billing=4\njob b0.u0x2 start={NOW - 9000} end={NOW - 100} billing=1\n'
    f'job b7.u7x1 start={NOW - 8000} end={NOW - 100} billing=3\njob b14.u14x1 start={NOW - 5000} end={NOW - 100} billing=2\n')
# Users of different accounts, users without usage, an account of each kind, names of several accounts,
# a missing name.
NAMES = ('u3x1', 'u0x2', 'u7x1', 'u14x1', 'u5x5', 'more1200', 'same', 'v', 'w', 'y', 'a3', 'b0', 'b7/', 'a0', 'c', 'd', 'root', 'a1/',
         'b5/u5x2', 'b5/u5x2/', 'nobody', '77')
FORMS = ((), ('--json',))
OUTLOOK = r' If \S+ runs nothing and the others continue, the place improves [^.]*\.| Pausing does not help within [^.]*\.'


def answers(place):
    """Returns the outputs for all names, in one line each, without the sentence about the next days,
    and the number of these sentences."""
    found, sentences = {}, 0
    for name in NAMES:
        for form in FORMS:
            status = place.run('explain', *form, name)
            text, count = re.subn(OUTLOOK, '', ' '.join(place.out.split()))
            sentences += count
            found[name, *form] = status, text, place.err
    return found, sentences


def set_size(place, associations):
    place.query('UPDATE fairmill_run SET associations = ?', associations)


def compare(place, algorithm, conformance):
    (size,), = place.query('SELECT associations FROM fairmill_run ORDER BY run_id DESC LIMIT 1')
    large, none = answers(place)
    set_size(place, LIMIT)
    small, sentences = answers(place)
    set_size(place, size)
    wrong = [key for key in large if large[key] != small[key]]
    tap.ok(size > LIMIT and not wrong, f'{algorithm}, {conformance}: explain on a large cluster has the facts of the complete tree',
           *(f'{key}: {large[key]} instead of {small[key]}' for key in wrong[:2]))
    tap.ok(not none, f'{algorithm}, {conformance}: a large cluster has no sentence about the next days')
    if algorithm == 'fair_tree':
        tap.ok(sentences, f'{algorithm}, {conformance}: a small cluster has these sentences')


def parts(place):
    """Removes all users who are not members of a level of u3x1.  Those of c are members of the highest
    level, because c has `parent` shares."""
    place.succeed('explain', 'u3x1')
    before = place.out
    place.query("DELETE FROM fairmill_tree WHERE account NOT IN ('a3', 'b3', 'c') AND user_name <> ''")
    place.succeed('explain', 'u3x1')
    tap.same(place.out, before, 'explain does not need the users of other accounts')
    set_size(place, LIMIT)
    place.run('explain', 'u3x1')
    tap.ok(place.out != before, 'explain on a small cluster reads them')


def body():
    with Place() as place:
        for algorithm in ('fair_tree', 'classic', 'depth_oblivious', 'linear', 'pbs'):
            for conformance in ('documents', 'slurmctld') if algorithm in ('fair_tree', 'classic') else ('documents',):
                place.ready(SITE, {'fairshare.algorithm': algorithm, 'fairshare.conformance': conformance,
                                   'fairshare.pbs_minimum_usage': 1 if algorithm == 'pbs' else 0})
                place.multiply('tiny_assoc_table', "user = 'u5x5'", 5200, id_assoc='10000 + i', user="'more' || i")
                place.succeed('run', '--now', NOW)
                compare(place, algorithm, conformance)
                if (algorithm, conformance) == ('fair_tree', 'documents'):
                    (count,), = place.query("SELECT count(*) FROM fairmill_fairshare WHERE places_interleaved = 1")
                    tap.ok(count >= 3, 'the users of tied accounts have interleaved places', count)
                    parts(place)


tap.main(body)
