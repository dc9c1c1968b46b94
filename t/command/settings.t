#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the values that the settings file accepts, and the errors for others."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

BAD_VALUES = {
    'source.driver': ('oracle', ''),
    'source.layout': ('spreadsheet', 'sacct'),
    'source.clusters': ('',),
    'source.deadline': ('soon', '-1 s', '0', '5 weeks'),
    'source.port': ('99999', '3306x', '-1'),
    'source.on_bad_rows': ('maybe',),
    'source.max_lag': ('', 'soon', '-1 s', '5 weeks', '1,5 h', '10 m'),  # SQLite has no replicas
    'source.tls_mode': ('', 'yes', 'prefer', 'verify-full', 'off'),  # SQLite has no TLS
    'source.database': ('',),
    'results.driver': ('postgres', 'mysqlx'),
    'results.share_database': ('maybe', '2'),
    'usage.half_life': ('', 'week', '-5', '1.5', '7 days', '1:30', '1:30:30', '1:60:00', '1-2-3',
                        '7-', '-0', '99999999999999999999', '0x10'),
    'usage.decay': ('', 'step', 'steps'),  # not for source type slurmdbd
    'usage.reset_period': ('fortnightly', '-1', '0', '1:30'),
    'usage.reset_anchor': ('yesterday', '2024-13-01', '2024-02-30', '2024-1-1', '2024-01-01 00:00'),
    'usage.time_zone': ('Mars/Olympus', '../../etc/passwd', '/etc/localtime'),
    'usage.charge': ('tres', 'cpus', 'weighted'),
    'usage.tres_weights': ('CPU', '=1', 'CPU=', 'CPU=x', 'CPU=-1', 'CPU=1,5X', 'CPU=1.0X', 'CPU=1 G', '/gpu=1',
                           'gres/=1', 'CPU:1', 'CPU=inf', 'CPU=nan', 'CPU=1,MAX',
                           'MAX_TRES=1x', 'CPU=1e999',
                           ','.join(f'gres/g{i}=1' for i in range(65))),
    'usage.qos_factors': ('high', 'high:', ':2', 'high:-1', 'high:x', 'high:1,high:2',
                          'high:1.2.3', 'high=2'),
    'usage.partition_usage_factors': ('gpu', 'gpu:inf', 'gpu:1e', 'a:b', 'gpu:0.5,gpu:0.5'),
    'usage.suspended': ('yes', '', 'omit'),
    'usage.horizon': ('', '0', 'never', '-1', '90 y', '99999999-0'),
    'usage.open_job_cap': ('1 day', '-1'),
    'usage.checkpoint_after': ('1 y', '-1'),
    'usage.full_every': ('weekly', '1:2'),
    'report.alert_after': ('', 'soon', '-1 s', '1.5 h', '1 week', '40000 d'),
    'notify.from': ('root\tBcc', 'a b', 'a@b@c', '-f', 'Ann <ann@hpc.example>', 'a@', '@b', 'a@-b', 'a,b'),
    'notify.domain': ('a b', '@hpc.example', '.example', 'example.', '-x', 'a,b'),
    'notify.mailer': ('', 'sendmail -t', './sendmail'),
    'notify.statement': ('perhaps', ''),
    'notify.budget': ('0', '-1', '80 %', 'all', '', 'nan', '1001'),
    'notify.share': ('0', '0.5', 'twice', '', 'inf'),
    'fairshare.algorithm': ('fairest', ''),
    'fairshare.conformance': ('slurm', ''),
    'fairshare.dampening': ('0', '-1', '1,5', 'nan', '2x'),
    'fairshare.capacity': ('-3', 'inf', '0', '1,024', 'auto 3'),
    'fairshare.capacity_half_lives': ('0', '-2', 'two'),
    'fairshare.pbs_minimum_usage': ('-1', 'one', 'nan'),
    'priority.weight_age': ('-1', '4294967296', '1.5', '1k', ''),
    'priority.weight_tres': ('CPU', 'CPU=', '=5', 'CPU=5x', 'CPU=K', 'CPU=1 Mem=2', 'CPU:5'),
    'priority.max_age': ('', '1:30', 'never', '99999999-0'),
    'priority.favor_small': ('maybe', ''),
    'priority.partition_factors': ('gpu', 'gpu:', ':5', 'gpu:-1', 'gpu:1.5', 'gpu:65536',
                                   'gpu:1, gpu:2', 'gpu=5', 'gpu:0.5, p:2', 'gpu:1e-1'),
    'priority.qos_factors': ('high', 'high:', 'high:2', 'high:1.01', 'high:-0.5', 'high:0.5, high:0.5',
                             'high:nan', 'high=1'),
    'priority.flags': ('INCR', 'MAX_TRES MAX_TRES_GRES', 'DEPTH_OBLIVIOUS', 'no_fair_tree'),
}

