/* SPDX-License-Identifier: MIT */
#include "report/page/sections.h"

void page_add_uses(struct text *text, const struct page_view *view)
{
    (void)text;
    (void)view;
}
