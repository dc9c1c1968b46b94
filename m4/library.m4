# SPDX-License-Identifier: MIT

# FAIRMILL_LIBRARY(PREFIX, MODULE, DEBIAN-PACKAGE)
# Finds a required library with pkg-config.  Sets PREFIX_CFLAGS and PREFIX_LIBS.
AC_DEFUN([FAIRMILL_LIBRARY],
    [PKG_CHECK_MODULES([$1], [$2], [], [AC_MSG_ERROR([$2 is missing (Debian: $3)])])])
