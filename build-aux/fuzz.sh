#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fuzz.sh SOURCE-DIRECTORY SECONDS
# fuzz.sh SOURCE-DIRECTORY --inputs COUNT
#
# Builds the fuzzers of t/fuzz with clang in fuzz/ below the working directory, and runs them one after
# another for SECONDS in total.  New inputs are stored in fuzz/corpus-NAME for the next time.  With
# --inputs, each fuzzer runs COUNT inputs, always the same ones.  The corpora in t/fuzz are read only.
set -euo pipefail
source_folder=$1 seconds=$2

mkdir -p fuzz
cd fuzz
# A small number of inputs takes seconds; compiling takes most of the time, so do not optimize.
flags='-O1 -g'
[ "$seconds" != --inputs ] || flags='-O0 -g1'
[ -f Makefile ] ||
    "$source_folder"/configure --disable-dependency-tracking --enable-fuzzers CC="${FUZZ_CC:-clang}" CFLAGS="$flags"
"${MAKE:-make}" -s sql.h
"${MAKE:-make}" -s -j"$(nproc)" fuzzers

here=$PWD
work=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$work"' EXIT

fuzzers=(t/fuzz/*.o)
if [ "$seconds" = --inputs ]; then
    extent=(-runs="$3" -seed=1)
else
    share=$((seconds / ${#fuzzers[@]}))
    [ "$share" -gt 0 ] || share=1 # 0 would be for ever
    extent=(-max_total_time="$share")
fi
failures=0
for object in "${fuzzers[@]}"; do
    name=$(basename "$object" .o)
    learned=$here/corpus-$name
    [ "$seconds" != --inputs ] || learned=$work/corpus-$name
    mkdir -p "$learned"
    printf '\n== %s\n' "$name"
    # No input should take seconds, so a slow one is a failure, too.
    if ! (cd "$work" && "$here/t/fuzz/$name" "${extent[@]}" -timeout=20 \
        -rss_limit_mb=2048 -artifact_prefix="$here/found-$name-" -print_final_stats=1 \
        "$learned" "$source_folder/t/fuzz/corpus-$name" 2>&1 |
        grep -vE '^(#[0-9]+|	NEW_FUNC)'); then
        echo "$name found something; in an empty folder: $here/t/fuzz/$name $here/found-$name-..." >&2
        failures=$((failures + 1))
    fi
done
[ "$failures" = 0 ]
