/* SPDX-License-Identifier: MIT */
#include "report/share_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/priority/priority.h"
#include "core/tree/association.h"
#include "util/error.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/*
 * A line is read in four steps.  First, share_file_take_lines() joins it with its continuation
 * lines, and removes comments and escapes.  Second, share_file_take_line() finds its object:
 * Cluster, Parent, Account or User.  Third, share_file_take_fields() splits the remaining line at
 * colons into a name and the values of keys.  Last, the function for the object adds an entry or
 * sets the parent of the following entries.
 */

/* The size of sacctmgr's line buffer. */
#define LONGEST_LINE 4095

enum key {
    KEY_SHARES,
    KEY_PARTITION,
    KEY_DEFAULT_ACCOUNT,
    KEY_DESCRIPTION,
    KEY_ORGANIZATION,
    KEY_PARENT,
    KEYS_READ,
    KEY_OTHER = KEYS_READ,
};

/*
 * sacctmgr accepts abbreviated keys of at least `least` letters.  The first match in this order is
 * used.
 */
static const struct {
    const char *name;
    size_t least;
    enum key key;
} keys[] = {
    { "AdminLevel", 2, KEY_OTHER },        { "Coordinator", 2, KEY_OTHER },
    { "Classification", 2, KEY_OTHER },    { "DefaultAccount", 8, KEY_DEFAULT_ACCOUNT },
    { "DefaultWCKey", 8, KEY_OTHER },      { "DefaultQOS", 8, KEY_OTHER },
    { "Description", 3, KEY_DESCRIPTION }, { "Organization", 1, KEY_ORGANIZATION },
    { "Partition", 1, KEY_PARTITION },     { "WCKeys", 2, KEY_OTHER },
    { "FairShare", 1, KEY_SHARES },        { "Shares", 1, KEY_SHARES },
    { "Comment", 3, KEY_OTHER },           { "Priority", 3, KEY_OTHER },
    { "Parent", 1, KEY_PARENT },           { "QOS", 1, KEY_OTHER },
    { "QosLevel", 1, KEY_OTHER },          { "Flags", 2, KEY_OTHER },
};
/* Prefixes of limits.  Each release of Slurm adds limits, so their names are not listed. */
static const char *const families[] = { "Grp", "Max", "Min" };

/* The state of the reader. */
struct share_file_reader {
    struct share_set *list;
    struct text parent; /* account of the last `Parent -' line */
    unsigned line;
};

/* The name and the values in a line; NULL if missing. */
struct share_file_fields {
    char *name;
    char *values[KEYS_READ];
};

static void share_file_fields_free(struct share_file_fields *fields)
{
    free(fields->name);
    for (int key = 0; key < KEYS_READ; key++)
        free(fields->values[key]);
    *fields = (struct share_file_fields){ .name = NULL };
}

static int share_file_wrong(const struct share_file_reader *reader, const char *what,
                            const char *name, const char *behind, struct error *err)
{
    return fail(err, ERROR_DATA, "line %u: %s '%s'%s", reader->line, what, name, behind);
}

/*
 * Returns a copy of a value without its quotes.  Like sacctmgr, turns other quotes in the value
 * into grave accents.  Returns NULL if there is text after the closing quote.
 */
static char *unquoted(struct span span, bool keep_case)
{
    char quote = span.length && strchr("'\"", *span.bytes) ? *span.bytes : '\0';
    struct text raw = { 0 };
    size_t at = quote != '\0';
    text_add(&raw, "");
    for (; at < span.length && !(quote && span.bytes[at] == quote); at++) {
        char letter = strchr("'\"", span.bytes[at]) ? '`' : span.bytes[at];
        text_add_bytes(&raw, &letter, 1);
    }
    bool whole = quote ? at + 1 == span.length : true;
    if (!keep_case)
        ascii_lower(raw.bytes);
    char *value = whole ? utf8_copy(raw.bytes, raw.length) : NULL;
    text_free(&raw);
    return value;
}

/*
 * Returns the quote that is open after `letter`, or '\0'.  `quote` is the quote before it, or '\0'.
 */
static char quote_behind(char quote, char letter)
{
    if (quote)
        return letter == quote ? '\0' : quote;
    return letter == '\'' || letter == '"' ? letter : '\0';
}

/*
 * Sets `*field` to the part before the next colon outside quotes.  Returns false if a quote is not
 * closed.
 */
