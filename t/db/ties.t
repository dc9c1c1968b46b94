#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
"""Tests a copy of the accounting database in PostgreSQL with tied accounts, which are visited in
the order of the copy.  With the order of ICU, it agrees with sshare of Slurm 26.05.5, whose
database was copied."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import oracle
import tap
from postgres import Postgres

CASE = os.path.join(dump.DATA, 'oracle-releases', '26.05', 'n1_lineage_names')


def copy(server, collation):
    """Copies the association table, and creates one job of one second for each usage."""
    name = server.accounting('ties_acct', ['oracle'])
    columns = ('id_assoc', 'user', 'acct', 'partition', 'parent_acct', 'shares', 'deleted', 'id_parent', 'lineage')
    statements = [f'ALTER TABLE "oracle_assoc_table" ALTER COLUMN "lineage" TYPE TEXT COLLATE "{collation}"',
                  "INSERT INTO cluster_table (name, rpc_version) VALUES ('oracle', 11520)",
                  "INSERT INTO qos_table (id, name) VALUES (1, 'normal')"]
    for row in oracle.table_of(CASE, 'associations.tsv'):
        statements.append('INSERT INTO oracle_assoc_table (%s) VALUES (%s)' % (
            ', '.join(f'"{c}"' for c in columns), ', '.join(oracle.quote(row[c]) for c in columns)))
    for number, row in enumerate(oracle.table_of(CASE, 'usage.tsv'), 1):
        statements.append(
            'INSERT INTO oracle_job_table (job_db_inx, id_assoc, id_job, id_qos, time_submit, time_start, time_end, tres_alloc) '
            f"VALUES ({number}, {row['id_assoc']}, {number}, 1, {oracle.NOW - 2}, {oracle.NOW - 2}, {oracle.NOW - 1}, "
            f"'5={row['usage_raw'].split('.')[0]}')")
    server.sql(';\n'.join(statements) + ';', name)
    return name


def body():
    listed = oracle.table_of(CASE, 'fairtree.psv')
    with Postgres() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        for collation, ties, unlike in (('C', 'collation', 8), ('en-x-icu', 'collation', 0), ('en-x-icu', 'bytes', 8)):
            source = copy(server, collation)
            wrong, compared = oracle.disagreements(server, folder, source, 'fair_tree', listed, ties=ties)
            tap.ok(len(wrong) == unlike and compared > 200,
                   f'{unlike or "no"} ranks differ from MariaDB with ties = {ties} if PostgreSQL sorts as {collation}',
                   *wrong[:10])


tap.main(body)
