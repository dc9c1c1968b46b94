#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: packages
"""Tests that fairmill works with every set of drivers, names its drivers, and rejects others.

By default it builds each driver alone, and with FAIRMILL_LONG every set of them."""

import glob
import itertools
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import TOP, Commands, forget_build, read
from program import DRIVERS, FAIRMILL, write_settings

LIBRARY = {'mysql': 'lib(mariadb|mysqlclient)', 'pgsql': 'libpq', 'sqlite': 'libsqlite3'}
LONG = os.environ.pop('FAIRMILL_LONG', '')  # not for the tests of these builds


def units():
    """Returns the unit tests of settings and databases; the others are the same in every build."""
    return sorted(re.sub(r'c$', 't', os.path.relpath(path, TOP)) for path in glob.glob(f'{TOP}/t/unit/*.c')
                  if re.search('"(settings|db|results|compute)/', read(path)))


class Build(Commands):
    """A build directory.  Few files depend on drivers, so ccache knows most results, except for the
    directory's name in debug information.  Sources have the same paths as in check.sh's builds."""

    def __enter__(self):
        super().__enter__()
        os.mkdir(self.path('tree'))
        for path in glob.glob(f'{TOP}/*'):
            os.symlink(path, self.path(f'tree/{os.path.basename(path)}'))
        os.environ.setdefault('CCACHE_DIR', self.path('objects'))
        os.environ['CCACHE_NOHASHDIR'] = '1'
        self.build = self.path('tree/some-drivers')
        self.units = units()
        return self

    def configure(self, chosen):
        shutil.rmtree(self.build, ignore_errors=True)
        os.mkdir(self.build)
        return ('../configure', '--enable-werror', f'--cache-file={self.path("config")}',
                f"CC={'ccache gcc' if shutil.which('ccache') else 'gcc'}", '--disable-server-tests',
                *(f'--without-{driver}' for driver in DRIVERS if driver not in chosen))

    def make(self, statement, *arguments):
        self.works(statement, 'make', '-s', '-C', self.build, '-j2', *arguments)

    def settings(self, side, driver, other):
        """Returns a command with settings for this driver on that side and the other driver on the
        other side."""
        path = self.path('fairmill.conf')
        write_settings(path, {each: dict(database='nothing', driver=driver if each == side else other) | deadline
                              for each, deadline in (('source', dict(deadline='1 s')), ('results', {}))})
        return f'{self.build}/fairmill', '-c', path

    def check(self, statement, chosen):
        """Runs the tests that depend on drivers."""
        more = ['t/command/arguments.t', 't/command/databases.t', 't/db/port-sqlite.t'] if 'sqlite' in chosen else []
        self.make(statement, 'check', f"TESTS={' '.join(self.units + more)}", f"check_PROGRAMS={' '.join(self.units)} t/db/port")

    def try_choice(self, chosen):
        name = ' '.join(chosen)
        if not self.works(f'configure accepts {name} alone', *self.configure(chosen), cwd=self.build):
            return
        tap.like(self.out, f'drivers: {name}$', f'configure names the drivers ({name})')
        # This target comes first: it must create the files that it includes.
        self.make(f'make fairmill works in a fresh tree ({name})', 'fairmill')
        self.make(f'fairmill builds without warnings ({name})')
        self.make(f'its tests build ({name})', *self.units, 't/db/port')
        if not os.access(f'{self.build}/fairmill', os.X_OK):
            return
        tap.same(self.printed(f'{self.build}/fairmill', '--version'),
                 f"{self.printed(FAIRMILL, '--version').partition('(')[0]}(drivers: {name})", f'--version names {name}')
        linked = self.printed('ldd', f'{self.build}/fairmill')
        for driver in chosen:
            uses = linked if driver == 'sqlite' else self.printed('ldd', f'{self.build}/fairmill-{driver}.so')
            tap.like(uses, LIBRARY[driver], f'the library of {driver} is linked ({name})')
            self.works(f'settings accept {driver} ({name})',
                       *self.settings('source', driver, chosen[0]), 'init', '--print')
            tap.like(self.out, 'CREATE TABLE.*"fairmill_run"', f'init prints the tables ({name})')
            self.command(*self.settings('source', driver, chosen[0]), 'check')
            tap.like(self.err, '^fairmill: source: (?!cannot load|the driver)', f'the program has what {driver} needs ({name})')
        for driver in DRIVERS:
            if driver != 'sqlite' or driver not in chosen:
                tap.unlike(linked, LIBRARY[driver], f'the library of {driver} is not linked to the program ({name})')
            if driver not in chosen:
                self.try_absent(driver, chosen)
        self.check(f'the tests of this build pass ({name})', chosen)

    def try_absent(self, driver, chosen):
        name = ' '.join(chosen)
        tap.ok(not os.path.exists(f'{self.build}/fairmill-{driver}.so'), f'no module of {driver} is built ({name})')
        for side in ('source', 'results'):
            self.command_ends(78, f'settings reject {driver} as [{side}] ({name})',
                              *self.settings(side, driver, chosen[0]), 'check')
            names = ', '.join(f"'{each}'" for each in chosen)
            tap.like(self.err, re.escape(f"[{side}] driver = '{driver}': must be one of the drivers in this build: {names}") + '$',
                     f'the error lists the available drivers ({name})')


def body():
    forget_build()
    os.umask(0o022)
    with Build() as place:
        # All other tests use the build with all drivers.
        choices = [chosen for count in range(1, len(DRIVERS) if LONG else 2) for chosen in itertools.combinations(DRIVERS, count)]
        for chosen in choices:
            place.try_choice(chosen)
        place.command_ends(1, 'without any driver configure fails', *place.configure(()), cwd=place.build)
        tap.like(place.out + place.err, 'at least one driver must be built in',
                 'configure asks for at least one driver')


if len(DRIVERS) < 2:
    tap.not_here('this build has no other drivers')
if os.path.exists(f'{TOP}/config.status'):
    tap.not_here('these sources are configured: make distclean allows builds from them')
tap.main(body)
