/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/ledger/ledger_entry.h"
#include "command/ledger/ledger_file.h"
#include "results/ledger_rows.h"
#include "results/published_part.h"
#include "results/schema.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

enum {
    CREDIT = 1 << 0,
    DEBIT = 1 << 1,
    REFUND = 1 << 2,
    RESET = 1 << 3,
    SET = 1 << 4,
    UNDO = 1 << 5,
    LIST = 1 << 6,
    EXPORT = 1 << 7,
    IMPORT = 1 << 8,
    ADJUST = CREDIT | DEBIT | SET,
    ENTER = ADJUST | REFUND | RESET | UNDO,
};

static const struct {
    unsigned action;
    const char *name, *subject;
    bool optional;
} actions[] = {
    { CREDIT, "credit", "AMOUNT", false }, { DEBIT, "debit", "AMOUNT", false },
    { REFUND, "refund", "JOB", true },     { RESET, "reset", NULL, false },
    { SET, "set", "AMOUNT", false },       { UNDO, "undo", "ENTRY", false },
    { LIST, "list", NULL, false },         { EXPORT, "export", "FILE", true },
    { IMPORT, "import", "FILE", true },
};
enum { ACTIONS = sizeof actions / sizeof *actions };

/* Adds a list such as `credit, debit and set`. */
static void add_actions(struct text *text, unsigned left)
{
    for (size_t i = 0; i < ACTIONS; i++) {
        if (!(left & actions[i].action))
            continue;
        left &= ~actions[i].action;
        bool is_last_but_one = left && !(left & (left - 1));
        text_format(text, "%s%s", actions[i].name, is_last_but_one ? " and " : left ? ", " : "");
    }
}

/* Rejects options that the action does not accept.  `export` accepts no filters: the entries of a
 * file are numbered, so it must be complete. */
static int check_actions(const struct ledger_entry_options *options, unsigned action,
                         struct error *err)
{
    const struct shared_options *shared = &options->shared;
    const struct table_options *table = &shared->table;
    const struct {
        bool given;
        const char *option;
        unsigned actions;
    } rules[] = {
        { shared->clusters.count > 0, "--cluster", ENTER | LIST },
        { shared->users.count > 0, "--user", ADJUST | RESET | LIST },
        { shared->accounts.count > 0, "--account", ADJUST | RESET | LIST },
        { options->partition, "--partition", ADJUST | RESET | LIST },
        { options->all, "--all", RESET },
        { options->refund.node, "--node", REFUND },
        { options->from.text, "--since", REFUND | LIST },
        { options->to.text, "--until", REFUND | LIST },
        { options->jobs.count > 0, "--jobs", LIST },
        { options->kinds.count > 0, "--kinds", LIST },
        { options->at.text, "--at", ENTER & ~UNDO },
        { options->why, "--why", ENTER },
        { shared->now.text, "--now", ENTER },
        { shared->yes, "--yes", ENTER },
        { shared->dry_run, "--dry-run", ENTER | IMPORT },
        { table->form != TABLE_FOR_PEOPLE, "--parsable, --csv or --json", LIST },
        { table->columns, "--columns", LIST },
        { table->no_header, "--noheader", LIST },
        { table->iso, "--iso", LIST },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i].given || rules[i].actions & action)
            continue;
        struct text text = { 0 };
        add_actions(&text, rules[i].actions);
        fail(err, ERROR_USAGE, "ledger %s: does not accept %s, which is for %s%s%s",
             options->action, rules[i].option, text.bytes, shared->former ? "; write --" : "",
             shared->former ? shared->former : "");
        text_free(&text);
        return -1;
    }
    return 0;
}

/* An entry, and the effect of later entries on it. */
struct ledger_list_row {
    const struct ledger_record *record;
    const struct terminology *terms; /* terminology of its cluster */
    uint64_t undone_by;              /* the entry that undoes it; 0: none */
    bool undone;                     /* it has no effect; an undo may itself be undone */
    bool hidden;                     /* it is about, or may be about, a user who is hidden */
};

