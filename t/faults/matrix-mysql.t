#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests the exit status of runs and the state of monitors after faults: t/lib/matrix.py on
MariaDB."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mariadb import Server
from matrix import OnServer, try_all


def body():
    with Server() as server:
        try_all(OnServer(server, 'LOCK TABLES fairmill_value WRITE, fairmill_run WRITE, fairmill_lock WRITE'))


tap.main(body)