static bool share_file_next_field(struct span *rest, struct span *field)
{
    char quote = '\0';
    size_t at = 0;
    for (; at < rest->length && (quote || rest->bytes[at] != ':'); at++) {
        quote = quote_behind(quote, rest->bytes[at]);
    }
    *field = (struct span){ rest->bytes, at };
    bool more = at < rest->length;
    *rest = (struct span){ rest->bytes + at + more, rest->length - at - more };
    return !quote;
}

/* Returns false if sacctmgr does not know the key. */
static bool find_key(struct span span, enum key *key)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (span.length >= keys[i].least && span.length <= strlen(keys[i].name) &&
            !strncasecmp(span.bytes, keys[i].name, span.length)) {
            *key = keys[i].key;
            return true;
        }
    *key = KEY_OTHER;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (span.length > strlen(families[i]) &&
            !strncasecmp(span.bytes, families[i], strlen(families[i])))
            return true;
    return false;
}

static int share_file_take_value(const struct share_file_reader *reader,
                                 struct share_file_fields *fields, struct span field,
                                 struct error *err)
{
    struct span value, name = span_until(field, '=', &value);
    enum key key;
    /* `QOS+=` adds and `QOS-=` removes.  For the keys that are read here, both mean `=`. */
    if (name.length && strchr("+-", name.bytes[name.length - 1]))
        name.length--;
    char *text = memory_bytes(name.bytes, name.length);
    int result = 0;
    if (!find_key(name, &key))
        result = share_file_wrong(reader, "sacctmgr does not know the key", text, "", err);
    else if (key < KEYS_READ && fields->values[key])
        result = share_file_wrong(reader, "the key", text, " occurs twice", err);
    else if (key < KEYS_READ && !(fields->values[key] = unquoted(value, false)))
        result = share_file_wrong(reader, "the value of", text, " has text after its closing quote",
                                  err);
    free(text);
    return result;
}

static int share_file_take_field(const struct share_file_reader *reader,
                                 struct share_file_fields *fields, struct span field,
                                 bool keep_case, struct error *err)
{
    if (field.length && memchr(field.bytes, '=', field.length))
        return share_file_take_value(reader, fields, field, err);
    char *text = unquoted(field, keep_case);
    int result = !text ? printed_wrong(reader->line, "a name has text after its closing quote", err)
                 : !*text ? printed_wrong(reader->line, "a field between colons is empty", err)
                 : fields->name ? share_file_wrong(reader, "missing '=' in", text, "", err)
                                : 0;
    if (!result)
        fields->name = text;
    else
        free(text);
    return result;
}

static int share_file_take_fields(const struct share_file_reader *reader,
                                  struct share_file_fields *fields, struct span rest,
                                  bool keep_case, struct error *err)
{
    while (rest.length) {
        struct span field;
        if (!share_file_next_field(&rest, &field))
            return printed_wrong(reader->line, "a quote is not closed", err);
        if (share_file_take_field(reader, fields, field, keep_case, err))
            return -1;
    }
    return fields->name ? 0 : printed_wrong(reader->line, "missing name", err);
}

static int share_file_read_shares(const struct share_file_reader *reader, const char *text,
                                  struct share_entry *entry, struct error *err)
{
    uint64_t shares;
    int64_t negative;
    entry->shares = 1;
    entry->says_shares = text && *text;
    if (!entry->says_shares)
        return 0;
    if (!strcmp(text, "parent"))
        entry->shares = SHARES_PARENT;
    else if (number_unsigned(text, strlen(text), &shares) && shares <= SHARES_PARENT)
        entry->shares = (int32_t)shares;
    else if (!number_signed(text, strlen(text), &negative) || negative >= 0) /* negative: unset */
        return share_file_wrong(reader, "Fairshare", text,
                                " must be `parent', -1 or from 0 to 2147483647", err);
    return 0;
}

/* sacctmgr accepts the key Parent but ignores it. */
static int check_parent(const struct share_file_reader *reader, const char *parent,
                        struct error *err)
{
    const char *above = reader->parent.length ? reader->parent.bytes : "";
    return !parent || !*parent || !strcmp(parent, above)
               ? 0
               : share_file_wrong(reader, "sacctmgr ignores Parent; write a line `Parent -' for",
                                  parent, "", err);
}

