/* SPDX-License-Identifier: MIT */
#include "report/page/sections.h"

void page_add_overview(struct text *text, const struct page_view *view)
{
    (void)text;
    (void)view;
}
