/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

#define OPTIONS_AT_MOST 16

static void take_value(const struct command_option *option, char *value)
{
    if (option->flag) {
        *option->flag = true;
    } else if (option->value) {
        *option->value = value;
    } else {
        struct option_list *list = option->list;
        list->values = memory_resized(list->values, list->count + 1, sizeof *list->values);
        list->values[list->count++] = value;
    }
}

static int unexpected(const char *command, const char *argument, struct error *err)
{
    return fail(err, ERROR_USAGE, "%s: unexpected argument '%s'; see `fairmill %s --help`", command,
                argument, command);
}

int command_operands(const struct invocation *invocation, const struct command_option *options,
                     const char **operands, int most, struct error *err)
{
    struct option longs[OPTIONS_AT_MOST + 1] = { { 0 } };
    /* The minus: other arguments come in their turn, as option 1. */
    char shorts[3 * OPTIONS_AT_MOST + 3] = "-:";
    const char *command = invocation->arguments[0];
    for (int i = 0; options[i].name; i++) {
        int takes = options[i].flag ? no_argument : required_argument;
        longs[i] = (struct option){ options[i].name, takes, NULL, 256 + i };
        if (options[i].letter) {
            char letter[3] = { options[i].letter, options[i].flag ? '\0' : ':', '\0' };
            strcat(shorts, letter);
        }
    }
    optind = 0;
    opterr = 0;
    int count = 0;
    for (;;) {
        int at = optind ? optind : 1;
        int found = getopt_long(invocation->count, invocation->arguments, shorts, longs, NULL);
        if (found == -1)
            break;
        if (found == '?')
            return fail(err, ERROR_USAGE, "%s: unknown option '%s'; see `fairmill %s --help`",
                        command, invocation->arguments[at], command);
        if (found == ':')
            return fail(err, ERROR_USAGE, "%s: option '%s' needs a value", command,
                        invocation->arguments[at]);
        if (found == 1) {
            if (count == most)
                return unexpected(command, optarg, err);
            operands[count++] = optarg;
        }
        for (int i = 0; options[i].name; i++)
            if (found == 256 + i || (options[i].letter && found == options[i].letter))
                take_value(&options[i], optarg);
    }
    /* What stands behind `--`. */
    for (; optind < invocation->count; optind++) {
        if (count == most)
            return unexpected(command, invocation->arguments[optind], err);
        operands[count++] = invocation->arguments[optind];
    }
    return 0;
}

int command_options(const struct invocation *invocation, const struct command_option *options,
                    struct error *err)
{
    return command_operands(invocation, options, NULL, 0, err);
}

void option_list_free(struct option_list *list)
{
    free(list->values);
    *list = (struct option_list){ 0 };
}

int command_print(const struct text *text, struct error *err)
{
    if ((text->length && fwrite(text->bytes, 1, text->length, stdout) != text->length) ||
        fflush(stdout))
        /* Who closed the pipe has read what was wanted. */
        return errno == EPIPE
                   ? 0
                   : fail(err, ERROR_OTHER, "cannot write the output: %s", strerror(errno));
    return 0;
}
