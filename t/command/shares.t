#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill shares`: writing and comparing files in the format of sacctmgr."""

import csv
import io
import json
import os
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import Place

SITE = '''
cluster mill
root/            5
  root           1
  physics/      60
    alice       10
    bob@gpu     parent
    bob          3
    gone         9  deleted
    optics/     parent
      alice      2
  chemistry/    40
    carol        1
'''

FILE = '''Cluster - 'mill':Fairshare=5
Parent - 'root'
User - 'root':Fairshare=1
Account - 'chemistry':Fairshare=40
Account - 'physics':Fairshare=60
Parent - 'chemistry'
User - 'carol':Fairshare=1
Parent - 'physics'
User - 'alice':DefaultAccount='optics':Fairshare=10
User - 'bob':Fairshare=3
User - 'bob':Partition='gpu':Fairshare=parent
Account - 'optics':Fairshare=parent
Parent - 'optics'
User - 'alice':DefaultAccount='optics':Fairshare=2:Priority=7
'''


def diff(place, text, *arguments):
    """Runs `shares diff` and returns the exit status.  The output is in out and err."""
    with open(place.path('file'), 'wb') as file:
        file.write(text.encode('utf-8', 'surrogateescape'))
    return place.run('shares', 'diff', 'file', *arguments)


def rows(place, text):
    """Returns the differences: (account, user, partition, difference, file, database, line)."""
    diff(place, text, '--csv')
    return [tuple(row[1:]) for row in csv.reader(io.StringIO(place.out))][1:]


def commands(place, text):
    diff(place, text, '--commands')
    return [' '.join(shlex.split(line)[2:]) for line in place.out.splitlines()]


def exporting(place):
    place.ends(0, 'shares export succeeds', 'shares', 'export')
    tap.same(place.out, FILE, 'the file has the format of sacctmgr load, always in the same order')
    tap.same((diff(place, FILE), place.out, place.err), (0, '', ''), 'the exported file has no differences')
    place.change("UPDATE mill_assoc_table SET user = ? WHERE user = 'carol'", "o'neil")
    place.ends(65, 'a name that the format cannot represent is rejected', 'shares', 'export')
    place.says('the error names the user and the quote', "user 'o'neil'", 'a quote')
    tap.same(place.out, '', 'the rejected export prints nothing')
    place.change("UPDATE mill_assoc_table SET user = 'carol' WHERE user = ?", "o'neil")


def lying(place):
    """Tests a user whose account does not exist."""
    place.change("UPDATE mill_assoc_table SET acct = 'ghost' WHERE user = 'carol'")
    place.ends(65, 'export rejects a user whose account does not exist', 'shares', 'export')
    place.says('the error names the missing account', "its account 'ghost' does not exist")
    tap.same((diff(place, FILE), 'ghost' in place.out), (1, True), 'diff reports a user whose account does not exist')
    place.change("UPDATE mill_assoc_table SET acct = 'chemistry' WHERE user = 'carol'")


