#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
"""Tests that every query of the dashboards works in PostgreSQL for its login, and that the viewers'
dashboard reads no names."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dashboards
import tap
from postgres import NewPostgres

tap.main(lambda: dashboards.try_on(NewPostgres, 'pgsql'))
