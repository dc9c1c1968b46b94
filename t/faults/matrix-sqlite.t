#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the exit status of runs and the state of monitors after faults: t/lib/matrix.py on
SQLite."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from matrix import Ground, try_all

tap.main(lambda: try_all(Ground()))
