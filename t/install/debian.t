#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: packages
"""The Debian package builds from what a release holds, satisfies lintian, works once installed,
and leaves nothing behind when purged.

Root installs it into a system of its own: this one, seen through an overlay that forgets all
that is done to it.  Who is not root, or may not mount, builds and reads it only; but where CI
is `true`, root who may not mount is a failure.  The tests within the build run where
FAIRMILL_LONG is set."""

import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import BUILD, TOP, Commands, forget_build, has_text, read, version, write
from own_system import OwnSystem, of_few
from program import HAS_REPORT

LONG = os.environ.get('FAIRMILL_LONG')
COMPLETIONS = ('bash-completion/completions/fairmill', 'zsh/vendor-completions/_fairmill',
               'fish/vendor_completions.d/fairmill.fish')
# No systemd runs there.  A program in its place keeps the names of active units in a file, so that
# the package's scripts act on it as they do on a machine.
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
UNITS = ['fairmill-answer.service', 'fairmill-report.timer', 'fairmill-verify.timer', 'fairmill.socket', 'fairmill.timer']


def build(place):
    """The package's path."""
    tap.same(place.printed('dpkg-parsechangelog', '-l', f'{TOP}/debian/changelog', '-S', 'Version'), version(),
             "the package's version is that of configure.ac")
    # Without optimization nothing is fortified.
    options = 'parallel=2' if LONG else 'parallel=2 nocheck noopt noautodbgsym'
    without = [] if LONG else ['--suppress-tags', 'hardening-no-fortify-functions']
    os.chmod(place.folder, 0o755)  # tests within the build change their user
    sources = place.path(f'fairmill-{version()}')
    place.works('a release is made', 'make', '-s', '-C', BUILD, 'distdir', f'distdir={sources}')
    place.works('dpkg-buildpackage makes the package',
                *of_few('env', f'DEB_BUILD_OPTIONS={options}', 'CC=gcc', 'dpkg-buildpackage', '-us', '-uc'), cwd=sources)
    place.works('lintian has nothing to say', 'lintian', '--allow-root', *without, '--fail-on', 'error,warning,info',
                *glob.glob(place.path('*.changes')))
    made = glob.glob(place.path('fairmill_*.deb'))
    if not made:
        tap.done()
    return made[0]


def cron(there):
    """What cron does with the line of the package's table, the user it names included."""
    table = read(there.path('etc/cron.d/fairmill'))
    path = re.search('^PATH=(.*)$', table, re.M)[1]
    user, command = re.search(r'^[*](?:\S*\s+){5}(\S+) (.*)$', table, re.M).groups()
    return there.inside('setpriv', '--reuid', user, '--regid', user, '--init-groups', 'env', '-i', 'HOME=/', f'LOGNAME={user}',
                        'SHELL=/bin/sh', f'PATH={path}', '/bin/sh', '-c', command)


def traces(there):
    return there.files('etc', 'usr', 'lib', 'var/lib', skip='/dpkg/')


def install(there):
    there.works('dpkg installs it', *there.inside('dpkg', '--install', '/tmp/fairmill.deb'))
    tap.same(there.printed(*there.inside('getent', 'passwd', 'fairmill')).split(':')[5:], ['/var/lib/fairmill', '/usr/sbin/nologin'],
             'there is a user without a shell')
    tap.same(there.owner('/var/lib/fairmill'), 'fairmill:fairmill 750', 'there is a folder for results in SQLite')
    tap.same(there.owner('/etc/fairmill'), 'root:root 755', 'there is a folder for settings')
    tap.ok(not os.path.exists(there.path('etc/fairmill/fairmill.conf')), 'there are no settings yet')
    tap.same(there.printed(*there.as_user('fairmill', '--version')), f'fairmill {version()} (drivers: mysql pgsql sqlite)',
             'the user can run the program')
    for name in COMPLETIONS:
        tap.ok(has_text(there.path(f'usr/share/{name}')), f'completion is there: {name}')
    wanted = there.path('etc/systemd/system/timers.target.wants')
    tap.ok(os.path.islink(f'{wanted}/fairmill.timer'), 'the timer is enabled')
    tap.ok(os.path.islink(f'{wanted}/fairmill-verify.timer'), 'so is the one that verifies')


def units_are_good(there):
    if there.status(*there.inside('systemd-analyze', '--version')):
        tap.diag('systemd-analyze is not there')
        return
    folder = '/lib/systemd/system' if os.path.exists(there.path('lib/systemd/system/fairmill.service')) else '/usr/lib/systemd/system'
    units = [f'{folder}/fairmill{end}' for end in ('.service', '.timer', '.socket', '-answer.service', '-verify.service', '-verify.timer')]
    there.status(*there.inside('systemd-analyze', 'verify', '--man=no', '--recursive-errors=no', *units))
    tap.empty(there.place.out + there.place.err, 'systemd-analyze verify finds nothing in the units')
    security = 'systemd-analyze', 'security', '--offline=true'
    there.works('systemd-analyze security gives the service 1.2 of 10 or less', *there.inside(*security, '--threshold=12', units[0]))
    there.works('and who answers 1.6', *there.inside(*security, '--threshold=16', units[3]))


def run(there):
    there.works_quietly('without settings cron does nothing', 'and says nothing', *cron(there))
    there.make_demonstration()
    there.works('the user can make the tables', *there.as_user('fairmill', 'init'))
    tap.same(there.shown(), 0, 'and then there is nothing in them')
    os.makedirs(there.path('run/systemd/system'))
    there.works('where systemd runs, cron does nothing', *cron(there))
    tap.same(there.shown(), 0, 'and leaves the work to the timer')
    os.rmdir(there.path('run/systemd/system'))
    there.works_quietly('where it does not, cron runs fairmill', 'which says nothing', *cron(there))
    tap.ok(there.shown() > 1, 'and publishes')


def upgrade(there, active):
    write(there.path('usr/bin/deb-systemd-invoke'), INVOKE)
    write(there.path('usr/bin/systemctl'), '#!/bin/sh\n')
    for name in ('deb-systemd-invoke', 'systemctl'):
        os.chmod(there.path(f'usr/bin/{name}'), 0o755)
    os.makedirs(there.path('run/systemd/system'))
    for running in (UNITS, ['fairmill-verify.timer', 'fairmill.timer']):
        write(active, '\n'.join(running) + '\n')
        there.works('dpkg installs it over itself', *there.inside('dpkg', '--install', '/tmp/fairmill.deb'))
        tap.same(sorted(read(active).split()), running, 'of its units, the same are active as before')
    tap.ok(there.shown() > 1, 'and the results are still there')


def remove(there, active, before):
    write(active, '\n'.join(UNITS) + '\n')
    there.works('dpkg removes it', *there.inside('dpkg', '--remove', 'fairmill'))
    tap.empty(read(active), 'and stops its units')
    tap.ok(has_text(there.path('etc/fairmill/fairmill.conf')), 'the settings are still there')
    tap.ok(has_text(there.path('var/lib/fairmill/results.db')), 'the results are still there')
    there.works_quietly('what is left of it for cron does nothing', 'nor does it say anything', *cron(there))
    there.works('dpkg purges it', *there.inside('dpkg', '--purge', 'fairmill'))
    tap.same(traces(there), before, 'nothing is left')


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


# A release of Debian without the page's scripts cannot build the package.
if not HAS_REPORT:
    tap.not_here('built without the page, which the package has')
tap.needs('dpkg-buildpackage', 'dh', 'lintian')
tap.main(body)
