#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""All commands have one grammar: options, lists and times have the same meaning in each of them."""

import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import manual
import tap
from place import NOW, Place
from program import TOP

# The arguments without which a command fails before it reads the settings.
ARGUMENTS = {'explain': ('alice',), 'forecast': ('alice',), 'history': ('alice',), 'diff': ('-',), 'shares': ('diff', '-'),
             'forget': ('--cluster', 'tiny'), 'ledger': ('list',), 'import': ('pbs', '--accounting', '.')}
# The short options of sshare(1) and sprio(1), and their long options in the manual.
SSHARE = dict(a='all', A='accounts', l='long', m='partition', M='clusters', n='noheader', o='format', p='parsable',
              P='parsable2', u='users', U='Users', v='verbose', V='version')
SPRIO = dict(h='noheader', j='jobs', l='long', M='clusters', n='norm', o='format', p='partition', S='sort', u='user',
             v='verbose', V='version', w='weights')
OPTION = re.compile(r' +(?:-(\w), |    )?--([A-Za-z][a-z=-]*)(?: (\S+))?(?:  |$)')
TWO = '''
cluster tiny
root/
  physics/   60
    alice    10  use 300
    bob      10  use 100
  chemistry/ 40
    carol     1  use 200
cluster huge
root/
  physics/   60
    dora     10  use 300
'''


def help_of(place, *command):
    place.succeed('help', *command, settings=None)
    return place.out


def options_of(place, command):
    """All options of a command: (short option or None, long option, name of the value or None)."""
    found = [OPTION.match(line) for line in help_of(place, '--all-options', command).splitlines()]
    return [match.groups() for match in found if match]


def lettered(options):
    return {letter: name for letter, name, _ in options if letter}


def helps(place, command):
    text = help_of(place, command)
    for option in ('--help',) if command == 'prio' else ('--help', '-h'):
        for arguments in ((command, option), (command, *ARGUMENTS.get(command, ()), option)):
            place.succeed(*arguments, settings=None)
            tap.same(place.out, text, f'{" ".join(arguments)} prints the help')
    tap.ok(text.startswith(f'usage: fairmill {command}'), f'the help of {command} begins with its usage', text)
    for option in ('-V', '--version'):
        place.succeed(command, option, settings=None)
        tap.ok(place.out.startswith('fairmill '), f'{command} {option} prints the version', place.out)


def settings_anywhere(place, command):
    more = ARGUMENTS.get(command, ())
    file = place.path('none.conf')
    said = set()
    for arguments in (('-c', file, command, *more), ('--config=' + file, command, *more), (command, '-c', file, *more),
                      (command, *more, '-c' + file), (command, *more, '--config', file)):
        said.add((place.run(*arguments, settings=None), place.err, place.out))
    tap.ok(len(said) == 1 and file in str(said), f'{command} accepts -c before and after its name', *said)


def options_are_known(place, command):
    for letter, name, value in options_of(place, command):
        names = ['--' + name]
        if value == 'NAMES' and name.endswith('s'):
            names.append('--' + name[:-1])
        if value and name in ('cluster', 'user', 'account', 'partition'):
            names.append('--' + name + 's')
        if letter:
            names.append('-' + letter)
        more = ARGUMENTS.get(command, ())
        if command == 'forget' and name == 'cluster':
            more = ()
        said = set()
        for spelling in names:
            place.run('-c', 'none.conf', command, *more, spelling, *(['x'] if value else []), settings=None)
            said.add((place.out, place.err))
        tap.ok(len(said) == 1 and 'unknown option' not in str(said), f'{command} accepts {", ".join(names)} as one option', *said)


def foreign_letters(place, command):
    tool, letters = ('sprio', SPRIO) if command == 'prio' else ('sshare', SSHARE)
    own = lettered(options_of(place, command))
    for letter, name in letters.items():
        if letter in own:
            alike = {own[letter], own[letter].rstrip('s')} & {name, name.rstrip('s')}
            same_thing = {'format': 'columns', 'parsable': 'parsable-with-bar', 'parsable2': 'parsable'}.get(name)
            file = letter == 'o' and own[letter] == 'output'
            tap.ok(alike or own[letter] == same_thing or file, f'{command} -{letter} means the same as {tool} -{letter}', own)
        else:
            place.ends(64, f'{command} -{letter} is rejected', command, *ARGUMENTS.get(command, ()), '-' + letter)
            place.says(f'the error for {command} -{letter} names the option of {tool}', f"'-{letter}'", f'in {tool} --{name}: ')


