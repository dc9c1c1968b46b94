# SPDX-License-Identifier: MIT

# FAIRMILL_INIPARSER
# Finds iniparser, which has no .pc file and whose header may be in a subdirectory.  Sets
# INIPARSER_LIBS, and HAVE_INIPARSER_INIPARSER_H or HAVE_INIPARSER_H.
AC_DEFUN([FAIRMILL_INIPARSER], [
    AC_CHECK_HEADERS([iniparser/iniparser.h iniparser.h], [fairmill_iniparser=yes; break],
        [fairmill_iniparser=no])
    fairmill_save_LIBS=$LIBS
    AC_SEARCH_LIBS([iniparser_load], [iniparser], [], [fairmill_iniparser=no])
    LIBS=$fairmill_save_LIBS
    AS_CASE([$ac_cv_search_iniparser_load], [-l*], [INIPARSER_LIBS=$ac_cv_search_iniparser_load],
        [INIPARSER_LIBS=])
    AC_SUBST([INIPARSER_LIBS])
    AS_IF([test "$fairmill_iniparser" = no],
        [AC_MSG_ERROR([iniparser is missing (Debian: libiniparser-dev)])])
])
