#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that the driver for SQLite implements the interface of drivers."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from commands import BUILD

with tempfile.TemporaryDirectory(prefix='fm.') as folder:
    os.chmod(folder, 0o755)
    sys.exit(subprocess.run([f'{BUILD}/t/db/port', 'sqlite', f'{folder}/results.db'], check=False).returncode)