def options_are_in_manual(place, command):
    """Each option of the help is an item of the command's page.

    It may also be an item of fairmill-cli(7) that the page names."""
    text = manual.options_section(TOP, command)
    own = [set(item) for item in manual.items(text)]
    options = options_of(place, command)
    spellings = {'--' + name for _, name, _ in options} | {'-' + letter for letter in lettered(options)}
    documented = set().union(*own, *manual.shared_items(TOP, command))
    tap.same(sorted(spellings - documented), [], f'the manual page of {command} has each option of its help')
    # An item may add synonyms to an option.
    wrong = [sorted(item) for item in own if item and not item & spellings]
    # The text after the last item names options of fairmill-cli(7).
    named = set(manual.SPELLING.findall(text.rpartition('\n=back\n')[2]))
    tap.same((wrong, sorted(named - spellings)), ([], []), f'the help of {command} has each option of its manual page')


def help_is_short(place, commands):
    """Each phrase of the help has at most 60 characters, and each line fits a terminal."""
    tap.same([line for command in ('', *commands) for line in help_of(place, *command.split()).splitlines()
              if len(line) > 79 and not line.endswith('/fairmill.conf')], [], 'no line of the help is longer than 79 characters')
    summaries = re.findall(r'^  [a-z]+ +(.*)$', help_of(place), re.M)
    phrases = []
    for command in commands:
        text = re.sub(r'\n {20,}', ' ', help_of(place, '--all-options', command))
        phrases += [' '.join(phrase.split()) for phrase in re.findall(r'^ +(?:-\w, )?--\w\S*(?: [A-Z]{2}\S*)? +(.*)$', text, re.M)]
    tap.ok(len(summaries) > 20 and len(phrases) > 200, 'the phrases of the help are found', summaries, phrases)
    tap.same([phrase for phrase in summaries + phrases if len(phrase) > 60 or not re.match('[A-Z]', phrase)
              or phrase.endswith('.')], [], 'each phrase begins with a capital and has at most 60 characters and no full stop')


def refused(place):
    for arguments, said in ((('show', '-t'), ('pbsfs', '--pbs')), (('show', '-g', 'x'), ('in pbsfs: one entity',)),
                            (('show', '-s', 'x'), ('pbsfs', 'ledger')), (('show', '-d'), ('pbsfs', 'run')),
                            (('show', '-e'), ('pbsfs', 'forget')), (('prio', '--federation'), ('sprio', '--clusters')),
                            (('prio', '--sibling'), ('sprio',)), (('prio', '--local'), ('sprio',)),
                            (('run', '-n'), ('in sshare --noheader: ', '--dry-run')),
                            (('compare', '--top', '3', '--csv', '--json'), ('--csv and --json are mutually exclusive',)),
                            (('budget', '--json=x'), ("'--json' does not take a value",)),
                            (('show', '--json=x'), ("--json accepts only the value 'slurm', not 'x'",)),
                            (('show', '-M'), ("'-M' requires a value",)),
                            (('show', '--pa'), ("'--pa' is ambiguous: --partition, --parsable, --parsable-with-bar",)),
                            (('show', '-A', 'physics,,chemistry'), ("'physics,,chemistry'", 'names')),
                            (('whatif', '-M', 'tiny,huge', '--shares', 'alice=5'), ('cluster',)),
                            (('forget', '-M', 'tiny', '-M', 'huge'), ("accepts one name, not 'tiny' and 'huge'",)),
                            (('history', 'bob', '-u'), ("option '-u' requires a value",)),
                            (('forecast', 'bob', '-u', '0.5'), ("NAME 'bob' cannot be combined with --users",)),
                            (('whatif', '-m', 'a=b'), ('in sshare --partition: ', '--move')),
                            (('ledger', 'debit', '5', '-n'), ('does not accept --noheader, which is for list; write --dry-run',)),
                            (('ledger', 'debit', '5', '-u', 'alice', '-p', 'gpu'), ("unexpected argument 'gpu'; write --partition",)),
                            (('compare', '-n', '5'), ("there is no user or account '5'",)),
                            (('ledger', 'debit', '5', '-p', 'x'), ("unexpected argument 'x'",))):
        place.ends(64, f'{" ".join(arguments)} is rejected', *arguments)
        place.says(f'the error for {" ".join(arguments)} says why', *said)


