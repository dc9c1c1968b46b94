/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/usage/kept_tres.h"
#include "util/text.h"

static const struct kept_tres kept = {
    .count = 3, .tres = { { 1, 1, "cpu" }, { 1001, 3, "gres/gpu" }, { 4, 16, "node" } }
};

/* Returns the counts as text, or "none". */
static const char *counts_in(const char *list)
{
    static char text[100];
    uint64_t counts[KEPT_TRES_LIMIT];
    if (!kept_tres_counts(&kept, list, strlen(list), counts))
        return "none";
    snprintf(text, sizeof text, "%llu %llu %llu", (unsigned long long)counts[0],
             (unsigned long long)counts[1], (unsigned long long)counts[2]);
    return text;
}

static void same_counts(const char *list, const char *wanted)
{
    char statement[200];
    snprintf(statement, sizeof statement, "the counts in '%s'", list);
    is_string(counts_in(list), wanted, statement);
}

static void counts(void)
{
    same_counts("1=2,4=1,1001=8", "2 8 1");
    same_counts("5=7,1001=8,2=1", "0 8 0");
    same_counts("", "none");
    same_counts("2=5,5=1", "none");
    same_counts("1=0", "none");
    same_counts("1=3,1=4", "3 0 0");
    same_counts("1=,4=2", "0 0 2");
    same_counts("1,4=2", "0 0 2");
    same_counts("=1,4=2", "0 0 2");
    same_counts("1=2x,4=2,", "0 0 2");
    same_counts("1=18446744073709551614,4=18446744073709551615,1001=18446744073709551616", "none");
    same_counts("1=99999999999999999999999,18446744073709551617=5,4=2", "0 0 2");
    same_counts(",,1=2,,4=3", "2 0 3");
}

static void stored(void)
{
    const int128 large = ((int128)1 << 126) + 5;
    const int128 sums[] = { 255, 0, -large };
    int128 read[KEPT_TRES_LIMIT];
    struct text text = { 0 };
    tres_sums_write(&kept, sums, &text);
    is_string(text.bytes, "1=ff,16=-40000000000000000000000000000005",
              "sums are stored by number, without those of 0");
    ok(tres_sums_read(&kept, text.bytes, text.length, read) && read[0] == 255 && !read[1] &&
           read[2] == -large,
       "the sums are read again");
    const char *others = "2=7,3=10000000000000000,5=1";
    ok(tres_sums_read(&kept, others, strlen(others), read) && !read[0] &&
           read[1] == (int128)1 << 64 && !read[2],
       "TRES that are not kept are ignored");
    ok(tres_sums_read(&kept, "", 0, read) && !read[0] && !read[1] && !read[2],
       "no text means sums of 0");
    static const char *const bad[] = { "1", "1=", "=1", "1=g", "1=1;", "x=1", "1=-", "1=1 " };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char statement[100];
        snprintf(statement, sizeof statement, "'%s' is damaged", bad[i]);
        ok(!tres_sums_read(&kept, bad[i], strlen(bad[i]), read), statement);
    }
    text_free(&text);
}

static void choice(void)
{
    struct tres_name all[] = { { 1, (char *)"cpu", false },
                               { 2, (char *)"mem", false },
                               { 4, (char *)"node", false },
                               { 5, (char *)"billing", true },
                               { 1001, (char *)"gres/gpu", false } };
    struct tres_numbers numbers = { { NULL, strdup("node") } };
    struct text lacking = { 0 };
    struct kept_tres got;
    kept_tres_choose(&got, "AUTO", all, 5, &numbers, &lacking);
    ok(got.count == 4 && got.tres[0].number == 1 && got.tres[0].id == 1 && got.tres[1].id == 4 &&
           got.tres[1].number == 2 && got.tres[2].id == 5 && got.tres[3].id == 1001 &&
           !lacking.length && tres_numbers_used(&numbers) == 4,
       "auto keeps cpu, node, each gres and what the source says; a TRES keeps its number");
    kept_tres_choose(&got, "GRES/gpu, license/x", all, 5, &numbers, &lacking);
    ok(got.count == 1 && got.tres[0].number == 4 && !strcmp(lacking.bytes, "license/x"),
       "names are compared without regard to case, and an unknown name is lacking");
    kept_tres_choose(&got, "none", all, 5, &numbers, &lacking);
    ok(!got.count && tres_numbers_used(&numbers) == 4, "none keeps nothing, but frees no number");
    text_free(&lacking);
    tres_numbers_free(&numbers);
}

int main(void)
{
    counts();
    stored();
    choice();
    return done_testing();
}
