#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: sqlite
# The driver for SQLite does what every driver must do.
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
chmod 755 "$directory"
"${top_builddir:-build}/t/db/port" sqlite "$directory/results.db"
