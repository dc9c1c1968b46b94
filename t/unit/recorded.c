/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "settings/settings.h"
#include "settings/table.h"

/* Tests reading back the settings that a run recorded in fairmill_settings. */

int main(void)
{
    struct settings *settings = settings_recorded("usage.half_life = 3-0\n"
                                                  "fairshare.algorithm = classic\n"
                                                  "fairshare.conformance = slurmctld\n"
                                                  "fairshare.dampening = 3\n"
                                                  "priority.weight_age = 7\n"
                                                  "priority.weight_tres = CPU=10,Mem=2\n");
    is_int((int64_t)settings->half_life_s, 259200, "a duration is read as in the settings file");
    is_string(settings->algorithm->name, "classic", "an algorithm is found by its name");
    is_double_exact(settings->dampening, 3, "a number is read");
    is_int((int64_t)settings->weight_age, 7, "a weight is read");
    is_string(settings->weight_tres, "CPU=10,Mem=2", "weights of TRES are kept as text");
    is_int((int64_t)settings->weight_qos, 0,
           "a missing weight has the default of the conformance mode");
    is_double_exact(settings->pbs_minimum_usage, 0, "a missing number has its default");
    settings_destroy(settings);

    settings = settings_recorded("fairshare.dampening = blue\n"
                                 "results.driver = of_another_build\n"
                                 "fairshare.invented_later = 1\n"
                                 "priority.max_age = 1-0");
    is_double_exact(settings->dampening, 1, "an invalid value is replaced by the default");
    is_int((int64_t)settings->max_age_s, 86400, "the last line needs no newline");
    settings_destroy(settings);

    settings = settings_recorded("usage.seal_after = 2-0\n");
    is_int((int64_t)settings->checkpoint_after_s, 172800, "a setting is read by its former name");
    settings_destroy(settings);

    settings = settings_recorded("");
    is_string(settings->algorithm->name, "fair_tree", "an empty text has the default algorithm");
    is_int((int64_t)settings->weight_qos, 1,
           "an empty text has the default weights of the documents");
    settings_destroy(settings);
    return done_testing();
}
