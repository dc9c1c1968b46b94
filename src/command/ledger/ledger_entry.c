/* SPDX-License-Identifier: MIT */
#include "command/ledger/ledger_entry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/ledger/ledger_effect.h"
#include "command/ledger/ledger_target.h"
#include "db/db.h"
#include "results/ledger_rows.h"
#include "results/permissions_rows.h"
#include "results/schema.h"
#include "run/run.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/times.h"

#define WHY_LENGTH 250

/* The data from which an entry is made. */
struct entry_context {
    const struct settings *settings;
    const struct ledger_entry_options *options;
    struct db *source, *reader;
    char *cluster;
    struct ledger_book book;
    struct ledger *ledger; /* of the cluster, without the new entry */
    bool lost;             /* the entry to undo no longer exists */
    struct ledger_record record;
    struct refund refund;
};

bool action_is(const struct ledger_entry_options *options, const char *action)
{
    return !strcmp(options->action, action);
}

/* Adds the subject, such as `user 'alice' in account 'physics', partition 'gpu'`. */
static void add_whom(struct text *text, const struct ledger_record *record,
                     const struct terminology *terms)
{
    if (*record->user)
        text_format(text, "%s '%s'", terms->user, record->user);
    if (*record->account)
        text_format(text, "%s%s '%s'", *record->user ? " in " : "", terms->account,
                    record->account);
    if (*record->partition)
        text_format(text, ", %s '%s'", terms->partition, record->partition);
    if (!*record->user && !*record->account)
        text_add(text, "the whole cluster");
}

void add_entry_words(struct text *text, const struct ledger_record *record,
                     const struct terminology *terms)
{
    const struct ledger_entry *entry = &record->entry;
    switch (entry->kind) {
    case LEDGER_CREDIT:
    case LEDGER_DEBIT:
        text_format(text, "%s %" PRIu64 " %s to ", ledger_kind_name(entry->kind),
                    entry->tres_seconds, terms->unit);
        add_whom(text, record, terms);
        break;
    case LEDGER_REFUND:
        text_format(text, "refund job %" PRIu64, entry->job);
        break;
    case LEDGER_RESET:
        text_add(text, "reset ");
        add_whom(text, record, terms);
        if (!entry->of_cluster)
            text_format(text, " (%zu %s)", record->covers.count,
                        record->covers.count == 1 ? terms->association : terms->associations);
        break;
    case LEDGER_SET:
        text_add(text, "set ");
        add_whom(text, record, terms);
        text_format(text, " to %" PRIu64 " %s", entry->tres_seconds, terms->unit);
        break;
    case LEDGER_UNDO:
        text_format(text, "undo entry %" PRIu64, entry->undoes);
        break;
    }
}

bool ledger_may_be_told(const struct permissions *permissions, const struct ledger_record *record)
{
    return record->entry.kind == LEDGER_REFUND
               ? !permissions_are_limited_on(permissions, record->cluster, PRIVATE_ALL)
               : permissions_show(permissions, record->cluster, record->account, record->user);
}

int ledger_tell_faults(const struct ledger_book *book, const struct name_list *clusters,
                       struct error *err)
{
    struct text words = { 0 };
    struct ledger_faults faults = ledger_faults_of(book);
    if (clusters->count == 1)
        ledger_faults_keep(&faults, clusters->values[0]);
    ledger_faults_add_words(&words, &faults);
    int result =
        !faults.count ? 0 : fail(err, ERROR_OTHER, "%s; see `fairmill help ledger`", words.bytes);
    ledger_faults_free(&faults);
    text_free(&words);
    return result;
}

static bool is_nothing(const char *text, size_t length)
{
    struct decimal decimal;
    return decimal_parse(text, length, &decimal) && !decimal.digits;
}

/* Reads an amount of TRES-seconds or, with the suffix h, of TRES-hours.  Only a set accepts 0. */
static bool parse_amount(const char *text, enum ledger_kind kind, uint64_t *seconds)
{
    size_t length = strlen(text);
    uint64_t unit_s = 1;
    if (length && (text[length - 1] == 'h' || text[length - 1] == 's'))
        unit_s = text[--length] == 'h' ? 3600 : 1;
    return (kind == LEDGER_SET && is_nothing(text, length)) ||
           amount_parse(text, length, unit_s, seconds);
}

