/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <stdlib.h>

#include "core/usage/checkpoint.h"

static void sums(void)
{
    struct usage_sums *sums = usage_sums_create(0);
    bool kept = true;
    for (uint64_t i = 0; i < 5000; i++)
        usage_sums_of(sums, i * i * UINT64_C(1000003))->word[0] += i;
    for (uint64_t i = 0; i < 5000; i++)
        kept &= usage_sums_find(sums, i * i * UINT64_C(1000003))->sum.word[0] == i;
    ok(kept && sums->count == 5000, "each id has its own sum, for dense and sparse ids");
    ok(!usage_sums_find(sums, 7), "usage_sums_find returns NULL for an unknown id");
    usage_sums_of(sums, 0)->word[0] += 41;
    ok(sums->count == 5000 && usage_sums_find(sums, 0)->sum.word[0] == 41,
       "usage is added to an existing sum");
    usage_sums_destroy(sums);

    struct wide one = { { 1, 0, 0, 0 } }, other = { { 0, 1, 0, 0 } };
    ok(usage_sum_hash(3, &one, "", 0) != usage_sum_hash(3, &other, "", 0) &&
           usage_sum_hash(3, &one, "", 0) != usage_sum_hash(4, &one, "", 0),
       "the hash of a sum depends on its id and every word");
}

static struct job_keys keys_of(const uint64_t *list, size_t count)
{
    struct job_keys keys = { 0 };
    for (size_t i = 0; i < count; i++)
        job_keys_add(&keys, list[i]);
    job_keys_sort(&keys);
    return keys;
}

static void keys(void)
{
    const uint64_t some[] = { 9, UINT64_MAX, 3, 9, 5 }, others[] = { 5, 4, UINT64_MAX };
    struct job_keys one = keys_of(some, 5), other = keys_of(others, 3), none = { 0 };
    ok(one.count == 4 && one.keys[0] == 3 && one.keys[3] == UINT64_MAX,
       "keys are sorted and unique");
    struct job_keys rest = job_keys_without(&one, &other);
    ok(rest.count == 2 && rest.keys[0] == 3 && rest.keys[1] == 9,
       "keys that the other list lacks are found");
    job_keys_free(&rest);
    rest = job_keys_without(&one, &none);
    ok(rest.count == 4, "all keys remain if the other list is empty");
    job_keys_free(&rest);
    rest = job_keys_without(&none, &one);
    ok(rest.count == 0, "no keys remain of an empty list");
    ok(job_keys_hash(&one) != job_keys_hash(&other) && job_keys_hash(&none) == 0,
       "different lists have different hashes");
    job_keys_free(&one);
    job_keys_free(&other);
}

static void hashes(void)
{
    struct checkpoint checkpoint = { .kept = true, .as_of = 5, .source = "a", .basis = "grid 8\n" };
    uint64_t plain = checkpoint_hash(&checkpoint);
    uint64_t *const fields[] = {
        &checkpoint.as_of,           &checkpoint.full_as_of,   &checkpoint.cutoff,
        &checkpoint.checkpointed_to, &checkpoint.start,        &checkpoint.jobs_from,
        &checkpoint.oldest_end,      &checkpoint.first_charge, &checkpoint.newest_end,
        &checkpoint.sums_hash,       &checkpoint.open_hash,
    };
    bool all = true;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        ++*fields[i];
        all &= checkpoint_hash(&checkpoint) != plain;
        --*fields[i];
    }
    ok(all && checkpoint_hash(&checkpoint) == plain,
       "the checkpoint hash depends on each of its numbers");
    checkpoint.source = "b";
    ok(checkpoint_hash(&checkpoint) != plain, "the checkpoint hash depends on its source");
    checkpoint.source = "a";
    checkpoint.basis = "grid 9\n";
    ok(checkpoint_hash(&checkpoint) != plain, "the checkpoint hash depends on its basis");
}

static bool differ(const char *one, const char *other, const char *wanted)
{
    char *name = checkpoint_basis_difference(one, other);
    bool same = name && wanted ? !strcmp(name, wanted) : name == wanted;
    free(name);
    return same;
}

static void bases(void)
{
    ok(differ("a 1\nb 2\n", "a 1\nb 2\n", NULL), "equal bases do not differ");
    ok(differ("a 1\nb 2\nc 3\n", "a 1\nb 3\nc 4\n", "b"), "the first different line is named");
    ok(differ("a 1\n", "a 1\nb 3\n", "b"), "an appended line is named");
    ok(differ("a 1\nb 3\n", "a 1\n", "b"), "a line removed from the end is named");
    ok(differ("a 1\nc 3\n", "a 1\nb 2\nc 3\n", "b"), "an inserted line is named");
    ok(differ("a 1\nb 2\nc 3\n", "a 1\nc 3\n", "b"), "a line removed from the middle is named");
}

int main(void)
{
    sums();
    keys();
    hashes();
    bases();
    return done_testing();
}