/* Fills the members of `entry` that do not depend on the kind of line. */
static int share_file_make_entry(const struct share_file_reader *reader,
                                 const struct share_file_fields *fields, struct share_entry *entry,
                                 struct error *err)
{
    const char *account = fields->values[KEY_DEFAULT_ACCOUNT];
    *entry = (struct share_entry){
        .user = "", .partition = "", .parent = "", .priority = PRIORITY_NONE, .line = reader->line
    };
    /* sacctmgr dump prints `(null)' for a user without a default account. */
    if (account && *account && strcmp(account, "(null)") != 0)
        entry->default_account = account;
    entry->description = fields->values[KEY_DESCRIPTION];
    entry->organization = fields->values[KEY_ORGANIZATION];
    return check_parent(reader, fields->values[KEY_PARENT], err)
               ? -1
               : share_file_read_shares(reader, fields->values[KEY_SHARES], entry, err);
}

static int share_file_take_cluster(struct share_file_reader *reader,
                                   const struct share_file_fields *fields, struct error *err)
{
    struct share_entry root;
    if (reader->list->cluster)
        return printed_wrong(reader->line, "second cluster; a file must have only one", err);
    if (share_file_make_entry(reader, fields, &root, err))
        return -1;
    root.account = "root";
    *reader->list = share_set_create(fields->name);
    share_set_add(reader->list, &root);
    text_add(&reader->parent, root.account);
    return 0;
}

static int take_parent(struct share_file_reader *reader, const struct share_file_fields *fields,
                       struct error *err)
{
    if (!share_set_account(reader->list, fields->name))
        return share_file_wrong(reader, "the parent", fields->name,
                                " is not an account in the lines above", err);
    text_free(&reader->parent);
    text_add(&reader->parent, fields->name);
    return 0;
}

static int share_file_add_entry(struct share_file_reader *reader, struct share_entry *entry,
                                struct error *err)
{
    entry->depth = share_set_account(reader->list, reader->parent.bytes)->depth + 1;
    if (share_set_add(reader->list, entry))
        return 0;
    const struct share_entry *first =
        share_set_find(reader->list, entry->account, entry->user, entry->partition);
    return fail(err, ERROR_DATA, "line %u: %s '%s' occurs twice, first in line %u", reader->line,
                *entry->user ? "user" : "account", *entry->user ? entry->user : entry->account,
                first->line);
}

static int share_file_take_account(struct share_file_reader *reader,
                                   const struct share_file_fields *fields, struct error *err)
{
    struct share_entry entry;
    if (share_file_make_entry(reader, fields, &entry, err))
        return -1;
    if (fields->values[KEY_PARTITION])
        return printed_wrong(reader->line, "an account cannot have a partition", err);
    entry.account = fields->name;
    entry.parent = reader->parent.bytes;
    return share_file_add_entry(reader, &entry, err);
}

static int share_file_take_user(struct share_file_reader *reader,
                                const struct share_file_fields *fields, struct error *err)
{
    struct share_entry entry;
    if (share_file_make_entry(reader, fields, &entry, err))
        return -1;
    entry.account = reader->parent.bytes;
    entry.user = fields->name;
    if (fields->values[KEY_PARTITION])
        entry.partition = fields->values[KEY_PARTITION];
    return share_file_add_entry(reader, &entry, err);
}

/*
 * Slurm 25.05 and later write every QOS with its limits before the cluster.  They contain no
 * shares.
 */
static int share_file_take_qos(const struct share_file_reader *reader, struct error *err)
{
    return reader->list->cluster
               ? printed_wrong(reader->line, "a line `QOS -' must come before `Cluster -'", err)
               : 0;
}

static const struct {
    const char *name, *also;
    int (*take)(struct share_file_reader *reader, const struct share_file_fields *fields,
                struct error *err);
    bool keeps_case; /* slurmdbd may distinguish users by case */
} objects[] = {
    { "Cluster", "Machine", share_file_take_cluster, false },
    { "Parent", "Parent", take_parent, false },
    { "Account", "Project", share_file_take_account, false },
    { "User", "User", share_file_take_user, true },
};

