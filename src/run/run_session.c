/* SPDX-License-Identifier: MIT */
#include "run/run_session.h"

#include "results/publish.h"
#include "results/schema.h"
#include "run/retry.h"
#include "settings/settings.h"
#include "util/error.h"

int run_session_open_source(struct run_session *session, struct error *err)
{
    return session->source
               ? 0
               : open_source(&session->source, session->settings, session->deadline, err);
}

int run_session_open_results(struct run_session *session, struct error *err)
{
    return session->results
               ? 0
               : open_results(&session->results, session->settings, session->deadline, err);
}

void run_session_close(struct run_session *session)
{
    db_close(session->source);
    db_close(session->results);
    session->source = session->results = NULL;
}

/* After a session of ours broke the server holds its lock until it notices that nobody is there
 * any more: that is no other run. */
static int doubt_lock(const struct run_session *session, struct error *err)
{
    if (err->class != ERROR_LOCKED)
        return -1;
    return fail(err, ERROR_RETRY,
                "database '%s': the session broke, and the server still holds its lock",
                session->settings->results.database);
}

int run_session_resume(struct run_session *session, struct publisher *publisher, bool *published,
                       struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    for (;;) {
        publisher->locked = false;
        publisher->db = NULL;
        db_close(session->results);
        session->results = NULL;
        if (run_session_open_results(session, err))
            return -1;
        if (!publisher_resume(publisher, session->results, published, err))
            return 0;
        doubt_lock(session, err);
        if (!try_again(&retry, err))
            return -1;
    }
}

int run_session_lock(struct run_session *session, const char *cluster, struct publisher *publisher,
                     struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    bool broke = false;
    for (;;) {
        if (run_session_open_results(session, err))
            return -1;
        if (!db_limit_waits(session->results, session->deadline, err) &&
            !publisher_start(publisher, session->results, session->settings, cluster, err))
            return 0;
        if (broke)
            doubt_lock(session, err);
        if (err->class == ERROR_GONE) {
            db_close(session->results);
            session->results = NULL;
            broke = true;
        }
        if (!try_again(&retry, err))
            return results_explain(session->settings, err);
    }
}
