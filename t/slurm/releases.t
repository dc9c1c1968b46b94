#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""What sshare of Slurm 24.11.5 and 26.05.5 printed for the cases in t/data/oracle-releases, and what fairmill
publishes for them in MariaDB under `conformance = slurmctld`."""

import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import oracle
import tap
from mariadb import Server
from program import FAIRMILL

# What slurmctld registers with, by release.
PROTOCOLS = {'24.11': 10752, '26.05': 11520}
# As slurmdbd's tables were in the cases.
COLLATION = 'utf8mb4_uca1400_ai_ci'


def fairmill(folder, *arguments):
    return subprocess.run([FAIRMILL, '-c', f'{folder}/f.conf', *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)


def check_past(server, folder, source):
    """What a look at the associations as they were does to their order."""
    done = fairmill(folder, 'run', '--replace')
    time.sleep(2)  # a change within the run's own second may have been before it
    server.sql('UPDATE oracle_assoc_table SET shares = 11, mod_time = UNIX_TIMESTAMP() WHERE id_assoc = 3', source)
    verified = fairmill(folder, 'verify', '--csv')
    tap.ok(not done.returncode and not verified.returncode,
           'verify has the same order as the run, when shares are others by now', done.stdout, verified.stdout)
    server.sql('UPDATE oracle_assoc_table SET shares = 10 WHERE id_assoc = 3', source)


def try_diff(folder, case, print_of, what):
    """Of what was computed last: all that sshare printed is explained, and nothing that somebody changed."""
    path = os.path.join(case, print_of)
    done = fairmill(folder, 'diff', '--at', str(oracle.NOW), path)
    tap.same(done.returncode, 0, f'diff explains all that sshare of {what} printed')
    with open(path, encoding='utf-8') as file:
        lines = file.read().splitlines()
    place = lines[0].split('|').index('FairShare')
    for at, line in enumerate(lines):
        fields = line.split('|')
        if at and fields[1] and fields[3] == 'parent' and fields[0].strip() != 'root' and 0 < float(fields[place]) < .9:
            fields[place] = f'{float(fields[place]) + .05:.6f}'
            lines[at] = '|'.join(fields)
            break
    else:
        return
    with open(f'{folder}/changed.psv', 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines) + '\n')
    done = fairmill(folder, 'diff', '--at', str(oracle.NOW), f'{folder}/changed.psv')
    tap.same(done.returncode, 1, f'but not another factor of {fields[1]}, in line {at}')


def try_release(server, folder, source, case, print_of, release):
    """Our run by other rules than the print's."""
    for keys in (dict(conformance='documents'), dict(slurm_version='25.05' if release == '26.05' else '25.11')):
        oracle.disagreements(server, folder, source, 'classic', [], **oracle.settings_of(case), **keys)
        done = fairmill(folder, 'diff', '--at', str(oracle.NOW), '--json', os.path.join(case, print_of))
        rows = [row for row in json.loads(done.stdout)['clusters'][0]['differences'] if row['value'] == 'fairshare']
        moved = {row['username'] for row in rows if abs(row['release'] or 0) > 1e-9}
        tap.ok(not done.returncode and len(moved) >= (release == '26.05' or 'slurm_version' in keys),
               f"diff explains the print of {release} to {keys}, by its release for {sorted(moved) or 'nobody'}", done.stdout[:300])


def try_order(folder, case, print_of, what):
    done = fairmill(folder, 'diff', '--at', str(oracle.NOW), '--json', os.path.join(case, print_of))
    rows = json.loads(done.stdout)['clusters'][0]['differences']
    tap.same((done.returncode, sum(abs(row['order'] or 0) > 1e-9 for row in rows)), (0, 8),
             f'diff explains the order of tied accounts to {what}')


def try_ties(server, folder, schema, case):
    """Accounts that tie, with names of which bytes and the collation think otherwise; `zz` was added at run time."""
    source = oracle.accounting(server, schema, case, PROTOCOLS['26.05'])
    listed = oracle.table_of(case, 'fairtree.psv')
    wrong, _ = oracle.disagreements(server, folder, source, 'fair_tree', listed, ties='bytes')
    tap.same(len(wrong), 8, 'bytewise eight of the tied users have other ranks')
    whatif = fairmill(folder, 'whatif', '--shares', 'inpar=3', '--json')
    tap.same(json.loads(whatif.stdout)['clusters'][0]['changed'], 0, 'whatif ranks in the order that the run had: bytes')
    oracle.try_table(server, folder, source, case, 'fair_tree', 'fairtree.psv', 'by their collation again')
    whatif = fairmill(folder, 'whatif', '--shares', 'inpar=3', '--json')
    tap.same(json.loads(whatif.stdout)['clusters'][0]['changed'], 0, 'and the collation, which the results do not have')
    check_past(server, folder, source)
    oracle.disagreements(server, folder, source, 'fair_tree', [], ties='bytes')
    try_order(folder, case, 'fairtree.psv', 'one by bytes')
    server.sql("INSERT INTO oracle_assoc_table (creation_time, id_assoc, user, acct, shares, id_parent, lineage) "
               "VALUES (1795229400, 40, 'zz', 'root', 0, 1, '/0-zz/')", source)
    oracle.try_table(server, folder, source, case, 'fair_tree', 'fairtree_after_add.psv',
                     'after an association was added', ties='bytes')
    oracle.disagreements(server, folder, source, 'fair_tree', [])
    try_order(folder, case, 'fairtree_after_add.psv', 'one by the collation')


def knows(server, collation):
    """MariaDB has UCA 14 from 10.10 on, and only then its order of accounts can be tried."""
    try:
        server.sql(f"SELECT _{collation.split('_')[0]} 'a' COLLATE {collation}")
    except RuntimeError as refusal:
        if 'Unknown collation' not in str(refusal):
            raise
        return False
    return True


def body():
    with Server() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        tried = 0
        knows_collation = knows(server, COLLATION)
        if not knows_collation:
            tap.diag(f'{server.sql("SELECT version()")[0][0]} knows no {COLLATION}: ties are not tried')
        for release, protocol in PROTOCOLS.items():
            schema = oracle.Schema(release, COLLATION if knows_collation else None)
            for case in oracle.cases('oracle-releases', release):
                source = oracle.accounting(server, schema, case, protocol)
                has_ties = os.path.exists(os.path.join(case, 'fairtree_after_add.psv'))
                for algorithm, file in oracle.ALGORITHMS.items():
                    if algorithm == 'fair_tree' and has_ties and not knows_collation:
                        continue
                    tried += 1
                    oracle.try_table(server, folder, source, case, algorithm, file,
                                     f'{release}, {os.path.basename(case)}')
                    plain = file.replace('.psv', '_plain.psv')
                    if os.path.exists(os.path.join(case, plain)):
                        try_diff(folder, case, plain, f'{release}, {os.path.basename(case)}, {algorithm}')
                        if algorithm == 'classic' and 'r05' in case:
                            try_release(server, folder, source, case, plain, release)
                if has_ties and knows_collation:
                    try_ties(server, folder, schema, case)
    tap.same(tried, 21 if knows_collation else 20, 'seven cases were tried under three algorithms, but for ties')


tap.main(body)
