/* SPDX-License-Identifier: MIT */
#include "report/page/picture.h"

#include <math.h>

#include "util/text.h"

/* Lengths are percent of the width, so that pictures fit each column.  The style sheet has the
 * heights, and the vertical positions of rectangles. */

static double picture_percent(double value, double most)
{
    double percent = most > 0 && value > 0 ? 100 * value / most : 0;
    return fmin(percent, 100);
}

static void picture_open(struct text *text, const char *class)
{
    text_format(text, "<svg class=\"%s\" aria-hidden=\"true\">", class);
}

/* Adds a rectangle from one percentage of the width to another, unless it is too short to see. */
static void picture_add_rectangle(struct text *text, const char *class, double from, double to)
{
    if (to - from < 0.005)
        return;
    text_format(text, "<rect class=\"%s\"", class);
    if (from > 0)
        text_format(text, " x=\"%.4g%%\"", from);
    text_format(text, " width=\"%.4g%%\"/>", to - from);
}

void picture_add_share_bar(struct text *text, double share, double used, double most)
{
    double end = picture_percent(used, most);
    double tick = isnan(share) ? end : picture_percent(share, most);
    picture_open(text, "sb");
    if (!isnan(share))
        picture_add_rectangle(text, "ft", 0, tick);
    picture_add_rectangle(text, "fu", 0, fmin(end, tick));
    picture_add_rectangle(text, "fo", tick, end);
    if (!isnan(share) && share > 0)
        text_format(text, "<rect class=\"tick\" x=\"%.4g%%\"/>", tick);
    text_add(text, "</svg>");
}

/* Returns the smallest distance of round numbers so that at most four of them follow 0, or two if
 * they have decimals. */
static double picture_step(double most)
{
    double power = pow(10, floor(log10(most)) - 1);
    static const double steps[] = { 1, 2, 5, 10, 20, 50 };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (most / (power * steps[i]) < (power * steps[i] < 1 ? 3 : 5))
            return power * steps[i];
    return most;
}

void picture_add_scale(struct text *text, double most)
{
    double percent = 100 * most, step = picture_step(percent > 0 ? percent : 1);
    picture_open(text, "scale");
    text_add(text, "<text y=\"12\">0 %</text>");
    for (int i = 1; percent > 0 && i * step < 0.95 * percent; i++)
        text_format(text, "<text x=\"%.4g%%\" y=\"12\">%g</text>", 100 * i * step / percent,
                    i * step);
    text_add(text, "</svg>");
}

void picture_add_bar(struct text *text, const char *class, double part)
{
    picture_open(text, "mb");
    picture_add_rectangle(text, class, 0, picture_percent(part, 1));
    text_add(text, "</svg>");
}

void picture_add_parts(struct text *text, const double *parts, size_t count, double most)
{
    static const char *const classes[] = { "f1", "f2", "f3" };
    double from = 0;
    picture_open(text, "pb");
    for (size_t i = 0; i < count && i < sizeof classes / sizeof *classes; i++) {
        double to = fmin(from + picture_percent(parts[i], most), 100);
        picture_add_rectangle(text, classes[i], from, to);
        from = to;
    }
    text_add(text, "</svg>");
}

/* All columns are one path, which is shorter than a rectangle for each.  A week is 4 units wide, of
 * which the column has 3.  The highest value is 60 units high. */
void picture_add_weeks(struct text *text, const char *class, const struct page_week *weeks,
                       size_t count, double line)
{
    double most = isnan(line) ? 0 : 1.05 * line;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, weeks[i].value);
    text_format(text,
                "<svg class=\"weeks\" viewBox=\"0 0 %zu 60\" preserveAspectRatio=\"none\" "
                "aria-hidden=\"true\"><path class=\"%s\" d=\"",
                4 * count - 1, class);
    for (size_t i = 0; i < count; i++)
        if (weeks[i].value > 0)
            text_format(text, "M%zu 60v-%.3gh3V60z", 4 * i, 60 * weeks[i].value / most);
    text_add(text, "\"/>");
    if (!isnan(line) && most > 0)
        text_format(text, "<path class=\"dash\" d=\"M0 %.3gH%zu\"/>", 60 - 60 * line / most,
                    4 * count);
    text_add(text, "</svg>");
}

static void picture_add_square(struct text *text, const char *class, const char *name)
{
    text_format(text,
                "<li><svg width=\"14\" height=\"10\" aria-hidden=\"true\">"
                "<rect class=\"%s\" width=\"14\" height=\"10\"/></svg>%s</li>",
                class, name);
}

void picture_add_key(struct text *text, const char *const *classes, const char *const *names,
                     size_t count)
{
    text_add(text, "<ul class=\"key\">");
    for (size_t i = 0; i < count; i++)
        picture_add_square(text, classes[i], names[i]);
    text_add(text, "</ul>");
}

void picture_add_share_key(struct text *text)
{
    text_add(text, "<ul class=\"key\">");
    picture_add_square(text, "fu", "used within the share");
    picture_add_square(text, "fo", "used beyond the share");
    text_add(text, "<li><svg width=\"4\" height=\"14\" aria-hidden=\"true\"><line class=\"tick\" "
                   "x1=\"2\" x2=\"2\" y2=\"14\"/></svg>share</li></ul>\n");
}