def reading(place):
    dumped = '''# To edit this file start with a cluster line for the new cluster
Cluster - 'mill':Fairshare=5:QOS='normal'
Parent - 'root'
Account - 'chemistry':Description='c: c# "x"':Organization='o':Fairshare=40:GrpTRESMins=cpu=100,mem=3M
Account - 'physics':Fairshare=60:MaxJobs=3

Parent - 'chemistry'
User - 'carol':DefaultAccount='(null)':AdminLevel='Operator':Coordinator='physics':Fairshare=1
Parent - physics
User - 'Alice':Shares=10
User - "bob" # comment
User - 'bob':P='GPU':\\
Fairshare=Parent
account - 'OPTICS':F=2147483647
Parent - 'optics'
User - 'alice'\r
'''
    tap.same((diff(place, dumped), place.out, place.err), (0, '', ''), 'a file is read as sacctmgr reads it')
    of_qos = '''QOS - 'normal':Description='Normal QOS default'
qos - 'long':Description='for # "days"':Flags='DenyOnLimit':GraceTime=60:Priority=7
'''
    tap.same((diff(place, of_qos + dumped), place.out, place.err), (0, '', ''), 'lines of QOS before the cluster are ignored')
    added = dumped.replace("QOS='normal'", "QOS+='normal',urgent").replace('MaxJobs=3', "qos-=long:MaxJobs+=3:Parent='Root':Parent=''")
    added = added.replace(":Parent=''", '').replace('Fairshare=60', 'Fairshare+=60').replace("'carol':", "'carol':Parent=chemistry:")
    tap.same((diff(place, added), place.out, place.err), (0, '', ''),
             'keys accept += and -=, and Parent may repeat the line above')
    tap.same((rows(place, FILE.replace("User - 'bob':Fairshare=3\n", "User - 'bob':Fairshare=-1\n"))), [
        ('physics', 'bob', '', 'shares', '1', '3', '10')], 'Fairshare=-1 means the default of 1')
    for line, why in (
            ("Account - 'a':Fairshare=--1", "Fairshare '--1'"), ("Account - 'a':Fairshare=-x", "Fairshare '-x'"),
            ("Account - 'a':Parent='chemistry'", "sacctmgr ignores Parent; write a line `Parent -' for 'chemistry'"),
            ("Account - 'a':+=1", "the key ''"), ("Account - 'a':QOS*=1", "the key 'QOS*'"), ("Account - 'a':Fairshare=2147483648", '2147483648'),
            ("Account - 'a':Fairshare=1e3", '1e3'), ("Account - 'a':Fairshares=1", "the key 'Fairshares'"),
            ("Account - 'a':Fairshare=1:Shares=1", 'twice'), ("Account - 'a", 'a quote is not closed'),
            ("Account - 'a'b", 'after its closing quote'), ("Account - 'a':b", "missing '=' in 'b'"), ('Account - ', 'missing blank and name'),
            ("Account -'a'", 'missing blank and'), ("Accounts - 'a'", 'the line does not begin with'), ('what', 'the line does not begin with'),
            ("Account - 'physics'", "account 'physics' occurs twice, first in line 5"),
            ("User - 'alice'", "user 'alice' occurs twice, first in line 14"), ("Parent - 'nobody'", "the parent 'nobody'"),
            ("Cluster - 'other'", 'second cluster'), ("QOS - 'normal'", "before `Cluster -'"), ("Account - 'root'", "'root' occurs twice"),
            ("User - '\x1b[31m'", 'control character'), ("User - '" + 'x' * 5000 + "'", 'longer'),
            ("Account - 'a':Partition='p'", 'cannot have a partition')):
        status = diff(place, FILE + line + '\n')
        tap.ok(status == 65 and 'line 15: ' in place.err and why in place.err and not place.out and '\x1b' not in place.err,
               f'{line[:30]!r} is rejected with its line number', status, place.err)
    tap.ok(diff(place, 'Account - a\n') == 65 and 'line 1: there must be a line `Cluster -' in place.err,
           'a file must begin with the cluster',
           place.err)
    tap.ok(diff(place, '# nothing\n') == 65 and 'Cluster - NAME' in place.err, 'a file without a cluster is rejected', place.err)
    tap.same(diff(place, FILE.replace("'mill'", "'other'")), 64, 'a file with an unknown cluster is rejected')
    tap.same(diff(place, FILE.replace("'mill'", "'other'"), '--cluster=mill'), 0, '--cluster overrides the cluster of the file')
    place.ends(1, 'a missing file is an error', 'shares', 'diff', 'nowhere')
    for arguments in ((), ('dump',), ('export', 'file'), ('export', '--csv'), ('diff',), ('diff', 'file', '--commands', '--csv')):
        place.ends(64, f"`shares {' '.join(arguments)}' is rejected", 'shares', *arguments)


