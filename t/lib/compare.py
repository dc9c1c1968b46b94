# SPDX-License-Identifier: MIT
"""Compares published values bit for bit between databases, in one spelling, and with
t/lib/reference.py."""

from program import EXACT, published, same_value
from reference import UNDEFINED


def exact(value):
    """Returns one spelling for the text of a double from any client."""
    if value is None:
        return None
    try:
        return float(value).hex()
    except ValueError:
        return value


def from_server(server, results):
    return from_rows(server.columns('fairmill_fairshare', results),
                     server.sql('SELECT * FROM fairmill_fairshare', results))


def from_rows(columns, rows):
    """Returns rows of fairmill_fairshare from the output of a server's client."""
    return {(row['cluster'], row['id_assoc']): row for row in (
        {c: v if c in ('cluster', 'id_assoc') else exact(v) for c,
         v in zip(columns, line) if c != 'run_id'} for line in rows)}


def from_sqlite(results):
    return {(cluster, str(number)): {c: str(v) if c == 'id_assoc' else v if c == 'cluster'
                                     else exact(v) for c, v in row.items() if c != 'run_id'}
            for (cluster, number), row in published(results).items()}


# Columns of fairmill_job_priority whose names all servers spell alike.
PRIORITY = ('cluster, job_db_inx, partition_name, qos, id_job, user_name, account, best, age_factor, '
            'fairshare_factor, job_size_factor, partition_factor, qos_factor, assoc_factor, age_weighted, '
            'fairshare_weighted, job_size_weighted, partition_weighted, qos_weighted, assoc_weighted, '
            'tres_factors, tres_weighted, site, nice, priority, priority_norm, computed_at')


def priorities(server, results):
    """Returns every row, with each value in one spelling."""
    return {tuple(row[:4]): [exact(value) for value in row[4:]] for row in (
        [str(value) if place < 4 else value for place, value in enumerate(row)]
        for row in server.sql(f'SELECT {PRIORITY} FROM fairmill_job_priority', results))}


def differences(rows, first):
    """Returns the values that differ, and the number of compared values."""
    wrong = [f'{key} is in one only' for key in set(rows) ^ set(first)]
    compared = 0
    for key in set(rows) & set(first):
        for column in first[key]:
            compared += 1
            if rows[key].get(column) != first[key][column]:
                wrong.append(f'{key} {column}: {rows[key].get(column)} and {first[key][column]}')
    return wrong, compared


def unlike_reference(rows, expected, conformance):
    """Compares rows by id_assoc with the reference's, as differences() does."""
    wrong, compared = [], 0
    exact_columns = EXACT | {'level_fs'} if conformance == 'documents' else EXACT
    if set(rows) != set(expected):
        wrong.append(f'the rows are of {sorted(set(rows) ^ set(expected))[:10]} here and not there')
    for number in set(rows) & set(expected):
        # The logarithms in the ratio cause an error, which the exponent multiplies.
        ratio, factor = (expected[number][f'depth_oblivious_{name}'] for name in ('ratio', 'factor'))
        for column, value in expected[number].items():
            if value is UNDEFINED:
                continue
            compared += 1
            tolerance = 1e-12
            if ratio and value == factor:
                tolerance = max(tolerance, 1e-13 * ratio)
            if not same_value(column, rows[number][column], value, tolerance, exact_columns):
                wrong.append(f'id_assoc {number} {column}: {rows[number][column]!r}, expected {value!r}')
    return wrong, compared
