#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the targets of --output: regular files are replaced and keep their attributes; others are
written to.

Tests of devices and of /dev/stdout use nodes of their own, because a fault could destroy them."""

import os
import stat
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place
from program import FAIRMILL

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
    place.ends(0, "'-o -' succeeds", 'metrics', '-o', '-')
    tap.ok(place.out == expected and not os.path.exists(place.path('-')), "'-o -' writes to standard output and creates no file")
    place.ends(0, "'report -o -' succeeds", 'report', '-o', '-')
    tap.ok(place.out.startswith('<!DOCTYPE html>') and not os.path.exists(place.path('-')),
           "'report -o -' writes the page to standard output",
           place.out[:80])
    os.symlink('/proc/self/fd/1', place.path('stdout'))
    for name in ('stdout', '/dev/fd/1', '/proc/self/fd/1'):
        place.ends(0, f'-o {name} succeeds', 'metrics', '-o', name)
        tap.ok(place.out == expected, f'-o {name} writes to standard output if that is a pipe')
        # As in `{ echo before; fairmill metrics -o /dev/stdout; echo after; } >>log`.
        with open(place.path('log'), 'w+b', buffering=0) as log:
            log.write(b'before\n')
            subprocess.run([FAIRMILL, '-c', place.path('fm.conf'), 'metrics', '-o', name], stdout=log,
                           cwd=place.folder, check=True)
            log.write(b'after\n')
        tap.ok(read(place.path('log')) == f'before\n{expected}after\n', f"-o {name} appends at the position of the shell's file")


def pipes(place, expected):
    pipe = place.path('pipe')
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(read(pipe)), daemon=True)
    reader.start()
    place.ends(0, '-o with a named pipe succeeds', 'metrics', '-o', pipe)
    kept = stat.S_ISFIFO(os.stat(pipe).st_mode)
    if not kept:
        os.unlink(pipe)
        os.mkfifo(pipe)
        os.close(os.open(pipe, os.O_RDWR))
        tap.ok(False, 'a named pipe is not replaced')
        return
    reader.join(30)
    tap.same(got, [expected], 'a named pipe is not replaced, and its reader gets all output')


def devices(place):
    """Device 1, 3 is /dev/null, and device 1, 7 is /dev/full."""
    try:
        for name, minor in (('null', 3), ('full', 7)):
            os.mknod(place.path(name), stat.S_IFCHR | 0o666, os.makedev(1, minor))
        with open(place.path('null'), 'wb'):
            pass
    except OSError:
        tap.diag('no device can be created; only pipes are tested')
        return
    os.symlink('null', place.path('link-to-null'))
    for name in ('null', 'link-to-null'):
        place.ends(0, f'-o with a device ({name}) succeeds', 'report', '-o', place.path(name))
        tap.ok(stat.S_ISCHR(os.stat(place.path(name)).st_mode) and os.path.islink(place.path(name)) == (name != 'null'),
               f'the device is not replaced ({name})')
    place.ends(1, '-o with a full device fails', 'metrics', '-o', place.path('full'))
    place.says('the error names the full device', "full': No space left on device")
    tap.ok(stat.S_ISCHR(os.stat(place.path('full')).st_mode), 'the full device is not replaced')


def modes(place, expected):
    for mask in (0o022, 0o077, 0o007):
        page = place.path(f'new-{mask:o}')
        place.ends(0, f'-o with a new file and umask {mask:03o} succeeds',
                   'metrics', '-o', page, preexec_fn=lambda mask=mask: os.umask(mask))
        tap.same((mode_of(page), read(page)), (0o666 & ~mask, expected), f'a new file has the mode that umask {mask:03o} leaves')
    page = place.path('page')
    for mode in (0o640, 0o600, 0o664):
        write(page, mode=mode)
        before = os.stat(page).st_ino
        place.ends(0, f'-o with a file of mode {mode:o} succeeds', 'metrics', '-o', page)
        tap.same((mode_of(page), read(page)), (mode, expected), f'a replaced file keeps mode {mode:o}')
        tap.ok(os.stat(page).st_ino != before, f'a file of mode {mode:o} is replaced by a rename')
    if not ROOT:
        return
    write(page, mode=0o640)
    os.chown(page, 1234, 4321)
    place.ends(0, 'root can replace a file of another user', 'metrics', '-o', page)
    kept = os.stat(page)
    tap.same((kept.st_uid, kept.st_gid, mode_of(page)), (1234, 4321, 0o640),
             'a file that root replaces keeps its owner and group')
    # A user who may write to the directory but cannot change owners.
    os.chmod(place.folder, 0o777)
    write(page, mode=0o664)
    os.chown(page, 1234, 4321)
    somebody = dict(user=NOBODY, group=NOBODY, extra_groups=[], umask=0o022)
    place.ends(0, 'another user can replace the file', 'metrics', '-o', page, executable=place.path('fairmill'), **somebody)
    kept = os.stat(page)
    tap.same((kept.st_uid, kept.st_gid, mode_of(page)), (NOBODY, NOBODY, 0o644),
             'if the group is lost, it gets no more rights than others')


def links(place, expected):
    os.mkdir(place.path('www'))
    write(place.path('www/page'))
    for name, target in (('link', 'www/page'), ('second', 'link'), ('whole', place.path('www/page')), ('ahead', 'www/made')):
        os.symlink(target, place.path(name))
        place.ends(0, f"-o with the link '{name}' succeeds", 'metrics', '-o', place.path(name))
        tap.same((os.readlink(place.path(name)), read(place.path(name))), (target, expected),
                 f"the link '{name}' stays, and its target is replaced")
        write(place.path('www/page'))
    tap.same(sorted(os.listdir(place.path('www'))), ['made', 'page'], 'no temporary file is left next to the targets')
    os.symlink('round', place.path('round'))
    place.ends(1, '-o with a link to itself fails', 'metrics', '-o', place.path('round'))
    place.says('the error names the link to itself', "round': ")


def folders(place):
    """The name must be on the disk before the command ends."""
    try:
        done = subprocess.run(['strace', '-f', '-o', place.path('calls'), '-e', 'trace=rename,renameat,renameat2,openat,open,fsync', FAIRMILL,
                               '-c', place.path('fm.conf'), 'metrics', '-o', place.path('www/page')], check=False,
                              # Leak detection uses tracing, which cannot be combined with strace.
                              env=dict(os.environ, ASAN_OPTIONS='detect_leaks=0'))
    except FileNotFoundError:
        tap.diag('strace is not installed; the sync of the directory is not tested')
        return
    calls = read(place.path('calls'))
    if done.returncode or '/www/page' not in calls:
        tap.diag('strace cannot trace here')
        return
    behind = calls[calls.index('rename'):]
    tap.ok('/www/"' in behind and 'fsync(' in behind[behind.index('/www/"'):], 'the directory is synced after the rename', behind)


def body():
    with Place() as place:
        place.ready()
        place.succeed('run', '--now', NOW)
        place.succeed('metrics')
        expected = place.out
        if ROOT:
            # The build directory may not be accessible to other users.
            subprocess.run(['cp', FAIRMILL, place.path('fairmill')], check=True)
        standard_output(place, expected)
        pipes(place, expected)
        devices(place)
        modes(place, expected)
        links(place, expected)
        folders(place)


tap.main(body)