def lists(place):
    """A list with commas and a repeated option are the same, in any order of the arguments."""
    for alike in ((('show', '-M', 'tiny,huge'), ('show', '-M', 'tiny', '-M', 'huge'), ('show', '--cluster=tiny,huge'),
                   ('show', '--clusters', 'huge', '--cluster', 'tiny'), ('show',)),
                  (('show', '-PA', 'physics,chemistry', '-M', 'tiny'),
                   ('show', '-P', '--account', 'physics', '--accounts', 'chemistry', '-Mtiny'),
                   ('show', '-A', 'chemistry', '--parsable2', '-A', 'physics', '--clus=tiny')),
                  (('show', '-u', 'alice,carol'), ('show', '--user', 'alice', '--users=carol')),
                  (('show', '-P', '-U', '-u', 'alice,carol'), ('show', '-PUualice', '-u', 'carol')),
                  (('explain', 'alice', '--cluster', 'tiny'), ('explain', '-M', 'tiny', 'alice'),
                   ('explain', '-M', 'tiny,huge', '--', 'alice')),
                  (('ledger', 'list', '-M', 'tiny,huge'), ('ledger', '-M', 'tiny', 'list', '--cluster', 'huge'))):
        outputs = []
        for arguments in alike:
            place.succeed(*arguments)
            outputs.append(place.out)
        tap.ok(len(set(outputs)) == 1, f'{" ".join(alike[0])} can be written in {len(alike)} ways', *outputs)


def times(place):
    """Each form is the time that sacct reads, and a printed time can be given as an option."""
    forms = ('2026-11-01T10:00:05', '2026-11-01T10:00', '2026-11-01 10:00', '2026-11-01', '11/01/26', '11.01.26',
             '110126', '11/01', '11.01', '1101', '1101-10:00', '11/01-10:00:05', '10:00', '10:00:05', '10:00 PM',
             '12:00am', 'midnight', 'noon', 'elevenses', 'fika', 'teatime', 'today', 'tomorrow', 'now', 'now-3days',
             'now+1hour', 'now-90', 'now-2weeks', 'noon 11/01', 'uts1761991200')
    sacct = shutil.which('sacct')
    with open(place.path('slurm.conf'), 'w', encoding='utf-8') as file:
        file.write('ClusterName=x\nSlurmctldHost=localhost\nAccountingStorageType=accounting_storage/slurmdbd\n'
                   'NodeName=n\nPartitionName=p Nodes=n\n')
    environment = dict(os.environ, SLURM_CONF=place.path('slurm.conf'), TZ='UTC')
    place.settings({'usage.time_zone': 'UTC'})
    dated = None
    for form in forms:
        place.succeed('ledger', 'credit', 1, '-u', 'bob', '-M', 'tiny', '--at', form, '-w', 'x', '--dry-run')
        dated = re.search(r'^dated (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)$', place.out, re.M)
        if not tap.ok(dated, f'{form} is a time', place.out):
            continue
        if sacct and form != 'elevenses':  # newer Slurms have it
            got = subprocess.run([sacct, '-vv', '-S', form, '-E', 'now+5000days'], capture_output=True, text=True,
                                 env=environment, check=False).stderr
            span = re.search(r'window from (.*) to ', got)
            theirs = time.mktime(time.strptime(span.group(1))) if span else 0
            ours = time.mktime(time.strptime(dated.group(1), '%Y-%m-%dT%H:%M:%S'))
            tap.ok(abs(theirs - ours) < 30, f'{form} is the time that sacct reads', got[:200], dated.group(1))
    first = place.out
    place.succeed('ledger', 'credit', 1, '-u', 'bob', '-M', 'tiny', '--at', dated.group(1), '-w', 'x', '--dry-run')
    tap.same(place.out.splitlines()[:2], first.splitlines()[:2], 'a printed time can be given as an option')
    for form in ('someday', '2026-02-30', 'now-3moons', '25:00', '10:00 11:00', ''):
        place.ends(64, f"'{form}' is rejected as a time", 'ledger', 'credit', 1, '-u', 'bob', '-M', 'tiny', '--at', form, '-w', 'x',
                   '--dry-run')


