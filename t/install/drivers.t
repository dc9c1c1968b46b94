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
from program import DRIVERS, FAIRMILL, HAS_REPORT, write_settings

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

    def configure(self, chosen, *options):
        shutil.rmtree(self.build, ignore_errors=True)
        os.mkdir(self.build)
        return ('../configure', '--enable-werror', f'--cache-file={self.path("config")}.{len(options)}',
                f"CC={'ccache gcc' if shutil.which('ccache') else 'gcc'}", '--disable-server-tests', *options,
                *(f'--without-{driver}' for driver in DRIVERS if driver not in chosen))

    def make(self, statement, *arguments):
        self.works(statement, 'make', '-s', '-C', self.build, '-j2', *arguments)

    def settings(self, side, driver, other):
        """Returns a command with settings for this driver on that side and the other driver on the
        other side."""
        path = self.path('fairmill.conf')
        write_settings(path, {each: dict(database='nothing', driver=driver if each == side else other)
                              for each in ('source', 'results')})
        return f'{self.build}/fairmill', '-c', path

    def check(self, statement, chosen):
        """Runs the tests that depend on drivers."""
        more = ['t/command/arguments.t', 't/command/databases.t', 't/db/port-sqlite.t'] if 'sqlite' in chosen else []
        self.make(statement, 'check', f"TESTS={' '.join(self.units + more)}", f"check_PROGRAMS={' '.join(self.units)} t/db/port")

    def try_choice(self, chosen, *options):
        name = ' '.join(chosen)
        if not self.works(f'configure accepts {name} alone', *self.configure(chosen, *options), cwd=self.build):
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
            tap.like(linked, LIBRARY[driver], f'the library of {driver} is linked ({name})')
            self.works(f'settings accept {driver} ({name})',
                       *self.settings('source', driver, chosen[0]), 'init', '--print')
            tap.like(self.out, 'CREATE TABLE.*"fairmill_run"', f'init prints the tables ({name})')
        for driver in DRIVERS:
            if driver not in chosen:
                self.try_absent(driver, chosen, linked)
        if '--without-report' in options:
            self.command_ends(64,
                              f'without report there is no command report ({name})', f'{self.build}/fairmill', 'report')
            tap.like(self.err, "unknown command 'report'", f'the error names the command report ({name})')
        self.check(f'the tests of this build pass ({name})', chosen)

    def try_absent(self, driver, chosen, linked):
        name = ' '.join(chosen)
        tap.unlike(linked, LIBRARY[driver], f'the library of {driver} is not linked ({name})')
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
        # A library that this build does not use may be missing.  The first build has no report in
        # any case.
        for number, chosen in enumerate(choices):
            place.try_choice(chosen, *(('--without-report', 'CHART_JS=none') if not number else
                                       () if HAS_REPORT else ('--without-report',)))

        # Without JavaScript libraries, and without the command that needs them.
        os.mkdir(place.path('chartless'))
        place.command_ends(1, 'without Chart.js configure fails', f'{TOP}/configure', '--cache-file=/dev/null',
                           'CHART_JS=none', cwd=place.path('chartless'))
        tap.like(place.out + place.err, 'Debian: libjs-chart.js.*--without-report',
                 'configure names the missing package and --without-report')

        place.command_ends(1,
                           'without any driver configure fails',
                           *place.configure((), '--without-report'), cwd=place.build)
        tap.like(place.out + place.err, 'at least one driver must be built in',
                 'configure asks for at least one driver')


if len(DRIVERS) < 2:
    tap.not_here('this build has no other drivers')
if os.path.exists(f'{TOP}/config.status'):
    tap.not_here('these sources are configured: make distclean allows builds from them')
tap.main(body)
