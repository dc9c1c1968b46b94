#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Tests that queries and templates become C strings, and that an error in one stops the build with
its file and line."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import TOP, Commands, read, write

DIALECTS, TABLES, QUERIES = 'sql/schema/dialects.txt', 'sql/schema/tables.sql', 'sql/query/q.sql'


class Embedding(Commands):
    def __enter__(self):
        super().__enter__()
        os.makedirs(self.path('sql/query'))
        os.makedirs(self.path('sql/schema'))
        shutil.copy(os.path.join(TOP, DIALECTS), self.path(DIALECTS))
        return self

    def embed(self, *files):
        return self.command('awk', '-v', 'top=.', '-f', os.path.join(TOP, 'build-aux/embed.awk'), *files,
                            env=dict(os.environ, LC_ALL='C'))

    def queries(self, text):
        write(self.path(QUERIES), f'{text}\n')
        return self.embed(QUERIES)

    def template(self, text):
        write(self.path(TABLES), f'-- What it is.\n\n{text}\n')
        return self.embed(DIALECTS, TABLES)

    def embedded(self, statement, status):
        """Expects success and returns the text of sql.h."""
        tap.ok(not status, statement, self.err)
        return read(self.path('sql.h'))

    def refused(self, statement, status):
        tap.ok(status, f'{statement} stops the build')
        tap.like(self.err, r'sql/(query/q|schema/tables)\.sql', 'the error names the file')


def body():
    with Embedding() as place:
        header = place.embedded('queries are embedded', place.queries('-- name: one\nSELECT 1;\n\n-- name: two\nSELECT 2;'))
        tap.like(header, 'sql_query_one', 'each query has its name')
        tap.like(header, 'sql_query_two', 'all queries are embedded')
        header = place.embedded('a template is embedded', place.template('CREATE TABLE t (n {integer});'))
        for dialect in ('mysql', 'pgsql', 'sqlite'):
            tap.like(header, f'sql_{dialect}_tables', f'the template is embedded for {dialect}')

        place.refused('a query without a name', place.queries('SELECT 1;'))
        place.refused('a name without a query', place.queries('-- name: one\n\n-- name: two\nSELECT 2;'))
        place.refused('a name that is invalid in C', place.queries('-- name: one-two\nSELECT 2;'))
        place.refused('a duplicate name', place.queries('-- name: one\nSELECT 1;\n\n-- name: one\nSELECT 2;'))
        place.refused('an unknown word', place.template('CREATE TABLE t (n {nothing});'))
        place.refused('an unknown dialect', place.template('oracle: CREATE TABLE t (n {integer});'))


tap.main(body)
