#!/bin/bash
# SPDX-License-Identifier: MIT
#
# coverage.sh SOURCE-DIRECTORY DIRECTORY...: print the line coverage of directories of src/.  Run it in a
# build with --coverage after its tests.
set -euo pipefail
export LC_ALL=C
sources=$1
shift
for room; do
    find "src/$room" -name '*.gcda' | sort | while IFS= read -r data; do
        gcov --no-output --object-file "${data%.gcda}.o" "$sources/${data%.gcda}.c" 2>/dev/null
    done | awk -v room="$room" '
        /^File / { ours = index($0, "src/" room "/") > 0 }
        /^Lines executed:/ && ours {
            split($2, percent, /[:%]/); run += percent[2] / 100 * $4; all += $4; ours = 0
        }
        END { if (!all) exit 1; printf "%-8s %.1f %% of %d lines\n", room, 100 * run / all, all }' ||
        { echo "coverage.sh: nothing of $room was run; is this a build with --coverage?" >&2; exit 1; }
done
