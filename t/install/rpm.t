#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: packages
"""Tests that the packages of fairmill.spec build from a release with the compiler flags of
Enterprise Linux, and pass rpmlint.  After installation they work, keep the files of sites, and
compute the same values as this build.

Settings of Enterprise Linux that Debian's rpm lacks are in rpm.macros.  Root installs the packages
into a system of its own, with its own rpm database; see own_system.py.  If FAIRMILL_LONG is set,
the tests inside the build run, and the linker optimizes."""

import glob
import os
import platform
import re
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import tap
from commands import BUILD, TOP, Commands, forget_build, has_text, read, version, write
from own_system import OwnSystem, of_few
from program import FAIRMILL, publish, sqlite_settings, write_settings

NOW = 1800000000
SPEC = f'{TOP}/fairmill.spec'
MACROS = '--load', f'{HERE}/rpm.macros'
LIBRARIES = {'mysql': 'mariadb-connector-c-devel', 'pgsql': 'libpq-devel', 'sqlite': 'sqlite-devel'}
COLUMNS = 'cluster, id_assoc, linear_factor, depth_oblivious_ratio, classic_factor, pbs_factor, fair_tree_factor, level_fs, fairshare'
ENABLED = ('./fairmill.service.wants/fairmill-report.service ./sockets.target.wants/fairmill.socket '
           './timers.target.wants/fairmill.timer')


