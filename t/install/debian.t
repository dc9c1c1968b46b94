#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: packages
"""Tests that the Debian package builds from the files of a release, passes lintian, works after
installation, and leaves nothing after a purge.

Root installs it into an overlay of this system, which discards all changes.  Other users, and root
without permission to mount, only build and inspect it.  If CI is `true`, missing permission is a
failure for root.  The tests inside the build run only if FAIRMILL_LONG is set."""

import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import BUILD, TOP, Commands, forget_build, has_text, read, version, write
from own_system import OwnSystem, of_few

DEB = '/tmp/packages/{}.deb'
LONG = os.environ.get('FAIRMILL_LONG')
PACKAGES = 'fairmill', 'fairmill-mysql', 'fairmill-pgsql'
CLIENTS = 'lib(mariadb|mysqlclient)', 'libpq5'
COMPLETIONS = ('bash-completion/completions/fairmill', 'zsh/vendor-completions/_fairmill',
               'fish/vendor_completions.d/fairmill.fish')
# No systemd runs in the overlay.  A program in its place keeps the names of active units in a file,
# so that the package's scripts act on it as on a real system.
INVOKE = r'''#!/bin/bash
action= units=()
for word; do
    case $word in
    -*) ;;
    start | stop | restart | try-restart | reload | try-reload-or-restart) action=$word ;;
    *) units+=("$word") ;;
    esac
done
touch /run/active-units
for unit in "${units[@]}"; do
    case $action in
    stop) sed -i "/^$unit\$/d" /run/active-units ;;
    start | restart) grep -qx "$unit" /run/active-units || echo "$unit" >>/run/active-units ;;
    esac
done
'''
UNITS = ['fairmill-answer.service', 'fairmill-apply.timer', 'fairmill-notify.timer', 'fairmill-report.timer', 'fairmill-verify.timer', 'fairmill.socket',
         'fairmill.timer']


def build(place):
    """Builds the packages and returns their paths by name."""
    tap.same(place.printed('dpkg-parsechangelog', '-l', f'{TOP}/debian/changelog', '-S', 'Version'), version(),
             'the package has the version in configure.ac')
    # Without optimization there are no fortified functions.
    options = 'parallel=2' if LONG else 'parallel=2 nocheck noopt noautodbgsym'
    without = [] if LONG else ['--suppress-tags', 'hardening-no-fortify-functions']
    os.chmod(place.folder, 0o755)  # tests inside the build change their user
    sources = place.path(f'fairmill-{version()}')
    place.works('make distdir succeeds', 'make', '-s', '-C', BUILD, 'distdir', f'distdir={sources}')
    place.works('dpkg-buildpackage builds the packages',
                *of_few('env', f'DEB_BUILD_OPTIONS={options}', 'CC=gcc', 'dpkg-buildpackage', '-us', '-uc'), cwd=sources)
    place.works('lintian reports nothing', 'lintian', '--allow-root', *without, '--fail-on', 'error,warning,info',
                *glob.glob(place.path('*.changes')))
    made = {os.path.basename(path).partition('_')[0]: path for path in glob.glob(place.path('*.deb'))}
    tap.same(sorted(name for name in made if not name.endswith('-dbgsym')), list(PACKAGES), 'there is a package for each driver with a server')
    if not set(PACKAGES) <= set(made):
        tap.done()
    return made


def field(place, path, name):
    return place.printed('dpkg-deb', '--field', path, name)


def look_at_needs(place, made):
    """Tests which packages the packages need."""
    def needs(name):
        return set(re.findall(r'(?:^|, )([a-z0-9.+-]+)', field(place, made[name], 'Depends'), re.M))
    tap.unlike(' '.join(needs('fairmill')), 'mariadb|mysql|libpq', 'the program needs no client library of a server')
    tap.like(field(place, made['fairmill'], 'Recommends'), 'fairmill-mysql.*fairmill-pgsql', 'the program recommends all drivers')
    for name, library in zip(PACKAGES[1:], CLIENTS):
        clients = [each for each in needs(name) if re.match('lib(mariadb|mysql|pq)', each)]
        tap.ok(len(clients) == 1 and re.match(library, clients[0]), f'{name} needs one client library', clients)
        tap.like(field(place, made[name], 'Depends'), re.escape(f'fairmill (= {version()})'), f'{name} needs the same version of fairmill')


def cron(there):
    """Returns the command that cron runs for the line of the package's table, as the user in it."""
    table = read(there.path('etc/cron.d/fairmill'))
    path = re.search('^PATH=(.*)$', table, re.M)[1]
    user, command = re.search(r'^[*](?:\S*\s+){5}(\S+) (.*)$', table, re.M).groups()
    return there.inside('setpriv', '--reuid', user, '--regid', user, '--init-groups', 'env', '-i', 'HOME=/', f'LOGNAME={user}',
                        'SHELL=/bin/sh', f'PATH={path}', '/bin/sh', '-c', command)


