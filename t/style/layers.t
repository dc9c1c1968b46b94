#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Tests the layers of src/: a module needs no module of a higher layer, and there are no dependency
cycles.  Also limits the number of parameters of a function, beyond which a struct is missing."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import modules
import tap

top = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
build = os.environ.get("top_builddir") or os.path.join(top, "build")
src = os.path.join(top, "src")


def empty(name, lines):
    lines = list(lines)
    tap.ok(not lines, name)
    for line in lines:
        tap.diag(line)


def text_of(file):
    with open(os.path.join(src, file), encoding="utf-8") as text:
        return text.read()


files = list(modules.sources(src))
graph = modules.needs(src, build)
objects = {modules.module_of(path) for path in modules.objects(build)}
tap.ok(len(objects) > len(files) / 3, 'the objects of the build exist')
empty('every module belongs to a layer', (module for module in graph if modules.floor_of(module) is None))
empty('no module needs a module of a higher layer', modules.climbs(graph))
empty('there are no dependency cycles between modules',
      (line for circle in modules.circles(graph) for line in modules.ties(graph, circle)))


def parameters_beyond(most):
    """Yields functions that take more parameters, from their definitions."""
    for file in files:
        for match in re.finditer(r"^\w[\w *]*\b(\w+)\(([^(){};]*(?:\([^()]*\)[^(){};]*)*)\)\s*\{", text_of(file), re.MULTILINE):
            inner = re.sub(r"\([^()]*\)", "", match.group(2))
            if inner.count(",") >= most:
                yield f"{file}: {match.group(1)}"


empty("no function takes more than six parameters", parameters_beyond(6))


def lines_with(pattern, chosen):
    for file in chosen:
        for number, line in enumerate(text_of(file).splitlines(), 1):
            if re.search(pattern, line):
                yield f"{file}:{number}: {line.strip()}"


def only_in(header, pattern):
    """Tests that only these files include that header of a library."""
    users = [file for file in files if re.search(rf"#\s*include\s*<{header}>", text_of(file))]
    tap.ok(bool(users), f"a file includes <{header}>")
    empty(f"only {pattern} includes <{header}>", (file for file in users if not re.fullmatch(pattern, file)))


only_in(r"(iniparser/)?iniparser\.h", r"settings/.*")
only_in(r"(mysql/|mariadb/)?mysql\.h", r"db/mysql/.*")
only_in(r"libpq-fe\.h", r"db/pgsql/.*")
only_in(r"gmp\.h", r"core/number/fraction\.h")
only_in(r"sqlite3\.h", r"db/sqlite/.*")
only_in(r"pthread\.h", r"db/(started\.[ch]|sqlite/read_ahead\.c)")

with open(f"{top}/Makefile.am") as makefile:
    tap.ok(re.search(r"^AM_CPPFLAGS = -include \$\(top_builddir\)/config\.h ", makefile.read(), re.M),
           "the compiler reads config.h before every source")
empty('no file includes config.h explicitly', lines_with(r'"config\.h"', files))
empty('core does not read, write, or read the clock',
      lines_with(r"\b(fopen|open|read|write|printf|puts|time|clock_gettime|gettimeofday|getenv)\s*\(",
                 (file for file in files if file.startswith("core/"))))
empty('only util/clock.c asks for the current time',
      lines_with(r"\b(time|gettimeofday)\s*\(\s*(NULL|&|0)|CLOCK_REALTIME", (file for file in files if file != "util/clock.c")))
empty("only main.c exits, and memory.c if memory is exhausted",
      lines_with(r"\b(exit|abort)\s*\(",
                 (file for file in files if file.endswith(".c")
                  and file not in ("main.c", "settings/settings_doc.c", "util/memory.c"))))

tap.done()
