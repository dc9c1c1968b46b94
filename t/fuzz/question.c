/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "command/answer/message.h"
#include "util/error.h"

/* A question of `fairmill answer`, as whoever connects has sent it; what is one can be asked again.
 */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct question question, again;
    struct error err;
    int result = question_read(&question, (const char *)bytes, size, &err);
    must(!result || (err.class == ERROR_USAGE && *err.message), "a refusal says why");
    if (!result) {
        struct text text = { 0 };
        must(question.count > 0 && !question.arguments[question.count], "a question has a command");
        question_add(&text, &question);
        must(!question_read(&again, text.bytes, text.length, &err),
             "a question can be asked again");
        must(again.count == question.count && again.terminal.columns == question.terminal.columns &&
                 again.terminal.colours == question.terminal.colours,
             "and is the same then");
        question_free(&again);
        text_free(&text);
    }
    question_free(&question);
    return 0;
}
