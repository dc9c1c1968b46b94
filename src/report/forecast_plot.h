/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_FORECAST_PLOT_H
#define FAIRMILL_REPORT_FORECAST_PLOT_H

#include "core/insight/forecast.h"

struct text;

/* Curves of values over time. */

#define PLOT_COLUMNS 64

/* What people call the projections. */
extern const char *const projection_titles[PROJECTIONS];

/* PLOT_COLUMNS points for each projection, NULL where it has no curve.  What is drawn is beyond
 * ASCII only where the locale is of UTF-8. */
void forecast_plot_add(struct text *text, struct forecast_point *const curves[PROJECTIONS]);

#endif
