#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests that every query of the dashboards works in MariaDB for its login, and that the viewers'
dashboard reads no names."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dashboards
import tap
from mariadb import NewServer

tap.main(lambda: dashboards.try_on(NewServer, 'mysql'))
