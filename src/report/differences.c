/* SPDX-License-Identifier: MIT */
#include "report/differences.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/fairshare/fairshare.h"
#include "report/answer.h"
#include "util/memory.h"
#include "util/times.h"

/* One of the two values of an association. */
struct differences_compared_value {
    struct compared_association association;
    const char *value;
    struct difference difference;
};

#define NUMBER(name, member)                                                                  \
    {                                                                                         \
        name, name, COLUMN_REAL, MEMBER(struct differences_compared_value, difference.member) \
    }
#define CAUSE(name, cause) [FIRST_CAUSE + cause] = NUMBER(name, causes[cause])

enum {
    COLUMN_OURS = 6,
    FIRST_CAUSE,
    COLUMN_LEFT = FIRST_CAUSE + CAUSES,
    COLUMN_PRINTED,
    COLUMN_END = COLUMN_PRINTED + 3
};

static const char *const contradictions[] = { "NormShares", "NormUsage", "EffectvUsage",
                                              "LevelFS" };

static void add_contradictions(struct text *text, const struct compared_association *association)
{
    const char *divider = "";
    for (unsigned i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
        if (!(association->contradictions & 1u << i))
            continue;
        text_format(text, "%s%s", divider, contradictions[i]);
        divider = ", ";
    }
}

static void get_contradictions(const void *row, struct cell *cell)
{
    add_contradictions(cell_compose(cell),
                       &((const struct differences_compared_value *)row)->association);
}

static const struct column columns[COLUMN_END + 1] = {
    CLUSTER_COLUMN,
    { "id_assoc", "ID", COLUMN_INTEGER, MEMBER(struct differences_compared_value, association.id) },
    { "account", "Account", COLUMN_TEXT,
      MEMBER(struct differences_compared_value, association.account) },
    { "username", "User", COLUMN_TEXT,
      MEMBER(struct differences_compared_value, association.user) },
    { "partition", "Partition", COLUMN_TEXT,
      MEMBER(struct differences_compared_value, association.partition), .optional = true },
    { "value", "Value", COLUMN_TEXT, MEMBER(struct differences_compared_value, value) },
    NUMBER("ours", ours),
    CAUSE("age", CAUSE_AGE),
    CAUSE("deleted", CAUSE_DELETED),
    CAUSE("ties", CAUSE_TIES),
    CAUSE("release", CAUSE_RELEASE),
    CAUSE("order", CAUSE_ORDER),
    CAUSE("readded", CAUSE_READDED),
    CAUSE("ledger", CAUSE_LEDGER),
    CAUSE("factors", CAUSE_FACTORS),
    CAUSE("suspended", CAUSE_SUSPENDED),
    CAUSE("rollup", CAUSE_ROLLUP),
    CAUSE("billing", CAUSE_BILLING),
    CAUSE("caps", CAUSE_CAPS),
    CAUSE("steps", CAUSE_STEPS),
    CAUSE("reset", CAUSE_RESET),
    CAUSE("shares", CAUSE_SHARES),
    CAUSE("pass", CAUSE_PASS),
    CAUSE("second", CAUSE_SECOND),
    NUMBER("left", left),
    NUMBER("sshare", printed),
    { "levelfs_differs", "LevelFSDiffers", COLUMN_YES_NO,
      MEMBER(struct differences_compared_value, association.level_fs_differs),
      .hidden = NOT_FOR_PEOPLE },
    { "contradicts", "Contradicts", COLUMN_TEXT, .get = get_contradictions,
      .hidden = NOT_FOR_PEOPLE },
};

const struct table_layout differences_layout = { columns, "differences", .by_cluster = true,
                                                 .has_page = true };

static const char *const meanings[CAUSES] = {
    [CAUSE_AGE] = "fairmill's run and the output are of different times",
    [CAUSE_DELETED] = "slurmctld also compares users with deleted users",
    [CAUSE_TIES] = "slurmctld does not merge tied accounts, and compares long doubles",
    [CAUSE_RELEASE] = "slurmctld follows the rules of its Slurm release",
    [CAUSE_ORDER] = "slurmctld visits tied accounts in the other order of `ties`",
    [CAUSE_READDED] = "slurmctld leaves usage before a removal with the account",
    [CAUSE_LEDGER] = "fairmill's ledger, which slurmctld does not know",
    [CAUSE_FACTORS] = "factors in fairmill's settings, which slurmctld does not know",
    [CAUSE_SUSPENDED] = "slurmctld charges suspended time",
    [CAUSE_ROLLUP] = "slurmctld charges jobs, not idle reservations and rollups",
    [CAUSE_BILLING] = "slurmctld does not truncate billing to integers",
    [CAUSE_CAPS] = "slurmctld has neither open_job_cap nor horizon",
    [CAUSE_STEPS] = "slurmctld decays in steps, with 0.693 for ln 2",
    [CAUSE_RESET] = "output cannot prove a reset; see the guesses",
    [CAUSE_SHARES] = "the output has different shares",
    [CAUSE_PASS] = "slurmctld computes factors while it charges usage",
    [CAUSE_SECOND] = "decay cycles differ from their period by up to a second",
};

