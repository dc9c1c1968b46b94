# SPDX-License-Identifier: MIT
"""Which random sites a test draws, by their seeds."""

import os


def seeds(usual, many=None):
    """FAIRMILL_SEED=N: only site N.  FAIRMILL_LONG=1: `many`, where a test has that.
    FAIRMILL_SITES=N: so many."""
    if 'FAIRMILL_SEED' in os.environ:
        return [int(os.environ['FAIRMILL_SEED'])]
    if many and os.environ.get('FAIRMILL_LONG') == '1':
        return range(many)
    return range(int(os.environ.get('FAIRMILL_SITES', usual)))
