#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that the program loads the module of a driver, and so its client library, only for a session
with it, and that it names modules which are missing, damaged or of another version."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import Commands, configured, version
from place import NOW, Place
from program import DRIVERS, FAIRMILL, copy_program, sqlite_settings, write_settings

MODULES = [driver for driver in DRIVERS if driver != 'sqlite']
LIBRARY = {'mysql': 'lib(mariadb|mysqlclient|perconaserverclient)', 'pgsql': 'libpq'}
OTHER = '9' + version()[1:]


def loaded(place, *command, settings='fm.conf'):
    """Runs fairmill, and returns the drivers whose modules or client libraries the loader opened."""
    place.run(*command, settings=settings, env=dict(os.environ, LD_DEBUG='files', LD_DEBUG_OUTPUT=place.path('files')))
    opened = ''
    for name in os.listdir(place.folder):
        if name.startswith('files.'):
            with open(place.path(name), encoding='utf-8') as file:
                opened += file.read()
            os.unlink(place.path(name))
    tap.ok('libsqlite3' in opened, f"the loader reports the files of '{' '.join(map(str, command))}'", opened)
    return [driver for driver in LIBRARY if re.search(rf'fairmill-{driver}\.so|/{LIBRARY[driver]}\.so', opened)]


def server(side, driver):
    return {f'{side}.driver': driver, f'{side}.socket': '/nonexistent/s', 'source.deadline': '1 s'}


def needed_only(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    for command in (('show',), ('run', '--now', NOW + 1), ('check',), ('--version',), ('help', 'run')):
        tap.same(loaded(place, *command), [], f"with SQLite '{' '.join(map(str, command))}' loads no module and no client library")
    for driver in MODULES:
        place.settings(server('source', driver) | {'source.tls_mode': 'off', 'source.max_lag': '1 h'})
        tap.same(loaded(place, 'show'), [], f'a command that reads results in SQLite does not load the source\'s driver {driver}')
        tap.same(loaded(place, 'init', '--print', '--cluster', 'tiny'), [], f'init --print --cluster does not load {driver}')
        tap.same(loaded(place, 'check'), [driver], f'check loads the driver {driver} of the source, and no other')
        place.settings(server('results', driver))
        tap.same(loaded(place, 'show'), [driver], f'show loads the driver {driver} of the results, and no other')


class Copy(Commands):
    """A copy of the program with its modules."""

    def __enter__(self):
        super().__enter__()
        self.program = copy_program(self.folder)
        return self

    def settings(self, side, driver):
        sections = sqlite_settings(self.path('a.db'), self.path('r.db'))
        sections[side] = dict(driver=driver, database='nothing', socket='/nonexistent/s', user='nobody')
        sections['source']['deadline'] = '1 s'
        write_settings(self.path('fm.conf'), sections)

    def module(self, driver):
        return self.path(f'fairmill-{driver}.so')

    def ends(self, status, message, statement, *command):
        self.command_ends(status, statement, self.program, '-c', self.path('fm.conf'), *command)
        tap.like(self.err, message, f'the message says so: {statement}')


def rejected(place, driver):
    place.settings('source', driver)
    place.ends(69, 'nonexistent', f'the program loads {driver} from its own directory', 'check')
    with open(place.module(driver), 'rb') as file:
        content = file.read()
    with open(place.module(driver), 'wb') as file:
        file.write(content.replace(version().encode() + b'\0', OTHER.encode() + b'\0'))
    place.ends(78, f"'{driver}'.*'{re.escape(place.module(driver))}' is of fairmill {OTHER}, and this program is fairmill {version()};",
               f'a module of another version is rejected ({driver})', 'check')
    with open(place.module(driver), 'wb') as file:
        file.write(b'no library')
    place.ends(78, f"cannot load the driver '{driver}': .*fairmill-{driver}.so", f'a damaged module is rejected ({driver})', 'check')
    os.unlink(place.module(driver))


def expanded(name):
    """Returns a directory of the build's Makefile."""
    return re.sub(r'\$[({](\w+)[)}]', lambda match: expanded(match[1]), configured(name))


def missing(place, driver):
    installed = f"{expanded('pkglibdir')}/fairmill-{driver}.so"
    if os.path.exists(installed):
        tap.diag(f'not tested, because {installed} exists')
        return
    message = f"the driver '{driver}' is not installed: '{re.escape(installed)}' does not exist; install fairmill-{driver}$"
    for side, command in (('source', 'check'), ('results', 'init'), ('results', 'show')):
        place.settings(side, driver)
        place.ends(78, message, f'{command} with a missing module of {side} fails ({driver})', command)
    place.works(f'init --print needs no module ({driver})', place.program, '-c', place.path('fm.conf'), 'init', '--print')
    tap.same(place.printed(place.program, '--version'), place.printed(FAIRMILL, '--version'),
             f'the version names the drivers of the build ({driver} is missing)')


def body():
    with Place() as place:
        needed_only(place)
    with Copy() as place:
        for driver in MODULES:
            rejected(place, driver)
            missing(place, driver)


if not MODULES:
    tap.not_here('this build has no modules')
tap.main(body)
