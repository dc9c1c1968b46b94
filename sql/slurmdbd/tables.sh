#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tables.sh DIALECT: prints tables.sql for pgsql or sqlite.  AWK is the awk to use.
cd "$(dirname "$0")/../.." || exit 1
LC_ALL=C exec "${AWK:-awk}" -v top=. -v only="$1" -f build-aux/embed.awk sql/schema/dialects.txt sql/slurmdbd/tables.sql
