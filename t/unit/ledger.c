/* SPDX-License-Identifier: MIT */
#include "core/usage/decay_table.h"
#include "core/usage/ledger.h"
#include "tap.h"

/* Tests the state of a ledger at different times. */

static void add(struct ledger *ledger, uint64_t id, uint64_t time, enum ledger_kind kind,
                uint64_t number)
{
    struct ledger_entry entry = { .id = id, .time = time, .kind = kind };
    if (kind == LEDGER_REFUND)
        entry.job = number;
    else if (kind == LEDGER_UNDO)
        entry.undoes = number;
    else if (kind == LEDGER_RESET)
        entry.of_cluster = number;
    else
        entry.tres_seconds = number, entry.association = 7;
    ledger_add(ledger, &entry);
}

static size_t adjustments_at(const struct ledger *ledger, uint64_t now)
{
    struct ledger_state *state = ledger_at(ledger, now);
    size_t count = state->adjustment_count;
    ledger_state_destroy(state);
    return count;
}

static void test_undo(void)
{
    struct ledger *ledger = ledger_create();
    add(ledger, 1, 100, LEDGER_CREDIT, 5);
    ok(adjustments_at(ledger, 99) == 0, "an entry does not count before its time");
    ok(adjustments_at(ledger, 100) == 1, "an entry counts from its time on");
    add(ledger, 4, 100, LEDGER_UNDO, 1);
    ok(adjustments_at(ledger, 100) == 0, "an undone entry does not count");
    ok(ledger_is_undone(ledger, 1) && !ledger_is_undone(ledger, 4),
       "an undone entry is marked as undone");
    ok(ledger_last_undo(ledger, 1)->id == 4, "the undo of an entry can itself be undone");
    add(ledger, 6, 100, LEDGER_UNDO, 4);
    ok(adjustments_at(ledger, 100) == 1, "an entry counts again after its undo was undone");
    ok(!ledger_is_undone(ledger, 1) && ledger_is_undone(ledger, 4),
       "an entry whose undo was undone is not marked as undone");
    ok(ledger_last_undo(ledger, 1)->id == 6 && ledger_last_undo(ledger, 6)->id == 6,
       "the last undo is found from any entry of the chain");
    ok(!ledger_last_undo(ledger, 5), "a missing entry has no last undo");
    add(ledger, 9, 100, LEDGER_UNDO, 9);
    add(ledger, 10, 100, LEDGER_UNDO, 12);
    add(ledger, 12, 100, LEDGER_UNDO, 10);
    ok(adjustments_at(ledger, 100) == 1, "undos of themselves or in a circle do not count");
    ledger_destroy(ledger);
}

static void test_refunds(void)
{
    struct ledger *ledger = ledger_create();
    add(ledger, 1, 500, LEDGER_REFUND, 20);
    add(ledger, 2, 300, LEDGER_REFUND, 20);
    add(ledger, 3, 400, LEDGER_REFUND, 10);
    struct ledger_state *state = ledger_at(ledger, 1000);
    ok(state->refunded.count == 2, "a job refunded twice is one job");
    ok(ledger_refunds(state, 20, 500) && !ledger_refunds(state, 20, 501),
       "a refund covers rows that began up to the later refund's time");
    ok(ledger_refunds(state, 10, 1) && !ledger_refunds(state, 15, 1) &&
           !ledger_refunds(state, 30, 1) && !ledger_refunds(state, 1, 1),
       "a refund does not cover other jobs");
    ledger_state_destroy(state);
    state = ledger_at(ledger, 450);
    ok(ledger_refunds(state, 20, 300) && !ledger_refunds(state, 20, 301),
       "before the later refund's time, the earlier refund applies");
    ledger_state_destroy(state);
    state = ledger_at(NULL, 450);
    ok(!ledger_refunds(state, 20, 1) && !ledger_reset_before(state, 1, 1000) &&
           !ledger_resets_hash(state, 1000),
       "without a ledger there are no refunds or resets");
    ledger_state_destroy(state);
    ledger_destroy(ledger);
}

static void test_resets(void)
{
    struct ledger *ledger = ledger_create();
    add(ledger, 1, 500, LEDGER_RESET, 0);
    add(ledger, 2, 300, LEDGER_RESET, 0);
    add(ledger, 3, 400, LEDGER_RESET, 1);
    ledger_add_cover(ledger, 1, 8);
    ledger_add_cover(ledger, 1, 7);
    ledger_add_cover(ledger, 2, 7);
    struct ledger_state *state = ledger_at(ledger, 1000);
    ok(ledger_reset_before(state, 7, UINT64_MAX) == 500 &&
           ledger_reset_before(state, 7, 500) == 300 && ledger_reset_before(state, 7, 300) == 0,
       "the last reset before a time is found");
    ok(ledger_reset_before(state, 8, 500) == 0 && ledger_reset_before(state, 9, 1000) == 0,
       "a reset does not cover other associations");
    ok(state->cluster_reset == 400,
       "a reset of the cluster is separate from resets of associations");
    ok(ledger_resets_hash(state, 301) &&
           ledger_resets_hash(state, 301) == ledger_resets_hash(state, 500) &&
           ledger_resets_hash(state, 501) != ledger_resets_hash(state, 500) &&
           !ledger_resets_hash(state, 300),
       "the hash covers resets before a time");
    struct ledger_state *before = ledger_at(ledger, 499);
    ok(ledger_resets_hash(before, UINT64_MAX) == ledger_resets_hash(state, 500),
       "the hash does not cover future resets");
    ledger_state_destroy(before);
    ledger_state_destroy(state);
    ledger_destroy(ledger);
}

