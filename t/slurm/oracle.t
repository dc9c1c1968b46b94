#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""What sshare of a real Slurm printed for the cases in t/data/oracle, and what fairmill publishes
for them in MariaDB under `conformance = slurmctld`."""

import csv
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import tap
from mariadb import Server
from program import publish, write_settings

ORACLE = os.path.join(dump.DATA, 'oracle')
ALGORITHMS = dict(fair_tree='fairtree.psv', depth_oblivious='depth_oblivious.psv',
                  classic='classic.psv')
COLUMNS = ('id_assoc', 'rawshares', 'normshares', 'rawusage', 'normusage', 'effectvusage',
           'fairshare', 'levelfs')
NOW = 1800000000


def table_of(case, name):
    with open(os.path.join(ORACLE, case, name), encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file, delimiter='|' if name.endswith('.psv') else '\t',
                                   quoting=csv.QUOTE_NONE))


def quote(value):
    return "'" + value.replace('\\', '\\\\').replace("'", "''") + "'"


def accounting(server, case, schema):
    """The tables as slurmdbd makes them, every association, and one job of one second for each usage."""
    associations = table_of(case, 'associations.tsv')
    deleted = {row['id_assoc'] for row in associations if row['deleted'] == '1'}
    statements = [schema, "INSERT INTO cluster_table (creation_time, name, federation, fed_state) VALUES (1, 'oracle', '', 0);",
                  "INSERT INTO qos_table (creation_time, id, name) VALUES (1, 1, 'normal');"]
    for row in associations:
        columns = list(row)
        statements.append('INSERT INTO oracle_assoc_table (%s) VALUES (%s);' % (
            ', '.join(f'`{c}`' for c in columns), ', '.join(quote(row[c]) for c in columns)))
    for number, row in enumerate(table_of(case, 'usage.tsv'), 1):
        if row['id_assoc'] in deleted:
            continue
        units, fraction = row['usage_raw'].split('.')
        assert not int(fraction)
        statements.append(
            'INSERT INTO oracle_job_table (job_name, id_assoc, id_job, id_qos, id_resv, id_wckey, id_user, id_group, '
            'het_job_id, het_job_offset, cpus_req, nodes_alloc, `partition`, priority, state, state_reason_prev, '
            "time_submit, time_eligible, time_start, time_end, tres_alloc) VALUES ('j', %s, %d, 1, 0, 0, 0, 0, 0, 0, 1, 1, "
            "'p', 1, 3, 0, %d, %d, %d, %d, '1=1,5=%s');" % (
                row['id_assoc'], number, NOW - 2, NOW - 2, NOW - 2, NOW - 1, units))
    name = server.database('oracle_acct')
    server.sql('\n'.join(statements), name)
    return name


def near(got, wanted, tolerance):
    if got is None or wanted == '':
        return got is None and wanted == ''
    got, wanted = float(got), float(wanted)
    return abs(got - wanted) <= tolerance * max(abs(got), abs(wanted))


def compare(algorithm, row, listed):
    """Yields (column, got, wanted, whether they agree)."""
    yield 'rawusage', row['rawusage'], listed['RawUsage'], int(float(row['rawusage'])) == int(listed['RawUsage'])
    if listed['ID'] == '1':
        return
    shares = 'parent' if listed['RawShares'] == '2147483647' else listed['RawShares']
    yield 'rawshares', row['rawshares'], shares, row['rawshares'] == shares
    undefined = 0 < float(listed['NormShares']) < 1e-9
    if not undefined:
        yield 'normshares', row['normshares'], listed['NormShares'], near(row['normshares'], listed['NormShares'], 1e-12)
    # Without shares there is no ratio; sshare prints the plain usage there.
    if algorithm != 'depth_oblivious' or float(listed['NormShares']):
        yield 'effectvusage', row['effectvusage'], listed['EffectvUsage'], near(row['effectvusage'], listed['EffectvUsage'], 1e-9)
    yield 'normusage', row['normusage'], listed['NormUsage'], near(row['normusage'], listed['NormUsage'], 1e-9)
    yield 'fairshare', row['fairshare'], listed['FairShare'], near(row['fairshare'], listed['FairShare'], 1e-9)
    if algorithm != 'fair_tree':
        yield 'levelfs', row['levelfs'], '', row['levelfs'] is None
    elif listed['LevelFS'] == 'inf':
        yield 'levelfs', row['levelfs'], 'inf', row['levelfs'] is not None and float(row['levelfs']) == 1e100
    else:
        yield 'levelfs', row['levelfs'], listed['LevelFS'], near(row['levelfs'], listed['LevelFS'], 1e-9)


def try_case(server, folder, case, source):
    for algorithm, file in ALGORITHMS.items():
        write_settings(f'{folder}/f.conf', server.settings(
            source, server.database('oracle_res'), dict(half_life=0, reset_period='none'),
            dict(algorithm=algorithm, conformance='slurmctld')))
        publish(f'{folder}/f.conf', NOW)
        rows = {r[0]: dict(zip(COLUMNS, r)) for r in server.sql(
            f"SELECT {', '.join(COLUMNS)} FROM fairmill_sshare WHERE cluster = 'oracle'",
            'oracle_res')}
        listed = table_of(case, file)
        wrong, compared = [], 0
        undefined = sum(float(row['NormShares']) < 1e-9 for row in listed)
        if {row['ID'] for row in listed} != set(rows):
            wrong.append(f"ids {sorted({row['ID'] for row in listed} ^ set(rows))} are in one only")
        for line in listed:
            if line['ID'] in rows:
                for column, got, wanted, agree in compare(algorithm, rows[line['ID']], line):
                    compared += 1
                    if not agree:
                        wrong.append(f"{line['Account'].strip()} {line['User']} ({line['ID']}) {column}: {got}, sshare {wanted}")
        tap.ok(not wrong and compared >= 6 * (len(listed) - 1) - undefined,
               f'{case}: {compared} values are what sshare printed under {algorithm}',
               f'{len(wrong)} differ', *wrong[:10])


def schema_of_cluster():
    """The tables of 22.05 with a cluster named oracle."""
    known = dump.tables(dump.text_of('22.05'))
    return '\n'.join(statement.replace('`alpha_', '`oracle_') for table,
                     (statement, _) in known.items()
                     if not table.startswith('beta-2_'))


def body():
    cases = sorted(os.listdir(ORACLE))
    with Server() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        schema = schema_of_cluster()
        for case in cases:
            try_case(server, folder, case, accounting(server, case, schema))
    tap.same(len(cases), 10, 'ten cases were tried')


tap.main(body)
