#!/bin/bash
# SPDX-License-Identifier: MIT
# Queries and templates become C texts, and a mistake in one stops the build with its file and line.
. "$(dirname "$0")/../lib/tap.sh"

mkdir -p "$scratch/sql/query" "$scratch/sql/schema"
cp "$top/sql/schema/dialects.txt" "$scratch/sql/schema"
cd "$scratch" || exit 1

# TEXT: of a file of queries.
embed_queries() {
    printf '%s\n' "$1" >sql/query/q.sql
    LC_ALL=C awk -v top=. -f "$top/build-aux/embed.awk" sql/query/q.sql
}

# TEXT: of a template.
embed_template() {
    printf '%s\n' "-- What it is." '' "$1" >sql/schema/tables.sql
    LC_ALL=C awk -v top=. -f "$top/build-aux/embed.awk" sql/schema/dialects.txt sql/schema/tables.sql
}

ok "queries are embedded" embed_queries $'-- name: one\nSELECT 1;\n\n-- name: two\nSELECT 2;'
like "each under its name" sql.h 'sql_query_one'
like "all of them" sql.h 'sql_query_two'
ok "a template is embedded" embed_template 'CREATE TABLE t (n {integer});'
for dialect in mysql pgsql sqlite; do
    like "for $dialect" sql.h "sql_${dialect}_tables"
done

# STATEMENT WHAT TEXT
refused() {
    local statement=$1
    shift
    ok "$statement stops the build" test ! "$("$@" 2>"$err" && echo built)"
    like "and its file is named" "$err" 'sql/(query/q|schema/tables)\.sql'
}

refused "a query without a name" embed_queries 'SELECT 1;'
refused "a name without a query" embed_queries $'-- name: one\n\n-- name: two\nSELECT 2;'
refused "a name that C does not take" embed_queries $'-- name: one-two\nSELECT 2;'
refused "a name that is there twice" embed_queries $'-- name: one\nSELECT 1;\n\n-- name: one\nSELECT 2;'
refused "a word that no dialect has" embed_template 'CREATE TABLE t (n {nothing});'
refused "a dialect that is none" embed_template 'oracle: CREATE TABLE t (n {integer});'
done_testing