def traces(there):
    return there.files('etc', 'usr', 'lib', 'var/lib', skip='/dpkg/')


def apt(there, *arguments):
    """Returns a command of apt that knows only the packages of this build."""
    return there.inside('apt-get', '-q', '-y', '-o', 'Dir::Etc::SourceList=/tmp/packages/list', '-o', 'Dir::Etc::SourceParts=/dev/null',
                        '-o', 'Dir::State::Lists=/tmp/lists', '-o', 'Dir::Cache=/tmp/cache', '-o', 'APT::Sandbox::User=root', *arguments)


def upgrade_single(there):
    """Installs a package that contains everything, as up to release 0.2.0, and upgrades it."""
    folder = there.path('tmp/former')
    os.makedirs(f'{folder}/DEBIAN')
    os.makedirs(f'{folder}/usr/bin')
    write(f'{folder}/DEBIAN/control', 'Package: fairmill\nVersion: 0.2.0\nArchitecture: ' +
          there.printed(*there.inside('dpkg', '--print-architecture')) + '\nMaintainer: nobody <nobody@example.org>\nDescription: former\n')
    write(f'{folder}/usr/bin/fairmill', '#!/bin/sh\n')
    there.works('an earlier release can be installed', *there.inside('sh', '-c', 'dpkg-deb --build /tmp/former && dpkg --install /tmp/former.deb'))
    there.works('apt reads the packages', *apt(there, 'update'))
    there.works('apt upgrades it', *apt(there, 'dist-upgrade'))
    tap.same(installed(there), list(PACKAGES), 'the upgrade installs all drivers')
    there.works('apt removes the driver for PostgreSQL', *apt(there, 'remove', 'fairmill-pgsql'))
    tap.same(installed(there), list(PACKAGES[:2]), 'the other packages stay')
    there.works('dpkg purges the packages', *there.inside('dpkg', '--purge', *PACKAGES))


def installed(there):
    listed = there.printed(*there.inside('dpkg-query', '-W', '-f', '${Package} ${db:Status-Status}\\n', 'fairmill*'))
    return sorted(re.findall('^(.*) installed$', listed, re.M))


def without_drivers(there):
    """Tests the program alone, with settings for a server."""
    there.works('dpkg installs the program alone', *there.inside('dpkg', '--install', DEB.format('fairmill')))
    for driver in ('mysql', 'pgsql'):
        write(there.path('tmp/fairmill.conf'), f'[source]\ndriver = {driver}\ndatabase = slurm\nsocket = /nonexistent/s\ndeadline = 1 s\n'
              f'[results]\ndriver = {driver}\ndatabase = fairmill\nsocket = /nonexistent/s\n')
        check = there.inside('fairmill', '-c', '/tmp/fairmill.conf', 'check')
        tap.same(there.status(*check), 78, f'without its package, the driver {driver} is rejected')
        tap.like(there.place.err, f'; install fairmill-{driver}$', f'the message names the package of {driver}')
        there.works(f'dpkg installs fairmill-{driver}', *there.inside('dpkg', '--install', DEB.format(f'fairmill-{driver}')))
        tap.same(there.status(*check), 69, f'with its package, the driver {driver} connects')
    there.works('dpkg purges the packages', *there.inside('dpkg', '--purge', *PACKAGES))


def install(there):
    there.works('apt installs the package', *apt(there, 'install', 'fairmill'))
    tap.same(installed(there), list(PACKAGES), 'the package brings all drivers')
    tap.same(there.printed(*there.inside('getent', 'passwd', 'fairmill')).split(':')[5:], ['/var/lib/fairmill', '/usr/sbin/nologin'],
             'the user has no shell')
    tap.same(there.owner('/var/lib/fairmill'), 'fairmill:fairmill 750', 'the directory for results in SQLite exists')
    tap.same(there.owner('/etc/fairmill'), 'root:root 755', 'the directory for settings exists')
    tap.ok(not os.path.exists(there.path('etc/fairmill/fairmill.conf')), 'no settings are installed')
    tap.same(there.printed(*there.as_user('fairmill', '--version')), f'fairmill {version()} (drivers: mysql pgsql sqlite)',
             'the user can run the program')
    for name in COMPLETIONS:
        tap.ok(has_text(there.path(f'usr/share/{name}')), f'completion is installed: {name}')
    wanted = there.path('etc/systemd/system/timers.target.wants')
    tap.ok(os.path.islink(f'{wanted}/fairmill.timer'), 'the timer is enabled')
    tap.ok(os.path.islink(f'{wanted}/fairmill-verify.timer'), 'the timer of verify is enabled')
    tap.same(glob.glob(there.path('etc/systemd/system/*.wants/fairmill-apply.*')), [], 'the units of apply are disabled')
    tap.same(glob.glob(there.path('etc/systemd/system/*.wants/fairmill-notify.*')), [], 'the units of notify are disabled')


