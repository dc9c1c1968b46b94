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
        is_string(got, name, "and has its name");
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
    next_is(&at, "a", "an item has no blanks around it");
    next_is(&at, "b c", "blanks within an item stay");
    next_is(&at, "d", "empty items are passed over");
    next_is(&at, NULL, "a list ends");
    at = "";
    next_is(&at, NULL, "an empty list has no item");

    parts(" CPU = 1 ", "CPU", "1", "an item is parted at its sign");
    parts("CPU=", "CPU", "", "a value may be empty");
    parts("=1", NULL, NULL, "a name may not");
    parts("CPU", NULL, NULL, "an item without the sign has no parts");

    is_int(steps_of("1K", 1), 1, "K is one step of 1024");
    is_int(steps_of("1.5p", 3), 5, "P is the fifth, in small letters too");
    is_int(steps_of("15", 2), 0, "a number without a suffix stays whole");
    is_int(steps_of("", 0), 0, "so does an empty text");
    return done_testing();
}
