/* SPDX-License-Identifier: MIT */
#include "run/retry.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "results/schema.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/log.h"
#include "util/text.h"

/*
 * The pauses between attempts.  Each pause is twice as long as the previous pause, but at most
 * LONGEST_PAUSE_MS.  Before the work of a run begins, attempts end after LONGEST_START_MS.
 */
#define FIRST_PAUSE_MS 250
#define LONGEST_PAUSE_MS 4000
#define LONGEST_START_MS 20000

int64_t deadline_of(const struct settings *settings)
{
    return clock_milliseconds() + (int64_t)settings->deadline_s * 1000;
}

int64_t starting_deadline_of(const struct settings *settings)
{
    int64_t retry = clock_milliseconds() + LONGEST_START_MS, deadline = deadline_of(settings);
    return retry < deadline ? retry : deadline;
}

bool try_again(struct retry *retry, const struct error *err)
{
    if (err->class != ERROR_GONE && err->class != ERROR_RETRY)
        return false;
    int64_t pause = retry->last_pause_ms ? retry->last_pause_ms * 2 : FIRST_PAUSE_MS;
    if (pause > LONGEST_PAUSE_MS)
        pause = LONGEST_PAUSE_MS;
    if (clock_milliseconds() + pause > retry->end_ms)
        return false;
    retry->last_pause_ms = pause;
    log_note("%s; trying again in %" PRId64 " ms", err->message, pause);
    usleep((useconds_t)(pause * 1000));
    return true;
}

/*
 * If the login was denied, adds to the error the GRANTs that may be missing.  The clusters are not
 * known yet, so these are only the GRANTs for the tables that all clusters share.
 */
static int explain_source(const struct settings *settings, struct error *err)
{
    fail_in(err, "source");
    const struct db_driver *driver = db_driver_named(settings->source.driver);
    struct text grants = { 0 };
    if (err->class == ERROR_DENIED && driver->privileges) {
        if (driver->privileges->add_connect_grant)
            driver->privileges->add_connect_grant(&grants, &settings->source);
        layout_of(settings)->add_grants(&grants, settings, NULL);
    }
    if (grants.length) {
        struct error reason = *err;
        for (char *at = grants.bytes; (at = strchr(at, '\n'));)
            *at = ' ';
        fail(err, reason.class,
             "%.800s; if the login is correct, run: %sand the other GRANTs of `fairmill init "
             "--print`",
             reason.message, grants.bytes);
    }
    text_free(&grants);
    return -1;
}

int open_source(struct db **source, const struct settings *settings, int64_t deadline,
                struct error *err)
{
    struct retry retry = { deadline, 0 };
    while (db_open(source, &settings->source, DB_SOURCE, err))
        if (!db_driver_named(settings->source.driver)->comes_back || !try_again(&retry, err))
            return explain_source(settings, err);
    return 0;
}

int open_results(struct db **results, const struct settings *settings, int64_t deadline,
                 struct error *err)
{
    struct retry retry = { deadline, 0 };
    while (results_open(results, settings, DB_RESULTS, err))
        if (!db_driver_named(settings->results.driver)->comes_back || !try_again(&retry, err))
            return -1;
    return 0;
}