def periods(place):
    """The first second of a period, in the time zone of the settings."""
    place.settings({'usage.time_zone': 'Europe/Berlin'})
    at_now = {**os.environ, 'FAIRMILL_NOW': str(NOW)}
    for form, first in (('2026', '2026-01-01'), ('2026-11', '2026-11-01'), ('last month', '2025-05-01'), ('THIS-month', '2025-06-01'),
                        ('this-week', '2025-06-16'), ('last-quarter', '2025-01-01'), ('yesterday', '2025-06-20'), ('last-year', '2024-01-01')):
        place.succeed('ledger', 'credit', 1, '-u', 'bob', '-M', 'tiny', '--at', form, '-w', 'x', '--dry-run', env=at_now)
        tap.like(place.out, rf'(?m)^dated {first}T00:00:00$', f'{form} is the first second of its period')
    place.settings({'usage.time_zone': 'UTC'})
    place.succeed('statement', '--since', 'this week', '--until', 'today', '--json', env=at_now)
    by_words = place.out
    tap.like(by_words, '"from": 1750032000, "to": 1750464000', 'a week begins on Monday')
    place.succeed('statement', '--since', '2025-06-16', '--until', '2025-06-21', '--json')
    tap.same(by_words, place.out, 'a period in words is the period of its dates')


def wrong_times(place, commands):
    """Each option that accepts a time, with text that is none."""
    needed = {**ARGUMENTS, 'backtest': ('--half-life=1d',), 'diff': ('-', '--at', 'now', '-Mtiny'), 'whatif': ('-Mtiny',),
              'import': ('pbs', '--cluster=tiny', '--resource-group', '.'), 'ledger': ('credit', 1, '-ubob', '-Mtiny', '-wx', '--dry-run')}
    tried = 0
    for command in commands:
        for _, option, value in options_of(place, command):
            if value != 'TIME':
                continue
            arguments = ('list',) if (command, option) in (('ledger', 'since'), ('ledger', 'until')) else needed.get(command, ())
            place.ends(64, f'{command} --{option} rejects a text that is not a time', command, *arguments, f'--{option}', 'someday')
            place.says(f'{command} --{option} lists the forms of a time in one line',
                       f"--{option} 'someday': must be a time from 1970 to 9999, such as 2026-11-01T10:00, 2026-11, 2026, yesterday, "
                       'this-week, last-month, 11/01/26, now-3days or epoch seconds')
            tried += 1
    tap.ok(tried > 15, 'many options accept a time', tried)


def head(place, *arguments):
    place.succeed(*arguments)
    return [line for line in place.out.splitlines() if line and not line.startswith(('Cluster ', 'CLUSTER: '))][0]


def in_order(wanted, there):
    rest = iter(there)
    return all(word in rest for word in wanted)


