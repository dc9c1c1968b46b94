# SPDX-License-Identifier: MIT

# FAIRMILL_FUZZERS
# --enable-fuzzers: build for libFuzzer, which needs clang.  Only for `make fuzzers`.
AC_DEFUN([FAIRMILL_FUZZERS], [
    AC_ARG_ENABLE([fuzzers],
        [AS_HELP_STRING([--enable-fuzzers],
            [build for libFuzzer, which takes CC=clang; `make fuzz' does it by itself])],
        [], [enable_fuzzers=no])
    FUZZER_LDFLAGS=
    AS_IF([test "$enable_fuzzers" = yes], [
        SANITIZER_CFLAGS='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
        FUZZER_LDFLAGS='-fsanitize=fuzzer'
        fairmill_save_CFLAGS=$CFLAGS
        CFLAGS="$CFLAGS $SANITIZER_CFLAGS $FUZZER_LDFLAGS"
        AC_LINK_IFELSE([AC_LANG_SOURCE([[
            int LLVMFuzzerTestOneInput(const unsigned char *, __SIZE_TYPE__);
            int LLVMFuzzerTestOneInput(const unsigned char *data, __SIZE_TYPE__ size)
            {
                return data != 0 && size > 0 ? 0 : 0;
            }]])], [],
            [AC_MSG_ERROR([$CC cannot link with libFuzzer (Debian: clang libclang-rt-dev)])])
        CFLAGS=$fairmill_save_CFLAGS
    ])
    AC_SUBST([FUZZER_LDFLAGS])
])
