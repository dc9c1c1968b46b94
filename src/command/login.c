/* SPDX-License-Identifier: MIT */
#include "command/login.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* The login uid that the kernel keeps for a session, through every sudo and su: what auditd goes
 * by.  false where the kernel has none, as for daemons and in most containers. */
static bool audited_uid(uid_t *uid)
{
    char line[32];
    FILE *file = fopen("/proc/self/loginuid", "r");
    if (!file)
        return false;
    const char *got = fgets(line, sizeof line, file);
    fclose(file);
    uint64_t number;
    if (!got || !number_unsigned(line, strcspn(line, "\n"), &number) || number >= UINT32_MAX)
        return false;
    *uid = (uid_t)number;
    return true;
}

char *login_name(void)
{
    uid_t uid = getuid();
    const char *behind_sudo = getenv("SUDO_USER");
    if (!audited_uid(&uid) && behind_sudo && *behind_sudo && getpwnam(behind_sudo))
        return memory_text(behind_sudo);
    const struct passwd *entry = getpwuid(uid);
    if (entry)
        return memory_text(entry->pw_name);
    struct text number = { 0 };
    text_format(&number, "uid %lu", (unsigned long)uid);
    return number.bytes;
}
