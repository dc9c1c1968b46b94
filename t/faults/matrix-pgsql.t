#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
"""Tests the exit status of runs and the state of monitors after faults: t/lib/matrix.py on
PostgreSQL."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from matrix import OnServer, try_all
from postgres import Postgres


def body():
    with Postgres() as server:
        try_all(OnServer(server, 'BEGIN; LOCK TABLE fairmill_value, fairmill_run, fairmill_lock'))


tap.main(body)