def sshare_lines(place):
    """Command lines of sshare(1), with `show` in its place, print at least the same columns."""
    usual = ['Account', 'User', 'RawShares', 'NormShares', 'RawUsage', 'EffectvUsage', 'FairShare']
    long = ['Account', 'User', 'RawShares', 'NormShares', 'RawUsage', 'NormUsage', 'EffectvUsage', 'FairShare', 'LevelFS']
    for line, columns in (('sshare', usual), ('sshare -a', usual), ('sshare -l', long), ('sshare -al -M tiny', long),
                          ('sshare -A physics -a', usual), ('sshare --accounts=physics,chemistry', usual),
                          ('sshare --all --long --verbose', long), ('sshare -u alice,bob', usual),
                          ('sshare -a -m', usual)):
        got = head(place, *line.replace('sshare', 'show', 1).split())
        tap.ok(in_order(columns, got.split()), f'{line} has its columns', got)
    for line, columns in (('sshare -P -a', usual), ('sshare -lPa', long), ('sshare --parsable2 --all', usual),
                          ('sshare -p -a -l', long), ('sshare --parsable --users=alice', usual)):
        got = head(place, *line.replace('sshare', 'show', 1).split())
        tap.ok(in_order(columns, got.split('|')), f'{line} has its columns', got)
        tap.ok(got.endswith('|') == ('-p ' in line), f'{line} ends lines with a bar only with -p', got)
    tap.same(head(place, 'show', '-o', 'account,user%10', '-M', 'tiny').split(), ['Account', 'User'],
             'sshare -o account,user%10 has these columns')
    tap.same(head(place, 'show', '-P', '-o', 'User,fairshare,Account', '-M', 'tiny'), 'User|FairShare|Account',
             'sshare -P --format=User,fairshare,Account has these columns')
    place.succeed('show', '-nP', '-M', 'tiny', '-U', '-o', 'user')
    tap.same(sorted(place.out.split()), ['alice', 'bob', 'carol'], 'sshare -nPUo user prints only users')


def sprio_lines(place):
    """Command lines of sprio(1), with `prio` in its place, print the first columns of its manual."""
    for line, columns in (('sprio', ['JOBID']), ('sprio -l', ['JOBID', 'PARTITION', 'USER', 'PRIORITY']),
                          ('sprio -n', ['JOBID']), ('sprio -w', ['JOBID', 'PARTITION', 'PRIORITY']),
                          ('sprio -o %i_%u', ['JOBID_USER']), ('sprio -v -u alice,bob', ['USER']),
                          ('sprio -S u,-y', ['JOBID']), ('sprio -p short -M tiny', ['JOBID'])):
        got = head(place, *line.replace('sprio', 'prio', 1).split())
        tap.ok(in_order(columns, got.split()), f'{line} has its columns', got)
    for line in ('sprio -h', 'sprio --noheader -l', 'sprio -hn -u alice'):
        place.succeed(*line.replace('sprio', 'prio', 1).split())
        tap.ok('JOBID' not in place.out, f'{line} has no headings', place.out)


def body():
    with Place() as place:
        place.ready(TWO)
        place.succeed('run', '--now', NOW)
        commands = [name for name in re.findall(r'^  ([a-z]+) ', help_of(place), re.M) if name != 'help']
        tap.ok(len(commands) > 10, 'help lists the commands', commands)
        groups = re.findall(r'^[A-Z].*:\n((?:  [a-z]+ .*\n)+)(?=\n)', help_of(place), re.M)
        tap.same([line.split()[0] for group in groups for line in group.splitlines()], [*commands, 'help'],
                 'each command is in a group with a heading')
        for spelling in (('--help',), ('-h',), ('help', '--help')):
            place.succeed(*spelling, settings=None)
            tap.same(place.out, help_of(place), f'{" ".join(spelling)} prints the list of commands')
        place.ends(64, 'help for an unknown command is rejected', 'help', 'tune')
        tap.ok('usage: fairmill help [COMMAND]' in help_of(place, 'help'), '`fairmill help help` prints the usage of help', place.out)
        place.ends(64, 'a misspelled help is rejected', 'halp')
        place.says('the error for a misspelled help suggests help', "did you mean 'help'?")
        for command in commands:
            helps(place, command)
            settings_anywhere(place, command)
            options_are_known(place, command)
            foreign_letters(place, command)
            options_are_in_manual(place, command)
        help_is_short(place, commands)
        refused(place)
        lists(place)
        sshare_lines(place)
        sprio_lines(place)
        times(place)
        periods(place)
        wrong_times(place, commands)


tap.main(body)
