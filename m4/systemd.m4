# SPDX-License-Identifier: MIT

# FAIRMILL_SYSTEMD
# Sets systemdsystemunitdir, the directory for systemd units, and HAVE_SYSTEMD.  The directory comes
# from pkg-config, relative to the prefix, so that `make install' writes below the prefix only.
AC_DEFUN([FAIRMILL_SYSTEMD], [
    AC_ARG_WITH([systemdsystemunitdir],
        [AS_HELP_STRING([--with-systemdsystemunitdir=DIR],
            [where systemd's units go, or no; usually below PREFIX if systemd is there])],
        [], [with_systemdsystemunitdir=auto])
    AC_MSG_CHECKING([where systemd's units go])
    AS_CASE([$with_systemdsystemunitdir],
        [auto|yes], [systemdsystemunitdir=$("$PKG_CONFIG" --define-variable=prefix='${prefix}' \
            --define-variable=root_prefix='${prefix}' --define-variable=rootprefix='${prefix}' \
            --variable=systemdsystemunitdir systemd 2>/dev/null)],
        [no], [systemdsystemunitdir=],
        [systemdsystemunitdir=$with_systemdsystemunitdir])
    AC_MSG_RESULT([${systemdsystemunitdir:-nowhere}])
    AS_IF([test "$with_systemdsystemunitdir$systemdsystemunitdir" = yes],
        [AC_MSG_ERROR([pkg-config does not know systemd (Debian: systemd, later systemd-dev)])])
    AC_SUBST([systemdsystemunitdir])
    AM_CONDITIONAL([HAVE_SYSTEMD], [test -n "$systemdsystemunitdir"])
])