# Names of settings that other releases have or may have.
UNKNOWN = ('usage.partition_factors', 'source.password',
           'results.password', 'priority.weight_site', 'slurm.path', 'report.private',
           'fairshare.colour')


def values(place):
    place.site()
    place.settings()
    place.succeed('init')
    place.succeed('run', '--now', NOW)
    tried = 0
    for name, bad in BAD_VALUES.items():
        section, key = name.split('.')
        for value in bad:
            place.settings({name: value})
            place.ends(78, f"[{section}] {key} = '{value}' is rejected", 'run', '--now', NOW + 1)
            place.says(f"the error names {key} for '{value}'", key)
            tried += 1
    tap.ok(tried >= 60, f'{tried} invalid values were tested')
    for name, value, said in (('usage.reset_period', '0', 'must be none, or above 0 and at most a century'),
                              ('report.alert_after', '40000 d', 'must be at most a century'),
                              ('source.deadline', '0', 'must be at least 1 s'),
                              ('source.deadline', '2 d', 'must be at most a day'),
                              ('usage.tres_weights', 'CPU=-1', 'it may have the unit K, M, G, T or P\n'),
                              ('priority.flags', 'FAIR_TREE', '[fairshare] algorithm')):
        place.settings({name: value})
        place.ends(78, f'{name} = {value} is rejected', 'check')
        place.says(f'the error for {name} = {value} has the reason', said)
    for name in UNKNOWN:
        place.settings({name: '1'})
        place.ends(78, f'the unknown setting {name} is rejected', 'check')
        place.says(f'the error names the unknown setting {name}', name.split('.')[1])
    for wrong, meant in (('usage.halflife', 'half_life'), ('fairshare.algoritm', 'algorithm'),
                         ('source.databse', 'database'),
                         ('usage.timezone', 'time_zone')):
        place.settings({wrong: '1'})
        place.ends(78, f'the misspelt {wrong} is rejected', 'check')
        place.says(f'the error for {wrong} proposes {meant}', f"'{meant}'")
    for wrong, section in (('results.layout', 'source'), ('results.max_lag', 'source'), ('usage.algorithm', 'fairshare')):
        place.settings({wrong: '1'})
        place.ends(78, f'{wrong} in the wrong section is rejected', 'check')
        place.says(f'the error for {wrong} names the correct section', f"'{wrong.split('.')[1]}'", f'it belongs in [{section}]')
    for name in ('source.driver', 'source.database', 'results.driver', 'results.database'):
        place.settings({name: None})
        place.ends(78, f'{name} is required', 'check')
        place.says(f'the error names the missing {name}', name.split('.')[1])
    tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(NOW,)],
             'runs with invalid settings publish nothing')


