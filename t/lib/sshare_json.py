# SPDX-License-Identifier: MIT
"""Compares the output of `show --json=slurm` with the output of `sshare --json`."""

# Keys whose values may differ: fairmill is the client, the accounting database contains no patch
# level of Slurm, and results of a past time are stale.
OTHER_VALUES = ('meta.client.source', 'meta.client.user', 'meta.client.group', 'meta.command', 'meta.slurm.version.micro',
                'meta.slurm.release', 'warnings')
# A TRES, by its name.
TRES = tuple(f'shares.shares[].tres.{key}[]' for key in ('run_seconds', 'group_minutes', 'usage'))


def is_near(one, other, part):
    return abs(one - other) <= part * max(abs(one), abs(other))


def differences(theirs, ours, near=0, path='', shown=''):
    """Yields (path, text): each difference of keys, their order, types and values.  Reals may differ
    by the part `near`.  Paths have no indexes, and texts have them."""
    if type(theirs) is not type(ours):
        yield path, f'{shown}: {ours!r} has another type than {theirs!r}'
    elif isinstance(theirs, dict):
        if list(theirs) != list(ours):
            yield path, f'{shown}: keys are {list(ours)}, not {list(theirs)}'
        for key in set(theirs) & set(ours):
            yield from differences(theirs[key], ours[key], near, f'{path}.{key}'.lstrip('.'), f'{shown}.{key}'.lstrip('.'))
    elif isinstance(theirs, list):
        if len(theirs) != len(ours):
            yield path, f'{shown}: {len(ours)} elements, not {len(theirs)}'
        for index, (one, other) in enumerate(zip(theirs, ours)):
            yield from differences(one, other, near, f'{path}[]', f'{shown}[{index}]')
    elif theirs != ours and not (isinstance(theirs, float) and is_near(theirs, ours, near)):
        yield path, f'{shown}: {ours!r} is not {theirs!r}'


def unexpected(theirs, ours, near=0, known=()):
    """Returns the differences whose paths are neither in OTHER_VALUES nor begin with one of
    `known`."""
    return [text for path, text in differences(theirs, ours, near) if not path.startswith(OTHER_VALUES + tuple(known))]
