# SPDX-License-Identifier: MIT

# FAIRMILL_SERVER_TESTS
# --disable-server-tests: omit tests that start database servers from `make check'.
AC_DEFUN([FAIRMILL_SERVER_TESTS], [
    AC_ARG_ENABLE([server-tests],
        [AS_HELP_STRING([--disable-server-tests],
            [leave tests that start database servers out of `make check'])],
        [], [enable_server_tests=yes])
    AM_CONDITIONAL([WITH_SERVER_TESTS], [test "$enable_server_tests" != no])
])
