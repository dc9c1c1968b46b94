#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Where --output writes: files are replaced and stay what they were, all else is written to.

What is tried on a device, or on /dev/stdout, is tried on one of our own, which may be lost."""

import os
import stat
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place
from program import FAIRMILL, HAS_REPORT

NOBODY = 65534
ROOT = os.geteuid() == 0


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text='old\n', mode=0o644):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def standard_output(place, expected):
    place.ends(0, '- is a good name', 'metrics', '-o', '-')
    tap.ok(place.out == expected and not os.path.exists(place.path('-')), 'what goes to standard output, and no file is made')
    if HAS_REPORT:
        place.ends(0, 'the page, too', 'report', '-o', '-')
        tap.ok(place.out.startswith('<!DOCTYPE html>') and not os.path.exists(place.path('-')), 'is printed to -', place.out[:80])
    os.symlink('/proc/self/fd/1', place.path('stdout'))
    for name in ('stdout', '/dev/fd/1', '/proc/self/fd/1'):
        place.ends(0, f'{name} is there', 'metrics', '-o', name)
        tap.ok(place.out == expected, f'{name} is standard output where that is a pipe')
        # As `{ echo before; fairmill metrics -o /dev/stdout; echo behind; } >>log`.
        with open(place.path('log'), 'w+b', buffering=0) as log:
            log.write(b'before\n')
            subprocess.run([FAIRMILL, '-c', place.path('fm.conf'), 'metrics', '-o', name], stdout=log,
                           cwd=place.folder, check=True)
            log.write(b'behind\n')
        tap.ok(read(place.path('log')) == f'before\n{expected}behind\n', f'{name} goes on where a shell is in its file')


def pipes(place, expected):
    pipe = place.path('pipe')
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(read(pipe)), daemon=True)
    reader.start()
    place.ends(0, 'a named pipe is there', 'metrics', '-o', pipe)
    kept = stat.S_ISFIFO(os.stat(pipe).st_mode)
    if not kept:
        os.unlink(pipe)
        os.mkfifo(pipe)
        os.close(os.open(pipe, os.O_RDWR))
        tap.ok(False, 'a named pipe stays')
        return
    reader.join(30)
    tap.same(got, [expected], 'a named pipe stays, and its reader gets all')


def devices(place):
    """1, 3 is the null device, and 1, 7 the full one."""
    try:
        for name, minor in (('null', 3), ('full', 7)):
            os.mknod(place.path(name), stat.S_IFCHR | 0o666, os.makedev(1, minor))
        with open(place.path('null'), 'wb'):
            pass
    except OSError:
        tap.diag('no device of our own can be made: only pipes are tried')
        return
    os.symlink('null', place.path('link-to-null'))
    for name in ('null', 'link-to-null'):
        place.ends(0, f'a device ({name}) takes it', 'report' if HAS_REPORT else 'metrics', '-o', place.path(name))
        tap.ok(stat.S_ISCHR(os.stat(place.path(name)).st_mode) and os.path.islink(place.path(name)) == (name != 'null'),
               f'and stays what it was ({name})')
    place.ends(1, 'a device that takes nothing', 'metrics', '-o', place.path('full'))
    place.says('is named', "full': No space left on device")
    tap.ok(stat.S_ISCHR(os.stat(place.path('full')).st_mode), 'and stays, too')


def modes(place, expected):
    for mask in (0o022, 0o077, 0o007):
        page = place.path(f'new-{mask:o}')
        place.ends(0, 'a new file is written', 'metrics', '-o', page, preexec_fn=lambda mask=mask: os.umask(mask))
        tap.same((mode_of(page), read(page)), (0o666 & ~mask, expected), f'a new file has what umask {mask:03o} leaves')
    page = place.path('page')
    for mode in (0o640, 0o600, 0o664):
        write(page, mode=mode)
        before = os.stat(page).st_ino
        place.ends(0, 'it is replaced', 'metrics', '-o', page)
        tap.same((mode_of(page), read(page)), (mode, expected), f'a file of mode {mode:o} keeps it')
        tap.ok(os.stat(page).st_ino != before, 'and is replaced in one step')
    if not ROOT:
        return
    write(page, mode=0o640)
    os.chown(page, 1234, 4321)
    place.ends(0, 'root replaces it', 'metrics', '-o', page)
    kept = os.stat(page)
    tap.same((kept.st_uid, kept.st_gid, mode_of(page)), (1234, 4321, 0o640), 'what root writes stays its owner\'s and group\'s')
    # Who may write the folder, but give nothing away.
    os.chmod(place.folder, 0o777)
    write(page, mode=0o664)
    os.chown(page, 1234, 4321)
    somebody = dict(user=NOBODY, group=NOBODY, extra_groups=[], umask=0o022)
    place.ends(0, 'somebody else replaces it', 'metrics', '-o', page, executable=place.path('fairmill'), **somebody)
    kept = os.stat(page)
    tap.same((kept.st_uid, kept.st_gid, mode_of(page)), (NOBODY, NOBODY, 0o644),
             'where the group cannot be kept, ours may do no more than all others')


def links(place, expected):
    os.mkdir(place.path('www'))
    write(place.path('www/page'))
    for name, target in (('link', 'www/page'), ('second', 'link'), ('whole', place.path('www/page')), ('ahead', 'www/made')):
        os.symlink(target, place.path(name))
        place.ends(0, f"a link ('{name}') is followed", 'metrics', '-o', place.path(name))
        tap.same((os.readlink(place.path(name)), read(place.path(name))), (target, expected), f"and stays ('{name}')")
        write(place.path('www/page'))
    tap.same(sorted(os.listdir(place.path('www'))), ['made', 'page'], 'nothing is left beside what links lead to')
    os.symlink('round', place.path('round'))
    place.ends(1, 'a link to itself leads nowhere', 'metrics', '-o', place.path('round'))
    place.says('and is named', "round': ")


def folders(place):
    """The name is on the disk before the command ends."""
    try:
        done = subprocess.run(['strace', '-f', '-o', place.path('calls'), '-e', 'trace=rename,renameat,renameat2,openat,open,fsync', FAIRMILL,
                               '-c', place.path('fm.conf'), 'metrics', '-o', place.path('www/page')], check=False,
                              # Leaks are looked for by tracing, which cannot be done twice at once.
                              env=dict(os.environ, ASAN_OPTIONS='detect_leaks=0'))
    except FileNotFoundError:
        tap.diag('there is no strace: that the folder is synced is not seen')
        return
    calls = read(place.path('calls'))
    if done.returncode or '/www/page' not in calls:
        tap.diag('strace may not trace here')
        return
    behind = calls[calls.index('rename'):]
    tap.ok('/www/"' in behind and 'fsync(' in behind[behind.index('/www/"'):], 'the folder is synced when the file has its name', behind)


def body():
    with Place() as place:
        place.ready()
        place.succeed('run', '--now', NOW)
        place.succeed('metrics')
        expected = place.out
        if ROOT:
            # Who is nobody may not get at where it was built.
            subprocess.run(['cp', FAIRMILL, place.path('fairmill')], check=True)
        standard_output(place, expected)
        pipes(place, expected)
        devices(place)
        modes(place, expected)
        links(place, expected)
        folders(place)


tap.main(body)