def differing(place):
    wanted = (FILE.replace("'chemistry':Fairshare=40", "'chemistry':Fairshare=41")
              .replace("User - 'bob':Fairshare=3\n", "User - 'bob':Fairshare=4\n")
              .replace("Parent - 'physics'\n", "User - 'alice':Fairshare=6\nAccount - 'physics':Fairshare=60\nParent - 'physics'\n")
              .replace("Account - 'physics':Fairshare=60\n", '', 1)
              .replace("Account - 'optics':Fairshare=parent\n", "Parent - 'root'\nAccount - 'new one'\n")
              .replace("Parent - 'optics'\nUser - 'alice':DefaultAccount='optics':Fairshare=2:Priority=7\n", ''))
    tap.same(rows(place, wanted), [
        ('chemistry', '', '', 'shares', '41', '40', '4'),
        ('chemistry', 'alice', '', 'only in the file', '6', '', '7'),
        ('physics', '', '', 'parent', 'chemistry', 'root', '8'),
        ('physics', 'bob', '', 'shares', '4', '3', '11'),
        ('new one', '', '', 'only in the file', '1', '', '14'),
        ('optics', '', '', 'only in the database', '', 'parent', ''),
        ('optics', 'alice', '', 'only in the database', '', '2', '')], 'diff lists the differences by association')
    tap.same(diff(place, wanted), 1, 'diff with differences exits with status 1')
    widest = max(map(len, place.out.splitlines()))
    tap.ok(widest <= 80 and place.out.splitlines()[0].split() == ['Account', 'User', 'Difference', 'File', 'Database', 'Line'],
           'the text output is a table with at most 80 columns', place.out)
    diff(place, wanted, '--json')
    cluster, = json.loads(place.out)['clusters']
    tap.same((cluster['cluster'], len(cluster['differences']), cluster['differences'][0]['line']), ('mill', 7, 4),
             'JSON has the same differences')
    diff(place, wanted, '-P', '-o', 'account,difference')
    tap.same(place.out.splitlines()[1], 'chemistry|shares', 'columns can be selected')
    tap.same(commands(place, wanted), [
        "add account name=new one cluster=mill parent=root fairshare=1",
        'modify account where name=physics cluster=mill set parent=chemistry',
        'modify account where name=chemistry cluster=mill set fairshare=41',
        'modify user where name=bob account=physics cluster=mill partition= set fairshare=4',
        'add user name=alice account=chemistry cluster=mill fairshare=6',
        'modify user where name=alice cluster=mill set defaultaccount=chemistry',
        'delete user where name=alice account=optics cluster=mill',
        'delete account where name=optics cluster=mill'], 'the commands are in an order that works')
    diff(place, "Cluster - mill\n", '--csv')
    tap.ok("root," not in place.out, 'root and its user may be missing from the file', place.out)


def hostile(place):
    """Tests names with characters that are special to a shell or a terminal."""
    status = diff(place, FILE + "User - '$(touch x);`id`':Fairshare=2\nUser - 'a,b'\nUser - '\u202eevil'\n", '--commands')
    lines = place.out.splitlines()
    tap.same((status, shlex.split(lines[0])[4]), (1, 'name=$(touch x);`id`'), 'a name is one word for a shell')
    tap.ok(len(lines) == 3 and all(line.startswith('# this name is not safe in a command: sacctmgr') for line in lines[1:]),
           'a name that sacctmgr would misread is in a comment', place.out)
    tap.ok('\u202e' not in place.out and '\\xE2\\x80\\xAE' in place.out, 'invisible characters are escaped in the commands',
           place.out)
    diff(place, FILE + "User - '\u202eevil'\n")
    tap.ok('\u202e' not in place.out, 'invisible characters are escaped in the table', place.out)


def drifting(place):
    """Tests the findings of check about the file that the settings name."""
    def found(text):
        with open(place.path('file'), 'w', encoding='utf-8') as file:
            file.write(text)
        place.succeed('check', '--json')
        return sorted((row['subject'], row['detail'], row['seen']) for row in json.loads(place.out)['clusters'][0]['findings']
                      if row['kind'] == 'shares_drift')
    place.settings({'source.shares_file': f"{place.path('nowhere')}, {place.path('file')}"})
    tap.same(found(FILE), [], 'check has no finding if the file equals the database')
    (chemistry,), = place.change("SELECT id_assoc FROM mill_assoc_table WHERE acct = 'chemistry' AND user = ''")
    (carol,), = place.change("SELECT id_assoc FROM mill_assoc_table WHERE user = 'carol'")
    tap.same(found(FILE.replace("'chemistry':Fairshare=40", "'chemistry':Fairshare=41")
                   .replace("User - 'carol'", "User - 'dora'\nUser - 'emil'")),
             sorted([('', "only in the file: account 'chemistry', user 'dora'", 4), (str(chemistry), "shares: account 'chemistry'", 4),
                     (str(carol), "only in the database: account 'chemistry', user 'carol'", 4)]),
             'check has a finding for each association that differs')
    place.succeed('check')
    tap.ok('finding shares_drift, 4x' in place.out and 'shares diff --commands' in place.out and
           f"warning: shares_file: cannot open '{place.path('nowhere')}'" in place.out, 'check proposes a command and names the missing file',
           place.out)
    found(FILE.replace("'mill'", "'other'"))
    place.succeed('check')
    tap.ok('shares_drift' not in place.out and 'shares compared' not in place.out,
           'check does not compare a file of another cluster',
           place.out)


def body():
    with Place() as place:
        place.ready(SITE)
        place.change("UPDATE mill_assoc_table SET priority = 7, is_def = 1 WHERE user = 'alice' AND acct = 'optics'")
        for part in (exporting, lying, reading, differing, hostile, drifting):
            part(place)
        place.settings({'source.layout': 'plain'})
        place.ends(64, 'shares export rejects source type plain', 'shares', 'export')


tap.main(body)
