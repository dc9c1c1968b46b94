# SPDX-License-Identifier: MIT
"""What was published in different databases, in one spelling, to be compared bit for bit."""

from program import published


def exact(value):
    """One spelling for what two clients print of the same double."""
    if value is None:
        return None
    try:
        return float(value).hex()
    except ValueError:
        return value


def from_server(server, results):
    columns = server.columns('fairmill_fairshare', results)
    rows = server.sql('SELECT * FROM fairmill_fairshare', results)
    return {(row['cluster'], row['id_assoc']): row for row in (
        {c: v if c in ('cluster', 'id_assoc') else exact(v) for c,
         v in zip(columns, line) if c != 'run_id'} for line in rows)}


def from_sqlite(results):
    return {(cluster, str(number)): {c: str(v) if c == 'id_assoc' else v if c == 'cluster'
                                     else exact(v) for c, v in row.items() if c != 'run_id'}
            for (cluster, number), row in published(results).items()}


def differences(rows, first):
    """Values that differ, and how many were compared."""
    wrong = [f'{key} is in one only' for key in set(rows) ^ set(first)]
    compared = 0
    for key in set(rows) & set(first):
        for column in first[key]:
            compared += 1
            if rows[key].get(column) != first[key][column]:
                wrong.append(f'{key} {column}: {rows[key].get(column)} and {first[key][column]}')
    return wrong, compared
