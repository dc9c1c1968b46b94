/* SPDX-License-Identifier: MIT */
#include "report/selection.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree/tree.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* Maximum number of slashes in a NAME of which candidates are made; few sites have more than two.
 */
#define SLASHES 8

void association_name_add(struct text *text, const struct association_name *name)
{
    text_format(text, "%s/%s%s%s", name->account, name->user, *name->partition ? "/" : "",
                name->partition);
}

enum name_match association_name_match(const struct association_name *name, const char *asked)
{
    struct association_name any_partition = { name->account, name->user, "" };
    struct text full = { 0 };
    if (name_is(asked, *name->user ? name->user : name->account))
        return NAME_POSSIBLE;
    if (!strchr(asked, '/'))
        return NAME_OTHER;
    association_name_add(&full, name);
    enum name_match match = name_is(asked, full.bytes) ? NAME_EXACT : NAME_OTHER;
    if (match == NAME_OTHER && *name->partition) {
        full.length = 0;
        association_name_add(&full, &any_partition);
        match = name_is(asked, full.bytes) ? NAME_POSSIBLE : NAME_OTHER;
    }
    text_free(&full);
    return match;
}

static void name_candidate_append(struct name_candidates *candidates, const char *user,
                                  size_t user_length, const char *account, size_t account_length)
{
    *memory_append(&candidates->list, &candidates->count) =
        (struct name_candidate){ memory_bytes(user, user_length),
                                 account ? memory_bytes(account, account_length) : NULL };
}

/* Appends `account/user` and `account/user/partition` for each slash that can end the account. */
static void name_candidates_split(struct name_candidates *candidates, const char *name)
{
    for (const char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
        const char *user = at + 1;
        size_t account_length = (size_t)(at - name);
        for (const char *end = strchr(user, '/'); end; end = strchr(end + 1, '/'))
            name_candidate_append(candidates, user, (size_t)(end - user), name, account_length);
        name_candidate_append(candidates, user, strlen(user), name, account_length);
    }
}

void name_candidates_add(struct name_candidates *candidates, enum selection_kind kind,
                         const char *asked)
{
    char *name = utf8_copy(asked, strlen(asked));
    size_t length = strlen(name), slashes = 0;
    for (const char *at = name; *at; at++)
        slashes += *at == '/';
    if (kind != SELECTION_ACCOUNTS)
        name_candidate_append(candidates, name, length, NULL, 0);
    if (kind != SELECTION_USERS)
        name_candidate_append(candidates, "", 0, name, length);
    if (kind == SELECTION_NAMES && slashes > SLASHES)
        candidates->incomplete = true;
    else if (kind == SELECTION_NAMES)
        name_candidates_split(candidates, name);
    free(name);
}

void name_candidates_free(struct name_candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++) {
        free(candidates->list[i].user);
        free(candidates->list[i].account);
    }
    free(candidates->list);
    *candidates = (struct name_candidates){ 0 };
}

void selection_begin(struct association_selection *selection,
                     const struct name_list lists[SELECTION_KINDS])
{
    for (enum selection_kind kind = 0; kind < SELECTION_KINDS; kind++) {
        selection->lists[kind] = lists[kind];
        selection->met[kind] = memory_zeroed(lists[kind].count + 1, sizeof(bool));
    }
}

void selection_free(struct association_selection *selection)
{
    for (enum selection_kind kind = 0; kind < SELECTION_KINDS; kind++)
        free(selection->met[kind]);
}

/* Returns true if `asked`, from the list of this kind, means the association itself. */
static bool selection_means(enum selection_kind kind, const char *asked,
                            const struct association_name *name)
{
    switch (kind) {
    case SELECTION_ACCOUNTS:
        return !*name->user && name_is(asked, name->account);
    case SELECTION_USERS:
        return *name->user && name_is(asked, name->user);
    default:
        return association_name_match(name, asked) != NAME_OTHER;
    }
}

void selection_note(struct association_selection *selection, const struct association_name *name)
{
    for (enum selection_kind kind = 0; kind < SELECTION_KINDS; kind++)
        for (size_t i = 0; i < selection->lists[kind].count; i++)
            if (!selection->met[kind][i])
                selection->met[kind][i] =
                    selection_means(kind, selection->lists[kind].values[i], name);
}

const char *selection_missing(const struct association_selection *selection,
                              enum selection_kind *kind)
{
    for (enum selection_kind each = 0; each < SELECTION_KINDS; each++)
        for (size_t i = 0; i < selection->lists[each].count; i++)
            if (!selection->met[each][i]) {
                *kind = each;
                return selection->lists[each].values[i];
            }
    return NULL;
}

bool selection_chooses(const struct association_selection *selection, enum selection_kind kind,
                       const struct association_name *name)
{
    const struct name_list *list = &selection->lists[kind];
    for (size_t i = 0; i < list->count; i++)
        if (selection_means(kind, list->values[i], name))
            return true;
    return !list->count;
}

uint32_t *selection_of_tree(const struct association_selection *selection, const struct tree *tree,
                            const struct names *names)
{
    uint32_t *named = memory_zeroed(tree->count, sizeof *named);
    uint32_t *inside = memory_zeroed(tree->count, sizeof *inside);
    uint32_t *chosen = memory_zeroed(tree->count, sizeof *chosen);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        const struct association_name name = { names_text(names, node->account),
                                               names_text(names, node->user),
                                               names_text(names, node->partition) };
        named[i] = i ? named[node->parent] : 0;
        inside[i] = i ? inside[node->parent] : 0;
        if (!named[i] && selection_chooses(selection, SELECTION_NAMES, &name))
            named[i] = node->depth + 1;
        if (!inside[i] && selection_chooses(selection, SELECTION_ACCOUNTS, &name))
            inside[i] = node->depth + 1;
        if (named[i] && inside[i] && selection_chooses(selection, SELECTION_USERS, &name))
            chosen[i] = named[i] > inside[i] ? named[i] : inside[i];
    }
    free(named);
    free(inside);
    return chosen;
}

void selection_add_accounts(struct name_list *accounts, const struct name_list *asked,
                            const struct tree *tree, const struct names *names)
{
    const struct association_selection selection = { .lists[SELECTION_ACCOUNTS] = *asked };
    uint32_t *chosen = selection_of_tree(&selection, tree, names);
    for (uint32_t i = 0; i < tree->count; i++) {
        const char *account = names_text(names, tree->nodes[i].account);
        if (chosen[i] && !tree->nodes[i].is_user)
            name_list_add(accounts, account, strlen(account));
    }
    free(chosen);
}