static void test_weight(void)
{
    struct decay_table *decay = decay_table_create(600, 10000, 0);
    struct ledger *ledger = ledger_create();
    struct ledger_entry debit = { 1, 9000, LEDGER_DEBIT, 7, 5, 0, false, 0 }, credit = debit;
    struct ledger_state *state = ledger_at(ledger, 10000);
    uint128 units, weight = ledger_weight(state, &debit, decay, &units, &(bool){ false });
    bool negative = true;
    ok(weight == decay_table_weight(decay, 8999, 9000) && units == 5 * (uint128)UNITS_PER_TRES,
       "a debit is a charge for the second before its time");
    ledger_weight(state, &debit, decay, &units, &negative);
    ok(!negative, "a debit adds usage");
    credit.kind = LEDGER_CREDIT;
    ok(ledger_weight(state, &credit, decay, &units, &negative) == weight && negative,
       "a credit is the same charge but subtracts usage");
    ledger_state_destroy(state);
    add(ledger, 2, 9000, LEDGER_RESET, 0);
    ledger_add_cover(ledger, 2, 7);
    state = ledger_at(ledger, 10000);
    ok(!ledger_weight(state, &debit, decay, &units, &negative),
       "a debit does not count up to a reset of its association");
    debit.time = 9001;
    ok(ledger_weight(state, &debit, decay, &units, &negative),
       "a debit counts from the second after the reset");
    ledger_state_destroy(state);
    ledger_destroy(ledger);
    decay_table_destroy(decay);
}

/* Returns the total amount of all adjustments at a time.  All of them belong to association 7. */
static uint64_t amount_at(const struct ledger *ledger, uint64_t now)
{
    struct ledger_state *state = ledger_at(ledger, now);
    struct decay_table *decay = decay_table_create(0, now, state->cluster_reset);
    uint64_t amount = 0;
    for (size_t i = 0; i < state->adjustment_count; i++) {
        uint128 units;
        bool negative;
        uint128 weight = ledger_weight(state, &state->adjustments[i], decay, &units, &negative);
        amount += (uint64_t)(units / UNITS_PER_TRES * weight);
    }
    decay_table_destroy(decay);
    ledger_state_destroy(state);
    return amount;
}

static void test_sets(void)
{
    struct ledger *ledger = ledger_create();
    add(ledger, 1, 500, LEDGER_DEBIT, 1000);
    add(ledger, 2, 500, LEDGER_SET, 60);
    ledger_add_cover(ledger, 2, 7);
    ledger_add_cover(ledger, 2, 8);
    struct ledger_state *state = ledger_at(ledger, 900);
    ok(ledger_reset_before(state, 7, UINT64_MAX) == 500 &&
           ledger_reset_before(state, 8, UINT64_MAX) == 500,
       "a set resets the associations that it covers");
    ledger_state_destroy(state);
    ok(amount_at(ledger, 499) == 0 && amount_at(ledger, 500) == 60 && amount_at(ledger, 900) == 60,
       "a set gives its amount from its time on");
    add(ledger, 3, 501, LEDGER_DEBIT, 5);
    ok(amount_at(ledger, 900) == 65, "a debit after a set is added to its amount");
    add(ledger, 4, 500, LEDGER_SET, 70);
    ledger_add_cover(ledger, 4, 7);
    ok(amount_at(ledger, 900) == 75, "of two sets at one time, the later entry counts");
    add(ledger, 5, 500, LEDGER_RESET, 0);
    ledger_add_cover(ledger, 5, 7);
    ok(amount_at(ledger, 900) == 5, "a reset entered after a set of the same time cancels it");
    add(ledger, 6, 500, LEDGER_UNDO, 5);
    ok(amount_at(ledger, 900) == 75, "an undone reset removes nothing");
    add(ledger, 7, 500, LEDGER_RESET, 1);
    ok(amount_at(ledger, 900) == 5, "a reset of the cluster removes the amount of a set");
    add(ledger, 8, 500, LEDGER_SET, 80);
    ledger_add_cover(ledger, 8, 7);
    ok(amount_at(ledger, 900) == 85, "a set entered after the cluster's reset keeps its amount");
    add(ledger, 9, 700, LEDGER_SET, 0);
    ledger_add_cover(ledger, 9, 7);
    ok(amount_at(ledger, 699) == 85 && amount_at(ledger, 900) == 0, "a set may have the amount 0");
    add(ledger, 10, 400, LEDGER_SET, 90);
    ledger_add_cover(ledger, 10, 7);
    ok(amount_at(ledger, 900) == 0 && amount_at(ledger, 450) == 90,
       "a set that was entered later counts from its own time");

    struct ledger *coming = ledger_coming(ledger, 600, 800);
    ok(coming->count == 1 && ledger_next(coming, 600, true) == 700,
       "a future set changes earlier usage");
    ledger_destroy(coming);
    struct ledger *foreseen = ledger_foreseen(ledger, 600, 800);
    ok(amount_at(foreseen, 600) == 0, "a foreseen set removes earlier usage");
    ledger_destroy(foreseen);
    ledger_destroy(ledger);
}

int main(void)
{
    test_undo();
    test_refunds();
    test_resets();
    test_weight();
    test_sets();
    return done_testing();
}
