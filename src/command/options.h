/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_OPTIONS_H
#define FAIRMILL_COMMAND_OPTIONS_H

#include "command/option_values.h"
#include "report/table.h"

/*
 * The grammar of the command line.  Each command has a table of its own options and a mask of the
 * shared options that it accepts.  The parser, the help and the completion follow from these
 * tables, so a new option needs one line here or in the command's file.
 */

#define OPERANDS_AT_MOST 3
#define OPERANDS_ANY (-1) /* any number of NAMEs */

/* For the description of a command that accepts NAMEs. */
#define HELP_OF_NAMES                                                              \
    "NAME is a user, an account, account/user or account/user/partition.  Write\n" \
    "account/ to select an account that has the same name as a user.\n"

/* The kind of value that an option accepts, and the type of the member that receives it. */
enum option_takes {
    OPTION_FLAG,  /* no value; sets a bool */
    OPTION_VALUE, /* one value; if it is given twice, the last one is used; const char * */
    OPTION_ONE,   /* one name; two different names are rejected; const char * */
    OPTION_LIST,  /* comma-separated names, repeatable; struct name_list */
    OPTION_AGAIN, /* a value that may contain commas, repeatable; struct name_list */
    OPTION_TIME,  /* a time in any form of time_read(); struct option_time */
};

struct command_option {
    /* The long option; NULL ends a table.  A name such as `json=slurm` is a flag of its own that
     * must be given in full; `json` is another flag. */
    const char *name;
    const char *also; /* a second long option, or NULL */
    char letter;      /* the short option, or 0 */
    enum option_takes takes;
    size_t at;         /* offset of the member that receives the value; see AT() */
    const char *value; /* the name of the value in the help; NULL for a flag */
    const char *help;  /* an imperative phrase of at most 60 characters */
    bool form;         /* chooses the output format; such options are mutually exclusive */
    char former;       /* the short option in 0.1.0, if another option has it now; else 0 */
    /* The following options are invalid over the socket. */
    bool path;   /* the value is a file to read */
    bool source; /* the option needs the accounting database */
};

/* The offset of a member of a command's struct of options. */
#define AT(options, member) offsetof(struct options, member)

/* The shared options that a command accepts: a mask in command.shared. */
enum {
    TAKES_CLUSTERS = 1 << 0,
    TAKES_NAME = 1 << 1, /* --users and --accounts, which replace the operands NAME */
    TAKES_ACCOUNTS = 1 << 2,
    TAKES_USERS = 1 << 3,
    TAKES_NOW = 1 << 4,
    TAKES_VERBOSE = 1 << 5,
    TAKES_YES = 1 << 6,
    TAKES_DRY_RUN = 1 << 7,
    /* The output options, for commands that print rows. */
    TAKES_PARSABLE = 1 << 8,
    TAKES_CSV = 1 << 9,
    TAKES_JSON = 1 << 10,
    TAKES_COLUMNS = 1 << 11, /* --columns, --noheader and --parsable-with-bar */
    /* For `prio`: the same options with sprio's short options, whose -o, -h and -p differ. */
    TAKES_SPRIO_COLUMNS = 1 << 12,
    TAKES_SPRIO_HEADER = 1 << 13,
    TAKES_TABLE = TAKES_PARSABLE | TAKES_CSV | TAKES_JSON | TAKES_COLUMNS,
    TAKES_SPRIO_TABLE =
        TAKES_PARSABLE | TAKES_CSV | TAKES_JSON | TAKES_SPRIO_COLUMNS | TAKES_SPRIO_HEADER,
};

/*
 * The values of the shared options.  Each command's struct of options begins with this struct.
 * Texts point into the command line; options_free() frees the lists.
 */
struct shared_options {
    const char *operands[OPERANDS_AT_MOST]; /* the arguments that are not options */
    struct name_list names;                 /* with OPERANDS_ANY or TAKES_NAME: the NAMEs */
    struct name_list clusters, accounts, users;
    struct option_time now;
    bool verbose, yes, dry_run;
    struct table_options table;
    bool parsable, parsable_bar, csv, json; /* options_read() derives table.form from these */
    /* All commands accept these; main.c handles them. */
    const char *settings_path;
    bool help, version;
    const char *former; /* the option that had a given short option in 0.1.0; NULL if none */
};

