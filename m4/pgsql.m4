# SPDX-License-Identifier: MIT

# FAIRMILL_PGSQL
# The driver `pgsql'.
AC_DEFUN([FAIRMILL_PGSQL], [FAIRMILL_DRIVER([pgsql], [libpq], [libpq-dev],
    [AS_HELP_STRING([--without-pgsql], [build without PostgreSQL])],
    [PKG_CHECK_MODULES([PGSQL], [libpq >= 12], [fairmill_found=yes], [fairmill_found=no])])])
