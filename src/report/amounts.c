/* SPDX-License-Identifier: MIT */
#include "report/amounts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "util/text.h"

#define DASH "\xe2\x80\x93"
#define SMALLEST_PERCENT 0.01
#define SMALLEST_RATIO 0.01
#define LARGEST_RATIO 100

/* Returns a number rounded as printf() rounds it. */
static double amount_rounded(double number, int decimals)
{
    char digits[64];
    snprintf(digits, sizeof digits, "%.*f", decimals, number);
    return strtod(digits, NULL);
}

static int amount_percent_decimals(double percent)
{
    return percent < 0.995 ? 2 : 1;
}

static int amount_ratio_decimals(double ratio)
{
    return ratio < 9.995 ? 2 : 0;
}

double amount_percent(double fraction)
{
    double percent = 100 * fraction;
    if (percent > 0 && percent < SMALLEST_PERCENT)
        return SMALLEST_PERCENT / 2;
    return isfinite(percent) ? amount_rounded(percent, amount_percent_decimals(percent)) : percent;
}

double amount_ratio(double ratio)
{
    if (ratio > 0 && ratio < SMALLEST_RATIO)
        return SMALLEST_RATIO / 2;
    if (ratio > LARGEST_RATIO)
        return 2 * LARGEST_RATIO;
    return isfinite(ratio) ? amount_rounded(ratio, amount_ratio_decimals(ratio)) : ratio;
}

void amount_add_percent(struct text *text, double fraction)
{
    double percent = 100 * fraction;
    if (isnan(fraction))
        text_add(text, DASH);
    else if (percent == 0)
        text_add(text, "0 %");
    else if (percent < SMALLEST_PERCENT)
        text_add(text, "< 0.01 %");
    else
        text_format(text, "%.*f %%", amount_percent_decimals(percent), percent);
}

void amount_add_ratio(struct text *text, double ratio)
{
    if (isnan(ratio))
        text_add(text, DASH);
    else if (ratio == 0)
        text_add(text, "0");
    else if (ratio < SMALLEST_RATIO)
        text_add(text, "< 0.01");
    else if (ratio > LARGEST_RATIO)
        text_add(text, "> 100");
    else
        text_format(text, "%.*f", amount_ratio_decimals(ratio), ratio);
}

void amount_add_whole(struct text *text, uint64_t number)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            text_add(text, ",");
        text_add_bytes(text, &digits[i], 1);
    }
}

void amount_add(struct text *text, double amount)
{
    if (isnan(amount))
        text_add(text, DASH);
    else if (amount < 0 || isinf(amount))
        text_format(text, "%.0f", amount);
    else if (amount >= 999500)
        text_format(text, "%.*f million",
                    amount < 9.995e6   ? 2
                    : amount < 99.95e6 ? 1
                                       : 0,
                    amount / 1e6);
    else if (amount > 0 && amount < 1)
        text_add(text, "< 1");
    else
        amount_add_whole(text, (uint64_t)llround(amount));
}

void amount_add_span(struct text *text, double seconds)
{
    double minutes = seconds / 60, hours = seconds / 3600;
    if (seconds < 90 * 60)
        text_format(text, "%.0f min", minutes);
    else if (hours < 36)
        text_format(text, "%.1f h", hours);
    else
        text_format(text, "%.0f days", hours / 24);
}

static const char *const amount_months[] = { "January",   "February", "March",    "April",
                                             "May",       "June",     "July",     "August",
                                             "September", "October",  "November", "December" };

void amount_add_date(struct text *text, int64_t time, int year)
{
    struct tm date;
    time_t at = (time_t)time;
    if (!localtime_r(&at, &date))
        return;
    text_format(text, "%d %s", date.tm_mday, amount_months[date.tm_mon]);
    if (year)
        text_format(text, " %d", date.tm_year + 1900);
}

void amount_add_month(struct text *text, int64_t time)
{
    struct tm date;
    time_t at = (time_t)time;
    if (localtime_r(&at, &date))
        text_format(text, "%s %d", amount_months[date.tm_mon], date.tm_year + 1900);
}
