# SPDX-License-Identifier: MIT
"""Chooses the random sites of a test by their seeds."""

import os


def seeds(usual, many=None):
    """Returns seeds.  FAIRMILL_SEED=N selects only site N, FAIRMILL_LONG=1 selects `many` if the
    test has it, and FAIRMILL_SITES=N selects N sites."""
    if 'FAIRMILL_SEED' in os.environ:
        return [int(os.environ['FAIRMILL_SEED'])]
    if many and os.environ.get('FAIRMILL_LONG') == '1':
        return range(many)
    return range(int(os.environ.get('FAIRMILL_SITES', usual)))
