#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""On a cluster of OpenPBS, commands use OpenPBS's terms, and whatif prints lines for OpenPBS's
files."""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import tap
from program import TOP, fairmill, write_settings

NOW = 1795449600
# Terms of Slurm that OpenPBS does not have.
SLURM = re.compile(r'\b(slurm\w*|TRES\w*|sacctmgr|sshare|sprio|associations?|accounts?|users?|partitions?|QOS|RawShares|NormShares|RawUsage|EffectvUsage|FairShare)\b(?!=)')


def site(folder):
    subprocess.run([f'{TOP}/sql/demo/make-pbs-demo.py', folder, str(NOW)], check=True, stdout=subprocess.DEVNULL)
    conf = f'{folder}/conf'
    write_settings(conf, dict(source=dict(driver='sqlite', database=f'{folder}/accounting.db', layout='pbs', clusters='pbs'),
                              results=dict(driver='sqlite', database=f'{folder}/results.db'), usage=dict(time_zone='UTC')))
    for command in (('import', 'pbs', '--resource-group', f'{folder}/resource_group', '--sched-config', f'{folder}/sched_config', '--accounting', f'{folder}/accounting'),
                    ('init',), ('run', '--now', NOW)):
        tap.same(fairmill(conf, *command)[0], 0, f'{command[0]} succeeds')
    return conf


def lines(conf, *changes):
    """Returns the lines of whatif that change a file."""
    status, out, err = fairmill(conf, 'whatif', *changes)
    return [line for line in out.splitlines() if line.startswith(('#', 'sacctmgr'))] if not status else err


def whatif(conf):
    for changes, expected in (
            (('--shares', 'bob=80'), ['# resource_group: bob 13 group1 80']),
            (('--shares', 'bob=80', '--shares', 'bob=90'), ['# resource_group: bob 13 group1 90']),
            (('--shares', 'group1=7'), ['# resource_group: group1 11 root 7']),
            (('--move', 'group1=group2', '--shares', 'group1=7', '--shares', 'suzy=1'), ['# resource_group: group1 11 group2 7', '# resource_group: suzy 15 group2 1']),
            (('--shares', 'unknown=3'), ['# sched_config: unknown_shares: 3'])):
        tap.same(sorted(lines(conf, *changes)), sorted(expected),
                 f"{' '.join(changes)} prints a line for OpenPBS's file")
    for changes, why in ((('--remove-user', 'bob'), 'group unknown'), (('--shares', 'bob=parent'), 'are always numbers'), (('--weights', 'age=3'), 'job_sort_formula')):
        status, out, err = fairmill(conf, 'whatif', *changes)
        tap.ok(status == 64 and 'not available with layout = pbs' in err and why in err,
               f"{' '.join(changes)} is rejected, because OpenPBS does not support it", status, out, err)


def sentences(conf):
    for command, said in ((('explain', 'bob', 'suzy'), "Entity 'suzy' of group 'group2' ranks lower than entity 'bob' of group 'group1'"),
                          (('explain', 'group1'), "Group 'group1' has fairshare"), (('forecast', 'suzy'), "Entity 'suzy' of group 'group2'"),
                          (('forecast', 'group1'), "Group 'group1'"), (('whatif', '--shares', 'bob=1'), "entity 'bob' of group 'group1' has shares 1 instead of 50"),
                          (('explain', 'bob', 'suzy'), ' (cput) more usage of '), (('whatif', '--add-usage', 'bob=2'), "entity 'bob' of group 'group1' has used 7200 (cput) more"),
                          (('history', 'bob'), 'entity bob of group1 (cresgroup 13)'), (('check',), ' entities and groups, '), (('show',), ' Group Entity Shares Perc Usage '),
                          (('prio',), 'JobID Queue Entity Group Priority'), (('compare',), ': places of 4 entities, and factors Entity '), (('history', '--usage', 'bob'), ' Usage '),
                          (('explain', '--jobs', 'bob'), ' (cput); Part is a fraction of it.'), (('forecast', 'bob'), ' (cput) per second (cluster: '), (('status', '--max-age', '9999d'), 'pbs '),
                          (('whatif', '--shares', 'bob=1'), 'Group Entity Factor would be'), (('show', '--pbs', 'bob'), 'fairshare entity: bob'), (('verify',), '')):
        status, out, err = fairmill(conf, *command)
        text = ' '.join(out.split())
        tap.ok(status == 0 and said in text,
               f"the output of {' '.join(command)} uses OpenPBS's terms", status, out, err)
        tap.same([match.group() for match in SLURM.finditer(out)], [],
                 f"the output of {' '.join(command)} has no term of Slurm")
    for command in ('explain', 'history', 'forecast'):
        status, out, err = fairmill(conf, command, 'nobody')
        tap.ok(status == 64 and "no entity or group 'nobody'" in err,
               f'{command} reports an unknown name', status, out, err)
    status, out, err = fairmill(conf, 'metrics')
    shown = {row['username'] or row['account']: row for row in csv.DictReader(io.StringIO(fairmill(conf, 'show', '--csv')[1]))}
    for kind, labels, name in (('group', 'group="group1"', 'group1'), ('entity', 'group="group1",entity="bob"', 'bob')):
        for metric, column in (('fairshare_factor', 'fairshare'), ('fairshare_perc', 'normshares'), ('usage_norm', 'normusage'), ('shares', 'rawshares')):
            tap.ok(f'\npbs_{kind}_{metric}{{cluster="pbs",{labels}}} {float(shown[name][column]):.17g}\n' in out,
                   f"metrics contain each {kind}'s {metric}", shown[name])
    tap.ok(status == 0 and 'slurm' not in out and 'account=' not in out, 'metrics contain no names of Slurm', err)
    header = fairmill(conf, 'show', '--csv')[1].splitlines()[0].split(',')
    tap.ok({'account', 'username', 'rawshares', 'fairshare'} <= set(header),
           'CSV output keeps the promised names of columns', header)


def ledger(conf):
    for command, said in ((('ledger', 'set', '--user', 'bob', '5', '--why', 'x', '--yes'), "set entity 'bob' in group 'group1' to 5 (fairshare_usage_res)"),
                          (('ledger', 'reset', '--account', 'group2', '--why', 'x', '--dry-run'), "reset group 'group2' (3 entities and groups)"),
                          (('ledger', 'reset', '--user', 'suzy', '--why', 'x', '--yes'), "reset entity 'suzy' (1 entity)"),
                          (('ledger', 'list'), "set entity 'bob' in group 'group1' to 5 (fairshare_usage_res)"),
                          (('ledger', 'credit', '--user', 'scott', '100', '--why', 'x', '--dry-run'), 'Group Entity Usage then Factor then')):
        status, out, err = fairmill(conf, *command)
        tap.ok(status == 0 and said in ' '.join(out.split()),
               f"the output of {' '.join(command[:2])} uses OpenPBS's terms", status, out, err)
        tap.same([match.group() for match in SLURM.finditer(out)], [], "ledger's output has no term of Slurm")
    for option, kind in (('--user', 'entity'), ('--account', 'group')):
        status, _, err = fairmill(conf, 'ledger', 'reset', option, 'nobody', '--why', 'x', '--yes')
        tap.ok(status == 64 and f"no {kind} 'nobody'" in err,
               f'ledger reports that there is no {kind} of this name', status, err)


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        conf = site(folder)
        whatif(conf)
        sentences(conf)
        ledger(conf)


tap.main(body)
