/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "command/answer/message.h"
#include "util/error.h"

/* Reads a request to `fairmill answer` as an arbitrary client may send it.  A valid request must be
 * the same after it is written and read again. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct request request, again;
    struct error err;
    int result = request_read(&request, (const char *)bytes, size, &err);
    must(!result || (err.class == ERROR_USAGE && *err.message), "the error has a reason");
    if (!result) {
        struct text text = { 0 };
        must(request.count > 0 && !request.arguments[request.count], "a request has a command");
        request_add(&text, &request);
        must(!request_read(&again, text.bytes, text.length, &err), "a written request can be read");
        must(again.count == request.count && again.terminal.columns == request.terminal.columns &&
                 again.terminal.colours == request.terminal.colours,
             "a request is the same after writing and reading");
        request_free(&again);
        text_free(&text);
    }
    request_free(&request);
    return 0;
}