/* Smaller differences, in TRES-seconds and in factors, come from rounding. */
#define USAGE_ROUNDING 0.0005
#define FACTOR_ROUNDING 1e-9
/* The page shows usage of at least WHOLE_FROM without decimals. */
#define WHOLE_FROM 10000
#define FIRST_AT_MOST 36 /* maximum width in terminal columns */
#define NAMED_AT_MOST 10

static bool is_usage(double number)
{
    return fabs(number) >= USAGE_ROUNDING;
}

static bool differences_is_left(const struct compared_association *association)
{
    return is_usage(association->usage.left) || fabs(association->fairshare.left) > 0 ||
           association->contradictions;
}

bool differences_are_explained(const struct differences *differences)
{
    for (size_t i = 0; i < differences->count; i++)
        if (differences_is_left(&differences->rows[i]))
            return false;
    return !differences->only_printed && !differences->only_ours;
}

/* One of the page's two tables. */
struct differences_view {
    const struct differences *differences;
    bool of_usage;
    double rounding; /* a smaller difference is ignored */
    double scale;    /* multiplies the numbers; turns factors of Fair Tree into ranks */
    int decimals;
};

static const struct difference *difference_in(const struct differences_view *view,
                                              const struct compared_association *association)
{
    return view->of_usage ? &association->usage : &association->fairshare;
}

static bool counts(const struct differences_view *view, double number)
{
    return fabs(number) >= view->rounding;
}

static bool has_cause(const struct differences_view *view, int cause)
{
    const struct differences *differences = view->differences;
    for (size_t i = 0; i < differences->count; i++)
        if (counts(view, difference_in(view, &differences->rows[i])->causes[cause]))
            return true;
    return false;
}

static bool differences_differs(const struct differences_view *view,
                                const struct difference *difference)
{
    bool differs = counts(view, difference->left);
    for (int cause = 0; cause < CAUSES; cause++)
        differs |= counts(view, difference->causes[cause]);
    return differs;
}

static void differences_get_name(const void *row, struct cell *cell)
{
    const struct compared_association *association = row;
    cell_format(cell, "%s%s%s%s%s", association->account, *association->user ? "/" : "",
                association->user, *association->partition ? "/" : "", association->partition);
}

/* Shows a dot if the amount comes from rounding. */
static void differences_get_number(const void *row, struct cell *cell)
{
    const struct differences_view *view = cell->context;
    const struct differences_compared_value *value = row;
    double number;
    memcpy(&number, (const char *)value + cell->column->offset, sizeof number);
    bool is_part = cell->column->index != COLUMN_OURS && cell->column->index != COLUMN_PRINTED;
    if (is_part && !counts(view, number))
        cell_text(cell, ".");
    else if (!isnan(number))
        cell_format(cell, "%.*f", view->of_usage && fabs(number) >= WHOLE_FROM ? 0 : view->decimals,
                    number * view->scale);
}

static void differences_add_view(struct text *text, const struct differences_view *view)
{
    const struct differences *differences = view->differences;
    struct column shown[COLUMN_END] = {
        { "association", "Association", COLUMN_TEXT, .get = differences_get_name,
          .at_most = FIRST_AT_MOST },
    };
    size_t count = 1, same = 0;
    for (int i = COLUMN_OURS; i <= COLUMN_PRINTED; i++) {
        if (i >= FIRST_CAUSE && i < COLUMN_LEFT && !has_cause(view, i - FIRST_CAUSE))
            continue;
        shown[count] = columns[i];
        shown[count].get = differences_get_number;
        shown[count++].index = i;
    }
    struct differences_compared_value *rows = memory_zeroed(differences->count + 1, sizeof *rows);
    for (size_t i = 0; i < differences->count; i++) {
        const struct difference *difference = difference_in(view, &differences->rows[i]);
        if (differences_differs(view, difference))
            rows[i - same] =
                (struct differences_compared_value){ differences->rows[i], NULL, *difference };
        else
            same++;
    }
    size_t differing = differences->count - same;
    if (differing)
        table_add_paragraph(text, shown,
                            &(struct table_rows){ rows, differing, sizeof *rows, .context = view });
    if (same)
        text_format(text, "%s%zu of %zu associations do not differ\n", differing ? "... and " : "",
                    same, differences->count);
    free(rows);
}

