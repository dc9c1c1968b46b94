#!/bin/sh
# SPDX-License-Identifier: MIT
# Make configure and its inputs in a git checkout, in an archive of one, or in a release.
set -eu
cd "$(dirname "$0")"
if [ -e .git ] || [ ! -e files.am ]; then
    build-aux/list-files.sh >files.am.new
    mv files.am.new files.am
fi
exec autoreconf --install --warnings=all,no-obsolete