def processor():
    """Returns the processor type.  Enterprise Linux 10 requires processors with fused multiply-add,
    which would change numbers."""
    said = subprocess.run(['/lib64/ld-linux-x86-64.so.2', '--help'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False).stdout
    return 'x86-64-v3' if 'x86-64-v3 (supported' in said else 'x86-64-v2'


class Packages(Commands):
    def __enter__(self):
        super().__enter__()
        os.environ['HOME'] = self.folder
        # The packages of Debian are unknown to rpm.
        self.build = ('rpmbuild', '--nodeps', *MACROS, '--define', f'_topdir {self.folder}', '--define', f'processor {processor()}')
        return self

    def of_spec(self, *arguments):
        """Returns the packages of the spec, or their requirements."""
        return self.printed('rpmspec', '--query', *MACROS, *arguments, SPEC)

    def look_at_spec(self):
        def names(choice):
            return self.of_spec('--qf', '%{name}\\n', '--without', choice)

        def needed(*choice):
            return self.of_spec('--buildrequires', *choice)
        tap.unlike(names('selinux'), '^fairmill-selinux$', 'without SELinux there are no contexts')
        for driver, library in LIBRARIES.items():
            tap.like(needed(), f'^{library}$', f'the driver {driver} is built with {library}')
            tap.unlike(needed('--without', driver), f'^{library}$', f'--without {driver} omits its library')
            tap.unlike(names(driver), f'^fairmill-{driver}$', f'without {driver} there is no package of it')
        tap.like(needed('--with', 'mysqlclient'), '^mysql-devel$', "Oracle's library can replace MariaDB's")

    def make(self):
        """Builds the packages and returns their paths."""
        quick = [] if os.environ.get('FAIRMILL_LONG') else ['--nocheck', '--without', 'lto']
        os.chmod(self.folder, 0o755)  # tests inside the build change their user
        name = f'fairmill-{version()}'
        self.works('make distdir succeeds', 'make', '-s', '-C', BUILD, 'distdir', f'distdir={self.path(name)}')
        tap.ok(has_text(self.path(f'{name}/fairmill.spec')), 'the release contains the spec')
        self.printed('tar', '-czf', f'{name}.tar.gz', name)
        self.printed('rm', '-rf', name)
        self.works('rpmbuild builds the packages',
                   *of_few(*self.build, '-ta', *quick, '--noclean', self.path(f'{name}.tar.gz')))
        made = sorted(glob.glob(self.path('RPMS/*/*.rpm')))
        tap.same(sorted(self.printed('rpm', '-qp', '--qf', '%{name} %{arch}', path) for path in made),
                 sorted([*(f'fairmill{end} {platform.machine()}' for end in ('', '-mysql', '-pgsql')),
                         'fairmill-report noarch', 'fairmill-selinux noarch', 'fairmill-systemd noarch']),
                 'there are six packages')
        self.works('rpmlint reports nothing', 'rpmlint', '--strict', '--config', f'{HERE}/rpmlint.toml', SPEC, *made,
                   *glob.glob(self.path('SRPMS/*.rpm')))
        if len(made) != 6:
            tap.done()
        return made

    def look_inside(self, made):
        """Unpacks the packages and returns the path of the program."""
        content = self.path('content')
        os.mkdir(content)
        for path in made:
            self.printed('sh', '-c', 'rpm2cpio "$1" | cpio -id --quiet', 'sh', path, cwd=content)
        module = f'{content}/usr/share/selinux/packages/targeted/fairmill.pp'
        self.printed('bunzip2', f'{module}.bz2')
        self.works('the SELinux module is valid',
                   'semodule_unpackage', module, self.path('module'), self.path('contexts'))
        tap.same([line.split() for line in read(self.path('contexts')).splitlines() if line.startswith('/')],
                 [['/var/lib/fairmill-report(/.*)?', 'system_u:object_r:httpd_sys_content_t:s0']],
                 'the SELinux module allows web servers to read the page')
        program = f'{content}/usr/bin/fairmill'
        elf = self.printed('readelf', '-dlW', program)
        tap.like(elf, r'\(FLAGS_1\).*PIE', 'the program is position-independent')
        tap.like(elf, r'\(FLAGS_1\).*NOW', 'the program binds all names at startup')
        return program

    def values(self, program):
        """Returns every value of the demonstration site under each algorithm and conformance, as
        this program computes it."""
        found = []
        for conformance in ('documents', 'slurmctld'):
            for algorithm in ('fair_tree', 'depth_oblivious', 'classic', 'linear', 'pbs'):
                results = self.path(f'{os.path.basename(os.path.dirname(program))}-{conformance}-{algorithm}.db')
                write_settings(self.path('values.conf'), sqlite_settings(
                    self.path('accounting.db'), results, fairshare=dict(algorithm=algorithm, conformance=conformance)))
                publish(self.path('values.conf'), NOW, program=program)
                with sqlite3.connect(results) as db:
                    found += [(conformance, algorithm)]
                    found += db.execute('SELECT * FROM fairmill_sshare ORDER BY 1, 2').fetchall()
                    found += db.execute(f'SELECT {COLUMNS} FROM fairmill_fairshare ORDER BY 1, 2').fetchall()
                db.close()
        return found

    def compare_numbers(self, program):
        self.printed(f'{TOP}/sql/demo/make-demo.py', 'accounting.db', NOW)
        ours, theirs = self.values(FAIRMILL), self.values(program)
        tap.ok(len(ours) > 500, 'the demonstration site has values')
        tap.ok(ours == theirs, f'with these flags, for {processor()}, all values are the same to the last bit',
               *[pair for pair in zip(ours, theirs) if pair[0] != pair[1]][:10])

    def make_system(self, needed):
        """Builds the system as a package, so that rpm knows its contents."""
        write(self.path('debian.spec'), 'Name: debian\nVersion: 1\nRelease: 1\nSummary: This system\nLicense: MIT\nBuildArch: noarch\n' +
              ''.join(f'Provides: {name}\n' for name in needed) +
              'Provides: rtld(GNU_HASH)\n%description\nThis system.\n%files\n')
        self.printed(*self.build, '-bb', self.path('debian.spec'))
        return self.path('RPMS/noarch/debian-1-1.noarch.rpm')


    def make_former(self):
        """Builds a package that contains everything, as up to release 0.2.0."""
        write(self.path('former.spec'), 'Name: fairmill\nVersion: 0.2.0\nRelease: 1\nSummary: Former\nLicense: MIT\nBuildArch: noarch\n'
              '%description\nFormer.\n%install\ninstall -D -m 644 /dev/null %{buildroot}%{_datadir}/former\n%files\n%{_datadir}/former\n')
        self.printed(*self.build, '-bb', self.path('former.spec'))
        return self.path('RPMS/noarch/fairmill-0.2.0-1.noarch.rpm')


def rpm(there, *arguments):
    """Returns an rpm command for the overlay; Debian's rpm requires an explicit option."""
    return 'rpm', '--force-debian', '--root', there.root, '--dbpath', '/var/lib/rpm', *arguments


def prepare(there):
    there.forget_fairmill('var/lib/fairmill-report', 'var/lib/rpm')
    for path in glob.glob(there.path('etc/systemd/system/*/fairmill*')):
        os.unlink(path)
    # Enterprise Linux enables no unit by default.
    os.makedirs(there.path('etc/systemd/system-preset'), exist_ok=True)
    os.makedirs(there.path('var/lib/rpm'))
    write(there.path('etc/systemd/system-preset/00-enterprise.preset'), 'disable *\n')


def look_at_needs(place, made):
    """Tests which client libraries the packages need."""
    for path in made:
        name = place.printed('rpm', '-qp', '--qf', '%{name}', path)
        clients = set(re.findall(r'^(lib(?:mariadb|mysqlclient|pq))\.so', place.printed('rpm', '-qp', '--requires', path), re.M))
        tap.same(clients, {'fairmill-mysql': {'libmariadb'}, 'fairmill-pgsql': {'libpq'}}.get(name, set()),
                 f'{name} needs its own client library, and no other')
        if name == 'fairmill':
            tap.like(place.printed('rpm', '-qp', '--recommends', path), r'fairmill-mysql.*\n(.*\n)*fairmill-pgsql',
                     'the program recommends all drivers')
        tap.unlike(place.printed('rpm', '-qp', '--provides', path), r'\.so', f'{name} provides no library')


def requirements(place, there, made):
    """Returns the external requirements of the packages: existing libraries, and other packages."""
    asked = {line for path in made for line in place.printed('rpm', '-qp', '--requires', path).splitlines()}
    needed = sorted(line for line in asked if not re.search(r'^(rpmlib|config|rtld)\(|^\(|^fairmill', line))
    others = [line for line in needed if not re.match(r'lib.*\.so', line)]
    tap.same(others, ['/bin/sh', 'httpd-filesystem', 'policycoreutils', 'selinux-policy', 'shadow-utils', 'systemd'],
             'the packages require these packages, and libraries')
    libraries = set(re.findall(r'^\t(\S*)', there.printed(*there.inside('ldconfig', '-p')), re.M))
    tap.empty(sorted({line.partition('(')[0] for line in needed if line not in others} - libraries),
              'all required libraries exist under these names')
    return needed


def links(there):
    folder = there.path('etc/systemd/system')
    return ' '.join(there.printed('sh', '-c', "cd \"$1\" && find . -name 'fairmill*' -type l | sort", 'sh', folder).split())


def install(there, made):
    there.works_quietly('rpm installs the packages', 'the scripts print nothing', *rpm(there, '--upgrade', *made))
    tap.same(there.printed(*rpm(there, '--query', 'fairmill', '--qf', '%{version}\n')), version(), 'the earlier release is replaced')
    there.status(*rpm(there, '--verify', '--all', '--nodeps'))
    tap.empty(there.place.out + there.place.err, 'each file has its owner and mode')
    tap.same(there.printed(*there.inside('getent', 'passwd', 'fairmill')).split(':')[4:],
             ['fairshare values', '/var/lib/fairmill', '/sbin/nologin'], 'the user has no shell')
    tap.same(there.owner('/etc/fairmill'), 'root:root 755', 'the directory for settings exists')
    tap.ok(not os.path.exists(there.path('etc/fairmill/fairmill.conf')), 'no settings are installed')
    tap.same(there.owner('/var/lib/fairmill'), 'fairmill:fairmill 750', 'the directory for results in SQLite exists')
    tap.same(there.owner('/var/lib/fairmill-report'), 'fairmill:fairmill 755',
             'the directory for the page exists, and is readable by others')
    tap.same(there.printed(*there.as_user('fairmill', '--version')), f'fairmill {version()} (drivers: mysql pgsql sqlite)',
             'the user can run the program')
    tap.same(links(there), '', 'no unit is enabled')


def enable(there):
    """Enables units; returns whether systemd is available."""
    if there.status(*there.inside('systemd-analyze', '--version')):
        tap.diag('systemd-analyze is not installed')
        return False
    units = [f'/usr/lib/systemd/system/fairmill{end}' for end in (
        '.service', '.timer', '-report.service', '.socket', '-answer.service', '-verify.service', '-verify.timer')]
    there.status(*there.inside('systemd-analyze', 'verify', '--man=no', '--recursive-errors=no', *units))
    tap.empty(there.place.out + there.place.err, 'systemd-analyze verify finds nothing in the units')
    there.works("systemd-analyze security gives the page's service 1.2 of 10 or less",
                *there.inside('systemd-analyze', 'security', '--offline=true', '--threshold=12', units[2]))
    there.status(*there.inside('systemctl', 'enable', 'fairmill.timer', 'fairmill-report.service', 'fairmill.socket'))
    tap.same(links(there), ENABLED, 'the timer, the report service and the socket can be enabled')
    return True


def started_by(there, unit):
    """Returns the command that the unit starts."""
    command = re.search('^ExecStart=(.*)$', read(there.path(f'usr/lib/systemd/system/{unit}')), re.M)[1]
    return there.as_user(*command.replace('%S', '/var/lib').split())


def drivers_load(there):
    """Tests that the drivers find their client libraries; there is no server."""
    for driver in ('mysql', 'pgsql'):
        write(there.path('tmp/fairmill.conf'), f'[source]\ndriver = {driver}\ndatabase = slurm\nsocket = /nonexistent/s\ndeadline = 1 s\n'
              f'[results]\ndriver = {driver}\ndatabase = fairmill\nsocket = /nonexistent/s\n')
        tap.same(there.status(*there.inside('fairmill', '-c', '/tmp/fairmill.conf', 'check')), 69, f'the driver {driver} connects')


def run(there):
    there.make_demonstration()
    there.works('the user can create the tables', *there.as_user('fairmill', 'init'))
    there.works_quietly("the timer's service computes the values",
                        "the timer's service prints nothing", *started_by(there, 'fairmill.service'))
    tap.ok(there.shown() > 1, "the timer's service publishes")
    there.works("the page's service writes the page", *started_by(there, 'fairmill-report.service'))
    tap.same(there.owner('/var/lib/fairmill-report/index.html'), 'fairmill:fairmill 644',
             'web servers can read the page')
    tap.like(read(there.path('var/lib/fairmill-report/index.html')), 'physics', 'the page names an account')


def upgrade(place, there, has_systemd):
    # The next release has other defaults; it is already compiled.
    with open(place.path(f'BUILD/fairmill-{version()}/etc/fairmill.conf'), 'a', encoding='utf-8') as file:
        file.write('# of the next release\n')
    settings = there.path('etc/fairmill/fairmill.conf')
    known = read(settings)
    place.works('a later release is built', *place.build, '-bb', '--noprep', '--nocheck', '--define', 'dist .el9.later',
                '--define', 'configure true', '--define', 'make_build true', SPEC)
    there.works('rpm upgrades to the later release',
                *rpm(there, '--upgrade', *sorted(glob.glob(place.path('RPMS/*/*.later.*.rpm')))))
    tap.same(read(settings), known, 'the upgrade keeps the settings')
    tap.same(os.listdir(there.path('etc/fairmill')), ['fairmill.conf'], 'the upgrade adds no other settings')
    tap.ok(there.shown() > 1, 'the upgrade keeps the results')
    if has_systemd:
        tap.same(links(there), ENABLED, 'the same units are enabled after the upgrade')

    there.works('rpm erases the packages',
                *rpm(there, '--erase', *(f'fairmill{end}' for end in ('', '-mysql', '-pgsql', '-systemd', '-report', '-selinux'))))
    tap.same(read(settings), known, 'erasure keeps the settings')
    tap.ok(has_text(there.path('var/lib/fairmill/results.db')), 'erasure keeps the results')
    tap.same(links(there), '', 'after erasure no unit is enabled')
    tap.empty(there.files('etc', 'usr', 'var', skip='^etc/fairmill|^var/lib/fairmill|/rpm/|^usr/local/|^usr/src/'),
              'erasure leaves no other file')


def body():
    os.umask(0o022)
    forget_build()
    with Packages() as place:
        place.look_at_spec()
        made = place.make()
        look_at_needs(place, made)
        place.compare_numbers(place.look_inside(made))
        with OwnSystem() as there:
            prepare(there)
            needed = requirements(place, there, made)
            there.printed(*rpm(there, '--install', place.make_system(needed)))
            there.works('an earlier release can be installed', *rpm(there, '--install', place.make_former()))
            install(there, made)
            has_systemd = enable(there)
            drivers_load(there)
            run(there)
            upgrade(place, there, has_systemd)


# Debian 13's rpm builds in other directories, and creates users automatically.
if not os.path.exists('/etc/os-release') or 'VERSION_CODENAME=bookworm' not in read('/etc/os-release'):
    tap.not_here('rpm.macros is for the rpm of Debian 12')
tap.needs('rpmbuild', 'rpmlint', 'semodule_unpackage')
if not os.path.exists('/usr/share/selinux/devel/Makefile'):
    tap.skip_all("the development files of SELinux's policy are not installed")
tap.main(body)
