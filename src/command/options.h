/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_OPTIONS_H
#define FAIRMILL_COMMAND_OPTIONS_H

#include "report/table.h"
#include "util/name_list.h"

/* The grammar of the command line.  A command has a table of its own options and says which of the
 * shared ones it takes; parser, help, usage and completion follow from these tables. */

#define OPERANDS_AT_MOST 3
#define OPERANDS_ANY (-1) /* any number of NAMEs */

enum option_takes {
    OPTION_FLAG,  /* nothing; into a bool */
    OPTION_VALUE, /* one value, the last that is given; into a const char * */
    OPTION_ONE,   /* one name; two different ones are refused; into a const char * */
    OPTION_LIST,  /* names, with commas or given again; into a struct name_list */
    OPTION_AGAIN, /* values, given again; a comma is part of them; into a struct name_list */
    OPTION_TIME,  /* a bound of a period; into a struct option_time */
};

/* A time, which can only be read when the settings have said in which zone. */
struct option_time {
    const char *text; /* NULL: not given; then `at` stays */
    int64_t at;
};

struct command_option {
    const char *name; /* the long spelling; NULL ends a table */
    const char *also; /* another long spelling; NULL: none */
    char letter;      /* 0: none */
    enum option_takes takes;
    size_t at; /* where the value goes: an offset in the command's struct of options */
    const char *value, *help;
    bool form;   /* a form of the output, which excludes the other forms */
    char former; /* the letter that it had in 0.1.0, where another option has it now */
    bool needed; /* the command does nothing without it */
    bool path;   /* it names a file, which nobody reads for others */
};

/* The place of a member of the command's struct of options. */
#define AT(options, member) offsetof(struct options, member)

/* Which shared options a command takes. */
enum {
    TAKES_CLUSTERS = 1 << 0,
    TAKES_NAME = 1 << 1, /* NAMEs may be given as --users, --accounts or both */
    TAKES_ACCOUNTS = 1 << 2,
    TAKES_USERS = 1 << 3,
    TAKES_NOW = 1 << 4,
    TAKES_VERBOSE = 1 << 5,
    TAKES_YES = 1 << 6,
    TAKES_DRY_RUN = 1 << 7,
    /* Of commands that print rows. */
    TAKES_PARSABLE = 1 << 8,
    TAKES_CSV = 1 << 9,
    TAKES_JSON = 1 << 10,
    TAKES_COLUMNS = 1 << 11, /* with the line of headings, and a bar at the end of lines */
    /* The same with the letters of sprio, where -o, -h and -p are something else. */
    TAKES_SPRIO_COLUMNS = 1 << 12,
    TAKES_SPRIO_HEADER = 1 << 13,
    TAKES_TABLE = TAKES_PARSABLE | TAKES_CSV | TAKES_JSON | TAKES_COLUMNS,
    TAKES_SPRIO_TABLE =
        TAKES_PARSABLE | TAKES_CSV | TAKES_JSON | TAKES_SPRIO_COLUMNS | TAKES_SPRIO_HEADER,
};

/* What was given of the shared options.  A command's own struct of options begins with this. */
struct shared_options {
    const char *operands[OPERANDS_AT_MOST]; /* the arguments that are no options */
    struct name_list names;                 /* or, with OPERANDS_ANY or TAKES_NAME, NAMEs */
    struct name_list clusters, accounts, users;
    const char *now; /* NULL: not given */
    bool verbose, yes, dry_run;
    struct table_options table;
    bool parsable, parsable_bar, csv, json; /* which table has too */
    /* Taken by all commands, and done with by main.c. */
    const char *settings_path;
    bool help, version;
    const char *former; /* the option whose letter of 0.1.0 was given; NULL */
};

/* What the command line gave. */
struct command_context;
struct invocation {
    const struct command *command;
    const char *settings_path; /* of -c; NULL: looked for */
    int count;
    char **arguments;            /* behind the command's name */
    const struct client *client; /* whom to answer; NULL: who runs this */
    /* Do another command line for a client; returns the status to exit with.  It is here since no
     * command knows the table of commands. */
    int (*dispatch)(int count, char **arguments, const struct invocation *answer);
};

/* What a command reads of the results (results/published.h) before it answers. */
enum command_results {
    RESULTS_NONE,
    RESULTS_BEGUN, /* the clusters that are published */
    RESULTS_OPEN,  /* of them those that the options ask for */
    RESULTS_TREES, /* the associations of these, too */
};

/* A subcommand: one file, one line in the table of main.c.  Its functions return 0, a status to
 * exit with, or -1 with the reason; a failure of a part only was complained of meanwhile. */
struct command {
    const char *name;
    const char *operands; /* the arguments that are no options, for the usage; "" */
    int operand_count;    /* at most so many, or OPERANDS_ANY */
    bool for_users;       /* it reads results, and may do so for others (`fairmill answer`) */
    const char *summary;
    const char *notes;                    /* whole lines, before the options in the help; "" */
    unsigned shared;                      /* TAKES_... */
    const struct command_option *options; /* its own; NULL: none */
    size_t options_size;                  /* of its struct */
    int use;                              /* enum settings_use: which settings it needs */
    enum command_results results;
    const struct table_layout *layout; /* of its answer; NULL: it has none */
    /* Check the options, before anything is read, and choose what depends on them.  May be NULL. */
    int (*check)(struct command_context *context, struct error *err);
    /* Do the work and write it into context->answer. */
    int (*answer)(struct command_context *context, struct error *err);
    /* Free what check() and answer() stored in the options.  May be NULL. */
    void (*release)(void *options);
    /* The settings cannot be read: what to do and print instead; -1 with the reason.  May be NULL.
     */
    int (*without_settings)(const struct command_context *context, struct error *err);
    /* The command failed after check(), or the socket gave no response: what to print instead, and
     * the status; -1 with the reason as it was.  May be NULL. */
    int (*failed)(const void *options, struct error *err);
};

/* Read the command line into a struct that begins with `struct shared_options` and is zeroed.
 * ERROR_USAGE names what is wrong; options_free() is due in any case. */
int options_read(const struct invocation *invocation, void *options, struct error *err);
void options_free(struct shared_options *shared);
/* Free the lists among the command's own options. */
void options_free_own(const struct command *command, void *options);
/* Read the times among the command's own options. */
int options_read_times(const struct command *command, void *options, struct error *err);

/* The only name in the list; NULL where it is empty.  ERROR_USAGE where there are two. */
int option_list_one(const struct name_list *list, const char *what, const char **one,
                    struct error *err);
/* Read the instant of an option (NULL: now), in any form that Slurm's commands take. */
int option_time(const char *option, const char *text, int64_t *time, struct error *err);
/* The same for a bound of a period, which may also be a year (time_read_bound()). */
int option_bound(const char *option, const char *text, int64_t *time, struct error *err);

/* Read the number of an option (NULL: 0 stays): a whole one above 0. */
int option_count(const char *option, const char *text, uint64_t *count, struct error *err);
/* Read the span of time of an option (NULL: `fallback`): not 0. */
int option_duration(const char *option, const char *text, const char *fallback, uint64_t *seconds,
                    struct error *err);

/* The options of a command in their order, its own first, those of all commands last; NULL behind
 * the last. */
const struct command_option *command_option_at(const struct command *command, size_t index);
bool option_is_common(const struct command_option *option);

#endif
