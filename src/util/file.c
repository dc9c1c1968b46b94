/* SPDX-License-Identifier: MIT */
#include "util/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"
#include "util/text.h"

static int fail_writing(const char *path, struct error *err)
{
    return fail(err, ERROR_OTHER, "cannot write '%s': %s", path, strerror(errno));
}

static int fill(int file, const char *path, const struct text *text, struct error *err)
{
    for (size_t done = 0; done < text->length;) {
        ssize_t written = write(file, text->bytes + done, text->length - done);
        if (written < 0 && errno != EINTR)
            return fail_writing(path, err);
        done += written > 0 ? (size_t)written : 0;
    }
    if (fchmod(file, 0644) || fsync(file))
        return fail_writing(path, err);
    return 0;
}

int file_replace(const char *path, const struct text *text, struct error *err)
{
    struct text unfinished = { 0 };
    text_format(&unfinished, "%s.XXXXXX", path);
    int file = mkstemp(unfinished.bytes);
    int result = file < 0 ? fail_writing(path, err) : 0;
    if (!result) {
        result = fill(file, path, text, err);
        if (close(file) && !result)
            result = fail_writing(path, err);
        if (!result && rename(unfinished.bytes, path))
            result = fail_writing(path, err);
        if (result)
            unlink(unfinished.bytes);
    }
    text_free(&unfinished);
    return result;
}
