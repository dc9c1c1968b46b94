#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""The driver for MariaDB and MySQL does what every driver must do.  The server is this test's own:
it dies in the end."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from commands import BUILD
from mariadb import NewServer

with NewServer() as server:
    server.database('port')
    sys.exit(subprocess.run([f'{BUILD}/t/db/port', 'mysql', 'port', server.socket, str(server.pid)], check=False).returncode)
