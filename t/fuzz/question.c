/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "command/answer/message.h"
#include "util/error.h"

/* A request of `fairmill answer`, as whoever connects has sent it; what is one can be asked again.
 */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct request request, again;
    struct error err;
    int result = request_read(&request, (const char *)bytes, size, &err);
    must(!result || (err.class == ERROR_USAGE && *err.message), "a refusal says why");
    if (!result) {
        struct text text = { 0 };
        must(request.count > 0 && !request.arguments[request.count], "a question has a command");
        request_add(&text, &request);
        must(!request_read(&again, text.bytes, text.length, &err), "a question can be asked again");
        must(again.count == request.count && again.terminal.columns == request.terminal.columns &&
                 again.terminal.colours == request.terminal.colours,
             "and is the same then");
        request_free(&again);
        text_free(&text);
    }
    request_free(&request);
    return 0;
}
