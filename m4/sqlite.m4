# SPDX-License-Identifier: MIT

# FAIRMILL_SQLITE
# The driver `sqlite'.
AC_DEFUN([FAIRMILL_SQLITE], [FAIRMILL_DRIVER([sqlite], [SQLite], [libsqlite3-dev],
    [AS_HELP_STRING([--without-sqlite], [build without SQLite])],
    [PKG_CHECK_MODULES([SQLITE], [sqlite3 >= 3.26], [fairmill_found=yes], [fairmill_found=no])])])