def units_are_good(there):
    if there.status(*there.inside('systemd-analyze', '--version')):
        tap.diag('systemd-analyze is not installed')
        return
    folder = '/lib/systemd/system' if os.path.exists(there.path('lib/systemd/system/fairmill.service')) else '/usr/lib/systemd/system'
    units = [f'{folder}/fairmill{end}' for end in ('.service', '.timer', '.socket', '-answer.service', '-verify.service', '-verify.timer',
                                                '-apply.service', '-apply.timer', '-notify.service', '-notify.timer')]
    there.status(*there.inside('systemd-analyze', 'verify', '--man=no', '--recursive-errors=no', *units))
    tap.empty(there.place.out + there.place.err, 'systemd-analyze verify finds nothing in the units')
    security = 'systemd-analyze', 'security', '--offline=true'
    there.works('systemd-analyze security gives the service 1.2 of 10 or less', *there.inside(*security, '--threshold=12', units[0]))
    there.works('systemd-analyze security gives the answer service 1.6 or less', *there.inside(*security, '--threshold=16', units[3]))


def run(there):
    there.works_quietly('without settings cron does nothing', 'without settings cron prints nothing', *cron(there))
    there.make_demonstration()
    there.works('the user can create the tables', *there.as_user('fairmill', 'init'))
    tap.same(there.shown(), 0, 'the new tables are empty')
    os.makedirs(there.path('run/systemd/system'))
    there.works('if systemd runs, cron does nothing', *cron(there))
    tap.same(there.shown(), 0, 'if systemd runs, cron publishes nothing')
    os.rmdir(there.path('run/systemd/system'))
    there.works_quietly('if systemd does not run, cron runs fairmill', "cron's run prints nothing", *cron(there))
    tap.ok(there.shown() > 1, "cron's run publishes")


def upgrade(there, active):
    write(there.path('usr/bin/deb-systemd-invoke'), INVOKE)
    write(there.path('usr/bin/systemctl'), '#!/bin/sh\n')
    for name in ('deb-systemd-invoke', 'systemctl'):
        os.chmod(there.path(f'usr/bin/{name}'), 0o755)
    os.makedirs(there.path('run/systemd/system'))
    for running in (UNITS, ['fairmill-verify.timer', 'fairmill.timer']):
        write(active, '\n'.join(running) + '\n')
        there.works('dpkg installs the same version again', *there.inside('dpkg', '--install', *map(DEB.format, PACKAGES)))
        tap.same(sorted(read(active).split()), running, 'the same units are active as before')
    tap.ok(there.shown() > 1, 'the results are kept by the upgrade')
    scripts = there.path('var/lib/dpkg/info/fairmill.postinst')
    for former, running in (('0.2.0', ['fairmill.socket']), (version(), [])):
        write(active, '')
        there.works(f'the package is configured after {former}', *there.inside('sh', scripts.removeprefix(there.root), 'configure', former))
        tap.same([unit for unit in read(active).split() if unit.endswith('socket')], running,
                 f'after {former}, the socket is {"opened again" if running else "left alone"}')


def remove(there, active, before):
    write(active, '\n'.join(UNITS) + '\n')
    there.works('dpkg removes the packages', *there.inside('dpkg', '--remove', *PACKAGES))
    tap.empty(read(active), 'removal stops its units')
    tap.ok(has_text(there.path('etc/fairmill/fairmill.conf')), 'removal keeps the settings')
    tap.ok(has_text(there.path('var/lib/fairmill/results.db')), 'removal keeps the results')
    there.works_quietly('after removal the crontab line does nothing',
                        'after removal the crontab line prints nothing', *cron(there))
    there.works('dpkg purges the packages', *there.inside('dpkg', '--purge', *PACKAGES))
    tap.same(traces(there), before, 'a purge leaves no file')


def body():
    os.umask(0o022)
    forget_build()
    with Commands() as place:
        made = build(place)
        look_at_needs(place, made)
        with OwnSystem() as there:
            there.forget_fairmill()
            before = traces(there)
            for folder in ('packages', 'lists/partial', 'cache/archives/partial'):
                os.makedirs(there.path(f'tmp/{folder}'))
            for name in PACKAGES:
                shutil.copy(made[name], there.path(DEB.format(name)))
            write(there.path('tmp/packages/Packages'), there.printed(*there.inside('sh', '-c', 'cd /tmp/packages && dpkg-scanpackages .')) + '\n')
            write(there.path('tmp/packages/list'), 'deb [trusted=yes] file:/tmp/packages ./\n')
            upgrade_single(there)
            without_drivers(there)
            install(there)
            units_are_good(there)
            run(there)
            active = there.path('run/active-units')
            upgrade(there, active)
            remove(there, active, before)


tap.needs('dpkg-buildpackage', 'dh', 'lintian')
tap.main(body)
