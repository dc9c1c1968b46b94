#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Compares the output of sshare from a real Slurm 22.05.8, for the cases in t/data/oracle, with the
values that fairmill publishes for them in MariaDB under `conformance = slurmctld`."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import oracle
import tap
from mariadb import Server


def body():
    cases = oracle.cases('oracle')
    with Server() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        schema = oracle.Schema('22.05')
        for case in cases:
            source = oracle.accounting(server, schema, case)
            for algorithm, file in oracle.ALGORITHMS.items():
                oracle.try_table(server, folder, source, case, algorithm, file, os.path.basename(case))
    tap.same(len(cases), 10, 'ten cases are tested')


tap.main(body)