/* All entries. */
struct listing {
    const struct published *published;
    const struct ledger_entry_options *options;
    struct ledger_book book;
    struct ledger_list_row *rows; /* indexed like book.records */
};

static void find_undos(struct listing *listing)
{
    struct id_index *places = id_index_create();
    listing->rows = memory_zeroed(listing->book.count, sizeof *listing->rows);
    for (uint32_t i = 0; i < listing->book.count; i++) {
        listing->rows[i].record = &listing->book.records[i];
        listing->rows[i].terms =
            published_words(listing->published, listing->rows[i].record->cluster);
        id_index_add(places, listing->book.records[i].entry.id, i);
    }
    /* Begin with the newest entry, so that each undo is checked before the entry that it undoes. */
    for (size_t i = listing->book.count; i-- > 0;) {
        const struct ledger_entry *entry = &listing->book.records[i].entry;
        uint32_t place = entry->kind == LEDGER_UNDO && entry->undoes < entry->id
                             ? id_index_find(places, entry->undoes)
                             : INDEX_NONE;
        if (place == INDEX_NONE)
            continue;
        listing->rows[place].undone_by = entry->id;
        listing->rows[place].undone = !listing->rows[i].undone;
    }
    id_index_destroy(places);
}

/* Hides entries that the user may not see, and undos of such entries. */
static void ledger_list_hide_others(struct listing *listing, const struct permissions *permissions)
{
    struct id_index *places = id_index_create();
    for (uint32_t i = 0; permissions->login && i < listing->book.count; i++) {
        const struct ledger_record *record = &listing->book.records[i];
        uint32_t undone = record->entry.kind == LEDGER_UNDO
                              ? id_index_find(places, record->entry.undoes)
                              : INDEX_NONE;
        listing->rows[i].hidden = !ledger_may_be_told(permissions, record) ||
                                  (undone != INDEX_NONE && listing->rows[undone].hidden);
        id_index_add(places, record->entry.id, i);
    }
    id_index_destroy(places);
}

static bool ledger_list_is_listed(const struct listing *listing, size_t i)
{
    const struct ledger_record *record = &listing->book.records[i];
    const struct ledger_entry_options *options = listing->options;
    const struct shared_options *shared = &options->shared;
    int64_t time = (int64_t)record->entry.time;
    char job[24];
    snprintf(job, sizeof job, "%" PRIu64, record->entry.job);
    bool of_job = !options->jobs.count ||
                  (record->entry.kind == LEDGER_REFUND && name_list_wants(&options->jobs, job));
    bool of_partition = !options->partition || !strcmp(record->partition, options->partition);
    return !listing->rows[i].hidden && of_job && of_partition && time >= options->from.at &&
           time <= options->to.at && name_list_wants(&shared->clusters, record->cluster) &&
           name_list_wants(&shared->accounts, record->account) &&
           name_list_wants(&shared->users, record->user) &&
           name_list_wants(&options->kinds, ledger_kind_name(record->entry.kind));
}

/* ---- Columns ---- */

static void get_words(const void *of, struct cell *cell)
{
    const struct ledger_list_row *row = of;
    struct text *words = cell_compose(cell);
    add_entry_words(words, row->record, row->terms);
    if (row->undone)
        text_format(words, "; undone by entry %" PRIu64, row->undone_by);
}

static void get_kind(const void *of, struct cell *cell)
{
    const struct ledger_list_row *row = of;
    cell_text(cell, ledger_kind_name(row->record->entry.kind));
}

enum { ASSOCIATION, TRES_SECONDS, JOB, COVERS, UNDOES, UNDONE_BY, COUNTS };

