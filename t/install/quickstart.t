#!/bin/bash
# SPDX-License-Identifier: MIT
# quickstart.sh, as README has it, goes from a checkout to answers, and what it proposes works.
. "$(dirname "$0")/../lib/tap.sh"
forget_build
export CC=gcc CCACHE_DIR=${top_builddir:-$top/build}/ccache CCACHE_NOHASHDIR=1
! command -v ccache >/dev/null || CC='ccache gcc'
! grep -q __asan_init "$FAIRMILL" || not_here "another build will do"
[[ $("$FAIRMILL" --version) == *sqlite* ]] || not_here "built without SQLite, which quickstart.sh uses"
"$FAIRMILL" report --help >"$out" 2>&1 || not_here "built without the page, which quickstart.sh makes"

copy=$scratch/fairmill
mkdir "$copy"
tar -C "$top" --exclude=./build --exclude='./build-[!a]*' --exclude=./.git -cf - . | tar -C "$copy" -xf -
# A package may be built among its sources, where no other build can begin.
(cd "$copy" && rm -f config.status config.cache Makefile && find . -name '*.o' -delete)
# What is installed stays as it is; drivers are those of this build.
cat >>"$copy/build-aux/packages.sh" <<END
packages_install() {
    case "\$*" in
    *mariadb* | *mysql*) [[ '$("$FAIRMILL" --version)' == *mysql* ]] ;;
    *libpq*) [[ '$("$FAIRMILL" --version)' == *pgsql* ]] ;;
    esac
}
END
# A folder of a build may be a release's, whose sources cannot be changed.
chmod -R u+w "$copy"
cd "$copy" || exit 1

# COMMAND: README has it, and it ends well.
typed() {
    ok "README has \`$1'" grep -Fq -e "    $1" -e "\`$1\`" README.md
    status "\`$1' ends well" 0 bash -c "$1"
    grep -v '^fairmill: [a-z]*: ' "$err" >"$scratch/complaints"
    empty "and does not complain" "$scratch/complaints"
}

typed './quickstart.sh'
like "a year of jobs is made" "$out" '^[0-9]+ jobs of a year, [0-9]+ running, 3[0-9] pending$'
like "other shares change the queue" "$out" '^[0-9]+ of [0-9]+ jobs that wait would change places'
like "what the ledger gives back is there" "$out" "^entry 1, demo: credit 21600000 TRES-seconds to user 'ines'"
# In a file show has all its columns.
grep -vE '^[$]|^ *[a-z]+ .*[0-9]{6}|FairShare +LevelFS' "$out" >"$scratch/words"
unlike "no line of words or of the queue is wider than a terminal" "$scratch/words" '.{81}'
ok "the page is there" test -s build/demo/fairshare.html

setting=$(sed -n 's/^    \(cd build\/demo .*\)/\1/p' "$out")
ok "it says how to ask more" test -n "$setting"
question=$(sed -n 's/^    [$] \(fairmill .*\)/\1/p' README.md)
ok "README has a question" test -n "$question"
status "which works then" 0 bash -c "set -e; $setting; $question"
like "and is answered" "$out" 'would be ahead of'

typed './quickstart.sh pbs'
like "it tells of the jobs of OpenPBS" "$out" '^fairshare entity: scott'
done_testing
