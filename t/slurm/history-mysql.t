#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests histories of an accounting database in MariaDB; see t/lib/history.py."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from history import body
from history_place import ServerPlace
from mariadb import Server


def on_server():
    with Server() as server:
        body(lambda _: ServerPlace(server))


tap.main(on_server)
