#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests names in slurmdbd's tables, where names are bytes and the character set is often latin1.
Names are published as UTF-8: valid UTF-8 is unchanged, anything else is read as Windows-1252."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import tap
from mariadb import Server
from program import fairmill, publish, write_settings

NOW = 1750500000

# The bytes in the column, and the name that readers see.
NAMES = (
    (b'plain', 'plain'),
    ('jörg'.encode('latin-1'), 'jörg'),
    ('käthe'.encode('utf-8'), 'käthe'),
    ('žofie€'.encode('cp1252'), 'žofie€'),
    ("o'neill".encode(), "o'neill"),
    (b'back\\slash', 'back\\slash'),
    (b'"quoted"', '"quoted"'),
    (b'semi;--colon', 'semi;--colon'),
    (b'per%cent_', 'per%cent_'),
)


def make(server, charset, cluster, names):
    known = dump.tables(dump.text_of('22.05'))
    schema = '\n'.join(statement.replace('`alpha_', f'`{cluster}_') for table,
                       (statement, _) in known.items()
                       if not table.startswith('beta-2_'))
    if charset != 'latin1':
        schema = schema.replace('CHARSET=latin1 COLLATE=latin1_swedish_ci', f'CHARSET={charset}')
    name = server.database('names_acct')

    def literal(value):
        """Returns SQL for these bytes in a column of this character set."""
        if charset == 'latin1':
            return f"_latin1 X'{value.hex()}'"
        return f"_utf8mb4 X'{value.hex()}'"
    statements = [schema, f"INSERT INTO cluster_table (creation_time, name, federation, fed_state) VALUES (1, '{cluster}', '', 0);",
                  f"INSERT INTO `{cluster}_assoc_table` (creation_time, id_assoc, acct, lft, rgt) VALUES (1, 1, 'root', 1, 999);"]
    for number, (stored, _) in enumerate(names, 2):
        statements.append(f'INSERT INTO `{cluster}_assoc_table` (creation_time, id_assoc, acct, parent_acct, lft, rgt) '
                          f"VALUES (1, {number}, {literal(stored)}, 'root', {number}, {number});")
        statements.append(f'INSERT INTO `{cluster}_assoc_table` (creation_time, id_assoc, acct, user, lft, rgt) '
                          f'VALUES (1, {100 + number}, {literal(stored)}, {literal(stored)}, {number}, {number});')
    server.sql('\n'.join([server.LENIENT, *statements]), name)
    return name


def body():
    with Server() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        for charset, cluster in (('latin1', 'alpha'), ('utf8mb4', 'Beta-2.x')):
            # A column of utf8mb4 contains valid UTF-8 only.
            names = NAMES if charset == 'latin1' else [(shown.encode(), shown) for _,
                                                       shown in NAMES]
            source = make(server, charset, cluster, names)
            write_settings(f'{folder}/f.conf',
                           server.settings(source, server.database('names_res'), dict(half_life=0)))
            publish(f'{folder}/f.conf', NOW)
            rows = server.sql('SELECT id_assoc, hex(account), hex(user_name), parent_id, cluster FROM fairmill_fairshare', 'names_res')
            got = {int(row[0]): [bytes.fromhex(c or '').decode() for c in row[1:3]] + row[3:]
                   for row in rows}
            tap.same(len(got), 1 + 2 * len(names), f'every association has a row ({charset})')
            for number, (stored, shown) in enumerate(names, 2):
                tap.same((got[number], got[100 + number]),
                         ([shown, '', '1', cluster], [shown, shown, str(number), cluster]),
                         f'the bytes {stored!r} in a {charset} column are published as {shown}')
            status, out, err = fairmill(f'{folder}/f.conf', 'show', '--parsable')
            shown = [line.split('|')[1] for line in out.splitlines()[2:]
                     if line.split('|')[2] == '']
            tap.ok(status == 0 and shown == sorted(shown, key=lambda name: name.encode())
                   and len(shown) == len(names),
                   f'show sorts names bytewise ({charset})', shown, err)


tap.main(body)
