/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>

#include <jansson.h>

#include "core/tree/path.h"
#include "core/usage/clock.h"
#include "report/explanation.h"
#include "report/forms.h"
#include "util/index.h"
#include "util/text.h"

static json_t *values_json(const struct explained *explained, const struct fairshare *fairshare,
                           uint32_t i)
{
    const struct values *values = &explained->input->values[i];
    const struct clock *clock = explained->input->options->clock;
    const struct node *node = &explained->input->tree->nodes[i];
    json_t *json =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "usage_raw", form_json_real(values->usage_raw),
                  "usage_norm", form_json_real(values->usage_norm), "shares_norm",
                  form_json_real(values->shares_norm), "level_shares",
                  i ? json_integer((json_int_t)level_shares(fairshare, node)) : json_null(),
                  "level_usage_raw",
                  i ? json_real(clock_usage(clock, level_usage(fairshare, node))) : json_null(),
                  "fairshare", form_json_real(explained->input->algorithm->factor(values)));
    if (explained->input->algorithm->ranks_users) {
        json_object_set_new(json, "level_shares_norm", form_json_real(values->level_shares_norm));
        json_object_set_new(json, "level_usage", form_json_real(values->level_usage));
        json_object_set_new(json, "level_fs", form_json_real(i ? values->level_fs : NAN));
        json_object_set_new(json, "level_fs_infinite", json_boolean(isinf(values->level_fs)));
        json_object_set_new(json, "fair_tree_rank",
                            values->fair_tree_rank ? json_integer(values->fair_tree_rank)
                                                   : json_null());
    } else {
        json_object_set_new(json, "effective_usage",
                            form_json_real(explained->input->algorithm->effective_usage(values)));
    }
    const struct algorithm *algorithm = explained->input->algorithm;
    if (algorithm->own_name)
        json_object_set_new(json, algorithm->own_name,
                            form_json_real(algorithm->own_value(values)));
    return json;
}

static const char *name_of(const struct explained *explained, uint32_t name)
{
    return names_text(explained->names, name);
}

static json_t *who_json(const struct explained *explained, uint32_t i)
{
    const struct node *node = &explained->input->tree->nodes[i];
    return json_pack("{s:I, s:s, s:s, s:s}", "id_assoc", (json_int_t)node->id, "account",
                     name_of(explained, node->account), "user", name_of(explained, node->user),
                     "partition", name_of(explained, node->partition));
}

static json_t *way_json(const struct explained *explained, const struct fairshare *fairshare,
                        uint32_t end)
{
    json_t *list = json_array();
    if (end == NO_NODE)
        return list;
    struct path path = path_to(explained->input->tree, end, false);
    for (uint32_t at = 0; at < path.count; at++) {
        uint32_t i = path.nodes[at];
        const struct node *node = &explained->input->tree->nodes[i];
        json_t *json = who_json(explained, i);
        json_t *shares = !i                             ? json_null()
                         : node_has_parent_shares(node) ? json_string("parent")
                                                        : json_integer(node->shares);
        json_object_set_new(json, "shares", shares);
        json_t *values = values_json(explained, fairshare, i);
        json_object_update(json, values);
        json_decref(values);
        json_array_append_new(list, json);
    }
    path_free(&path);
    return list;
}

static json_t *reversals_json(const struct explained *explained)
{
    static const char *const changes[] = {
        [MORE_SHARES] = "more_shares",
        [FEWER_SHARES] = "fewer_shares",
        [MORE_USAGE] = "more_usage",
        [LESS_USAGE] = "less_usage",
    };
    json_t *list = json_array();
    for (uint32_t i = 0; i < explained->explanation->reversal_count; i++) {
        const struct reversal *reversal = &explained->explanation->reversals[i];
        json_t *json = who_json(explained, reversal->node);
        json_object_set_new(json, "change", json_string(changes[reversal->change]));
        json_object_set_new(json, "amount",
                            reversal->amount ? json_integer((json_int_t)reversal->amount)
                                             : json_null());
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *comparison_json(const struct explained *explained)
{
    const struct explanation *explanation = explained->explanation;
    if (explanation->other == NO_NODE)
        return json_null();
    static const char *const orders[] = { "behind", "tied", "ahead", "none" };
    const struct divergence *divergence = &explanation->divergence;
    return json_pack("{s:s, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "order",
                     orders[explanation->order - ORDER_BEHIND], "ancestor",
                     who_json(explained, divergence->ancestor), "decides_a",
                     who_json(explained, divergence->decides_one), "decides_b",
                     who_json(explained, divergence->decides_other), "merged",
                     (json_int_t)divergence->merged, "behind",
                     who_json(explained, explanation->behind), "ahead",
                     who_json(explained, explanation->ahead), "turns", reversals_json(explained));
}

void explanation_add_json(struct text *text, const struct explained *explained,
                          const struct weights *weights)
{
    const struct explain_input *input = explained->input;
    struct fairshare fairshare = { input->tree, input->options, (struct values *)input->values };
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:I, s:f, s:I, s:o, s:o, s:o}", "cluster", explained->cluster,
                  "algorithm", input->algorithm->name, "conformance",
                  input->options->conformance == CONFORMANCE_SLURMCTLD ? "slurmctld" : "documents",
                  "as_of", (json_int_t)explained->as_of, "dampening", input->options->dampening,
                  "users", (json_int_t)input->tree->user_count, "a",
                  way_json(explained, &fairshare, explained->explanation->one), "b",
                  way_json(explained, &fairshare, explained->explanation->other), "comparison",
                  comparison_json(explained));
    if (weights)
        explanation_set_weights(json, explained, weights);
    form_add_json(text, json);
    text_add(text, "\n");
}