/* Checks that the options which the action requires are given. */
static int ledger_entry_check_options(const struct ledger_entry_options *options, struct error *err)
{
    bool resets = action_is(options, "reset");
    bool adjusts = ledger_kind_has_amount(ledger_kind_named(options->action));
    if (!options->refund.node && (options->from.text || options->to.text))
        return fail(err, ERROR_USAGE,
                    "ledger %s: --since and --until are only for list and for refund --node",
                    options->action);
    if (options->refund.node && !options->from.text)
        return fail(err, ERROR_USAGE, "ledger refund: --node requires --since");
    if (adjusts && !options->user)
        return fail(err, ERROR_USAGE, "ledger %s: missing --user NAME", options->action);
    if (resets && options->all == (options->user || options->account))
        return fail(err, ERROR_USAGE,
                    "ledger reset: requires either --all, or --user or --account");
    if (resets && options->partition && (!options->user || !options->account))
        return fail(err, ERROR_USAGE, "ledger reset: --partition requires --user and --account");
    return 0;
}

/* Checks the reason, which cannot be changed after the entry is made. */
static int check_why(const char *why, struct error *err)
{
    if (!why || !why[strspn(why, " \t")])
        return fail(err, ERROR_USAGE, "missing reason for the ledger entry; use --why TEXT");
    if (!utf8_valid(why, strlen(why)) || !utf8_is_printable(why))
        return fail(err, ERROR_USAGE, "--why: must be one line of UTF-8");
    if (utf8_length(why) > WHY_LENGTH)
        return fail(err, ERROR_USAGE, "--why: must have at most %d characters", WHY_LENGTH);
    return 0;
}

/* Fills the record from the options, before a database is read. */
static int begin_record(struct entry_context *context, struct error *err)
{
    const struct ledger_entry_options *options = context->options;
    struct ledger_record *record = &context->record;
    struct ledger_entry *entry = &record->entry;
    if (ledger_entry_check_options(options, err) || check_why(options->why, err))
        return -1;
    if (!options->shared.yes && !options->shared.dry_run && !isatty(STDIN_FILENO))
        return fail(err, ERROR_USAGE,
                    "standard input is not a terminal; use --yes to enter it without confirmation, "
                    "or --dry-run to show the effect");
    context->refund.from = options->from.at;
    context->refund.to = options->to.at;
    entry->kind = ledger_kind_named(options->action);
    entry->time = (uint64_t)option_time_or_now(&options->at);
    entry->of_cluster = options->all;
    if (ledger_kind_has_amount(entry->kind) &&
        !parse_amount(options->subject, entry->kind, &entry->tres_seconds))
        return fail(err, ERROR_USAGE,
                    "'%s': must be a number of TRES-seconds, or of TRES-hours such as 12.5h, equal "
                    "to a whole number of TRES-seconds%s",
                    options->subject, entry->kind == LEDGER_SET ? "" : " above 0");
    uint64_t *number = &entry->undoes;
    if (entry->kind == LEDGER_UNDO &&
        (!number_unsigned(options->subject, strlen(options->subject), number) || !*number ||
         *number > INT64_MAX))
        return fail(err, ERROR_USAGE, "'%s': must be an entry number; see `fairmill ledger list`",
                    options->subject);
    record->entered_at = clock_now();
    record->who = command_login(NULL);
    record->why = memory_text(options->why);
    record->account = memory_text(options->account ? options->account : "");
    record->user = memory_text(options->user ? options->user : "");
    record->partition = memory_text(options->partition ? options->partition : "");
    return 0;
}

/* Finds the only cluster that the options and the settings select. */
static int find_cluster(struct entry_context *context, struct error *err)
{
    const struct name_list *list = &context->options->shared.clusters;
    const struct cluster_names asked = { list->values, list->count };
    return clusters_wanted_one(context->settings, context->source, &asked, complain,
                               &context->cluster, err);
}

/* Sets `*found` to true if the entry to undo is lost: it was in the ledger, but its row no longer
 * exists.  A lost entry may be undone, which accepts its loss. */
static int find_lost(struct entry_context *context, bool *found, struct error *err)
{
    struct ledger_faults faults = ledger_faults_of(&context->book);
    const struct ledger_fault *fault = NULL;
    for (size_t i = 0; i < faults.count; i++)
        if (faults.list[i].lost && faults.list[i].id == context->record.entry.undoes)
            fault = &faults.list[i];
    *found = fault != NULL;
    bool known = fault && fault->cluster;
    if (known)
        context->cluster = memory_text(fault->cluster);
    ledger_faults_free(&faults);
    return *found && !known ? find_cluster(context, err) : 0;
}

