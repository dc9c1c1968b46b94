#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
# The driver for PostgreSQL does what every driver must do.  The server is this test's own: it dies
# in the end.
. "${top_srcdir:-.}/t/lib/postgres.sh"
unset FAIRMILL_TEST_POSTGRES
postgres_shared
echo 'CREATE DATABASE port' | postgres_sql postgres
"${top_builddir:-build}/t/db/port" pgsql port "$POSTGRES_SOCKET" "$POSTGRES_PID"