/* Reads a line such as `Account - 'physics':Fairshare=60`. */
static int share_file_take_line(struct share_file_reader *reader, struct span line,
                                struct error *err)
{
    struct span rest, object = span_trimmed(span_until(line, '-', &rest));
    size_t which = 0, count = sizeof objects / sizeof *objects;
    struct share_file_fields fields = { .name = NULL };
    while (which < count && !span_is(object, objects[which].name) &&
           !span_is(object, objects[which].also))
        which++;
    if (span_is(object, "QOS"))
        return share_file_take_qos(reader, err);
    if (which == count)
        return printed_wrong(reader->line,
                             "the line does not begin with `Cluster -', `Parent -', `Account -' "
                             "or `User -'",
                             err);
    if (!rest.length || *rest.bytes != ' ')
        return printed_wrong(reader->line, "missing blank and name after the dash", err);
    if (which && !reader->list->cluster)
        return printed_wrong(reader->line, "there must be a line `Cluster -' before this line",
                             err);
    rest = (struct span){ rest.bytes + 1, rest.length - 1 };
    int result = share_file_take_fields(reader, &fields, rest, objects[which].keeps_case, err);
    if (!result)
        result = objects[which].take(reader, &fields, err);
    share_file_fields_free(&fields);
    return result;
}

/*
 * Returns a line without its comment and trailing spaces.  A # in quotes does not begin a comment:
 * `sacctmgr dump` writes such names, and `sacctmgr load` rejects any line in which this matters.
 */
static struct span bare_line(struct span line)
{
    char quote = '\0';
    for (size_t at = 0; at < line.length; at++) {
        bool escaped = line.bytes[at] == '\\' && at + 1 < line.length;
        at += escaped;
        if (line.bytes[at] == '#' && !escaped && !quote)
            line.length = at;
        else
            quote = quote_behind(quote, line.bytes[at]);
    }
    while (line.length && strchr(" \t\r", line.bytes[line.length - 1]))
        line.length--;
    return line;
}

/* Removes a backslash that continues the line.  Returns true if there was one. */
static bool goes_on(struct span *line)
{
    size_t count = 0;
    while (count < line->length && line->bytes[line->length - 1 - count] == '\\')
        count++;
    line->length -= count % 2;
    return count % 2;
}

static void add_unescaped(struct text *text, struct span line)
{
    text_add(text, "");
    for (size_t at = 0; at < line.length; at++) {
        at += line.bytes[at] == '\\' && at + 1 < line.length;
        text_add_bytes(text, &line.bytes[at], 1);
    }
}

static int share_file_check_line(const struct share_file_reader *reader, struct span line,
                                 struct error *err)
{
    if (line.length > LONGEST_LINE)
        return printed_wrong(reader->line, "the line is longer than sacctmgr can read", err);
    for (size_t at = 0; at < line.length; at++)
        if ((unsigned char)line.bytes[at] < ' ' &&
            !strchr("\t\r", line.bytes[at] ? line.bytes[at] : ' '))
            return printed_wrong(reader->line, "the line has a control character", err);
    return 0;
}

/* Reads a line together with its continuation lines. */
static int share_file_take_lines(struct share_file_reader *reader, struct span *text,
                                 unsigned *number, struct error *err)
{
    struct text whole = { 0 };
    bool more = true;
    int result = 0;
    reader->line = *number + 1;
    while (!result && more && text->length) {
        struct span line = span_until(*text, '\n', text);
        ++*number;
        result = share_file_check_line(reader, line, err);
        line = bare_line(line);
        more = goes_on(&line);
        add_unescaped(&whole, line);
    }
    if (!result && whole.length > LONGEST_LINE)
        result = printed_wrong(reader->line, "the line is longer than sacctmgr can read", err);
    struct span line = span_trimmed((struct span){ whole.bytes, whole.length });
    if (!result && line.length)
        result = share_file_take_line(reader, line, err);
    text_free(&whole);
    return result;
}

int share_file_read(struct share_set *list, struct span text, struct error *err)
{
    struct share_file_reader reader = { .list = list };
    unsigned number = 0;
    int result = 0;
    *list = (struct share_set){ 0 };
    while (!result && text.length)
        result = share_file_take_lines(&reader, &text, &number, err);
    if (!result && !list->cluster)
        result = fail(err, ERROR_DATA, "missing line `Cluster - NAME'");
    text_free(&reader.parent);
    if (result)
        share_set_free(list);
    return result;
}

int share_file_load(struct share_set *list, const char *path, struct error *err)
{
    struct text bytes = { 0 };
    int result = file_read(path, &bytes, NULL, err);
    if (!result && share_file_read(list, (struct span){ bytes.bytes, bytes.length }, err))
        result = fail_in(err, "'%s'", path);
    text_free(&bytes);
    return result;
}
