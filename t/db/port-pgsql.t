#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
"""Tests that the driver for PostgreSQL implements the interface of drivers.  The test has its own
server, because it kills the server at the end."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from commands import BUILD
from postgres import NewPostgres

with NewPostgres() as server:
    server.database('port')
    sys.exit(subprocess.run([f'{BUILD}/t/db/port', 'pgsql', 'port', server.socket, str(server.pid)], check=False).returncode)
