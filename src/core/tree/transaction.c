/* SPDX-License-Identifier: MIT */
#include "core/tree/transaction.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree/past.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* ---- The info: columns and their values ---- */

/* Behind a text in single quotes that begins here; NULL where it does not end. */
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

/* Behind a value, which may be an expression with commas of its own: at a comma or the end. */
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

struct pair {
    const char *column, *value;
    size_t column_length, value_length;
};

/* The next pair: 1, 0 at the end, -1 where there is something else. */
static int next_pair(const char **at, struct pair *pair)
{
    const char *start = *at + strspn(*at, " ");
    if (!*start)
        return 0;
    const char *equals = start + strcspn(start, "=,'(");
    if (*equals != '=' || equals == start)
        return -1;
    const char *end = skip_value(equals + 1);
    if (!end)
        return -1;
    *pair =
        (struct pair){ start, equals + 1, (size_t)(equals - start), (size_t)(end - equals - 1) };
    *at = *end ? end + 1 : end;
    return 1;
}

static bool is_column(const struct pair *pair, const char *name)
{
    const char *column = pair->column;
    size_t length = pair->column_length;
    if (length > 2 && *column == '`' && column[length - 1] == '`') {
        column++;
        length -= 2;
    }
    return length == strlen(name) && !memcmp(column, name, length);
}

/* The text between single quotes, as a number in the names. */
static bool quoted_name(struct past *past, const char *quoted, size_t length, uint32_t *number)
{
    struct text text = { 0 };
    if (length < 2 || *quoted != '\'' || skip_quoted(quoted) != quoted + length)
        return false;
    text_add_bytes(&text, "", 0);
    for (const char *at = quoted + 1; at < quoted + length - 1; at++) {
        at += *at == '\\' || *at == '\'';
        text_add_bytes(&text, at, 1);
    }
    *number = names_add(past->names, text.bytes, text.length);
    text_free(&text);
    return true;
}

static bool pair_name(struct past *past, const struct pair *pair, uint32_t *number)
{
    return quoted_name(past, pair->value, pair->value_length, number);
}

static bool pair_number(const struct pair *pair, uint64_t greatest, uint64_t *number)
{
    const char *bytes = pair->value;
    size_t length = pair->value_length;
    if (length > 2 && *bytes == '\'' && bytes[length - 1] == '\'') {
        bytes++;
        length -= 2;
    }
    return number_unsigned(bytes, length, number) && *number <= greatest;
}

/* What a column says of the change; true also where it says nothing that we want. */
static bool take_pair(struct past *past, const struct pair *pair, struct change *change)
{
    uint64_t number = 0;
    if (is_column(pair, "shares")) {
        change->has_shares = pair_number(pair, INT32_MAX, &number);
        change->shares = (int32_t)number;
        return change->has_shares;
    }
    if (change->kind != CHANGE_ADDED)
        return true;
    if (is_column(pair, "acct"))
        return pair_name(past, pair, &change->account);
    if (is_column(pair, "user"))
        return pair_name(past, pair, &change->user);
    if (is_column(pair, "partition"))
        return pair_name(past, pair, &change->partition);
    if (is_column(pair, "parent_acct"))
        return pair_name(past, pair, &change->parent_account);
    if (is_column(pair, "id_parent")) {
        bool good = pair_number(pair, UINT32_MAX, &number);
        change->parent_id = (uint32_t)number;
        return good;
    }
    return true;
}

static bool take_info(struct past *past, const char *info, struct change *change)
{
    struct pair pair;
    int got;
    while ((got = next_pair(&info, &pair)) > 0)
        if (!take_pair(past, &pair, change))
            return false;
    return got == 0;
}

/* ---- The name: which associations ---- */

struct ids {
    uint32_t *ids;
    size_t count;
};

