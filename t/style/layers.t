#!/bin/bash
# SPDX-License-Identifier: MIT
# Each layer of src/ includes only what lies under it.
. "$(dirname "$0")/../lib/tap.sh"
cd "$top/src" || exit 1

# LAYER FOLDER MAY-INCLUDE: what a layer may include is an extended pattern.  Everybody may
# include config.h and the system's headers.
layer() {
    local name=$1 folder=$2 allowed=$3
    find "$folder" -maxdepth 1 -name '*.[ch]' -exec \
        grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + |
        grep -vE "\"(config|$allowed)\\.h\"" >"$scratch/above"
    ok "there is a layer $name" test -n "$(find "$folder" -maxdepth 1 -name '*.c' -print -quit)"
    empty "$name includes only what is under it" "$scratch/above"
}

util='util/[a-z_]+'
core="$util|core/[a-z_]+"
settings="$core|db/db|settings/[a-z_]+"
source="$settings|source/[a-z_]+"
results="$settings|sql|results/[a-z_]+"
report="$core|report/[a-z_]+"
run="$source|$results|$report|[a-z_]+"

layer util util "$util"
layer core core "$core"
layer db db "$util|db/[a-z_]+"
layer settings settings "$settings"
layer source source "$source"
layer results results "$results"
layer report report "$report"
layer command command "$run|command/[a-z_]+"
layer main . "$run|command/[a-z_]+"

find . -maxdepth 1 -name '*.[ch]' ! -name main.c -exec grep -n '"command/' {} + >"$scratch/commands"
empty "only main.c knows the commands" "$scratch/commands"

# HEADER FILES: only these files include that header of a library.
only_in() {
    grep -rlE "#[[:space:]]*include[[:space:]]*<$1>" . | sort >"$scratch/users"
    grep -vE "^\\./($2)\$" "$scratch/users" >"$scratch/strangers"
    ok "someone includes <$1>" test -s "$scratch/users"
    empty "only $2 includes <$1>" "$scratch/strangers"
}

only_in '(iniparser/)?iniparser\.h' 'settings/.*'
only_in '(mysql/|mariadb/)?mysql\.h' 'db/mysql(_[a-z]+)?\.[ch]'
only_in 'libpq-fe\.h' 'db/pgsql(_[a-z]+)?\.[ch]'
only_in 'sqlite3\.h' 'db/sqlite(_[a-z]+)?\.[ch]'
only_in 'pthread\.h' 'db/read_ahead\.c'

grep -rnE '"config\.h"' --include='*.h' . >"$scratch/headers"
empty "no header includes config.h" "$scratch/headers"

find . -name '*.c' | while IFS= read -r file; do
    [ "$(grep -m 1 '#[[:space:]]*include' "$file")" = '#include "config.h"' ] || echo "$file"
done >"$scratch/sources"
empty "every source includes config.h first" "$scratch/sources"

grep -nE '\b(fopen|open|read|write|printf|puts|time|clock_gettime|gettimeofday|getenv)[[:space:]]*\(' core/*.[ch] \
    >"$scratch/impure"
empty "core reads, writes and asks for the time nowhere" "$scratch/impure"

grep -rnE '\b(exit|abort)[[:space:]]*\(' --include='*.c' . |
    grep -vE '^\./(main|settings/settings_doc|util/memory)\.c:' >"$scratch/exits"
empty "only main.c exits, and memory.c where there is none left" "$scratch/exits"

done_testing
