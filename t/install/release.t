#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: packages
# A release is the same bytes whoever makes it, and holds all that a build needs but libraries.
. "$(dirname "$0")/../lib/tap.sh"
build=${top_builddir:-$top/build}
forget_build
version=$(sed -n 's/^AC_INIT(\[fairmill\], \[\(.*\)\])$/\1/p' "$top/configure.ac")
grep -q '^CHART_JS = .' "$build/Makefile" || not_here "built without the page"

# FOLDER UMASK SECONDS: the release, made there.
release() (
    mkdir "$scratch/$1"
    umask "$2"
    sleep "$3"
    make -s -C "$build" dist && mv "$build/fairmill-$version.tar.gz" "$scratch/$1"
)
ok "a release is made" release first 022 0
ok "another one is made later, under another umask" release second 027 2
ok "they are the same, bit for bit" \
    cmp "$scratch/first/fairmill-$version.tar.gz" "$scratch/second/fairmill-$version.tar.gz"

cd "$scratch" && tar xzf "first/fairmill-$version.tar.gz" || exit 1
page=fairmill-$version/src/report/page
configured() { sed -n "s/^$1 = //p" "$build/Makefile"; }
ok "it holds Chart.js as this build has it" cmp "$(configured CHART_JS)" "$page/bundled/chart.min.js"
ok "and d3-hierarchy" cmp "$(configured D3_HIERARCHY_JS)" "$page/bundled/d3-hierarchy.min.js"
for licence in MIT 'BSD 3-Clause' ISC; do
    like "and the $licence License" "$page/NOTICES" "^$licence License\$"
done

# An archive of a checkout, as forges offer it, has neither .git nor what autogen.sh makes.
cp -R "fairmill-$version" archive
rm -rf archive/{configure,Makefile.in,aclocal.m4,config.h.in,files.am,src/report/page/bundled} \
    archive/build-aux/{ar-lib,compile,depcomp,install-sh,missing,tap-driver.sh}
ok "autogen.sh succeeds in an archive without .git" archive/autogen.sh
ok "and its lists name the same files" diff "fairmill-$version/files.am" archive/files.am

# FOLDER CONFIGURE-OPTION...: a page made from the release.
page_of() (
    mkdir "$1" && cd "$1" &&
        "../fairmill-$version/configure" --disable-dependency-tracking --disable-server-tests "${@:2}" >configure.log 2>&1 &&
        make -s page.c >make.log 2>&1
)
ok "a build of it makes the page" page_of own
like "of its own scripts" own/configure.log 'for chart.min.js[.][.][.] .*/bundled/chart.min.js$'
ok "which is that of this build" cmp own/page.c "$build/page.c"
echo 'var other = 1;' >other.js
ok "CHART_JS comes before them" page_of other CHART_JS="$scratch/other.js"
tr -d '\n' <other/page.c >other/line
like "for the page, too" other/line "$(printf 'var other = 1;' | od -An -v -tu1 | tr -s ' \n' ',' | sed 's/^,//; s/,$//')"
done_testing