def good_values(place):
    place.site('root/\n  u\njob root.u start=1750000000 end=1750100000 billing=3\n')
    seen = {}
    for text in ('7-0', '10080', '168:00:00', '7-0:00:00', '7-00:00:00', '"7-0"'):
        place.settings({'usage.half_life': text})
        place.succeed('init')
        place.ends(0, f'half_life = {text} is accepted', 'run', '--now', NOW, '--replace')
        seen[text] = place.usage('root.u')[0]
    tap.ok(len(seen) == 6 and len(set(seen.values())) == 1,
           'all spellings of seven days give the same bits', seen)
    place.settings({'usage.half_life': '90'})
    place.succeed('run', '--now', NOW, '--replace')
    short = place.usage('root.u')[0]
    for text in ('1:30:00', '0-1:30:00', '90m', '5400 s'):
        place.settings({'usage.half_life': text})
        place.succeed('run', '--now', NOW, '--replace')
        tap.ok(place.usage('root.u')[0] == short != seen['7-0'],
               f'half_life = {text} is ninety minutes')
    place.settings({'fairshare.algorithm': 'Classic', 'usage.time_zone': 'Europe/Berlin',
                    'usage.reset_anchor': '2024-02-29T12:30', 'usage.charge': 'TRES',
                    'usage.tres_weights': 'max_tres, CPU=1, Mem=.25g,gres/gpu:a100 = 2e-3',
                    'usage.qos_factors': 'high:2', 'usage.partition_usage_factors': '"a#b:2, c d:.5"',
                    'usage.suspended': 'Omitted', 'usage.horizon': '90-0',
                    'source.deadline': '2 m', 'source.clusters': 'tiny',
                    'fairshare.capacity': 'auto', 'priority.flags': 'incr_only, MAX_TRES_GRES',
                    'priority.weight_tres': 'CPU=1000, Mem=0.5T, GRES/gpu:a100=-0.5',
                    'priority.partition_factors': 'gpu:65535, a:b:0', 'priority.max_age': '0'})
    place.ends(0, 'values of every kind are accepted', 'run', '--now', NOW, '--replace')
    for text, warned in (('30', True), ('30s', False), ('1439', True), ('1440', False), ('0', False),
                         ('0:30:00', False)):
        place.settings({'usage.half_life': text})
        place.run('check')
        tap.same(f'half_life = {text} is a half-life of {text} minutes' in place.out, warned,
                 f"half_life = {text} causes {'a' if warned else 'no'} warning")
    place.settings({'usage.half_life': '30s', 'usage.horizon': '2w', 'usage.checkpoint_after': '30s',
                    'usage.reset_period': '4w', 'usage.open_job_cap': '1 d', 'source.deadline': '1m',
                    'retention.history_interval': '1d', 'priority.max_age': '1w',
                    'priority.partition_factors': 'gpu:1.0, p:.25', 'priority.qos_factors': 'high:1.0, low:0'})
    place.ends(0, 'all durations accept a unit', 'run', '--now', NOW, '--replace')
    place.ends(0, 'values with units are accepted again', 'run', '--now', NOW, '--replace')


def layouts(place):
    place.site()
    place.settings({'source.layout': 'SlurmDBD'})
    place.succeed('init')
    place.ends(0, 'the name of source type slurmdbd is accepted in any case', 'run', '--now', NOW)
    place.settings({'source.layout': 'PLAIN'})
    place.ends(78, 'the name of source type plain is accepted in any case', 'run', '--now', NOW)


def former_names(place):
    place.ready()
    place.settings({'usage.seal_after': '2-0'})
    place.succeed('run', '--now', NOW)
    tap.same(place.err, '', 'a run accepts the former name of a setting without a warning')
    place.succeed('check')
    tap.ok('note: [usage] seal_after is now called checkpoint_after' in place.out, 'check names the new name of the setting',
           place.out)
    (recorded,), = place.query('SELECT text FROM fairmill_settings')
    tap.ok('\nusage.checkpoint_after = 2-0\n' in recorded, 'the run records the value with the new name', recorded)
    place.settings({'usage.checkpoint_after': '2-0'})
    place.succeed('check')
    tap.ok('is now called' not in place.out, 'check has no note if the file uses the new name', place.out)
    place.settings({'usage.seal_after': '2-0', 'usage.checkpoint_after': '2-0'})
    place.ends(78, 'a file with both names of a setting is rejected', 'check')
    place.says('the error has both names and the line', "'seal_after'", "'checkpoint_after'", 'line ')
    place.settings({'usage.seal_after': '1 y'})
    place.ends(78, 'an invalid value with the former name is rejected', 'check')
    place.says('the error for the invalid value has both names', 'seal_after', "checkpoint_after = '1 y'")


def zones(place):
    """Tests the variable TZ, which is used with time_zone = system."""
    place.ready()
    place.settings({'usage.time_zone': 'system'})
    before = os.environ.get('TZ')
    try:
        with open(place.path('zone'), 'wb') as file:
            file.write(b'TZif')
        for zone in ('Nowhere/Bad', ':Nowhere/Bad', '/nowhere', 'X', '<+03', '/etc/passwd', ':/etc/passwd', '/etc', 'zone.tab',
                     place.path('zone')):
            os.environ['TZ'] = zone
            place.ends(78, f'TZ={zone} is rejected', 'check')
            place.says(f'the error names TZ={zone}', 'time_zone', f"'{zone}'")
        for zone in ('', 'UTC', 'Europe/Berlin', ':Europe/Berlin', 'CET-1CEST,M3.5.0,M10.5.0/3', '<+03>-3',
                     '/usr/share/zoneinfo/Europe/Berlin'):
            os.environ['TZ'] = zone
            place.ends(0, f'TZ={zone} is accepted', 'check')
        for zone in ('zone.tab', 'tzdata.zi', 'Europe', '/etc/passwd'):
            place.settings({'usage.time_zone': zone})
            place.ends(78, f'time_zone = {zone}, a file without a time zone, is rejected', 'check')
        os.environ['TZ'] = 'Nowhere/Bad'
        place.settings({'usage.time_zone': 'UTC'})
        place.ends(0, 'TZ is ignored if the settings have a time zone', 'check')
    finally:
        os.environ.pop('TZ')
        if before is not None:
            os.environ['TZ'] = before


