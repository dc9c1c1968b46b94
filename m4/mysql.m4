# SPDX-License-Identifier: MIT

# FAIRMILL_MYSQL
# The driver `mysql', with MariaDB Connector/C or libmysqlclient.
AC_DEFUN([FAIRMILL_MYSQL], [
    FAIRMILL_DRIVER([mysql], [a MySQL client library], [libmariadb-dev],
        [AS_HELP_STRING([--with-mysql=LIBRARY],
            [libmariadb, mysqlclient, or the path of a mariadb_config or mysql_config
             (default: the first of them that is found)])
AS_HELP_STRING([--without-mysql], [build without MySQL and MariaDB])],
        [AS_CASE([$with_mysql],
            [yes], [
                _FAIRMILL_MYSQL_MODULE([libmariadb])
                _FAIRMILL_MYSQL_MODULE([mysqlclient])
                _FAIRMILL_MYSQL_SCRIPT([mariadb_config])
                _FAIRMILL_MYSQL_SCRIPT([mysql_config])],
            [libmariadb], [_FAIRMILL_MYSQL_MODULE([libmariadb])],
            [mysqlclient], [_FAIRMILL_MYSQL_MODULE([mysqlclient])],
            [_FAIRMILL_MYSQL_SCRIPT([$with_mysql])])])
    AS_IF([test "$with_mysql" != no], [_FAIRMILL_MYSQL_FLAVOUR])
])

# _FAIRMILL_MYSQL_MODULE(MODULE): look for MODULE with pkg-config, unless a library was found.
AC_DEFUN([_FAIRMILL_MYSQL_MODULE], [
    AS_IF([test "$fairmill_found" = no],
        [PKG_CHECK_MODULES([MYSQL], [$1], [fairmill_found=yes], [fairmill_found=no])])
])

# _FAIRMILL_MYSQL_SCRIPT(SCRIPT): run the library's own script, unless a library was found.
AC_DEFUN([_FAIRMILL_MYSQL_SCRIPT], [
    AS_IF([test "$fairmill_found" = no], [
        AC_MSG_CHECKING([for a MySQL client library with $1])
        AS_IF([MYSQL_CFLAGS=`"$1" --include 2>/dev/null` && MYSQL_LIBS=`"$1" --libs 2>/dev/null`],
            [fairmill_found=yes])
        AC_MSG_RESULT([$fairmill_found])
    ])
])

# _FAIRMILL_MYSQL_FLAVOUR: test for the differences between the libraries.
AC_DEFUN([_FAIRMILL_MYSQL_FLAVOUR], [
    fairmill_save_CPPFLAGS=$CPPFLAGS fairmill_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $MYSQL_CFLAGS" LIBS="$MYSQL_LIBS $LIBS"
    AC_CHECK_HEADER([mysql.h], [],
        [AC_MSG_ERROR([mysql.h is not where the MySQL client library says it is])])
    AC_CHECK_TYPES([my_bool], [], [], [[#include <mysql.h>]])
    AC_CHECK_DECLS([STMT_ATTR_ARRAY_SIZE], [], [], [[#include <mysql.h>]])
    AC_CHECK_DECLS([MYSQL_OPT_SSL_ENFORCE, MYSQL_OPT_SSL_MODE], [], [], [[#include <mysql.h>]])
    AS_IF([test "$ac_cv_have_decl_MYSQL_OPT_SSL_ENFORCE$ac_cv_have_decl_MYSQL_OPT_SSL_MODE" = nono],
        [AC_MSG_ERROR([this MySQL client library cannot insist on TLS])])
    AC_CHECK_FUNCS([mysql_stmt_bind_named_param mysql_real_connect_nonblocking])
    CPPFLAGS=$fairmill_save_CPPFLAGS LIBS=$fairmill_save_LIBS
])
