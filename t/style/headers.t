#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Tests the order and the form of headers and includes in src/."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import TOP, read

SRC = os.path.join(TOP, 'src')
LIBRARY = re.compile(r'<((gmp|jansson|libpq-fe|mysql|sqlite3|xxhash|zlib)\.h|iniparser)')


def group_of(file, include):
    """Returns the group of an include: the file's own header, the system's, other libraries', the
    project's."""
    if include == f'"{os.path.splitext(file)[0]}.h"':
        return 0
    return 3 if include.startswith('"') else 2 if LIBRARY.match(include) else 1


def disorder(file, text):
    """Returns the first include that is out of order in the first paragraphs of includes."""
    block = re.search(r'^#include .*(\n+#include .*)*', text, re.M)
    previous, gap = None, False
    for line in block[0].split('\n') if block else ():
        if not line:
            gap = True
            continue
        include = line.split(None, 1)[1]
        here = group_of(file, include), include.strip('<>"')
        if previous and (here <= previous or gap != (here[0] > previous[0])):
            return include
        previous, gap = here, False
    return None


def guard_of(file):
    return 'FAIRMILL_' + re.sub(r'[^A-Z0-9]', '_', file.upper())


def sources():
    for path, _, names in sorted(os.walk(SRC)):
        for name in sorted(names):
            if name.endswith(('.c', '.h')):
                yield os.path.relpath(os.path.join(path, name), SRC)


def body():
    texts = {file: read(os.path.join(SRC, file)) for file in sources()}
    headers = {file: text for file, text in texts.items() if file.endswith('.h')}
    tap.ok(len(headers) > 100, 'src/ has headers')
    tap.empty((f'{file}: {include}' for file, include in ((file, disorder(file, text)) for file, text in texts.items()) if include),
              'includes are in order: the own header, the system, libraries, the project')
    tap.empty((file for file, text in headers.items()
               if not re.search(rf'^#ifndef {guard_of(file)}\n#define {guard_of(file)}\n', text, re.M)),
              "a header's guard is named for its path")
    tap.empty((file for file, text in headers.items()
               if re.search(r'\*/\n\n?(struct \w+;\n)+\n(struct|enum) \w+ \{', text)),
              'no forward declaration is between a comment and its struct')


tap.main(body)
