# SPDX-License-Identifier: MIT
"""Simulates the decay and the charges of slurmctld, step by step, and reads the output of sshare.

Every period, it decays old usage by 1 - 0.693/half-life a second, and charges the time since the
last step as if all of it were one period old.  A job that ends is charged at once.  If limits are
not enforced, its time since the last step is never charged."""

import csv


class Printed:
    """The usage that sshare printed.  RawUsage is truncated to an integer, but NormUsage is its
    share of the root's usage with 17 digits.  So the values of one association narrow the root's
    usage, which narrows all others."""

    def __init__(self, path):
        with open(path, encoding='utf-8', newline='') as file:
            lines = list(csv.DictReader(file, delimiter='|', quoting=csv.QUOTE_NONE))
        self.line = {int(line['ID']): line for line in lines}
        self.norm = {i: float(line['NormUsage'] or 1) for i, line in self.line.items()}
        bounds = [(int(line['RawUsage']) / self.norm[i], (int(line['RawUsage']) + 1) / self.norm[i])
                  for i, line in self.line.items() if self.norm[i]]
        self.lowest = max(low for low, _ in bounds)
        self.highest = min(high for _, high in bounds)

    def between(self, number):
        return self.norm[number] * self.lowest, self.norm[number] * self.highest

    def miss(self, number, value):
        """Returns the distance of a value from the printed value."""
        low, high = self.between(number)
        return max(0.0, low - value, value - high)


def stepped(jobs, charge, half_life, period, newest_step, now, resets=(), ends_free=False, forgets=(), away=None):
    """Returns the controller's usage at `now` by association, if `newest_step` was its newest step.
    charge(job) is the charge per second.  At the first step after a reset all usage is 0.
    `forgets` is [(time, associations)] of `set rawusage=0`.  `away` is (begin, end, offset in
    seconds): there is no step between begin and end, and the steps before were at other seconds."""
    decay = 1 - 0.693 / half_life if half_life else 1.0
    usage = {}

    def add(job, since, until):
        elapsed = until - max(since, job['time_start'])
        if elapsed > 0:
            usage[job['id_assoc']] = usage.get(job['id_assoc'], 0.0) + (
                elapsed * decay ** elapsed * charge(job))

    first = min(job['time_start'] for job in jobs)
    since = newest_step - ((newest_step - first) // period + 1) * period
    steps = range(since + period, now + 1, period)
    if away:
        since += away[2] - period
        steps = [*range(since + period, away[0] + 1, period), *(step for step in steps if step >= away[1])]
    for step in [*steps, None]:
        until = step or now
        # Ended jobs are charged at once, and then decay with the rest.
        happens = [(job['time_end'], 0, job) for job in jobs if not ends_free and since < job['time_end'] <= until]
        happens += [(instant, 1, gone) for instant, gone in forgets if since < instant <= until]
        for _, is_reset, what in sorted(happens, key=lambda each: each[:2]):
            if is_reset:
                for number in what:
                    usage[number] = 0.0
            else:
                add(what, since, what['time_end'])
        if step:
            if any(since < reset <= step for reset in resets):
                usage.clear()
            for number in usage:
                usage[number] *= decay ** (step - since)
            for job in jobs:
                if job['time_start'] <= step and (not job['time_end'] or job['time_end'] > step):
                    add(job, since, step)
            since = step
    return usage


def with_accounts(usage, parents):
    """Returns the usage of users, added to every account above."""
    total = dict.fromkeys(parents, 0.0)
    for number, amount in usage.items():
        while number:
            total[number] += amount
            number = parents[number]
    return total
