#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests histories of an accounting database in SQLite; see t/lib/history.py."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from history import body
from history_place import SqlitePlace

tap.main(lambda: body(SqlitePlace))
