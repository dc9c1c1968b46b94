#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""What sshare of Slurm 24.11.5 and 26.05.5 printed for the cases in t/data/oracle-releases, and what fairmill
publishes for them in MariaDB under `conformance = slurmctld`."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import oracle
import tap
from mariadb import Server

# What slurmctld registers with, by release.
PROTOCOLS = {'24.11': 10752, '26.05': 11520}
# As slurmdbd's tables were in the cases.
COLLATION = 'utf8mb4_uca1400_ai_ci'


def body():
    with Server() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        tried = 0
        for release, protocol in PROTOCOLS.items():
            schema = oracle.Schema(release, COLLATION)
            for case in oracle.cases('oracle-releases', release):
                source = oracle.accounting(server, schema, case, protocol)
                for algorithm, file in oracle.ALGORITHMS.items():
                    tried += 1
                    oracle.try_table(server, folder, source, case, algorithm, file,
                                     f'{release}, {os.path.basename(case)}')
    tap.same(tried, 18, 'six cases were tried under three algorithms')


tap.main(body)
