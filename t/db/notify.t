#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests that `fairmill notify` sends each message once with results on a server."""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import mariadb
import postgres
import tap
from program import FAIRMILL, write_settings

DAY = 86400
OCTOBER, NOW = 1790812800, 1793664000
ASSOCIATIONS = ((1, 'root', '', '', 1, 0), (2, 'physics', '', 'root', 20, 1), (3, 'physics', 'alice', '', 10, 2),
                (4, 'chemistry', '', 'root', 80, 1), (5, 'chemistry', 'carol', '', 1, 4))
RESULTS = 'notify_res'


def fill(server, source):
    """Adds a site to an empty accounting database: physics has used five times as much as chemistry."""
    rows = ["INSERT INTO cluster_table (creation_time, name) VALUES (1, 'tiny')",
            "INSERT INTO acct_coord_table (creation_time, acct, \"user\") VALUES (1, 'physics', 'pi')"]
    for number, account, user, parent, shares, above in ASSOCIATIONS:
        rows.append('INSERT INTO tiny_assoc_table (creation_time, mod_time, id_assoc, "user", acct, "partition", parent_acct, shares, id_parent)'
                    f" VALUES (1, 1, {number}, '{user}', '{account}', '', '{parent}', {shares}, {above})")
    for number, association, days in ((1, 3, 5), (2, 5, 1)):
        rows.append('INSERT INTO tiny_job_table (job_db_inx, id_job, id_assoc, time_submit, time_eligible, time_start, time_end, tres_alloc, state)'
                    f" VALUES ({number}, {number}, {association}, {OCTOBER}, {OCTOBER}, {OCTOBER + DAY}, {OCTOBER + (1 + days) * DAY}, "
                    "'1=10,5=10', 3)")
    server.sql(server.LENIENT + ';\n'.join(rows), source)


def notify(folder, *arguments):
    done = subprocess.run([FAIRMILL, '-c', f'{folder}/fm.conf', *arguments], capture_output=True, text=True, check=False,
                          env=os.environ | {'FAIRMILL_NOW': str(NOW)})
    tap.same((done.returncode, done.stdout), (0, ''), f'{arguments[0]} succeeds')
    return sorted(re.findall(r'^fairmill: (pi: .*)', done.stderr, re.M))


def sends_once(server, folder):
    source = server.accounting('notify_acct', ['tiny'])
    server.database(RESULTS)
    fill(server, source)
    mailer = f'{folder}/mailer'
    with open(mailer, 'w', encoding='ascii') as file:
        file.write('#!/bin/sh\nexec cat >/dev/null\n')
    os.chmod(mailer, 0o755)
    sections = server.settings(source, RESULTS, usage=dict(time_zone='UTC', half_life=0))
    write_settings(f'{folder}/fm.conf', sections | {'notify': {'from': 'fairshare@hpc.example', 'mailer': mailer}})
    driver = sections['results']['driver']
    notify(folder, 'init')
    notify(folder, 'run')
    tap.same(notify(folder, 'notify', '-v'), ['pi: Usage of physics on tiny in October 2026', 'pi: physics on tiny has used 4.17 times its share'],
             f'the coordinator gets the statement and the threshold ({driver})')
    tap.same(notify(folder, 'notify', '-v'), [], f'each message is sent once ({driver})')
    server.sql("UPDATE tiny_job_table SET time_end = time_start + 8640000 WHERE id_job = 2", source)
    notify(folder, 'run', '--full')
    notify(folder, 'notify')
    tap.same([row[0] for row in server.sql('SELECT kind FROM fairmill_notice', RESULTS)], ['statement'],
             f'the notice of a threshold ends below it ({driver})')


def body():
    for Server in (mariadb.Server, postgres.Postgres):
        with Server() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
            sends_once(server, folder)


tap.main(body)