def raw(place, text, statement, said=''):
    path = place.path('raw.conf')
    with open(path, 'wb') as file:
        file.write(text)
    os.chmod(path, 0o644)
    place.ends(78, statement, 'check', settings='raw.conf')
    if said:
        place.says(f'the error names the cause: {said}', said)


def files(place):
    place.site()
    place.settings()
    with open(place.path('fm.conf'), 'rb') as file:
        good = file.read()
    raw(place, b'\xef\xbb\xbf' + good, 'a byte-order mark is rejected', 'byte-order')
    raw(place, good.replace(b'half_life = 0', b'half_life = 0\nhalf_life = 7-0'),
        'a key that occurs twice is rejected', 'half_life')
    raw(place, good.replace(b'half_life = 0', b'half_life = 0\nHalf_Life = 7-0'),
        'a key that occurs twice in different case is rejected', 'alf_')
    raw(place, good + b'[usage]\ncharge = cpu\n', 'a section that occurs twice is rejected',
        'usage')
    raw(place, good + b'[Usage]\ncharge = cpu\n', 'a section that occurs twice in different case is rejected',
        'sage')
    raw(place, b'driver = sqlite\n' + good, 'a key before the first section is rejected', 'driver')
    raw(place, good.replace(b'half_life = 0', b'half_life'),
        'a line without section and value is rejected', 'half_life')
    raw(place, good.replace(b'half_life = 0', b'half_life = 0\0'), 'a NUL byte is rejected')
    raw(place, good + b'; ' + b'x' * 5000 + b'\n',
        'a line that is too long for the parser is rejected')
    raw(place, good + b'usage:charge = cpu\n', 'a key of another section with a colon is rejected')
    raw(place, good + b'[usage\n', 'a section without a closing bracket is rejected')
    for behind in (b' # a comment', b'junk', b'\t; x'):
        raw(place, b'# first\n[slurm]' + behind + b'\n' + good,
            f'a section followed by text is rejected ({behind})', 'line 2: ')
    # iniparser 4.2 removes a backslash in quotes, and 4.1 does not.
    for value in (b'"a\\b"', b'"a\\\\b"', b"'a\\b'", b'"a\\"'):
        raw(place, b'[source]\nclusters = ' + value + b'\n' + good.partition(b'[source]\n')[2],
            f'a backslash in quotes is rejected ({value})', 'line 2: a value with a backslash')
    raw(place, b'', 'an empty file is rejected', 'driver')
    place.ends(78, 'a missing file is rejected', 'check', settings='nowhere.conf')
    place.says('the error names the missing file, and a command that creates settings', 'nowhere.conf', 'fairmill setup')
    os.mkdir(place.path('folder.conf'))
    place.ends(78, 'a directory is rejected', 'check', settings='folder.conf')
    place.settings()
    for mode, who in ((0o664, 'its group'), (0o646, 'everyone')):
        os.chmod(place.path('fm.conf'), mode)
        place.ends(78, f'a file that {who} may write to is rejected', 'init')
        place.says(f'the error names the file that {who} may write to', 'fm.conf')
    tap.ok(not os.path.exists(place.path('r.db')),
           'no results were created with a file that others may write to')


def many_sections(place):
    with open(place.path('many.conf'), 'w', encoding='ascii') as file:
        file.write(''.join(f'[unknown{i}]\nkey = 1\n' for i in range(60000)))
    place.ends(78, 'settings with 60,000 unknown sections are rejected', 'status', settings='many.conf')


def which_file(place):
    """Tests which settings file is read."""
    place.ready()
    place.settings({'fairshare.algorithm': 'nonsense'}, name='bad.conf')
    environment = dict(os.environ, FAIRMILL_CONF=place.path('fm.conf'))
    place.ends(0, 'FAIRMILL_CONF names the settings file', 'run', '--now', NOW, settings=None,
               env=environment)
    place.ends(78, '-c overrides FAIRMILL_CONF', 'run', '--now', NOW, settings='bad.conf',
               env=environment)


def body():
    for part in (values, good_values, layouts, former_names, zones, files, many_sections, which_file):
        with Place() as place:
            part(place)


tap.main(body)
