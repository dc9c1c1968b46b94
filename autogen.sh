#!/bin/sh
# SPDX-License-Identifier: MIT
# Make configure and what it needs, in a git checkout.
set -eu
cd "$(dirname "$0")"
exec autoreconf --install --warnings=all,no-obsolete
