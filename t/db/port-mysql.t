#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
# The driver for MariaDB and MySQL does what every driver must do.  The server is this test's own:
# it dies in the end.
. "${top_srcdir:-.}/t/lib/mariadb.sh"
unset FAIRMILL_TEST_MARIADB
mariadb_shared
echo 'CREATE DATABASE port' | mariadb_sql
"${top_builddir:-build}/t/db/port" mysql port "$MARIADB_SOCKET" "$MARIADB_PID"
