# SPDX-License-Identifier: MIT
"""Runs fairmill, and reads its results in SQLite."""

import glob
import math
import os
import shutil
import sqlite3
import subprocess

import tap
from commands import TOP

FAIRMILL = os.path.abspath(os.environ.get('FAIRMILL') or os.path.join(TOP, 'build', 'fairmill'))

# The drivers of this build.
DRIVERS = subprocess.run([FAIRMILL, '--version'], stdout=subprocess.PIPE, text=True,
                         check=True).stdout.partition('drivers: ')[2].rstrip(')\n').split()


def copy_program(folder):
    """Copies the program and its drivers to a directory, for a user who cannot enter the build's
    directory.  Returns the path of the copy."""
    for path in glob.glob(f'{os.path.dirname(FAIRMILL)}/fairmill-*.so'):
        shutil.copy(path, folder)
    return shutil.copy(FAIRMILL, folder)


def has_sanitizers():
    with open(FAIRMILL, 'rb') as file:
        return b'__asan_init' in file.read()


EXACT = {'cluster', 'id_assoc', 'parent_id', 'depth', 'account', 'user_name', 'partition_name',
         'shares',
         'usage_raw', 'level_fs_infinite', 'fair_tree_rank', 'fair_tree_factor', 'computed_at'}


def write_settings(path, sections):
    """Writes settings.  Runs print errors at once, unless there is a section [report]."""
    sections = dict(report=dict(alert_after=0)) | sections
    old = os.umask(0o022)
    try:
        with open(path, 'w', encoding='utf-8') as file:
            for section, keys in sections.items():
                file.write(f'[{section}]\n')
                for key, value in keys.items():
                    file.write(f'{key} = {value}\n')
    finally:
        os.umask(old)


def sqlite_settings(source, results, usage=None, fairshare=None):
    return dict(source=dict(driver='sqlite', database=source),
                results=dict(driver='sqlite', database=results),
                usage=usage or {}, fairshare=fairshare or {})


def fairmill(settings, *arguments, program=FAIRMILL):
    """Runs fairmill; returns (status, standard output, standard error)."""
    done = subprocess.run([program, '-c', settings, *map(str, arguments)],
                          stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=tap.HANG, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def publish(settings, now, *arguments, program=FAIRMILL):
    """Runs init and run; raises an exception with their output if they fail."""
    for command in (('init',), ('run', '--now', now, *arguments)):
        status, out, err = fairmill(settings, *command, program=program)
        if status:
            raise RuntimeError(f"'{' '.join(map(str, command))}' ended with {status}: {out}{err}")


def published(results, cluster=None):
    """Returns {id_assoc: {column: value}} of fairmill_fairshare for one cluster, or keyed by
    (cluster, id)."""
    db = sqlite3.connect(f'file:{results}?mode=ro', uri=True)
    db.row_factory = sqlite3.Row
    try:
        rows = db.execute('SELECT * FROM fairmill_fairshare ORDER BY cluster, id_assoc').fetchall()
    finally:
        db.close()
    if cluster is not None:
        return {row['id_assoc']: dict(row) for row in rows if row['cluster'] == cluster}
    return {(row['cluster'], row['id_assoc']): dict(row) for row in rows}


def same_value(column, got, expected, tolerance=1e-12, exact=EXACT):
    if expected is None or got is None:
        return got is expected
    if column in exact or not isinstance(expected, float):
        return got == expected
    return math.isclose(got, expected, rel_tol=tolerance,
                        abs_tol=1e-14 if column == 'linear_factor' else 1e-300)
