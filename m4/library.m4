# SPDX-License-Identifier: MIT

# FAIRMILL_LIBRARY(PREFIX, MODULE, DEBIAN-PACKAGE)
# A library that must be there, found by pkg-config: sets PREFIX_CFLAGS and PREFIX_LIBS.
AC_DEFUN([FAIRMILL_LIBRARY],
    [PKG_CHECK_MODULES([$1], [$2], [], [AC_MSG_ERROR([$2 is missing (Debian: $3)])])])
