/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_T_FUZZ_FUZZ_H
#define FAIRMILL_T_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What the fuzzers share.  Each is one function that libFuzzer calls with bytes of its own making;
 * whatever they are, it must return, and what must be true must be. */

#define FUZZ_FUNCTION __attribute__((unused)) static

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

FUZZ_FUNCTION void must(int truth, const char *statement)
{
    if (truth)
        return;
    fprintf(stderr, "it is not true that %s\n", statement);
    abort();
}

/* In the working directory, where build-aux/fuzz.sh has made a folder for that. */
FUZZ_FUNCTION void write_file(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name, "w");
    must(file && fwrite(bytes, 1, size, file) == size && !fclose(file), "a file can be written");
    chmod(name, 0600);
}

/* A copy without a NUL behind it, to be freed: who reads beyond its end is found. */
FUZZ_FUNCTION char *exact_copy(const uint8_t *bytes, size_t size)
{
    char *copy = malloc(size ? size : 1);
    must(copy != NULL, "there is memory");
    if (size)
        memcpy(copy, bytes, size);
    return copy;
}

/* A text of these bytes, to be freed. */
FUZZ_FUNCTION char *text_of(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    must(text != NULL, "there is memory");
    if (size)
        memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

#endif
