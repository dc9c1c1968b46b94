# SPDX-License-Identifier: MIT

# FAIRMILL_SCRIPT(VARIABLE, NAME, DEBIAN-PACKAGE, FILE...)
# Finds a script that `fairmill report' embeds in its page: the file in VARIABLE, the copy in a
# release, or the first FILE that exists.
AC_DEFUN([FAIRMILL_SCRIPT], [
    AC_ARG_VAR([$1], [where $2 is])
    AC_MSG_CHECKING([for $2])
    AS_IF([test -z "$$1"], [
        for fairmill_file in "$srcdir/src/report/page/bundled/$2" $4; do
            AS_IF([test -z "$$1" && test -r "$fairmill_file"], [$1=$fairmill_file])
        done
    ])
    AC_MSG_RESULT([${$1:-no}])
    AS_IF([test ! -r "$$1"],
        [AC_MSG_ERROR([$2 is missing (Debian: $3); $1=FILE says where it is, --without-report does without])])
])

# FAIRMILL_REPORT
# --without-report: build without the command `report' and without the chart libraries.
AC_DEFUN([FAIRMILL_REPORT], [
    AC_ARG_WITH([report],
        [AS_HELP_STRING([--without-report], [leave out the command that makes an HTML page])],
        [], [with_report=yes])
    AS_IF([test "$with_report" != no], [
        FAIRMILL_SCRIPT([CHART_JS], [chart.min.js], [libjs-chart.js],
            [/usr/share/javascript/chart.js/chart.min.js /usr/share/nodejs/chart.js/dist/chart.min.js])
        FAIRMILL_SCRIPT([D3_HIERARCHY_JS], [d3-hierarchy.min.js], [node-d3-hierarchy],
            [/usr/share/nodejs/d3-hierarchy/dist/d3-hierarchy.min.js])
        AC_DEFINE([HAVE_REPORT], [1], [Whether there is a command `report'])
    ])
    AM_CONDITIONAL([HAVE_REPORT], [test "$with_report" != no])
])
