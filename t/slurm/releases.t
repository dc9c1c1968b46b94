#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Compares the output of sshare from Slurm 24.11.5 and 26.05.5, for the cases in
t/data/oracle-releases, with the values that fairmill publishes for them in MariaDB under
`conformance = slurmctld`."""

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

# The protocol version that slurmctld registers, by release.
PROTOCOLS = {'24.11': 10752, '26.05': 11520}
# The collation of slurmdbd's tables in these cases.
COLLATION = 'utf8mb4_uca1400_ai_ci'


def fairmill(folder, *arguments):
    return subprocess.run([FAIRMILL, '-c', f'{folder}/f.conf', *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)


def check_past(server, folder, source):
    """Tests that reading past states does not change the order of associations."""
    done = fairmill(folder, 'run', '--replace')
    time.sleep(2)  # a change within the run's own second may have been before it
    server.sql('UPDATE oracle_assoc_table SET shares = 11, mod_time = UNIX_TIMESTAMP() WHERE id_assoc = 3', source)
    verified = fairmill(folder, 'verify', '--csv')
    tap.ok(not done.returncode and not verified.returncode,
           'verify has the order of the run after shares were changed', done.stdout, verified.stdout)
    server.sql('UPDATE oracle_assoc_table SET shares = 10 WHERE id_assoc = 3', source)


def try_diff(folder, case, print_of, what):
    """Tests diff with the newest results: it explains all of sshare's output, but no changed
    value."""
    path = os.path.join(case, print_of)
    done = fairmill(folder, 'diff', '--at', str(oracle.NOW), path)
    tap.same(done.returncode, 0, f'diff explains all output of sshare of {what}')
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
    tap.same(done.returncode, 1, f'diff does not explain a changed factor of {fields[1]} in line {at}')


def try_release(server, folder, source, case, print_of, release):
    """Runs under rules that differ from the rules of the output."""
    for keys in (dict(conformance='documents'), dict(slurm_version='25.05' if release == '26.05' else '25.11')):
        oracle.disagreements(server, folder, source, 'classic', [], **oracle.settings_of(case), **keys)
        done = fairmill(folder, 'diff', '--at', str(oracle.NOW), '--json', os.path.join(case, print_of))
        rows = [row for row in json.loads(done.stdout)['clusters'][0]['differences'] if row['value'] == 'fairshare']
        moved = {row['username'] for row in rows if abs(row['release'] or 0) > 1e-9}
        tap.ok(not done.returncode and len(moved) >= (release == '26.05' or 'slurm_version' in keys),
               f"diff explains output of {release} with {keys}, by its release for "
               f"{sorted(moved) or 'nobody'}", done.stdout[:300])


def try_order(folder, case, print_of, what):
    done = fairmill(folder, 'diff', '--at', str(oracle.NOW), '--json', os.path.join(case, print_of))
    rows = json.loads(done.stdout)['clusters'][0]['differences']
    tap.same((done.returncode, sum(abs(row['order'] or 0) > 1e-9 for row in rows)), (0, 8),
             f'diff explains the order of tied accounts with {what}')


def try_ties(server, folder, schema, case):
    """Tests tied accounts whose names have different orders by bytes and by collation.  `zz` was
    added at run time."""
    source = oracle.accounting(server, schema, case, PROTOCOLS['26.05'])
    listed = oracle.table_of(case, 'fairtree.psv')
    wrong, _ = oracle.disagreements(server, folder, source, 'fair_tree', listed, ties='bytes')
    tap.same(len(wrong), 8, 'in byte order eight of the tied users have other ranks')
    whatif = fairmill(folder, 'whatif', '--shares', 'inpar=3', '--json')
    tap.same(json.loads(whatif.stdout)['clusters'][0]['changed'], 0, "whatif ranks in the run's byte order")
    oracle.try_table(server, folder, source, case, 'fair_tree', 'fairtree.psv', 'by their collation again')
    whatif = fairmill(folder, 'whatif', '--shares', 'inpar=3', '--json')
    tap.same(json.loads(whatif.stdout)['clusters'][0]['changed'], 0,
             'whatif ranks in collation order, which the results do not contain')
    check_past(server, folder, source)
    oracle.disagreements(server, folder, source, 'fair_tree', [], ties='bytes')
    try_order(folder, case, 'fairtree.psv', 'byte order')
    server.sql("INSERT INTO oracle_assoc_table (creation_time, id_assoc, user, acct, shares, id_parent, lineage) "
               "VALUES (1795229400, 40, 'zz', 'root', 0, 1, '/0-zz/')", source)
    oracle.try_table(server, folder, source, case, 'fair_tree', 'fairtree_after_add.psv',
                     'after an association was added', ties='bytes')
    oracle.disagreements(server, folder, source, 'fair_tree', [])
    try_order(folder, case, 'fairtree_after_add.psv', 'collation order')


def knows(server, collation):
    """MariaDB has UCA 14 from 10.10 on; without it, the order of accounts cannot be tested."""
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
    tap.same(tried, 21 if knows_collation else 20, 'seven cases are tested under three algorithms, except for ties')


tap.main(body)
