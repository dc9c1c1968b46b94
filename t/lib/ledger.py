# SPDX-License-Identifier: MIT
"""The ledger in tests: entries, which of them count, the rows of the result tables, and steps for
t/lib/history.py that enter some."""

import reference
from happenings import step

KINDS = ('credit', 'debit', 'refund', 'reset', 'set', 'undo')
COLUMNS = ('id', 'cluster', 'instant', 'entered_at', 'who', 'why', 'kind', 'account', 'user_name',
           'partition_name', 'id_assoc', 'tres_seconds', 'id_job', 'undoes')


def statements(entries, cluster):
    """Yields INSERTs of these entries, as made by `fairmill ledger`."""
    for entry in entries:
        row = dict(entry, cluster=cluster, entered_at=1, who='test', why='a test', account='',
                   user_name='u' if entry.get('associations') else '', partition_name='')
        values = ', '.join('NULL' if row.get(name) is None else repr(row[name]) for name in COLUMNS)
        yield f"INSERT INTO fairmill_ledger ({', '.join(COLUMNS)}) VALUES ({values})"
        for number in entry.get('associations') or ():
            yield f"INSERT INTO fairmill_ledger_reset (id, id_assoc) VALUES ({entry['id']}, {number})"


def resets_below(h, as_of, reach):
    """Returns the last reset before `reach` of each association that is covered by a set, or by a
    reset of a user or an account."""
    found = {}
    for entry in reference.counting(h.ledger, as_of):
        if entry['kind'] in ('reset', 'set') and entry['instant'] < reach:
            for number in entry['associations'] or ():
                found[number] = max(found.get(number, 0), entry['instant'])
    return found


def enter(h, **entry):
    h.ledger = h.ledger + [dict(entry, id=len(h.ledger) + 1)]


def instant(h):
    """Returns a time, often at the beginning or end of a job or at the checkpoint, and sometimes in
    the future."""
    jobs = list(h.books.jobs.values())
    row = h.r.choice(jobs) if jobs else dict(time_start=0, time_end=0)
    found = [h.now - h.r.randrange(30 * h.pace), h.now - h.r.randrange(3 * h.pace), h.now,
             h.now + h.r.randrange(3 * h.pace), h.as_of or h.now, row['time_start'], row['time_end']]
    if h.as_of:
        found += [h.seal() + h.r.randrange(-1, 2)] * 2
    return h.r.choice([t for t in found if t > 0])


def someone(h):
    """Returns an association, possibly a deleted or missing one."""
    return h.r.choice([*h.books.associations, h.books.next_association - 1])


@step
def credited(h):
    for _ in range(h.r.randrange(1, 5)):
        enter(h, kind=h.r.choice(('credit', 'credit', 'debit')), instant=instant(h), id_assoc=someone(h),
              tres_seconds=h.r.choice((1, h.r.randrange(1, 10 ** 4), h.r.randrange(1, 10 ** 8), 2 ** 62)))


@step
def refunded(h):
    rows = [row for row in h.books.jobs.values() if row['time_start']]
    if not rows:
        return False
    for row in h.some(rows, 6):
        begin = max(row['time_start'], row['time_submit'])
        enter(h, kind='refund', id_job=row['id_job'],
              instant=h.r.choice((begin, begin, max(begin - 1, 1), h.now, instant(h))))


@step
def user_reset(h):
    """Resets a user to nothing, or sets an amount."""
    if not h.books.found(users=True):
        return False
    number = h.living(users=True)
    user = h.books.associations[number]['user']
    same = [i for i, row in h.books.associations.items() if row['user'] == user]
    at, covers = instant(h), h.r.choice(([number], same))
    if len(h.ledger) % 2:
        enter(h, kind='reset', instant=at, associations=covers)
    else:
        enter(h, kind='set', instant=at, associations=covers, id_assoc=number, tres_seconds=(0, 1, 10 ** 7 + 1, 2 ** 62)[at % 4])


@step
def account_reset(h):
    number = h.living(users=False)
    if number is None:
        return False
    enter(h, kind='reset', instant=instant(h), associations=h.books.below(number))


@step
def reset_below_the_seal(h):
    """Resets usage that stored sums already contain."""
    rows = h.sealed()
    if not rows:
        return False
    row = h.books.jobs[h.r.choice(rows)]
    if row['time_end'] > (h.as_of or 0):
        return False
    enter(h, kind='reset', instant=row['time_end'], associations=[row['id_assoc']])


@step
def cluster_reset(h):
    enter(h, kind='reset', instant=instant(h), associations=None)


def undo_some(h, kinds):
    """Undoes the last entry of a chain of undos, like `fairmill ledger undo`."""
    undone = {entry['undoes'] for entry in h.ledger if entry['kind'] == 'undo'}
    found = [entry for entry in h.ledger if entry['id'] not in undone and entry['kind'] in kinds]
    for entry in h.some(found, 3) if found else ():
        enter(h, kind='undo', instant=entry['instant'], undoes=entry['id'])
    return None if found else False


@step
def undone(h):
    return undo_some(h, KINDS)


@step
def reset_undone(h):
    return undo_some(h, ('reset', 'set'))


@step
def undo_undone(h):
    return undo_some(h, ('undo',))


# The step that must have happened before.
NEEDS = {undone: credited, reset_undone: reset_below_the_seal, undo_undone: reset_undone}
