# SPDX-License-Identifier: MIT

# FAIRMILL_DRIVER(NAME, LIBRARY, DEBIAN-PACKAGE, WITH-HELP, SEARCH)
# Adds a driver unless --without-NAME is given.  SEARCH looks for its client library, sets
# fairmill_found to yes or no, and sets NAME_CFLAGS and NAME_LIBS, where NAME is in upper case.
# Defines HAVE_NAME.
AC_DEFUN([FAIRMILL_DRIVER], [
    AC_ARG_WITH([$1], [$4], [], [with_$1=yes])
    AS_IF([test "$with_$1" != no], [
        fairmill_found=no
        $5
        AS_IF([test "$fairmill_found" = no],
            [AC_MSG_ERROR([$2 is missing (Debian: $3); --without-$1 builds without it])])
        AC_DEFINE(m4_toupper([HAVE_$1]), [1], [Define to 1 if the driver `$1' is built in.])
        fairmill_drivers="$fairmill_drivers $1"
    ])
    AC_SUBST(m4_toupper([$1_CFLAGS]))
    AC_SUBST(m4_toupper([$1_LIBS]))
    AM_CONDITIONAL(m4_toupper([HAVE_$1]), [test "$with_$1" != no])
])

# FAIRMILL_ANY_DRIVER
# Fails if no driver is enabled.  Call it after all drivers.
AC_DEFUN([FAIRMILL_ANY_DRIVER],
    [AS_IF([test -z "$fairmill_drivers"], [AC_MSG_ERROR([at least one driver must be built in])])])