/* Copies the cluster and the time from the entry to undo.  In a chain of undos, only the last one
 * can be undone.  The user may name any entry of the chain that is in effect. */
static int find_undone(struct entry_context *context, struct error *err)
{
    uint64_t id = context->record.entry.undoes;
    const struct ledger_record *record = ledger_book_find(&context->book, id);
    if (record) {
        context->cluster = memory_text(record->cluster);
        context->record.entry.time = record->entry.time;
    } else if (find_lost(context, &context->lost, err)) {
        return -1;
    }
    if (!context->cluster)
        return fail(err, ERROR_USAGE, "the ledger has no entry %" PRIu64, id);
    const struct name_list *asked = &context->options->shared.clusters;
    for (size_t i = 0; i < asked->count; i++)
        if (!reads_as(asked->values[i], strlen(asked->values[i]), context->cluster))
            return fail(err, ERROR_USAGE, "ledger entry %" PRIu64 " belongs to cluster '%s'", id,
                        context->cluster);
    return 0;
}

static int check_undone(struct entry_context *context, struct error *err)
{
    uint64_t id = context->record.entry.undoes;
    if (context->lost) /* its effect is unknown, and it has no effect now */
        ledger_add(context->ledger, &(struct ledger_entry){ .id = id, .kind = LEDGER_UNDO });
    const struct ledger_entry *last = ledger_last_undo(context->ledger, id);
    if (ledger_is_undone(context->ledger, id))
        return fail(err, ERROR_USAGE,
                    "entry %" PRIu64 " is already undone; to restore it, undo entry %" PRIu64, id,
                    last->id);
    context->record.entry.undoes = last->id;
    return 0;
}

/* Finds the jobs to refund.  The entries for these jobs differ only in the job. */
static int find_refunded(struct entry_context *context, const struct source *source,
                         struct error *err)
{
    struct ledger_entry *entry = &context->record.entry;
    if (refund_find(&context->refund, entry->time, source, context->ledger, err))
        return -1;
    entry->job = context->refund.found.keys[0];
    return 0;
}

static int find_subject(struct entry_context *context, struct error *err)
{
    struct ledger_record *record = &context->record;
    const struct source source = source_of(context->settings, context->source, context->cluster);
    switch (record->entry.kind) {
    case LEDGER_CREDIT:
    case LEDGER_DEBIT:
        return target_association(&source, record, err);
    case LEDGER_REFUND:
        return find_refunded(context, &source, err);
    case LEDGER_RESET:
        return record->entry.of_cluster ? 0 : target_covers(&source, record, err);
    case LEDGER_SET:
        return target_association(&source, record, err) || target_covers(&source, record, err) ? -1
                                                                                               : 0;
    case LEDGER_UNDO:
        break;
    }
    return check_undone(context, err);
}

/* Returns a copy of the ledger with the new entries. */
static struct ledger *with_entry(const struct entry_context *context)
{
    struct ledger *ledger = ledger_create();
    struct ledger_entry entry = context->record.entry;
    entry.id = 1;
    for (size_t i = 0; i < context->ledger->count; i++) {
        ledger_add(ledger, &context->ledger->entries[i]);
        if (context->ledger->entries[i].id >= entry.id)
            entry.id = context->ledger->entries[i].id + 1;
    }
    for (size_t i = 0; i < context->ledger->cover_count; i++)
        ledger_add_cover(ledger, context->ledger->covers[i].id,
                         context->ledger->covers[i].association);
    for (size_t i = 0; i < context->record.covers.count; i++)
        ledger_add_cover(ledger, entry.id, context->record.covers.keys[i]);
    ledger_add(ledger, &entry);
    for (size_t i = 1; i < context->refund.found.count; i++) {
        entry.id++;
        entry.job = context->refund.found.keys[i];
        ledger_add(ledger, &entry);
    }
    return ledger;
}

static void add_intent(struct text *text, const struct entry_context *context)
{
    struct text words = { 0 };
    if (context->refund.found.count > 1)
        text_format(&words, "refund %zu jobs", context->refund.found.count);
    else
        add_entry_words(&words, &context->record, terminology_of(context->settings));
    text_format_printable(text, "%s: %s\n", context->cluster, words.bytes);
    text_add(text, "dated ");
    time_add(text, (int64_t)context->record.entry.time);
    text_add(text, "\n");
    if (context->refund.told.length)
        text_add(text, context->refund.told.bytes);
    text_free(&words);
}

