/* SPDX-License-Identifier: MIT */
#include "core/tree/transaction.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree/association_history.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* Parsing of SQL text. */

/* Returns the end of the quoted string that starts at `at`, or NULL if it is not terminated. */
static const char *skip_quoted(const char *at)
{
    for (at++; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == '\'' && at[1] == '\'')
            at++;
        else if (*at == '\'')
            return at + 1;
    }
    return NULL;
}

/*
 * Returns the end of a value, at a comma or the end of the text.  An expression may contain commas
 * in parentheses.  Returns NULL if the value is malformed.
 */
static const char *skip_value(const char *at)
{
    int depth = 0;
    while (*at && (depth || *at != ',')) {
        if (*at == '\'') {
            at = skip_quoted(at);
            if (!at)
                return NULL;
            continue;
        }
        depth += *at == '(';
        depth -= *at == ')';
        if (depth < 0)
            return NULL;
        at++;
    }
    return depth ? NULL : at;
}

int txn_next_pair(const char **info, struct txn_pair *pair)
{
    const char *start = *info + strspn(*info, " ");
    if (!*start)
        return 0;
    const char *equals = start + strcspn(start, "=,'(");
    if (*equals != '=' || equals == start)
        return -1;
    const char *end = skip_value(equals + 1);
    if (!end)
        return -1;
    *pair = (struct txn_pair){ start, equals + 1, (size_t)(equals - start),
                               (size_t)(end - equals - 1) };
    *info = *end ? end + 1 : end;
    return 1;
}

bool txn_is_column(const struct txn_pair *pair, const char *name)
{
    const char *column = pair->column;
    size_t length = pair->column_length;
    if (length > 2 && *column == '`' && column[length - 1] == '`') {
        column++;
        length -= 2;
    }
    return length == strlen(name) && !memcmp(column, name, length);
}

/* Reads a value of a condition and advances `*at`. */
static bool transaction_read_value(const char **at, struct txn_pair *term)
{
    const char *end = **at == '\'' ? skip_quoted(*at) : *at + strspn(*at, "0123456789");
    if (!end || end == *at)
        return false;
    term->value = *at;
    term->value_length = (size_t)(end - *at);
    *at = end;
    return true;
}

typedef bool (*term_taker)(void *context, const struct txn_pair *term);

/* Reads the values of a term after its column, and passes each one to `take`. */
static bool read_values(const char **at, struct txn_pair *term, term_taker take, void *context)
{
    static const char in[] = " in(";
    if (**at == '=') {
        ++*at;
        return transaction_read_value(at, term) && take(context, term);
    }
    if (strncmp(*at, in, sizeof in - 1) != 0)
        return false;
    *at += sizeof in - 1;
    for (;; *at += 1 + strspn(*at + 1, " ")) {
        if (!transaction_read_value(at, term) || !take(context, term) ||
            (**at != ',' && **at != ')'))
            return false;
        if (**at == ')') {
            ++*at;
            return true;
        }
    }
}

bool txn_each_term(const char *condition, term_taker take, void *context)
{
    const char *at = condition, *end = at + strlen(at);
    if (*at == '(' && end[-1] == ')') {
        at++;
        end--;
    }
    for (;; at += 4) {
        struct txn_pair term = { .column = at, .column_length = strcspn(at, "=( ") };
        at += term.column_length;
        if (!term.column_length || !read_values(&at, &term, take, context) || at > end)
            return false;
        if (at == end)
            return true;
        if (strncmp(at, " || ", 4) != 0 && strncmp(at, " or ", 4) != 0)
            return false;
    }
}

bool txn_text_of(const struct txn_pair *pair, struct text *text)
{
    const char *quoted = pair->value, *end = quoted + pair->value_length;
    if (pair->value_length < 2 || *quoted != '\'' || skip_quoted(quoted) != end)
        return false;
    text_add_bytes(text, "", 0);
    for (const char *at = quoted + 1; at < end - 1; at++) {
        at += *at == '\\' || *at == '\'';
        text_add_bytes(text, at, 1);
    }
    return true;
}

bool txn_number_of(const struct txn_pair *pair, uint64_t greatest, uint64_t *number)
{
    const char *bytes = pair->value;
    size_t length = pair->value_length;
    if (length > 2 && *bytes == '\'' && bytes[length - 1] == '\'') {
        bytes++;
        length -= 2;
    }
    return number_unsigned(bytes, length, number) && *number <= greatest;
}

/* The column `info`: columns and their values. */

static bool pair_name(struct association_history *history, const struct txn_pair *pair,
                      uint32_t *number)
{
    struct text text = { 0 };
    bool good = txn_text_of(pair, &text);
    if (good)
        *number = names_add(history->names, text.bytes, text.length);
    text_free(&text);
    return good;
}

