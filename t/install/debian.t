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

LONG = os.environ.get('FAIRMILL_LONG')
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
UNITS = ['fairmill-answer.service', 'fairmill-apply.timer', 'fairmill-report.timer', 'fairmill-verify.timer', 'fairmill.socket',
         'fairmill.timer']


def build(place):
    """Builds the package and returns its path."""
    tap.same(place.printed('dpkg-parsechangelog', '-l', f'{TOP}/debian/changelog', '-S', 'Version'), version(),
             'the package has the version in configure.ac')
    # Without optimization there are no fortified functions.
    options = 'parallel=2' if LONG else 'parallel=2 nocheck noopt noautodbgsym'
    without = [] if LONG else ['--suppress-tags', 'hardening-no-fortify-functions']
    os.chmod(place.folder, 0o755)  # tests inside the build change their user
    sources = place.path(f'fairmill-{version()}')
    place.works('make distdir succeeds', 'make', '-s', '-C', BUILD, 'distdir', f'distdir={sources}')
    place.works('dpkg-buildpackage builds the package',
                *of_few('env', f'DEB_BUILD_OPTIONS={options}', 'CC=gcc', 'dpkg-buildpackage', '-us', '-uc'), cwd=sources)
    place.works('lintian reports nothing', 'lintian', '--allow-root', *without, '--fail-on', 'error,warning,info',
                *glob.glob(place.path('*.changes')))
    made = glob.glob(place.path('fairmill_*.deb'))
    if not made:
        tap.done()
    return made[0]


def cron(there):
    """Returns the command that cron runs for the line of the package's table, as the user in it."""
    table = read(there.path('etc/cron.d/fairmill'))
    path = re.search('^PATH=(.*)$', table, re.M)[1]
    user, command = re.search(r'^[*](?:\S*\s+){5}(\S+) (.*)$', table, re.M).groups()
    return there.inside('setpriv', '--reuid', user, '--regid', user, '--init-groups', 'env', '-i', 'HOME=/', f'LOGNAME={user}',
                        'SHELL=/bin/sh', f'PATH={path}', '/bin/sh', '-c', command)


def traces(there):
    return there.files('etc', 'usr', 'lib', 'var/lib', skip='/dpkg/')


def install(there):
    there.works('dpkg installs the package', *there.inside('dpkg', '--install', '/tmp/fairmill.deb'))
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


def units_are_good(there):
    if there.status(*there.inside('systemd-analyze', '--version')):
        tap.diag('systemd-analyze is not installed')
        return
    folder = '/lib/systemd/system' if os.path.exists(there.path('lib/systemd/system/fairmill.service')) else '/usr/lib/systemd/system'
    units = [f'{folder}/fairmill{end}' for end in ('.service', '.timer', '.socket', '-answer.service', '-verify.service', '-verify.timer',
                                                '-apply.service', '-apply.timer')]
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
        there.works('dpkg installs the same version again', *there.inside('dpkg', '--install', '/tmp/fairmill.deb'))
        tap.same(sorted(read(active).split()), running, 'the same units are active as before')
    tap.ok(there.shown() > 1, 'the results are kept by the upgrade')


def remove(there, active, before):
    write(active, '\n'.join(UNITS) + '\n')
    there.works('dpkg removes the package', *there.inside('dpkg', '--remove', 'fairmill'))
    tap.empty(read(active), 'removal stops its units')
    tap.ok(has_text(there.path('etc/fairmill/fairmill.conf')), 'removal keeps the settings')
    tap.ok(has_text(there.path('var/lib/fairmill/results.db')), 'removal keeps the results')
    there.works_quietly('after removal the crontab line does nothing',
                        'after removal the crontab line prints nothing', *cron(there))
    there.works('dpkg purges the package', *there.inside('dpkg', '--purge', 'fairmill'))
    tap.same(traces(there), before, 'a purge leaves no file')


def body():
    os.umask(0o022)
    forget_build()
    with Commands() as place:
        package = build(place)
        with OwnSystem() as there:
            there.forget_fairmill()
            before = traces(there)
            shutil.copy(package, there.path('tmp/fairmill.deb'))
            install(there)
            units_are_good(there)
            run(there)
            active = there.path('run/active-units')
            upgrade(there, active)
            remove(there, active, before)


tap.needs('dpkg-buildpackage', 'dh', 'lintian')
tap.main(body)