static int show_effect(const struct entry_context *context, struct error *err)
{
    struct text text = { 0 };
    struct ledger *after = with_entry(context);
    int64_t now = option_time_or_now(&context->options->shared.now);
    add_intent(&text, context);
    struct source source = source_of(context->settings, context->source, context->cluster);
    source.time = &now;
    int result = ledger_add_effect(&text, &source, context->reader, context->ledger, after, err);
    if (!result)
        result = command_print(&text, err);
    ledger_destroy(after);
    text_free(&text);
    return result;
}

/* The response to COMMIT was lost.  If the ledger has the entry, the COMMIT succeeded. */
static int look_again(const struct entry_context *context, const struct ledger_record *record,
                      struct error *err)
{
    struct db *db;
    struct error other;
    bool there = false;
    if (!results_open(&db, context->settings, DB_READER, &other)) {
        ledger_has(db, record, &there, &other);
        db_close(db);
    }
    return there ? 0
                 : fail_in(err,
                           "cannot tell whether entry %" PRIu64
                           " was entered; see `fairmill ledger list`",
                           record->entry.id);
}

/* Copies the record for each job to refund.  The texts are still owned by context->record. */
static struct ledger_record *records_of(const struct entry_context *context, size_t *count)
{
    *count = context->refund.found.count ? context->refund.found.count : 1;
    struct ledger_record *records = memory_zeroed(*count, sizeof *records);
    for (size_t i = 0; i < *count; i++) {
        records[i] = context->record;
        if (context->refund.found.count)
            records[i].entry.job = context->refund.found.keys[i];
    }
    return records;
}

static int ledger_entry_enter(struct entry_context *context, struct error *err)
{
    struct db *results;
    struct text text = { 0 };
    bool in_doubt = false;
    size_t count;
    if (results_open(&results, context->settings, DB_RESULTS, err))
        return -1;
    struct ledger_record *records = records_of(context, &count);
    int result = ledger_enter(results, records, count, &in_doubt, err);
    db_close(results);
    if (result && in_doubt)
        result = look_again(context, &records[count - 1], err);
    uint64_t first = records[0].entry.id;
    free(records);
    if (result)
        return results_explain(context->settings, err);
    if (count > 1)
        text_format(&text, "entries %" PRIu64 " to %" PRIu64 ", ", first, first + count - 1);
    else
        text_format(&text, "entry %" PRIu64 ", ", first);
    add_intent(&text, context);
    ledger_add_slurm_note(&text, context->settings, &context->record, !context->options->at.text);
    result = command_print(&text, err);
    text_free(&text);
    return result;
}

static int ledger_entry_make_entry(struct entry_context *context, struct error *err)
{
    const struct ledger_entry_options *options = context->options;
    if (results_open(&context->reader, context->settings, DB_READER, err) ||
        run_open_source(&context->source, context->settings, err))
        return -1;
    if (ledger_book_read(context->reader, NULL, &context->book, err))
        return results_explain(context->settings, err);
    if (action_is(options, "undo") ? find_undone(context, err) : find_cluster(context, err))
        return -1;
    context->record.cluster = memory_text(context->cluster);
    context->ledger = ledger_of(&context->book, context->cluster);
    struct permissions permissions = permissions_of_user(context->settings);
    int result = permissions_read_scopes(&permissions, context->settings, context->reader, err);
    if (!result)
        result = permissions_check(&permissions, context->cluster, options->account,
                                   options->user ? options->user : "", err);
    permissions_free(&permissions);
    if (result || find_subject(context, err))
        return -1;
    if ((options->shared.dry_run || !options->shared.yes) && show_effect(context, err))
        return -1;
    if (options->shared.dry_run ||
        (!options->shared.yes && command_confirm("Enter this? [y/N] ", "nothing was entered", err)))
        return options->shared.dry_run ? 0 : -1;
    return ledger_entry_enter(context, err);
}

int entry_make(const struct settings *settings, const struct ledger_entry_options *options,
               struct error *err)
{
    struct entry_context context = { .settings = settings,
                                     .options = options,
                                     .refund = options->refund };
    int result = begin_record(&context, err);
    if (!result)
        result = ledger_entry_make_entry(&context, err);
    db_close(context.source);
    db_close(context.reader);
    ledger_destroy(context.ledger);
    ledger_record_free(&context.record);
    job_keys_free(&context.refund.found);
    text_free(&context.refund.told);
    ledger_book_free(&context.book);
    free(context.cluster);
    return result;
}