/* Fills a cell with a number that only some kinds of entries have. */
static void ledger_list_get_number(const void *of, struct cell *cell)
{
    const struct ledger_list_row *row = of;
    const struct ledger_entry *entry = &row->record->entry;
    bool adjusts = ledger_kind_has_amount(entry->kind);
    const struct {
        bool known;
        int64_t number;
    } numbers[] = {
        [ASSOCIATION] = { adjusts, (int64_t)entry->association },
        [TRES_SECONDS] = { adjusts, (int64_t)entry->tres_seconds },
        [JOB] = { entry->kind == LEDGER_REFUND, (int64_t)entry->job },
        [COVERS] = { ledger_kind_resets(entry->kind) && !entry->of_cluster,
                     (int64_t)row->record->covers.count },
        [UNDOES] = { entry->kind == LEDGER_UNDO, (int64_t)entry->undoes },
        [UNDONE_BY] = { row->undone_by != 0, (int64_t)row->undone_by },
        [COUNTS] = { true, !row->undone },
    };
    if (numbers[cell->column->index].known)
        cell_integer(cell, numbers[cell->column->index].number);
}

#define NUMBER(which) COLUMN_INTEGER, .get = ledger_list_get_number, .index = which
#define RECORD(member) MEMBER_BEHIND(struct ledger_list_row, record, struct ledger_record, member)

static const struct column columns[] = {
    { "id", "ID", COLUMN_INTEGER, RECORD(entry.id) },
    { "cluster", "Cluster", COLUMN_TEXT, RECORD(cluster) },
    { "instant", "Instant", COLUMN_TIME, RECORD(entry.time) },
    { "entry", "Entry", COLUMN_TEXT, .get = get_words, .hidden = ONLY_FOR_PEOPLE },
    { "kind", "Kind", COLUMN_TEXT, .get = get_kind, .hidden = NOT_FOR_PEOPLE },
    { "account", "Account", COLUMN_TEXT, RECORD(account), .hidden = NOT_FOR_PEOPLE },
    { "username", "User", COLUMN_TEXT, RECORD(user), .hidden = NOT_FOR_PEOPLE },
    { "partition", "Partition", COLUMN_TEXT, RECORD(partition), .hidden = NOT_FOR_PEOPLE },
    { "id_assoc", "AssocID", NUMBER(ASSOCIATION), .hidden = NOT_FOR_PEOPLE },
    { "tres_seconds", "TRESSeconds", NUMBER(TRES_SECONDS), .hidden = NOT_FOR_PEOPLE },
    { "id_job", "JobID", NUMBER(JOB), .hidden = NOT_FOR_PEOPLE },
    { "associations", "Associations", NUMBER(COVERS), .hidden = NOT_FOR_PEOPLE },
    { "undoes", "Undoes", NUMBER(UNDOES), .hidden = NOT_FOR_PEOPLE },
    { "undone_by", "UndoneBy", NUMBER(UNDONE_BY), .hidden = NOT_FOR_PEOPLE },
    { "counts", "Counts", COLUMN_YES_NO, .get = ledger_list_get_number, .index = COUNTS,
      .hidden = NOT_FOR_PEOPLE },
    { "entered_at", "Entered", COLUMN_TIME, RECORD(entered_at) },
    { "who", "By", COLUMN_TEXT, RECORD(who) },
    { "why", "Why", COLUMN_TEXT, RECORD(why) },
    { .name = NULL },
};

static const struct table_layout ledger_list_layout = { columns, "ledger", .by_cluster = false };

/* If there are no entries, text output is empty. */
static int ledger_list_add_rows(const struct listing *listing, struct command_context *context,
                                struct error *err)
{
    bool any = false;
    for (size_t i = 0; i < listing->book.count; i++)
        if (ledger_list_is_listed(listing, i)) {
            answer_row(context->answer, &listing->rows[i]);
            any = true;
        }
    if (!any && answer_is_for_people(context->answer))
        return command_answer_as(context, NULL, err);
    return answer_end(context->answer, err);
}

static bool has_cluster(const void *context, const char *asked)
{
    const struct listing *listing = context;
    for (size_t i = 0; i < listing->book.count; i++)
        if (name_is(asked, listing->book.records[i].cluster))
            return true;
    return published_has(listing->published, asked);
}

