/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "util/text.h"
#include "util/number.h"

static void next_is(const char **at, const char *expected, const char *statement)
{
    char *item = list_next(at);
    is_string(item, expected, statement);
    free(item);
}

static void parts(const char *text, const char *name, const char *value, const char *statement)
{
    char item[64], *got = NULL;
    snprintf(item, sizeof item, "%s", text);
    const char *rest = list_part(item, strchr(item, '='), &got);
    is_string(rest, value, statement);
    if (rest)
        is_string(got, name, "the name of the item is found");
}

static int64_t steps_of(const char *text, size_t expected_length)
{
    size_t length = strlen(text);
    unsigned steps = binary_suffix(text, &length);
    return length == expected_length ? (int64_t)steps : -1;
}

int main(void)
{
    const char *at = " a, b c ,,\td";
    next_is(&at, "a", "blanks around an item are removed");
    next_is(&at, "b c", "blanks within an item are kept");
    next_is(&at, "d", "empty items are skipped");
    next_is(&at, NULL, "the list ends after its last item");
    at = "";
    next_is(&at, NULL, "an empty list has no items");

    parts(" CPU = 1 ", "CPU", "1", "an item is split at its sign");
    parts("CPU=", "CPU", "", "a value may be empty");
    parts("=1", NULL, NULL, "a name must not be empty");
    parts("CPU", NULL, NULL, "an item without the sign is not split");

    is_int(steps_of("1K", 1), 1, "K is one step of 1024");
    is_int(steps_of("1.5p", 3), 5, "P is five steps, also in lower case");
    is_int(steps_of("15", 2), 0, "a number without a suffix has no steps");
    is_int(steps_of("", 0), 0, "an empty text has no steps");
    return done_testing();
}
