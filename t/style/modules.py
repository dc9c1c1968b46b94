# SPDX-License-Identifier: MIT
"""The modules of src/ and their dependencies.

A module is a .c file with its header, or a header alone; its name is its path without the suffix.
It needs another module if it includes that module's header, or if its object file uses a function
or variable that the other defines."""

import collections
import os
import re
import subprocess

# From the lowest layer up; directories of one layer are in one list.
FLOORS = [
    ["util"],
    ["core", "db"],
    ["settings", "report"],
    ["source", "results"],
    ["compute", "import"],
    ["run"],
    ["command"],
    ["main"],
]


def floor_of(module):
    """Returns the number of a module's layer, or None if it belongs to none."""
    room = module.split("/")[0]
    for number, rooms in enumerate(FLOORS):
        if room in rooms:
            return number
    return None


def sources(folder):
    for path, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(path, name), folder)


def read_includes(folder):
    """Returns by module the modules whose headers it includes, and the place of the include."""
    includes = collections.defaultdict(dict)
    files = set(sources(folder))
    for file in sorted(files):
        module = os.path.splitext(file)[0]
        includes[module].update({})
        with open(os.path.join(folder, file), encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
                if match and match.group(1) in files:
                    other = os.path.splitext(match.group(1))[0]
                    if other != module:
                        includes[module].setdefault(other, f"{file}:{number} includes it")
    return includes


def objects(build):
    """Returns the paths of the object files of src/ in a build."""
    folder = os.path.join(build, "src")
    return sorted(os.path.relpath(os.path.join(path, name), folder)
                  for path, _, names in os.walk(folder) for name in names if name.endswith(".o"))


def module_of(path):
    """Returns the module of an object file.  Objects of drivers have names like
    fairmill_mysql_so-mysql.o."""
    folder, name = os.path.split(path)
    return os.path.join(folder, re.sub(r"^\w+_so-", "", name).removesuffix(".o"))


def read_symbols(build, modules):
    """Returns by module the names that its object defines for others, and the names that it
    uses."""
    defined, used = {}, collections.defaultdict(set)
    folder = os.path.join(build, "src")
    paths = [path for path in objects(build) if module_of(path) in modules]
    listing = subprocess.run(["nm", "--portability", "--print-file-name", *paths], cwd=folder, check=True,
                             capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        file, name, kind = line.split()[:3]
        module = module_of(file.removesuffix(":"))
        if kind in "TDRBVWC":
            defined[name] = module
        elif kind == "U":
            used[module].add(name)
    return defined, used


def needs(folder, build):
    """Returns by module the modules that it needs, and the first cause that was found."""
    graph = read_includes(folder)
    defined, used = read_symbols(build, graph)
    for module, names in used.items():
        for name in sorted(names):
            other = defined.get(name)
            if other and other != module:
                graph[module].setdefault(other, f"{module}.c uses {name}")
    return graph


def circles(graph):
    """Returns groups of modules that need each other, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            module, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in stack:
                    low[module] = min(low[module], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[module])
                if low[module] == index[module]:
                    at = stack.index(module)
                    if len(stack) - at > 1:
                        found.append(sorted(stack[at:]))
                    del stack[at:]
    return found


def climbs(graph):
    """Yields a sentence for each need of a module of a higher layer."""
    for module in sorted(graph):
        for other, why in sorted(graph[module].items()):
            if (floor_of(other) or 0) > (floor_of(module) or 0):
                yield f"{module} needs {other}: {why}"


def ties(graph, circle):
    """Yields a line for each dependency in a cycle."""
    for module in circle:
        for other, why in sorted(graph[module].items()):
            if other in circle:
                yield f"{module} needs {other}: {why}"
