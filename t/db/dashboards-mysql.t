#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Every query of the dashboards answers in MariaDB, to the login that it is for; viewers' reads no names."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dashboards
import tap
from mariadb import NewServer

tap.main(lambda: dashboards.try_on(NewServer, 'mysql'))
