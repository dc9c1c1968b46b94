# SPDX-License-Identifier: MIT
"""Reads the options in the manual pages of the commands."""

import glob
import os
import re

# An option in the POD of a page.
SPELLING = re.compile(r'B<(--?[A-Za-z][A-Za-z0-9=-]*)>')


def page(top, command):
    """Returns the page of a command, or None if there is no such command."""
    for path in glob.glob(os.path.join(top, 'man', f'fairmill-{command}.[178].pod')):
        with open(path, encoding='utf-8') as file:
            return file.read()
    return None


def options_section(top, command):
    return re.search(r'^=head1 OPTIONS$(.*?)^=head1 ', page(top, command), re.M | re.S)[1]


def items(text):
    """Returns the options of each item, in their order."""
    return [SPELLING.findall(item) for item in re.findall(r'^=item (.*(?:\n.+)*)', text, re.M)]


def commands(top):
    """Returns the commands that have a page in section 1 or 8."""
    pages = glob.glob(os.path.join(top, 'man', 'fairmill-*.[18].pod'))
    return sorted(os.path.basename(path).removeprefix('fairmill-').partition('.')[0] for path in pages)


def shared_items(top, command):
    """Returns the items of fairmill-cli(7) that the page of a command names in its OPTIONS.  A
    short option may belong to an item of the page itself."""
    text = options_section(top, command)
    named = set(SPELLING.findall(text)).difference(*items(text))
    return [item for item in items(options_section(top, 'cli')) if named & set(item)]
