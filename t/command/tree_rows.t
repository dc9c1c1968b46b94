#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""A run writes the rows of fairmill_tree only if they differ from the stored rows, and notices each
change of the data they are made of."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

SITE = '''
cluster tiny
root/
  physics/     60
    alice      10  use 300
    bob@gpu    10  use 100
    optics/     5
      dora      1
  chemistry/   40
    carol       1  use 200
'''
# Each change: its name, a text of SITE, and the text that replaces it.
CHANGES = (
    ('the shares of a user', 'alice      10', 'alice      11'),
    ('parent shares', 'optics/     5', 'optics/     parent'),
    ('the name of a user', 'carol ', 'zoe '),
    ('the name of an account', 'chemistry/', 'biology/'),
    ('a partition', 'bob@gpu', 'bob@cpu'),
    ('a parent and a depth', '    optics/     5\n      dora ', '  optics/     5\n    dora '),
    ('an id', 'dora      1', 'dora      1  id 90'),
    ('the number of users', '    carol ', '    erin  1  id 91\n    carol '),
)
LIMIT = "UPDATE tiny_assoc_table SET grp_tres_mins = '1=100' WHERE id_assoc = 3"
KINDS = ({}, {'fairshare.conformance': 'slurmctld'})


def rows(place):
    return place.query('SELECT * FROM fairmill_tree ORDER BY cluster, id_assoc')


def written(place):
    """Returns the number of rows of fairmill_tree that runs have removed since note_writes()."""
    return place.query('SELECT count(*) FROM removed')[0][0]


def note_writes(place):
    place.query('CREATE TABLE removed (id_assoc INTEGER)')
    place.query('CREATE TRIGGER remove AFTER DELETE ON fairmill_tree BEGIN INSERT INTO removed VALUES (old.id_assoc); END')


def fresh(place, drawing, keys, change=None):
    """Returns the rows that the first run of a site writes."""
    place.ready(drawing, keys)
    if change:
        place.change(change)
    place.succeed('run', '--now', NOW)
    return rows(place)


def try_change(place, what, drawing, keys, change=None):
    wanted = fresh(place, drawing, keys, change)
    before = fresh(place, SITE, keys)
    place.site(drawing)
    if change:
        place.change(change)
    place.succeed('run', '--now', NOW + 60)
    tap.ok(before != wanted and rows(place) == wanted, f'a run notices that {what} changed ({keys})', rows(place), wanted)


def body():
    with Place() as place:
        for keys in KINDS:
            fresh(place, SITE, keys)
            note_writes(place)
            for later in (60, 120):
                place.succeed('run', '--now', NOW + later)
            tap.ok(written(place) == 0, f'runs do not write an unchanged tree again ({keys})', written(place))
            place.query('UPDATE fairmill_tree SET depth = 7 WHERE id_assoc = 3')
            place.succeed('run', '--now', NOW + 180)
            tap.ok(written(place) == len(rows(place)), 'a run writes a damaged tree again', written(place))
            for what, old, new in CHANGES:
                try_change(place, what, SITE.replace(old, new), keys)
            try_change(place, 'a limit', SITE, keys, LIMIT)


tap.main(body)
