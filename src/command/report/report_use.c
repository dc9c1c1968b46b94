/* SPDX-License-Identifier: MIT */
#include "command/report/report_use.h"

#include <stdlib.h>

#include "report/page/cluster.h"
#include "util/memory.h"

static struct page_uses uses_of(const struct class_usages *usages)
{
    struct page_uses uses = { memory_zeroed(usages->count + 1, sizeof *uses.list), usages->count };
    for (size_t i = 0; i < usages->count; i++)
        uses.list[i] = (struct page_use){ usages->list[i].name, usages->list[i].usage };
    return uses;
}

int report_use_read(struct report_use *use, const struct settings *settings, struct db *source,
                    struct page_cluster *page, struct error *err)
{
    if (!class_usage_is_there(settings))
        return 0;
    if (class_usage_read(&use->usage, settings, source, page->name, page->as_of, err))
        return -1;
    page->by_partition = uses_of(&use->usage.partitions);
    page->by_qos = uses_of(&use->usage.qos);
    use->partitions = page->by_partition.list;
    use->qos = page->by_qos.list;
    return 0;
}

void report_use_free(struct report_use *use)
{
    free(use->partitions);
    free(use->qos);
    class_usage_free(&use->usage);
}
