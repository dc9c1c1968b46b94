/* SPDX-License-Identifier: MIT */
#include "command/apply/apply_values.h"

#include "command/apply/apply_plan.h"
#include "results/published.h"
#include "util/error.h"
#include "util/text.h"

struct values_context {
    struct text *text;
    const struct algorithm *algorithm;
    uint64_t weight;
};

/* Slurm's names have neither tabs nor newlines, which would need quotes in the file. */
static void values_take(void *of, const struct published_row *row)
{
    struct values_context *context = of;
    if (!*row->user || !utf8_is_printable(row->user) || !utf8_is_printable(row->account) ||
        !utf8_is_printable(row->partition))
        return;
    text_format(
        context->text, "%s\t%s\t%s\t%lld\n", row->user, row->account, row->partition,
        (long long)site_factor_of(context->weight, context->algorithm->factor(&row->values)));
}

int apply_values_add(struct text *text, struct published *published,
                     const struct published_cluster *cluster, uint64_t weight, struct error *err)
{
    struct values_context context = { text, cluster->algorithm, weight };
    return published_read_rows(published, cluster, values_take, &context, err);
}

static const char lua_before_path[] =
    "-- Gives each new job the site factor of its association, for slurm.conf's\n"
    "-- JobSubmitPlugins=lua.  `fairmill apply --yes --values FILE` writes the file.  See\n"
    "-- fairmill-apply(8).\n"
    "--\n"
    "-- If your site has a job_submit.lua, copy everything above slurm_job_submit() into it,\n"
    "-- and call fairmill_set_site_factor() in your slurm_job_submit().\n"
    "\n"
    "local file = \"";
static const char lua_after_path[] =
    "\"\n"
    "local keep_s = 60 -- the file is read again after this time\n"
    "local values, read_at = {}, 0\n"
    "\n"
    "-- If the file cannot be read, the earlier values remain.\n"
    "local function read_values()\n"
    "    local now = os.time()\n"
    "    if now >= read_at and now < read_at + keep_s then\n"
    "        return\n"
    "    end\n"
    "    local input = io.open(file, \"r\")\n"
    "    if not input then\n"
    "        return\n"
    "    end\n"
    "    local found = {}\n"
    "    for line in input:lines() do\n"
    "        local key, factor = line:match(\"^(.*)\\t(%d+)$\")\n"
    "        if key then\n"
    "            found[key] = tonumber(factor)\n"
    "        end\n"
    "    end\n"
    "    input:close()\n"
    "    values, read_at = found, now\n"
    "end\n"
    "\n"
    "local function fairmill_set_site_factor(job_desc)\n"
    "    read_values()\n"
    "    local account = job_desc.account or job_desc.default_account\n"
    "    if not job_desc.user_name or not account then\n"
    "        return\n"
    "    end\n"
    "    local key = job_desc.user_name .. \"\\t\" .. account:lower() .. \"\\t\"\n"
    "    local factor = values[key .. (job_desc.partition or \"\")] or values[key]\n"
    "    if factor then\n"
    "        job_desc.site_factor = factor\n"
    "    end\n"
    "end\n"
    "\n"
    "function slurm_job_submit(job_desc, part_list, submit_uid)\n"
    "    fairmill_set_site_factor(job_desc)\n"
    "    return slurm.SUCCESS\n"
    "end\n"
    "\n"
    "function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)\n"
    "    return slurm.SUCCESS\n"
    "end\n";

int apply_values_add_lua(struct text *text, const char *path, struct error *err)
{
    if (*path != '/' || !utf8_is_printable(path))
        return fail(err, ERROR_USAGE,
                    "apply: --lua needs the absolute path of --values, because slurmctld reads it");
    text_add(text, lua_before_path);
    for (const char *at = path; *at; at++) {
        if (*at == '"' || *at == '\\')
            text_add(text, "\\");
        text_add_bytes(text, at, 1);
    }
    text_add(text, lua_after_path);
    return 0;
}
