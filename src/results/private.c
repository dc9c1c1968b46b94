/* SPDX-License-Identifier: MIT */
#include "results/private.h"

#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "settings/settings.h"
#include "util/error.h"
#include "util/memory.h"

char *private_login(const struct settings *settings)
{
    struct stat file;
    uid_t uid = getuid();
    if (!settings->private || uid == 0 || (!stat(settings->path, &file) && file.st_uid == uid))
        return NULL;
    const struct passwd *entry = getpwuid(uid);
    return memory_text(entry ? entry->pw_name : "");
}

int private_check(const char *login, const char *user, struct error *err)
{
    if (!login || !user || !*user || !strcmp(login, user))
        return 0;
    return fail(err, ERROR_USAGE,
                "what users have is private here ([report] private), and '%s' is not you", user);
}
