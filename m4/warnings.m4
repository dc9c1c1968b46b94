# SPDX-License-Identifier: MIT

# FAIRMILL_WARNINGS
# Sets WARNING_CFLAGS to the warnings that the compiler supports.  --enable-werror makes them errors.
AC_DEFUN([FAIRMILL_WARNINGS], [
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
        [], [enable_werror=no])
    WARNING_CFLAGS=
    _FAIRMILL_WARNING([-Wall])
    _FAIRMILL_WARNING([-Wextra])
    _FAIRMILL_WARNING([-Wconversion])
    _FAIRMILL_WARNING([-Wshadow])
    AS_IF([test "$enable_werror" = yes], [_FAIRMILL_WARNING([-Werror])])
    AC_SUBST([WARNING_CFLAGS])
])

# _FAIRMILL_WARNING(OPTION): add the option if the compiler accepts it.
AC_DEFUN([_FAIRMILL_WARNING], [
    AC_MSG_CHECKING([whether $CC takes $1])
    fairmill_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $1"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([int nothing;])],
        [WARNING_CFLAGS="$WARNING_CFLAGS $1"; AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])])
    CFLAGS=$fairmill_save_CFLAGS
])