/*
 * The total effect of a cause.  Usage is summed over users only, because accounts contain it, too.
 */
struct cause_sum {
    double usage;
    size_t users, factors; /* number of users and of factors that it affects */
};

/* Sums up a cause, or the unexplained part if `cause` is CAUSES. */

static struct cause_sum cause_sum_of(const struct differences *differences, int cause)
{
    struct cause_sum sum = { 0 };
    for (size_t i = 0; i < differences->count; i++) {
        const struct compared_association *row = &differences->rows[i];
        double usage = cause < CAUSES ? row->usage.causes[cause] : row->usage.left;
        double factor = cause < CAUSES ? row->fairshare.causes[cause] : row->fairshare.left;
        sum.factors += fabs(factor) >= FACTOR_ROUNDING;
        if (!row->is_user || !is_usage(usage))
            continue;
        sum.usage += fabs(usage);
        sum.users++;
    }
    return sum;
}

static void add_cause(struct text *text, const struct differences *differences, int cause)
{
    const struct cause_sum sum = cause_sum_of(differences, cause);
    if (!sum.users && !sum.factors)
        return;
    text_format(text, "%-9s  %s:\n          ", columns[FIRST_CAUSE + cause].name, meanings[cause]);
    if (sum.users)
        text_format(text, " %.1f TRES-seconds of %zu user%s", sum.usage, sum.users,
                    sum.users > 1 ? "s" : "");
    if (sum.factors)
        text_format(text, "%s the FairShare of %zu", sum.users ? "," : "", sum.factors);
    text_add(text, "\n");
}

static void differences_add_missing(struct text *text, const char *where, size_t count,
                                    const char *first)
{
    if (count)
        text_format_printable(text, "%s: %zu association%s, first %s\n", where, count,
                              count == 1 ? "" : "s", first);
}

static void add_contradicting(struct text *text, const struct differences *differences)
{
    size_t count = 0;
    for (size_t i = 0; i < differences->count; i++) {
        const struct compared_association *association = &differences->rows[i];
        if (!association->contradictions || ++count > NAMED_AT_MOST)
            continue;
        struct cell cell = { 0 };
        differences_get_name(association, &cell);
        text_format_printable(text, "the output contradicts itself: %s, ", cell.composed.bytes);
        add_contradictions(text, association);
        text_add(text, "\n");
        text_free(&cell.composed);
    }
    if (count > NAMED_AT_MOST)
        text_format(text, "... and %zu more associations\n", count - NAMED_AT_MOST);
}

/*
 * Possible reasons for a user's unexplained difference.  Neither the output nor the accounting
 * database can prove them.
 */
enum guess {
    GUESS_FORGOTTEN, /* the printed usage is too low for GUESS_PHASE */
    GUESS_PHASE,     /* slurmctld's decay cycles ran at different seconds than assumed */
    GUESSES
};
static const char *const guesses[GUESSES] = {
    [GUESS_FORGOTTEN] = "slurmctld may have lost usage (rawusage=0, or state lost in an outage)",
    [GUESS_PHASE] =
        "decay cycles may have run at other seconds before a restart or reconfiguration",
};

static bool differences_may_be(const struct differences *differences,
                               const struct compared_association *association, enum guess guess)
{
    const struct difference *usage = &association->usage;
    double computed = usage->printed - usage->left;
    bool by_phase = fabs(usage->left) <= differences->period_decay * computed;
    return association->is_user && is_usage(usage->left) &&
           (guess == GUESS_PHASE ? by_phase : !by_phase && usage->left < 0);
}

/* Returns false, and adds nothing, if the guess applies to no user. */
static bool differences_add_guess(struct text *text, const struct differences *differences,
                                  enum guess guess)
{
    size_t count = 0;
    for (size_t i = 0; !isnan(differences->period_decay) && i < differences->count; i++) {
        const struct compared_association *association = &differences->rows[i];
        if (!differences_may_be(differences, association, guess))
            continue;
        if (!count)
            text_format(text, "guess: %s: ", guesses[guess]);
        if (++count > NAMED_AT_MOST)
            continue;
        struct cell cell = { 0 };
        differences_get_name(association, &cell);
        text_format_printable(text, "%s%s", count > 1 ? ", " : "", cell.composed.bytes);
        text_free(&cell.composed);
    }
    if (count > NAMED_AT_MOST)
        text_format(text, " and %zu more", count - NAMED_AT_MOST);
    return count != 0;
}

