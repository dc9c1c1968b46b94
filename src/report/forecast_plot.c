/* SPDX-License-Identifier: MIT */
#include "report/forecast_plot.h"

#include <math.h>
#include <string.h>

#include "report/terminal.h"
#include "util/text.h"

#define HEIGHT 10
#define WIDTH PLOT_COLUMNS

const char *const projection_titles[PROJECTIONS] = { "nothing runs", "as last week", "others go on",
                                                     "and the job" };

/* What stands for each projection, and where several meet. */
static const char *const marks[2][PROJECTIONS + 1] = { { "n", "w", "o", "j", "#" },
                                                       { "●", "▲", "○", "◆", "█" } };
enum { NONE = PROJECTIONS + 1, SEVERAL = PROJECTIONS };

struct range {
    double low, high;
};

static bool is_drawn(double value)
{
    return !isnan(value) && !isinf(value);
}

static struct range range_of(struct forecast_point *const curves[PROJECTIONS])
{
    struct range range = { INFINITY, -INFINITY };
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++)
        for (size_t i = 0; curves[projection] && i < WIDTH; i++) {
            double value = forecast_value(&curves[projection][i]);
            if (!is_drawn(value))
                continue;
            range.low = fmin(range.low, value);
            range.high = fmax(range.high, value);
        }
    return range;
}

static size_t line_of(const struct range *range, double value)
{
    double part = range->high > range->low ? (value - range->low) / (range->high - range->low) : .5;
    return HEIGHT - 1 - (size_t)lround(part * (HEIGHT - 1));
}

static void draw(struct forecast_point *const curves[PROJECTIONS], const struct range *range,
                 unsigned char field[HEIGHT][WIDTH])
{
    memset(field, NONE, HEIGHT * WIDTH);
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++)
        for (size_t column = 0; curves[projection] && column < WIDTH; column++) {
            double value = forecast_value(&curves[projection][column]);
            if (!is_drawn(value))
                continue;
            unsigned char *place = &field[line_of(range, value)][column];
            *place = *place == NONE ? (unsigned char)projection : SEVERAL;
        }
}

static void add_legend(struct text *text, struct forecast_point *const curves[PROJECTIONS],
                       bool utf8)
{
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++)
        if (curves[projection])
            text_format(text, "%s %s  ", marks[utf8][projection], projection_titles[projection]);
    text_format(text, "%s several\n", marks[utf8][SEVERAL]);
}

void forecast_plot_add(struct text *text, struct forecast_point *const curves[PROJECTIONS])
{
    bool utf8 = terminal_of_output().utf8;
    struct range range = range_of(curves);
    unsigned char field[HEIGHT][WIDTH];
    if (!is_drawn(range.low))
        return;
    draw(curves, &range, field);
    for (size_t line = 0; line < HEIGHT; line++) {
        size_t blanks = 0;
        if (line == line_of(&range, range.low) || line == line_of(&range, range.high))
            text_format(text, "%10.6g %s", line ? range.low : range.high, utf8 ? "┤" : "|");
        else
            text_format(text, "%10s %s", "", utf8 ? "│" : "|");
        for (size_t column = 0; column < WIDTH; column++) {
            if (field[line][column] == NONE) {
                blanks++;
                continue;
            }
            text_format(text, "%*s%s", (int)blanks, "", marks[utf8][field[line][column]]);
            blanks = 0;
        }
        text_add(text, "\n");
    }
    add_legend(text, curves, utf8);
}