/* `id_assoc=6 || id_assoc=7`, in parentheses or not. */
static bool read_ids(const char *at, struct ids *ids)
{
    static const char column[] = "id_assoc=";
    size_t length = strlen(at);
    if (*at == '(' && at[length - 1] == ')') {
        at++;
        length -= 2;
    }
    for (const char *end = at + length;;) {
        uint64_t id;
        if ((size_t)(end - at) < sizeof column || memcmp(at, column, sizeof column - 1))
            return false;
        at += sizeof column - 1;
        size_t digits = strspn(at, "0123456789");
        if (!number_unsigned(at, digits, &id) || id == 0 || id > UINT32_MAX)
            return false;
        ids->ids = memory_grown(ids->ids, ids->count, sizeof *ids->ids);
        ids->ids[ids->count++] = (uint32_t)id;
        at += digits;
        if (at == end)
            return true;
        if (end - at < 4 || memcmp(at, " || ", 4))
            return false;
        at += 4;
    }
}

/* `name='a'`, `name='a' || name='b'` or `name in('a', 'b')`: each of the names. */
static bool read_names(struct past *past, const char *at, struct ids *numbers)
{
    bool list = !strncmp(at, "name in(", 8);
    const char *before = list ? "" : "name=", *between = list ? "," : " || ";
    at += list ? 8 : 0;
    for (;;) {
        uint32_t number;
        if (strncmp(at, before, strlen(before)) != 0)
            return false;
        at += strlen(before);
        const char *end = *at == '\'' ? skip_quoted(at) : NULL;
        if (!end || !quoted_name(past, at, (size_t)(end - at), &number))
            return false;
        numbers->ids = memory_grown(numbers->ids, numbers->count, sizeof *numbers->ids);
        numbers->ids[numbers->count++] = number;
        at = end;
        if (!strcmp(at, list ? ")" : ""))
            return true;
        if (strncmp(at, between, strlen(between)) != 0)
            return false;
        at += strlen(between);
        at += list ? strspn(at, " ") : 0;
    }
}

/* ---- Each action ---- */

static bool add_change(const struct transaction *transaction, struct past *past, struct ids *ids)
{
    uint32_t empty = names_add(past->names, "", 0);
    struct change change = { .at = transaction->at,
                             .kind = transaction->action == TRANSACTION_ADD      ? CHANGE_ADDED
                                     : transaction->action == TRANSACTION_MODIFY ? CHANGE_MODIFIED
                                                                                 : CHANGE_REMOVED,
                             .account = empty,
                             .user = empty,
                             .partition = empty,
                             .parent_account = empty };
    if (!read_ids(transaction->name, ids))
        return false;
    if (change.kind != CHANGE_REMOVED && !take_info(past, transaction->info, &change))
        return false;
    if (change.kind == CHANGE_ADDED) {
        if (change.account == empty)
            return false;
        if (change.user != empty)
            change.parent_account = change.account;
        /* The column's default, which deleting sets too. */
        if (!change.has_shares)
            change.shares = 1;
        change.has_shares = true;
    }
    for (size_t i = 0; i < ids->count; i++) {
        change.id = ids->ids[i];
        past_add(past, &change);
    }
    return true;
}

static bool add_removals(const struct transaction *transaction, struct past *past,
                         struct ids *names)
{
    if (!read_names(past, transaction->name, names))
        return false;
    for (size_t i = 0; i < names->count; i++)
        past_add_removal(past, transaction->at, transaction->action == TRANSACTION_REMOVE_ACCOUNTS,
                         names->ids[i]);
    return true;
}

bool transaction_add(const struct transaction *transaction, struct past *past)
{
    struct ids ids = { 0 };
    bool understood = false;
    switch (transaction->action) {
    case TRANSACTION_ADD:
    case TRANSACTION_MODIFY:
    case TRANSACTION_REMOVE:
        understood = add_change(transaction, past, &ids);
        break;
    case TRANSACTION_REMOVE_ACCOUNTS:
    case TRANSACTION_REMOVE_USERS:
        understood = add_removals(transaction, past, &ids);
        break;
    case TRANSACTION_REMOVE_QOS:
        past_add_touch_of_all(past, transaction->at);
        understood = true;
        break;
    default:
        break;
    }
    free(ids.ids);
    return understood;
}
