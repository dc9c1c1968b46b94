#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fuzz.sh SOURCE-FOLDER SECONDS
# fuzz.sh SOURCE-FOLDER --inputs COUNT
#
# Builds the fuzzers of t/fuzz with clang in fuzz/ below the working directory, and runs one after
# another, for that many seconds in all; what they learn is kept in fuzz/corpus-NAME and helps the next
# time.  Or each for so many inputs, the same ones each time.  The corpora in t/fuzz are where they
# begin, and are only read.
set -euo pipefail
source_folder=$1 seconds=$2

mkdir -p fuzz
cd fuzz
# A count of inputs is tried in seconds, however slowly; to compile is what takes time then.
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
    # No input takes seconds; one that does is a finding too.
    if ! (cd "$work" && "$here/t/fuzz/$name" "${extent[@]}" -timeout=20 \
        -rss_limit_mb=2048 -artifact_prefix="$here/found-$name-" -print_final_stats=1 \
        "$learned" "$source_folder/t/fuzz/corpus-$name" 2>&1 |
        grep -vE '^(#[0-9]+|	NEW_FUNC)'); then
        echo "$name found something; in an empty folder: $here/t/fuzz/$name $here/found-$name-..." >&2
        failures=$((failures + 1))
    fi
done
[ "$failures" = 0 ]
