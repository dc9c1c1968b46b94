#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests that the driver for MariaDB and MySQL implements the interface of drivers.  The test has
its own server, because it kills the server at the end."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from commands import BUILD
from mariadb import NewServer

with NewServer() as server:
    server.database('port')
    sys.exit(subprocess.run([f'{BUILD}/t/db/port', 'mysql', 'port', server.socket, str(server.pid)], check=False).returncode)