/* Fails if a requested name is neither published nor in an entry. */
static int ledger_list_check_names(const struct listing *listing, struct published *published,
                                   struct error *err)
{
    const struct shared_options *shared = &listing->options->shared;
    struct published_filter names = { .accounts = shared->accounts, .users = shared->users };
    if (name_list_check(&shared->clusters, "cluster", has_cluster, listing, err))
        return -1;
    if (!names.accounts.count && !names.users.count)
        return 0;
    if (published_select(published, &names, err))
        return -1;
    for (size_t i = 0; i < listing->book.count; i++) {
        const struct ledger_record *record = &listing->book.records[i];
        selection_note(&published->selection,
                       &(const struct association_name){ record->account, "", "" });
        if (permissions_show(&published->permissions, record->cluster, record->account,
                             record->user))
            selection_note(&published->selection,
                           &(const struct association_name){ record->account, record->user, "" });
    }
    return published_look_for_names(published, err);
}

static bool is_kind(const void *context, const char *asked)
{
    (void)context;
    return ledger_kind_named(asked) != LEDGER_KINDS;
}

static int ledger_list_answer(struct command_context *context, struct error *err)
{
    struct published *published = &context->published;
    struct listing listing = { .published = published, .options = context->options };
    int result = ledger_book_read(published->db, NULL, &listing.book, err);
    if (!result)
        result = ledger_list_check_names(&listing, published, err);
    published_close(published);
    find_undos(&listing);
    ledger_list_hide_others(&listing, &published->permissions);
    result = result ? results_explain(context->settings, err)
                    : ledger_list_add_rows(&listing, context, err);
    if (!result)
        result = ledger_tell_faults(&listing.book, &context->shared->clusters, err);
    ledger_book_free(&listing.book);
    free(listing.rows);
    return result;
}

