/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <xxhash.h>

#include "util/index.h"

int main(void)
{
    static const unsigned char low_first[] = {
        8, 7, 6, 5, 4, 3, 2, 1, 0x11, 0, 0, 0, 0, 0, 0, 0xf0
    };
    static const uint64_t words[] = { UINT64_C(0x0102030405060708), UINT64_C(0xf000000000000011) };
    ok(hash_words(words, 2) == XXH3_64bits(low_first, sizeof low_first),
       "words are hashed as their bytes, lowest byte first");
    ok(hash_words(words, 0) == XXH3_64bits("", 0), "no words hash as no bytes");
    return done_testing();
}
