/* SPDX-License-Identifier: MIT */
#include "core/tree/transaction.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree/past.h"
#include "core/tree/txn_text.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* ---- The info: columns and their values ---- */

static bool pair_name(struct past *past, const struct txn_pair *pair, uint32_t *number)
{
    struct text text = { 0 };
    bool good = txn_text_of(pair, &text);
    if (good)
        *number = names_add(past->names, text.bytes, text.length);
    text_free(&text);
    return good;
}

/* What a column says of the change; true also where it says nothing that we want. */
static bool take_pair(struct past *past, const struct txn_pair *pair, struct change *change)
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
        return pair_name(past, pair, &change->account);
    if (txn_is_column(pair, "user"))
        return pair_name(past, pair, &change->user);
    if (txn_is_column(pair, "partition"))
        return pair_name(past, pair, &change->partition);
    if (txn_is_column(pair, "parent_acct"))
        return pair_name(past, pair, &change->parent_account);
    if (txn_is_column(pair, "id_parent")) {
        bool good = txn_number_of(pair, UINT32_MAX, &number);
        change->parent_id = (uint32_t)number;
        return good;
    }
    return true;
}

static bool take_info(struct past *past, const char *info, struct change *change)
{
    struct txn_pair pair;
    int got;
    while ((got = txn_next_pair(&info, &pair)) > 0)
        if (!take_pair(past, &pair, change))
            return false;
    return got == 0;
}

/* ---- The name: which associations ---- */

struct ids {
    uint32_t *ids;
    size_t count;
    struct past *past; /* whose names number those of users and accounts */
};

static void add_id(struct ids *ids, uint32_t id)
{
    ids->ids = memory_grown(ids->ids, ids->count, sizeof *ids->ids);
    ids->ids[ids->count++] = id;
}

static bool take_id(void *context, const struct txn_pair *term)
{
    uint64_t id;
    if (!txn_is_column(term, "id_assoc") || !txn_number_of(term, UINT32_MAX, &id) || !id)
        return false;
    add_id(context, (uint32_t)id);
    return true;
}

static bool take_name(void *context, const struct txn_pair *term)
{
    struct ids *names = context;
    uint32_t number;
    if (!txn_is_column(term, "name") || !pair_name(names->past, term, &number))
        return false;
    add_id(names, number);
    return true;
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
    if (!txn_each_term(transaction->name, take_id, ids))
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
    if (!txn_each_term(transaction->name, take_name, names))
        return false;
    for (size_t i = 0; i < names->count; i++)
        past_add_removal(past, transaction->at, transaction->action == TRANSACTION_REMOVE_ACCOUNTS,
                         names->ids[i]);
    return true;
}

bool transaction_add(const struct transaction *transaction, struct past *past)
{
    struct ids ids = { .past = past };
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
