# SPDX-License-Identifier: MIT
"""Cases with the output of a real Slurm's sshare (t/data/oracle, t/data/oracle-releases).  They are
loaded into MariaDB and compared with the values that fairmill publishes under `conformance =
slurmctld`."""

import csv
import os

import dump
import tap
from program import publish, write_settings

ALGORITHMS = dict(fair_tree='fairtree.psv', depth_oblivious='depth_oblivious.psv',
                  classic='classic.psv')
COLUMNS = ('id_assoc', 'rawshares', 'normshares', 'rawusage', 'normusage', 'effectvusage',
           'fairshare', 'levelfs')
NOW = 1800000000
# Several tests may use a server at the same time.
ACCOUNTING, RESULTS = f'oracle_acct_{os.getpid()}', f'oracle_{os.getpid()}'


def cases(*folder):
    """Returns the paths of all cases in a directory of t/data."""
    folder = os.path.join(dump.DATA, *folder)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def table_of(case, name):
    with open(os.path.join(case, name), encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file, delimiter='|' if name.endswith('.psv') else '\t',
                                   quoting=csv.QUOTE_NONE))


def settings_of(case):
    """Returns other settings of slurm.conf as keys of [fairshare]."""
    path = os.path.join(case, 'settings')
    if not os.path.exists(path):
        return {}
    with open(path, encoding='utf-8') as file:
        return dict(line.strip().split('=') for line in file)


def quote(value):
    return "'" + value.replace('\\', '\\\\').replace("'", "''") + "'"


class Schema:
    """The tables of a release with a cluster named oracle, optionally with another collation."""

    def __init__(self, release, collation=None):
        known = dump.tables(dump.text_of(release))
        self.sql = '\n'.join(statement.replace('`alpha_', '`oracle_') for table,
                             (statement, _) in known.items()
                             if not table.startswith('beta-2_'))
        if collation:
            plain = 'CHARSET=latin1 COLLATE=latin1_swedish_ci'
            assert plain in self.sql
            self.sql = self.sql.replace(plain, f"CHARSET={collation.split('_')[0]} COLLATE={collation}")
        self.columns = known['alpha_assoc_table'][1]


def accounting(server, schema, case, protocol=0):
    """Creates the tables as slurmdbd does, every association, and one job of one second for each
    usage."""
    associations = table_of(case, 'associations.tsv')
    deleted = {row['id_assoc'] for row in associations if row['deleted'] == '1'}
    statements = [schema.sql, 'INSERT INTO cluster_table (creation_time, name, federation, fed_state, rpc_version) '
                  f"VALUES (1, 'oracle', '', 0, {protocol});",
                  "INSERT INTO qos_table (creation_time, id, name) VALUES (1, 1, 'normal');"]
    for row in associations:
        columns = [column for column in row if column in schema.columns]
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
    name = server.database(ACCOUNTING)
    server.sql('\n'.join([server.LENIENT, *statements]), name)
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
    yield 'effectvusage', row['effectvusage'], listed['EffectvUsage'], near(row['effectvusage'], listed['EffectvUsage'], 1e-9)
    yield 'normusage', row['normusage'], listed['NormUsage'], near(row['normusage'], listed['NormUsage'], 1e-9)
    yield 'fairshare', row['fairshare'], listed['FairShare'], near(row['fairshare'], listed['FairShare'], 1e-9)
    if algorithm != 'fair_tree':
        yield 'levelfs', row['levelfs'], '', row['levelfs'] is None
    elif listed['LevelFS'] == 'inf':
        yield 'levelfs', row['levelfs'], 'inf', row['levelfs'] is not None and float(row['levelfs']) == 1e100
    else:
        yield 'levelfs', row['levelfs'], listed['LevelFS'], near(row['levelfs'], listed['LevelFS'], 1e-9)


def disagreements(server, folder, source, algorithm, listed, **fairshare):
    """Returns the differences from sshare's table, and the number of compared values."""
    write_settings(f'{folder}/f.conf', server.settings(
        source, server.database(RESULTS), dict(half_life=0, reset_period='none'),
        dict(dict(algorithm=algorithm, conformance='slurmctld'), **fairshare)))
    publish(f'{folder}/f.conf', NOW)
    rows = {r[0]: dict(zip(COLUMNS, r)) for r in server.sql(
        f"SELECT {', '.join(COLUMNS)} FROM fairmill_sshare WHERE cluster = 'oracle'",
        RESULTS)}
    wrong, compared = [], 0
    if {row['ID'] for row in listed} != set(rows):
        wrong.append(f"ids {sorted({row['ID'] for row in listed} ^ set(rows))} are in one only")
    for line in listed:
        for column, got, wanted, agree in compare(algorithm, rows[line['ID']], line) if line['ID'] in rows else ():
            compared += 1
            if not agree:
                wrong.append(f"{line['Account'].strip()} {line['User']} ({line['ID']}) {column}: {got}, sshare {wanted}")
    return wrong, compared


def try_table(server, folder, source, case, algorithm, file, what, **fairshare):
    """Tests that every value of a table is published."""
    listed = table_of(case, file)
    undefined = sum(float(row['NormShares']) < 1e-9 for row in listed)
    wrong, compared = disagreements(server, folder, source, algorithm, listed,
                                    **settings_of(case), **fairshare)
    tap.ok(not wrong and compared >= 6 * (len(listed) - 1) - undefined,
           f'{what}: {compared} values agree with sshare under {algorithm}',
           f'{len(wrong)} differ', *wrong[:10])