static void differences_add_left(struct text *text, const struct differences *differences)
{
    size_t start = text->length;
    const struct cause_sum sum = cause_sum_of(differences, CAUSES);
    double printed = 0;
    if (differences_are_explained(differences)) {
        text_add(text, "left unexplained: nothing\n");
        terminal_paint(text, start, PAINT_GOOD);
        return;
    }
    text_format(text, "left unexplained: %.1f TRES-seconds of %zu user%s", sum.usage, sum.users,
                sum.users == 1 ? "" : "s");
    for (size_t i = 0; i < differences->count; i++)
        printed += differences->rows[i].is_user ? differences->rows[i].usage.printed : 0;
    if (printed > 0)
        text_format(text, " (%.3g %%)", 100 * sum.usage / printed);
    text_format(text, ", the FairShare of %zu\n", sum.factors);
    for (int guess = 0; guess < GUESSES; guess++)
        text_add(text, differences_add_guess(text, differences, (enum guess)guess) ? "\n" : "");
    add_contradicting(text, differences);
    differences_add_missing(text, "only in the output", differences->only_printed,
                            differences->first_only_printed);
    differences_add_missing(text, "not in the output", differences->only_ours,
                            differences->first_only_ours);
    terminal_paint(text, start, PAINT_BAD);
}

static void differences_add_page(struct text *text, const struct differences *differences)
{
    bool ranks = differences->algorithm->ranks_users;
    const struct differences_view usage = { differences, true, USAGE_ROUNDING, 1, 1 };
    const struct differences_view fairshare = { differences, false, FACTOR_ROUNDING,
                                                ranks ? differences->users : 1, ranks ? 0 : 6 };
    text_format_printable(text, "%s, printed %s, fairmill's run as of %s", differences->cluster,
                          time_text(differences->printed_at).bytes,
                          time_text(differences->as_of).bytes);
    if (differences->newest_step) {
        text_format(text, "\nsteps of %" PRIu64 " s, the newest ", differences->period);
        time_add(text, (int64_t)differences->newest_step);
    }
    text_add(text, "\n\nRawUsage, in TRES-seconds:\n");
    differences_add_view(text, &usage);
    text_format(text, "\n%s:\n", ranks ? "Rank (FairShare is computed from it)" : "FairShare");
    differences_add_view(text, &fairshare);
    text_add(text, "\n");
    for (int cause = 0; cause < CAUSES; cause++)
        add_cause(text, differences, cause);
    for (size_t i = 0; differences->unknown[i]; i++)
        text_format(text, "note: %s\n", differences->unknown[i]);
    differences_add_left(text, differences);
}

static json_t *json_of_causes(const struct differences *differences)
{
    json_t *list = json_array();
    for (int cause = 0; cause < CAUSES; cause++) {
        const struct cause_sum sum = cause_sum_of(differences, cause);
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:f, s:I, s:I}", "cause", columns[FIRST_CAUSE + cause].name,
                            "meaning", meanings[cause], "usage", sum.usage, "users",
                            (json_int_t)sum.users, "fairshares", (json_int_t)sum.factors));
    }
    return list;
}

static json_t *differences_facts_of(const struct differences *differences)
{
    json_t *notes = json_array();
    for (size_t i = 0; differences->unknown[i]; i++)
        json_array_append_new(notes, json_string(differences->unknown[i]));
    for (int guess = 0; guess < GUESSES; guess++) {
        struct text text = { 0 };
        if (differences_add_guess(&text, differences, (enum guess)guess))
            json_array_append_new(notes, json_string(text.bytes));
        text_free(&text);
    }
    json_t *step =
        differences->newest_step ? json_integer((json_int_t)differences->newest_step) : json_null();
    return json_pack("{s:I, s:I, s:I, s:o, s:b, s:f, s:I, s:I, s:o, s:o, s:o}", "as_of",
                     (json_int_t)differences->as_of, "printed_at",
                     (json_int_t)differences->printed_at, "period", (json_int_t)differences->period,
                     "newest_step", step, "explained", differences_are_explained(differences),
                     "usage_left", cause_sum_of(differences, CAUSES).usage, "only_printed",
                     (json_int_t)differences->only_printed, "only_ours",
                     (json_int_t)differences->only_ours, "causes", json_of_causes(differences),
                     "commands", json_array(), "notes", notes);
}

void differences_answer(const struct differences *differences, struct answer *answer)
{
    bool wants_facts = answer_wants_facts(answer);
    if (answer_wants_page(answer)) {
        differences_add_page(answer_text(answer), differences);
        return;
    }
    answer_cluster(answer, &(struct table_cluster){
                               .name = differences->cluster,
                               .facts = wants_facts ? differences_facts_of(differences) : NULL });
    for (size_t i = 0; i < differences->count; i++) {
        const struct compared_association *association = &differences->rows[i];
        answer_row(answer, &(struct differences_compared_value){ *association, "rawusage",
                                                                 association->usage });
        answer_row(answer, &(struct differences_compared_value){ *association, "fairshare",
                                                                 association->fairshare });
    }
}
