/* SPDX-License-Identifier: MIT */
#include "results/views.h"

#include <inttypes.h>

#include "results/rows.h"
#include "sql.h"
#include "util/error.h"

int views_open(struct db *db, struct error *err)
{
    int64_t none;
    if (rows_read_integer(db, sql_query_views_open, NULL, 0, &none, err) >= 0)
        return 0;
    struct error reason = *err; /* MariaDB tells readers of a lost definer as of a wrong password */
    if (err->class != ERROR_MISSING && err->class != ERROR_DENIED && err->class != ERROR_LOGIN)
        return fail_in(err, "the views cannot be read");
    return fail(err, ERROR_MISSING,
                "readers cannot read the views: %.1500s; `fairmill init` makes them again",
                reason.message);
}

int views_count(struct db *db, const char *cluster, int64_t associations, struct error *err)
{
    struct db_value name = db_text(cluster);
    int64_t count = 0;
    if (rows_read_integer(db, sql_query_views_count, &name, 1, &count, err) < 0)
        return -1;
    if (count == associations)
        return 0;
    return fail(err, ERROR_DATA,
                "readers see %" PRId64 " of %" PRId64
                " associations in fairmill_sshare, as another program changed rows; `fairmill "
                "run --full` writes all of them",
                count, associations);
}