struct command_context;

/* One command line. */
struct invocation {
    const struct command *command;
    const char *settings_path; /* the value of -c; NULL: search the default places */
    int count;
    char **arguments;            /* the arguments after the command's name */
    const struct client *client; /* the user at the other end of the socket; NULL: no socket */
    /*
     * Executes another command line, whose first argument is a command, for the client of `with`.
     * Returns the exit status.  A pointer, because commands cannot see the table of commands.
     */
    int (*dispatch)(int count, char **arguments, const struct invocation *with);
};

/* The results that are read before a command's answer() (see results/published.h). */
enum command_results {
    RESULTS_NONE,
    RESULTS_BEGUN, /* the list of published clusters */
    RESULTS_OPEN,  /* in addition, select the clusters and names of the shared options */
    RESULTS_TREES, /* in addition, the associations of the selected clusters */
};

/* The group of a command in `fairmill help`, in the order of the output. */
enum command_group {
    GROUP_SETUP,
    GROUP_COMPUTE,
    GROUP_QUERY,
    GROUP_TRY,
    GROUP_CORRECT,
    GROUP_MONITOR,
    GROUPS,
};

/*
 * A command: one file in src/command and one line in the table of main.c.  Its functions return 0
 * or another exit status, or -1 with the reason in `err`.  If only a part fails, they print the
 * error with complain() and continue.
 */
struct command {
    const char *name;
    enum command_group group;
    const char *summary; /* for the list of commands: an imperative phrase, at most 60 characters */
    /* The usage lines without `fairmill NAME`, separated by newlines. */
    const char *usage;
    /* For the command's help: whole lines of at most 79 characters, each with a newline.  One or
     * two sentences, then the actions as `  NAME ARGUMENT  phrase`, if the command has actions. */
    const char *description;
    int operand_count; /* the maximum number of operands, or OPERANDS_ANY */
    bool for_users;    /* reads only results; also available to clients of the socket */
    unsigned shared;   /* a mask of TAKES_... */
    const struct command_option *options; /* the command's own options, or NULL */
    size_t options_size; /* size of its struct of options; 0: it accepts no options (`help`) */
    int use;             /* enum settings_use: the settings that it needs */
    enum command_results results;
    const struct table_layout *layout; /* the layout of its answer, or NULL */
    /* Checks the options before anything is read, and may change use, results and layout.  May be
     * NULL. */
    int (*check)(struct command_context *context, struct error *err);
    /* Does the work and writes the output to context->answer. */
    int (*answer)(struct command_context *context, struct error *err);
    /* Frees the members that check() and answer() allocated in the options.  May be NULL. */
    void (*release)(void *options);
    /* Replaces answer() if the settings cannot be read; returns -1 to report that error, which is
     * in `err`.  May be NULL. */
    int (*without_settings)(const struct command_context *context, struct error *err);
    /* Called if the command failed after check(), or if the socket gave no response.  Prints a
     * replacement and returns the exit status, or returns -1 to report `err`.  May be NULL. */
    int (*failed)(const void *options, struct error *err);
};

/*
 * Reads the command line into `options`, a zeroed struct that begins with struct shared_options.
 * Returns -1 with ERROR_USAGE if the command line is wrong.  The caller calls options_free() and
 * options_free_own() even on error.
 */
int options_read(const struct invocation *invocation, void *options, struct error *err);
void options_free(struct shared_options *shared);
/* Frees the lists among the command's own options. */
void options_free_own(const struct command *command, void *options);
/* Converts the values of the command's OPTION_TIME options, in the time zone of the process.
 * Returns -1 with ERROR_USAGE if a value is not a time. */
int options_read_times(const struct command *command, void *options, struct error *err);

/*
 * Returns the command's option number `index`, or NULL after the last one.  The order is that of
 * the help: own options, shared options, common options.
 */
const struct command_option *command_option_at(const struct command *command, size_t index);

/* The section of the help in which an option is listed. */
enum option_section {
    SECTION_OPTIONS, /* own options, and shared options that select or control */
    SECTION_OUTPUT,  /* the output options of TAKES_TABLE and TAKES_SPRIO_TABLE */
    SECTION_COMMON,  /* accepted by all commands */
};
enum option_section option_section(const struct command_option *option);

#endif
