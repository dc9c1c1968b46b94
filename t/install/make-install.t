#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Tests that make install installs each file at its place with its mode, and that make uninstall
removes it."""

import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import BUILD, TOP, Commands, configured, files_below, forget_build, has_text, read
from program import DRIVERS

EXPECTED = """\
644 /usr/lib/systemd/system/fairmill-answer.service
644 /usr/lib/systemd/system/fairmill-apply.service
644 /usr/lib/systemd/system/fairmill-apply.timer
644 /usr/lib/systemd/system/fairmill-notify.service
644 /usr/lib/systemd/system/fairmill-notify.timer
644 /usr/lib/systemd/system/fairmill-report.service
644 /usr/lib/systemd/system/fairmill-report.timer
644 /usr/lib/systemd/system/fairmill-verify.service
644 /usr/lib/systemd/system/fairmill-verify.timer
644 /usr/lib/systemd/system/fairmill.service
644 /usr/lib/systemd/system/fairmill.socket
644 /usr/lib/systemd/system/fairmill.timer
644 /usr/lib/sysusers.d/fairmill.conf
644 /usr/lib/tmpfiles.d/fairmill-report.conf
644 /usr/lib/tmpfiles.d/fairmill.conf
644 /usr/share/bash-completion/completions/fairmill
644 /usr/share/fairmill/grafana/mysql/operators/fairmill-account.json
644 /usr/share/fairmill/grafana/mysql/operators/fairmill-health.json
644 /usr/share/fairmill/grafana/mysql/operators/fairmill-site.json
644 /usr/share/fairmill/grafana/mysql/viewers/fairmill-account.json
644 /usr/share/fairmill/grafana/mysql/viewers/fairmill-health.json
644 /usr/share/fairmill/grafana/mysql/viewers/fairmill-site.json
644 /usr/share/fairmill/grafana/pgsql/operators/fairmill-account.json
644 /usr/share/fairmill/grafana/pgsql/operators/fairmill-health.json
644 /usr/share/fairmill/grafana/pgsql/operators/fairmill-site.json
644 /usr/share/fairmill/grafana/pgsql/viewers/fairmill-account.json
644 /usr/share/fairmill/grafana/pgsql/viewers/fairmill-health.json
644 /usr/share/fairmill/grafana/pgsql/viewers/fairmill-site.json
644 /usr/share/fairmill/prometheus/fairmill.rules.yml
644 /usr/share/fish/vendor_completions.d/fairmill.fish
644 /usr/share/zsh/site-functions/_fairmill
755 /usr/bin/fairmill
755 /usr/lib/fairmill/fairmill-mysql.so
755 /usr/lib/fairmill/fairmill-pgsql.so
"""
DOCUMENTS = ('CONTRIBUTING.md', 'HACKING.md', 'LICENSE', 'NEWS', 'README.md', 'SECURITY.md', 'doc/install.md',
             'examples/fairmill.conf', 'examples/fairmill-httpd.conf', 'examples/fairmill.cron', 'examples/sql/site/hours.sql',
             'examples/sql/site/pbs.sql', 'examples/sql/slurmdbd/pgsql.sql', 'examples/sql/slurmdbd/sqlite.sql')
# The default directories, regardless of the configuration of this build.
PLACES = ('prefix=/usr', 'exec_prefix=/usr', 'bindir=/usr/bin', 'libdir=/usr/lib', 'datarootdir=/usr/share', 'datadir=/usr/share',
          'docdir=/usr/share/doc/fairmill', 'mandir=/usr/share/man', 'systemdsystemunitdir=/usr/lib/systemd/system')


def expected():
    """Returns the expected files.  A build without systemd or without a driver lacks their files."""
    left_out = [] if configured('systemdsystemunitdir') else ['systemd', 'sysusers', 'tmpfiles']
    left_out += [f'fairmill-{driver}.so' for driver in ('mysql', 'pgsql') if driver not in DRIVERS]
    manual = [os.path.basename(pod).removesuffix('.pod') for pod in glob.glob(f'{TOP}/man/*.pod')]
    lines = EXPECTED.splitlines() + [f'644 /usr/share/man/man{page[-1]}/{page}' for page in manual]
    return [line for line in sorted(lines) if not any(word in line for word in left_out)]


def mode(path):
    return os.lstat(path).st_mode & 0o7777


def body():
    os.umask(0o022)
    forget_build()
    with Commands() as place:
        root = place.path('root')

        def make(target):
            return 'make', '-s', '-C', BUILD, f'DESTDIR={root}', *PLACES, target
        place.works('make install succeeds', *make('install'))
        documents = f'{root}/usr/share/doc/fairmill'
        installed = files_below(root)
        tap.same(sorted(f'{mode(f"{root}/{name}"):o} /{name}' for name in installed if not name.startswith('usr/share/doc/')),
                 expected(), 'each file has its place and mode')
        for name in DOCUMENTS:
            tap.ok(has_text(f'{documents}/{name}'), f'{name} is installed')
        tap.empty((name for name in files_below(documents) if mode(f'{documents}/{name}') != 0o644),
                  'all users can read the documents, and only their owner can write them')
        tap.empty((path for path, _, _ in os.walk(root) if mode(path) != 0o755),
                  'all users can enter the directories, and only their owner can write there')
        place.works('the installed program runs', f'{root}/usr/bin/fairmill', '--version')
        place.command('grep', '-rl', '-F', '-e', root, '-e', '@bindir@', '-e', '@sysconfdir@', root)
        tap.empty(place.out.splitlines(), 'no file contains the path of the installation root')

        if os.path.exists(f'{root}/usr/lib/systemd'):
            tap.like(read(f'{root}/usr/lib/systemd/system/fairmill.service'),
                     f"^ExecStart={re.escape(configured('prefix'))}/bin/fairmill run$",
                     'the service starts the program in the configured directory')

        place.works('make uninstall succeeds', *make('uninstall'))
        tap.empty(files_below(root), 'make uninstall leaves no file')


tap.main(body)
