# SPDX-License-Identifier: MIT
"""Settings in tests are a dict with times in seconds.  These functions convert them to settings of
a site or of t/lib/reference.py."""

import datetime
import zoneinfo
from fractions import Fraction

import reference
from site_drawing import TRES

TIMES = ('half_life', 'open_job_cap', 'horizon', 'checkpoint_after', 'full_every')


def for_program(s):
    """Returns the sections [usage] and [fairshare] as a site would write them."""
    def minutes(seconds):
        return seconds // 60
    usage = {key: s[key] for key in ('time_zone', 'charge', 'suspended', 'tres_weights') if s.get(key)}
    usage.update({key: minutes(s[key]) for key in TIMES if s.get(key) is not None})
    for key in ('qos_factors', 'partition_usage_factors'):
        if s.get(key):
            usage[key] = ', '.join(f'{name}:{factor}' for name, factor in s[key].items())
    if 'reset_period' in s:
        period = s['reset_period']
        usage['reset_period'] = period if isinstance(period, str) else minutes(period)
        usage['reset_anchor'] = s.get('reset_anchor', 0)
    fairshare = {k: s[k] for k in ('algorithm', 'conformance', 'dampening', 'capacity_half_lives',
                                   'pbs_minimum_usage')}
    if 'slurm_version' in s:
        fairshare['slurm_version'] = s['slurm_version']
    if s['capacity'] is not None:
        fairshare['capacity'] = s['capacity']
    return usage, fairshare


def for_reference(s, registered=None, more_tres=None):
    """Returns the reference's settings.  `registered` is the TRES of a registered cluster;
    `more_tres` are names that only this site has."""
    s = dict(s)
    if isinstance(s.get('reset_anchor'), str):
        day = datetime.date.fromisoformat(s['reset_anchor'])
        s['reset_anchor'] = int(datetime.datetime(
            day.year, day.month, day.day, tzinfo=zoneinfo.ZoneInfo(s['time_zone'])).timestamp())
    if s['capacity'] == 'auto':
        s['capacity'] = {'auto': 100, 'billing': 100, 'cpu': 64, 'tres': None}[s['charge']]
    if s['charge'] == 'tres' and s['capacity'] is None and registered:
        s['capacity'] = weighted_capacity(registered, s, {**TRES, **(more_tres or {})}) or None
    return s


def weighted_capacity(registered, s, tres):
    names = {(*name.lower().partition('/')[::2],): number for number, name in tres.items()}
    rule, weights = reference.read_weights(s['tres_weights'], names)
    return Fraction(reference.weighted(registered, 1, rule, weights), reference.UNIT)
