/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "site.h"

#include "compute/compute.h"
#include "compute/checkpoint_plan.h"
#include "compute/accumulators.h"
#include "core/usage/ledger.h"
#include "db/driver.h"
#include "settings/settings.h"

/* Tests runs on a lagging replica, and usage sums beyond the integer range.  Real databases rarely
 * produce either, so a fake database does. */

/* ---- The fake database ---- */

static int64_t lag;
static bool lag_is_known;
static const struct db_value *kept_row;

static int answer_lag(struct db *db, int64_t *lag_s, struct error *err)
{
    (void)db;
    *lag_s = lag;
    return lag_is_known ? 0 : fail(err, ERROR_DENIED, "you may not ask");
}

static int begin(struct db *db, struct error *err)
{
    (void)db;
    return fail(err, ERROR_OTHER, "begun");
}

static struct db_rows *query(struct db *db, const struct db_question *question, struct error *err)
{
    static struct db_rows rows;
    (void)question;
    (void)err;
    rows = (struct db_rows){ .db = db };
    return &rows;
}

static int fetch(struct db_rows *rows, const struct db_value **row, struct error *err)
{
    (void)rows;
    (void)err;
    *row = kept_row;
    kept_row = NULL;
    return *row != NULL;
}

static void finish(struct db_rows *rows)
{
    (void)rows;
}

static const struct db_functions functions = {
    .replica_lag = answer_lag, .begin = begin, .query = query, .fetch = fetch, .finish = finish
};

/* ---- Replicas ---- */

/* Returns the error of a run that reads a source with this lag. */
static struct error read_lagging(int64_t max_lag_s, int64_t lag_s)
{
    struct settings settings = { .max_lag_s = max_lag_s, .source = { .database = "acct" } };
    struct db db = { .functions = &functions };
    struct source source = { .settings = &settings, .db = &db, .cluster = "tiny" };
    struct computation computation = computation_of(&source);
    struct error err = { 0 };
    lag = lag_s;
    compute_read(&computation, NULL, NULL, &err);
    return err;
}

static bool begins(struct error err)
{
    return !strcmp(err.message, "begun");
}

static void replicas(void)
{
    lag_is_known = true;
    ok(begins(read_lagging(60, 0)) && begins(read_lagging(60, 60)),
       "a replica whose lag is at most max_lag is read");
    struct error err = read_lagging(60, 61);
    ok(err.class == ERROR_LAGGING &&
           !strcmp(err.message, "database 'acct' is a replica that lags 61 s; max_lag is 60 s"),
       "a replica that lags longer is rejected");
    err = read_lagging(60, DB_LAG_UNBOUNDED);
    ok(err.class == ERROR_LAGGING && strstr(err.message, "lags without bound; max_lag is 60 s"),
       "a replica that receives no changes is rejected");
    ok(read_lagging(0, 1).class == ERROR_LAGGING && begins(read_lagging(0, 0)),
       "a max_lag of 0 accepts no lag");
    ok(begins(read_lagging(-1, DB_LAG_UNBOUNDED)), "without max_lag, the lag is not checked");
    lag_is_known = false;
    err = read_lagging(60, 0);
    ok(err.class == ERROR_DENIED && !strcmp(err.message, "you may not ask"),
       "a replica of unknown lag is not read");
}

/* ---- Sums ---- */

static const struct wide most = { { UINT64_MAX, UINT64_MAX, UINT64_MAX, INT64_MAX } };
static const struct wide least = { { 0, 0, 0, UINT64_C(1) << 63 } };
static const struct wide one = { { 1, 0, 0, 0 } };

#define ASSOCIATION 3
static struct site site;
static struct db results = { .functions = &functions };

static struct computation computation_here(void)
{
    static const struct settings settings;
    struct source source = { .settings = &settings, .cluster = "tiny" };
    struct computation computation = computation_of(&source);
    site_draw(&site, "1 - root - 1 0\n"
                     "3 - root ann 1 0\n");
    site_build(&site, BAD_ROWS_FAIL);
    computation.tree = site.tree;
    computation.accounting = accounting_create(NULL);
    computation.findings = site.findings;
    computation.decay = site.decay;
    computation.ledger = ledger_at(NULL, decay_table_now(site.decay));
    computation.unattributed = usage_sums_create(0);
    return computation;
}