/* Applies one column to the change.  Ignores columns that are not needed. */
static bool transaction_take_pair(struct association_history *history, const struct txn_pair *pair,
                                  struct change *change)
{
    uint64_t number = 0;
    if (txn_is_column(pair, "shares")) {
        change->has_shares = txn_number_of(pair, INT32_MAX, &number);
        change->shares = (int32_t)number;
        return change->has_shares;
    }
    if (change->kind != CHANGE_ADDED)
        return true;
    if (txn_is_column(pair, "acct"))
        return pair_name(history, pair, &change->account);
    if (txn_is_column(pair, "user"))
        return pair_name(history, pair, &change->user);
    if (txn_is_column(pair, "partition"))
        return pair_name(history, pair, &change->partition);
    if (txn_is_column(pair, "parent_acct"))
        return pair_name(history, pair, &change->parent_account);
    if (txn_is_column(pair, "id_parent")) {
        bool good = txn_number_of(pair, UINT32_MAX, &number);
        change->parent_id = (uint32_t)number;
        return good;
    }
    return true;
}

static bool take_info(struct association_history *history, const char *info, struct change *change)
{
    struct txn_pair pair;
    int got;
    while ((got = txn_next_pair(&info, &pair)) > 0)
        if (!transaction_take_pair(history, &pair, change))
            return false;
    return got == 0;
}

/* The column `name`: ids of associations, or names. */

struct ids {
    uint32_t *ids;
    size_t count;
    struct association_history *history; /* assigns numbers to names */
};

static void transaction_add_id(struct ids *ids, uint32_t id)
{
    *memory_append(&ids->ids, &ids->count) = id;
}

static bool take_id(void *context, const struct txn_pair *term)
{
    uint64_t id;
    if (!txn_is_column(term, "id_assoc") || !txn_number_of(term, UINT32_MAX, &id) || !id)
        return false;
    transaction_add_id(context, (uint32_t)id);
    return true;
}

static bool transaction_take_name(void *context, const struct txn_pair *term)
{
    struct ids *names = context;
    uint32_t number;
    if (!txn_is_column(term, "name") || !pair_name(names->history, term, &number))
        return false;
    transaction_add_id(names, number);
    return true;
}

/* Actions. */

static bool transaction_add_change(const struct transaction *transaction,
                                   struct association_history *history, struct ids *ids)
{
    uint32_t empty = names_add(history->names, "", 0);
    struct change change = { .at = transaction->at,
                             .kind = transaction->action == TRANSACTION_ADD      ? CHANGE_ADDED
                                     : transaction->action == TRANSACTION_MODIFY ? CHANGE_MODIFIED
                                                                                 : CHANGE_REMOVED,
                             .account = empty,
                             .user = empty,
                             .partition = empty,
                             .parent_account = empty };
    if (!txn_each_term(transaction->name, take_id, ids))
        return false;
    if (change.kind != CHANGE_REMOVED && !take_info(history, transaction->info, &change))
        return false;
    if (change.kind == CHANGE_ADDED) {
        if (change.account == empty)
            return false;
        if (change.user != empty)
            change.parent_account = change.account;
        /* The default of the column, which slurmdbd also sets when it removes an association. */
        if (!change.has_shares)
            change.shares = 1;
        change.has_shares = true;
    }
    for (size_t i = 0; i < ids->count; i++) {
        change.id = ids->ids[i];
        association_history_add(history, &change);
    }
    return true;
}

static bool add_removals(const struct transaction *transaction, struct association_history *history,
                         struct ids *names)
{
    if (!txn_each_term(transaction->name, transaction_take_name, names))
        return false;
    for (size_t i = 0; i < names->count; i++)
        association_history_add_removal(history, transaction->at,
                                        transaction->action == TRANSACTION_REMOVE_ACCOUNTS,
                                        names->ids[i]);
    return true;
}

bool transaction_add(const struct transaction *transaction, struct association_history *history)
{
    struct ids ids = { .history = history };
    bool understood = false;
    switch (transaction->action) {
    case TRANSACTION_ADD:
    case TRANSACTION_MODIFY:
    case TRANSACTION_REMOVE:
        understood = transaction_add_change(transaction, history, &ids);
        break;
    case TRANSACTION_REMOVE_ACCOUNTS:
    case TRANSACTION_REMOVE_USERS:
        understood = add_removals(transaction, history, &ids);
        break;
    case TRANSACTION_REMOVE_QOS:
        association_history_add_bulk_change(history, transaction->at);
        understood = true;
        break;
    default:
        break;
    }
    free(ids.ids);
    return understood;
}
