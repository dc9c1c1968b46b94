/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "report/usage_unit.h"
#include "util/text.h"

static void is_unit(const char *tres, const char *time, const char *expected, const char *statement)
{
    struct text text = { 0 };
    usage_unit_add_tres(&text, tres, time);
    is_string(text.bytes, expected, statement);
    text_free(&text);
}

int main(void)
{
    is_unit("cpu", "-hours", "CPU-hours", "usage of cpu is in CPU-hours");
    is_unit("gres/gpu", "-hours", "GPU-hours", "usage of gres/gpu is in GPU-hours");
    is_unit("gres/gpu:a100", "-hours", "a100 GPU-hours", "usage of a type of GPU names the type");
    is_unit("gres/gpux", "-hours", "gres/gpux-hours", "a gres that begins with gpu is not a GPU");
    is_unit("node", "-hours", "node-hours", "usage of node is in node-hours");
    is_unit("mem", "-hours", "MB-hours", "usage of mem is in MB-hours");
    is_unit("ngpus", "-hours", "GPU-hours", "usage of OpenPBS's ngpus is in GPU-hours");
    is_unit("license/x", "-seconds", "license/x-seconds", "another TRES has its name as unit");
    is_unit("gres/gpu", " minutes", "GPU minutes", "the caller chooses the unit of time");
    return done_testing();
}