static void give_back(struct computation *computation)
{
    ledger_state_destroy(computation->ledger);
    usage_sums_destroy(computation->unattributed);
    free(computation->values);
    accounting_destroy(computation->accounting);
    site_erase(&site);
}

static bool is_of_range(const struct error *err)
{
    return err->class == ERROR_DATA &&
           !strcmp(err->message,
                   "the usage of association 3 is beyond the range of fairmill's integers");
}

static void charges(void)
{
    struct computation computation = computation_here();
    struct job_row row = { .association = ASSOCIATION };
    const struct slice interval = { .association = ASSOCIATION };
    const uint128 high = (uint128)1 << 126;
    struct charge charge = { .row = &row,
                             .interval = interval,
                             .counted = { .units = high, .weight = high, .start = 1, .end = 2 } };
    struct sums_accumulator accumulator;
    struct error err = { 0 };
    int failed = 0, taken = 0;
    sums_accumulator_begin(&accumulator, &computation, NULL);
    while (taken < 100 && !failed) {
        failed = accumulator.accumulator.take(&accumulator.accumulator, &charge, &err);
        taken++;
    }
    /* Each charge is 2^252.  Seven of them fit below 2^255, and each is added when the next one
     * arrives. */
    ok(failed && taken == 9 && is_of_range(&err),
       "charges beyond the integer range fail and name the association");
    err = (struct error){ 0 };
    ok(sums_accumulator_end(&accumulator, &err) && is_of_range(&err),
       "a last charge beyond the integer range fails");
    give_back(&computation);
}

static void unattributed(void)
{
    struct computation computation = computation_here();
    struct error err = { 0 };
    *usage_sums_of(computation.unattributed, 7) = most;
    *usage_sums_of(computation.unattributed, 8) = one;
    ok(compute_values(&computation, NULL, &err) && err.class == ERROR_DATA &&
           strstr(err.message, "the usage without an association is beyond the range"),
       "unattributed usage beyond the integer range fails");
    give_back(&computation);
}

static int64_t drifted; /* by the last fold() */

/* Folds a checkpoint for which a run has computed the sum `own` and the results contain the sum
 * `kept` with this hash.  Returns the error; its message is empty on success. */
static struct error fold(enum checkpoint_mode mode, struct wide own, struct wide kept,
                         uint64_t hash)
{
    struct computation computation = computation_here();
    struct db_value row[6] = { { .type = DB_INTEGER, .integer = ASSOCIATION } };
    struct stored_checkpoint stored_checkpoint = {
        .checkpoint = { .kept = true, .checkpointed_to = 1000, .sums_hash = hash }
    };
    struct checkpoint_plan plan = { .stored = &stored_checkpoint,
                                    .mode = mode,
                                    .anew = mode != CHECKPOINT_INCREMENTAL,
                                    .checkpoint = { .checkpointed_to = 1000,
                                                    .basis = memory_text("") },
                                    .sums = usage_sums_create(0),
                                    .late = usage_sums_create(0),
                                    .findings = findings_create() };
    struct error err = { 0 };
    for (int i = 0; i < 4; i++)
        row[1 + i] = (struct db_value){ .type = DB_INTEGER, .integer = (int64_t)kept.word[3 - i] };
    kept_row = row;
    *usage_sums_of(plan.sums, ASSOCIATION) = own;
    *computation_sum_of(&computation, ASSOCIATION) = one;
    int result = checkpoint_plan_fold(&plan, &computation, &results, &err);
    drifted = plan.drifted;
    checkpoint_plan_free(&plan);
    give_back(&computation);
    return result ? err : (struct error){ 0 };
}