/* Reads the action and its amount, job, entry or file. */
static int take_operands(struct ledger_entry_options *options, struct error *err)
{
    const char *names[ACTIONS + 1] = { NULL };
    const char *const *operands = options->shared.operands;
    size_t chosen = 0;
    if (!operands[0])
        return fail(err, ERROR_USAGE,
                    "ledger: missing action (credit, debit, refund, reset, set, undo, list, export "
                    "or import); see `fairmill help ledger`");
    for (size_t i = 0; i < ACTIONS; i++)
        names[i] = actions[i].name;
    while (names[chosen] && strcmp(names[chosen], operands[0]) != 0)
        chosen++;
    if (!names[chosen]) {
        const char *nearest = nearest_word(operands[0], names);
        return fail(err, ERROR_USAGE,
                    "ledger: unknown action '%s'%s%s%s; see `fairmill help ledger`", operands[0],
                    nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    }
    options->action = names[chosen];
    options->subject = operands[1];
    if (actions[chosen].subject && !actions[chosen].optional && !options->subject)
        return fail(err, ERROR_USAGE, "ledger %s: missing %s; see `fairmill help ledger`",
                    options->action, actions[chosen].subject);
    if (action_is(options, "refund") && !options->subject == !options->refund.node)
        return fail(err, ERROR_USAGE, "ledger refund: requires either job numbers or --node");
    options->refund.jobs = options->subject;
    if (!actions[chosen].subject && options->subject)
        return fail(err, ERROR_USAGE,
                    "ledger %s: unexpected argument '%s'; see `fairmill help ledger`",
                    options->action, options->subject);
    return check_actions(options, actions[chosen].action, err);
}

/* A new entry applies to one user and one account at most. */
static int ledger_command_take_names(struct ledger_entry_options *options, struct error *err)
{
    return option_list_one(&options->shared.users, "user", &options->user, err) ||
                   option_list_one(&options->shared.accounts, "account", &options->account, err)
               ? -1
               : 0;
}

static const struct command_option own_options[] = {
    { "user", "users", 'u', OPTION_LIST, AT(ledger_entry_options, shared.users), "NAME",
      .help = "Select a user, for credit, debit, set, reset and list" },
    { "account", "accounts", 'A', OPTION_LIST, AT(ledger_entry_options, shared.accounts), "NAME",
      .help = "Select an account, for a user in several or for reset" },
    { "partition", "partitions", 0, OPTION_ONE, AT(ledger_entry_options, partition), "NAME",
      .help = "Select the user's association with this partition", .former = 'p' },
    { "all", NULL, 0, OPTION_FLAG, AT(ledger_entry_options, all), NULL,
      .help = "Reset the whole cluster" },
    { "node", NULL, 0, OPTION_ONE, AT(ledger_entry_options, refund.node), "NAME",
      .help = "Refund ended jobs that ran on this node after --since" },
    { "since", "from", 0, OPTION_TIME, AT(ledger_entry_options, from), "TIME",
      .help = "Select entries, or with --node jobs, from TIME on" },
    { "until", "to", 0, OPTION_TIME, AT(ledger_entry_options, to), "TIME",
      .help = "Select entries or jobs up to TIME (default: now)" },
    { "jobs", "job", 'j', OPTION_LIST, AT(ledger_entry_options, jobs), "IDS",
      .help = "List only refunds of these jobs" },
    { "kinds", "kind", 0, OPTION_LIST, AT(ledger_entry_options, kinds), "KINDS",
      .help = "List only entries of these kinds, such as refund,undo" },
    { "at", NULL, 0, OPTION_TIME, AT(ledger_entry_options, at), "TIME",
      .help = "Set the time of the entry (default: now)" },
    { "why", NULL, 'w', OPTION_VALUE, AT(ledger_entry_options, why), "TEXT",
      .help = "Set the reason (required for a new entry)" },
    { .name = NULL },
};

static int ledger_check(struct command_context *context, struct error *err)
{
    struct ledger_entry_options *options = context->options;
    options->from.at = INT64_MIN;
    options->to.at = INT64_MAX;
    if (take_operands(options, err))
        return -1;
    bool lists = action_is(options, "list");
    if (lists || action_is(options, "export") || action_is(options, "import"))
        context->use = SETTINGS_FOR_READING;
    if (!lists)
        return ledger_command_take_names(options, err);
    context->results = RESULTS_BEGUN;
    context->layout = &ledger_list_layout;
    return name_list_check(&options->kinds, "kind of entries", is_kind, NULL, err);
}

static int ledger_answer(struct command_context *context, struct error *err)
{
    const struct ledger_entry_options *options = context->options;
    if (options->from.at > options->to.at)
        return fail(err, ERROR_USAGE, "ledger: --since is after --until");
    if (action_is(options, "list"))
        return ledger_list_answer(context, err);
    if (action_is(options, "export"))
        return ledger_export(context->settings, options->subject, err);
    if (action_is(options, "import"))
        return ledger_import_file(context->settings, options->subject, options->shared.dry_run,
                                  err);
    return entry_make(context->settings, options, err);
}

const struct command command_ledger = {
    .name = "ledger",
    .operand_count = 2,
    .group = GROUP_CORRECT,
    .summary = "Credit, debit, refund, reset or set usage; undo entries",
    .usage = "ACTION [ARGUMENT] [OPTION...]",
    .description =
        "Correct usage by an entry in the ledger, or list, export or import entries.  An\n"
        "entry changes fairmill's values only; the scheduler's usage and queue stay as\n"
        "they are.\n"
        "\n"
        "Actions:\n"
        "  credit AMOUNT    Subtract usage from a user, in TRES-seconds or, as in 12.5h,\n"
        "                   TRES-hours\n"
        "  debit AMOUNT     Add usage to a user\n"
        "  refund JOB,...   Remove all usage of these jobs, or with --node and --since\n"
        "                   of the jobs that ran on a node\n"
        "  reset            Ignore usage before --at: of a user, of an account and all\n"
        "                   below it now, or with --all of the cluster\n"
        "  set AMOUNT       Replace a user's usage before --at with AMOUNT\n"
        "  undo ENTRY       Undo an entry\n"
        "  list             List the entries\n"
        "  export [FILE]    Write all entries as JSON lines (default: standard output)\n"
        "  import [FILE]    Add missing entries from an export (default: standard input)\n"
        "\n"
        "If an entry is lost, import it from an export.  If there is no export, undo the\n"
        "entry to accept the loss.\n",
    .shared = TAKES_CLUSTERS | TAKES_NOW | TAKES_DRY_RUN | TAKES_YES | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct ledger_entry_options),
    .use = SETTINGS_FOR_ALL,
    .check = ledger_check,
    .answer = ledger_answer,
};
