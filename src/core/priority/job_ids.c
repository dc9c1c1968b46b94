/* SPDX-License-Identifier: MIT */
#include "core/priority/job_ids.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "core/priority/priority.h"
#include "util/number.h"
#include "util/text.h"

#define TASKS_LENGTH_AT_MOST 60

static bool mask_has_task(const char *digits, size_t length, size_t task)
{
    if (task / 4 >= length)
        return false;
    int digit = tolower((unsigned char)digits[length - 1 - task / 4]);
    int value = isdigit(digit) ? digit - '0' : digit - 'a' + 10;
    return value >> task % 4 & 1;
}

/* Appends the tasks of a hexadecimal mask, whose last digit has the tasks 0 to 3. */
static void job_id_add_mask(struct text *text, const char *digits)
{
    size_t length = strlen(digits);
    for (size_t task = 0; task < 4 * length; task++) {
        if (!mask_has_task(digits, length, task))
            continue;
        size_t first = task;
        while (mask_has_task(digits, length, task + 1))
            task++;
        text_format(text, "%s%zu", text->length ? "," : "", first);
        if (task > first)
            text_format(text, "-%zu", task);
    }
}

static void job_id_add_tasks(struct text *list, const char *tasks)
{
    if (!strncasecmp(tasks, "0x", 2)) {
        if (tasks[2 + strspn(tasks + 2, "0123456789abcdefABCDEF")] == '\0')
            job_id_add_mask(list, tasks + 2);
        return;
    }
    size_t length = strspn(tasks, "0123456789,-:");
    if (!tasks[length] || tasks[length] == '%') /* the limit of running tasks */
        text_add_bytes(list, tasks, length);
}

void job_id_add(struct text *text, const struct priority_job *job, const char *tasks)
{
    struct text list = { 0 };
    if (job->id_array && job->array_task != PRIORITY_NO_NUMBER)
        text_format(text, "%" PRIu32 "_%" PRIu32, job->id_array, job->array_task);
    else if (job->id_het && job->het_offset != PRIORITY_NO_NUMBER)
        text_format(text, "%" PRIu32 "+%" PRIu32, job->id_het, job->het_offset);
    else {
        text_format(text, "%" PRIu32, job->id_job);
        if (job->id_array)
            job_id_add_tasks(&list, tasks);
        if (list.length && list.length <= TASKS_LENGTH_AT_MOST)
            text_format(text, "_[%s]", list.bytes);
    }
    text_free(&list);
}

static bool job_id_take_number(const char **at, uint64_t *number)
{
    size_t length = strspn(*at, "0123456789");
    const char *digits = *at;
    *at += length;
    return number_unsigned(digits, length, number);
}

/* Returns true if a list like `1-9:2,12` contains the task. */
static bool job_id_list_has(const char *at, uint64_t task)
{
    for (uint64_t first, last, step; job_id_take_number(&at, &first); at += *at == ',') {
        last = first;
        step = 1;
        if (*at == '-') {
            at++;
            if (!job_id_take_number(&at, &last))
                return false;
        }
        if (*at == ':') {
            at++;
            if (!job_id_take_number(&at, &step) || !step)
                return false;
        }
        if (task >= first && task <= last && (task - first) % step == 0)
            return true;
    }
    return false;
}

bool job_id_may_have_task(const char *id, int64_t array, const char *asked)
{
    uint64_t number, task;
    const char *list = strstr(id, "_[");
    if (!job_id_take_number(&asked, &number) || array <= 0 || number != (uint64_t)array ||
        *asked++ != '_' || !job_id_take_number(&asked, &task) || *asked)
        return false;
    return !list || job_id_list_has(list + 2, task);
}
