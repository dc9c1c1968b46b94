# SPDX-License-Identifier: MIT

# FAIRMILL_SANITIZERS
# --enable-sanitizers: AddressSanitizer and UndefinedBehaviorSanitizer; each error is fatal.
# Their code causes false -Wmaybe-uninitialized warnings, so that warning is disabled.  Call it after
# FAIRMILL_WARNINGS.
AC_DEFUN([FAIRMILL_SANITIZERS], [
    AC_ARG_ENABLE([sanitizers],
        [AS_HELP_STRING([--enable-sanitizers],
            [build with the address and undefined behaviour sanitizers])],
        [], [enable_sanitizers=no])
    SANITIZER_CFLAGS=
    AS_IF([test "$enable_sanitizers" = yes], [
        SANITIZER_CFLAGS='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
        fairmill_save_CFLAGS=$CFLAGS
        CFLAGS="$CFLAGS $SANITIZER_CFLAGS"
        AC_LINK_IFELSE([AC_LANG_PROGRAM()], [],
            [AC_MSG_ERROR([$CC cannot link with the sanitizers])])
        CFLAGS=$fairmill_save_CFLAGS
        _FAIRMILL_WARNING([-Wno-maybe-uninitialized])
    ])
    AC_SUBST([SANITIZER_CFLAGS])
])
