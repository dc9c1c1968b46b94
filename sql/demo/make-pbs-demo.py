#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Create the files that OpenPBS would have at an invented site, to try fairmill.

    make-pbs-demo.py FOLDER [NOW]

The site is the example of the document PP-718: group1 with bob and cathy, group2 with suzy and
scott.  FOLDER gets the accounting logs of three weeks up to NOW (in epoch seconds; the
default is 2025-06-21 10:00 UTC) and the scheduler's resource_group and sched_config.  It also gets the JSON output of
`qstat` for pending jobs, queues and the server.  Times are in UTC.  The same NOW always creates the
same site.
"""

import json
import os
import sys
import time

DAY, HOUR, MINUTE = 86400, 3600, 60
DAYS = 21
NOW = 1750500000

RESOURCE_GROUP = '''\
# name   number  parent  shares
group1   11      root    40
group2   12      root    60
bob      13      group1  50
cathy    14      group1  50
suzy     15      group2  60
scott    16      group2  40
'''
SCHED_CONFIG = '''\
# The counted resource, the entities, and the decay.
fair_share: true                ALL
fairshare_usage_res: cput
fairshare_entity: euser
fairshare_decay_time: 24:00:00
fairshare_decay_factor: 0.5
unknown_shares: 0
fairshare_enforce_no_shares: true
'''
FORMULA = 'pow(2, -(fairshare_tree_usage/fairshare_perc))'

# Usage on each day: user, group, CPUs, CPU time in minutes.
USED = (('bob', 'chem', 2, 100), ('cathy', 'chem', 2, 100), ('scott', 'phys', 20, 1000))
# Pending jobs: job, user, group, CPUs, hours since submission.  User eve is not in resource_group.
WAITING = ((903, 'scott', 'phys', 20, 60), (904, 'eve', 'guests', 1, 50), (905, 'suzy', 'phys', 8, 9), (906, 'cathy', 'chem', 4, 2), (907, 'bob', 'chem', 16, 1))


def span(seconds):
    return f'{seconds // HOUR:02}:{seconds // MINUTE % 60:02}:{seconds % 60:02}'


def record(at, kind, job, text):
    return at, time.strftime('%m/%d/%Y %H:%M:%S', time.gmtime(at)) + f';{kind};{job}.pbs;{text}\n'


def records_of_day(midnight, first_job):
    records = []
    for number, (user, group, cpus, minutes) in enumerate(USED):
        job, start, end = first_job + number, midnight + 9 * HOUR, midnight + 10 * HOUR
        known = (f'user={user} group={group} project=_pbs_project_default jobname=run queue=workq ctime={start - 60} qtime={start - 60} '
                 f'etime={start - 60} start={start} exec_host=node{number}/0*{cpus} Resource_List.ncpus={cpus} Resource_List.walltime=01:00:00')
        records += [record(start - 60, 'Q', job, 'queue=workq'), record(start, 'S', job, known),
                    record(end, 'E', job, f'{known} session={4000 + job} end={end} Exit_status=0 resources_used.cput={span(minutes * MINUTE)} '
                                          f'resources_used.mem=1048576kb resources_used.ncpus={cpus} resources_used.walltime=01:00:00')]
    return sorted(records, key=lambda each: each[0])


def waiting(now):
    def text(at):
        return time.strftime('%a %b %e %H:%M:%S %Y', time.gmtime(at))

    jobs = {f'{job}.pbs': {
        'Job_Name': 'next', 'Job_Owner': f'{user}@login', 'job_state': 'Q', 'queue': 'workq', 'server': 'pbs', 'ctime': text(now - hours * HOUR),
        'qtime': text(now - hours * HOUR), 'etime': text(now - hours * HOUR), 'Priority': 0, 'eligible_time': span(hours * HOUR), 'euser': user,
        'egroup': group, 'project': '_pbs_project_default', 'Resource_List': {'ncpus': cpus, 'nodect': 1, 'place': 'pack', 'select': f'1:ncpus={cpus}',
                                                                            'walltime': '01:00:00'}} for job, user, group, cpus, hours in WAITING}
    head = {'timestamp': now, 'pbs_version': '23.06.06', 'pbs_server': 'pbs'}
    return [head | {'Jobs': jobs}, head | {'Queue': {'workq': {'queue_type': 'Execution', 'Priority': 0, 'enabled': 'True', 'started': 'True'}}},
            head | {'Server': {'pbs': {'server_state': 'Active', 'job_sort_formula': FORMULA}}}]


def write(path, text):
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit('usage: make-pbs-demo.py FOLDER [NOW]')
    folder, now = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else NOW
    today = now // DAY * DAY
    os.makedirs(f'{folder}/accounting', exist_ok=True)
    write(f'{folder}/resource_group', RESOURCE_GROUP)
    write(f'{folder}/sched_config', SCHED_CONFIG)
    for day in range(DAYS):
        midnight = today - (DAYS - day) * DAY
        name = time.strftime('%Y%m%d', time.gmtime(midnight))
        write(f'{folder}/accounting/{name}', ''.join(line for _, line in records_of_day(midnight, 100 + day * len(USED))))
    write(f'{folder}/qstat.json', ''.join(json.dumps(each, indent=4) + '\n' for each in waiting(now)))
    print(f'{folder}: three weeks of logs, resource_group, sched_config and qstat.json')


if __name__ == '__main__':
    main()