static void checkpoints(void)
{
    uint64_t hash = usage_sum_hash(ASSOCIATION, &most, "", 0);
    struct error err = fold(CHECKPOINT_FULL, most, one, 0);
    ok(is_of_range(&err), "a checkpointed sum beyond the integer range fails");
    err = fold(CHECKPOINT_INCREMENTAL, one, most, hash);
    ok(is_of_range(&err), "a stored sum beyond the integer range fails");
    err = fold(CHECKPOINT_INCREMENTAL, one, most, hash + 1);
    ok(err.class == ERROR_DAMAGED && *err.message,
       "a stored sum that does not match its hash is damaged");
    err = fold(CHECKPOINT_INCREMENTAL, one, one, usage_sum_hash(ASSOCIATION, &one, "", 0));
    ok(!*err.message, "sums within the integer range are added");
    err = fold(CHECKPOINT_VERIFY, one, one, usage_sum_hash(ASSOCIATION, &one, "", 0));
    ok(!*err.message && !drifted, "a correct stored sum has no drift");
    err = fold(CHECKPOINT_VERIFY, one, least, usage_sum_hash(ASSOCIATION, &least, "", 0));
    ok(!*err.message && drifted == 1,
       "a difference beyond the integer range counts as drift without failing");
}

/* ---- Checkpoint decisions ---- */

static int no_identity(const struct source *source, struct text *identity, struct error *err)
{
    (void)source;
    (void)err;
    text_add(identity, "1");
    return 0;
}

static int no_ends(const struct source *source, uint64_t after, uint64_t until, uint64_t *oldest,
                   uint64_t *newest, struct error *err)
{
    (void)source;
    (void)after;
    (void)until;
    (void)err;
    *oldest = *newest = 0;
    return 0;
}

static int no_keys(const struct source *source, uint64_t now, struct job_keys *keys,
                   struct error *err)
{
    (void)source;
    (void)now;
    (void)keys;
    (void)err;
    return 0;
}

/* Plans a run that finds a checkpoint with this basis.  Returns the plan's own basis, which the
 * caller frees. */
static char *plan_with(const char *basis, enum checkpoint_mode *mode, char why[256])
{
    static const struct past_port past = { .identify = no_identity, .read_open_keys = no_keys };
    static const struct layout layout = { .past = &past, .read_ends = no_ends };
    static const struct settings settings = { .charges = "usage.charge = auto\n",
                                              .time_zone = "UTC",
                                              .full_every_s = 86400 };
    struct computation computation = computation_here();
    computation.source.settings = &settings;
    computation.source.layout = &layout;
    uint64_t now = decay_table_now(site.decay);
    struct stored_checkpoint stored = { .checkpoint = { .kept = true,
                                                        .as_of = now,
                                                        .full_as_of = now,
                                                        .oldest_end = UINT64_MAX,
                                                        .start = decay_table_start(site.decay),
                                                        .source = memory_text("here"),
                                                        .basis = memory_text(basis) },
                                        .findings = findings_create() };
    struct checkpoint_plan plan = { .stored = &stored, .source_identity = "here" };
    struct error err = { 0 };
    ok(!checkpoint_plan_make(&plan, &computation, 0, &err),
       "the planning of a checkpoint succeeds");
    *mode = plan.mode;
    snprintf(why, 256, "%s", plan.why);
    char *own = memory_text(plan.checkpoint.basis);
    checkpoint_plan_free(&plan);
    stored_checkpoint_free(&stored);
    give_back(&computation);
    return own;
}

static void rules(void)
{
    enum checkpoint_mode mode;
    char why[256];
    char *own = plan_with("", &mode, why);
    free(plan_with(own, &mode, why));
    ok(mode == CHECKPOINT_INCREMENTAL && !*why,
       "a checkpoint under the same charging rules is continued");
    char *line = strstr(own, "\nrules "), *next = line + 1 + strcspn(line + 1, "\n");
    struct text other = { 0 };
    text_format(&other, "%.*s\nrules 0%s", (int)(line - own), own, next);
    free(plan_with(other.bytes, &mode, why));
    ok(mode == CHECKPOINT_FULL && strstr(why, "charging rules changed"),
       "a checkpoint under other charging rules causes a full run");
    text_free(&other);
    text_format(&other, "%.*s%s", (int)(line - own), own, next);
    free(plan_with(other.bytes, &mode, why));
    ok(mode == CHECKPOINT_FULL && strstr(why, "charging rules changed"),
       "a checkpoint of 0.2.0, without a rules version, causes a full run");
    text_free(&other);
    free(own);
}

int main(void)
{
    replicas();
    charges();
    unattributed();
    checkpoints();
    rules();
    return done_testing();
}
