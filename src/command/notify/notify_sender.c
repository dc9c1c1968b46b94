/* SPDX-License-Identifier: MIT */
#include "command/notify/notify_sender.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/command_line.h"
#include "core/tree/tree.h"
#include "report/selection.h"
#include "run/retry.h"
#include "settings/settings.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/index.h"
#include "util/log.h"
#include "util/mail_address.h"

/* If so many messages in a row fail, the mailer does not work, and the rest is not tried. */
#define FAILED_AT_MOST 5

const char *notify_account(const struct notify_cluster *of, uint32_t node)
{
    return names_text(of->cluster->names, of->cluster->tree->nodes[node].account);
}

bool notify_coordinates(const struct notify_cluster *of, const struct coordinator *coordinator,
                        uint32_t node)
{
    return !strcmp(coordinator->account, notify_account(of, node));
}

bool notify_has_pending(const struct notify_cluster *of, uint32_t node, const struct notice *notice)
{
    const struct notify *notify = of->notify;
    struct notice each = *notice;
    for (size_t i = 0; i < notify->coordinator_count; i++) {
        each.recipient = notify->coordinators[i].user;
        if (notify_coordinates(of, &notify->coordinators[i], node) &&
            !notices_have(&of->notices, &each))
            return true;
    }
    return false;
}

/* ---- Messages ---- */

void notify_add_commands_title(struct text *body)
{
    text_add(body, "\nTo learn more:\n\n");
}

void notify_add_command(struct text *body, const struct notify_cluster *of, const char *words,
                        uint32_t node)
{
    struct command_line line = { 0 };
    struct text name = { 0 };
    association_name_add(&name,
                         &(const struct association_name){ notify_account(of, node), "", "" });
    command_line_add_words(&line, words);
    if (of->notify->published->count > 1) {
        command_line_add_words(&line, "--cluster");
        command_line_add(&line, of->cluster->name);
    }
    command_line_add(&line, name.bytes);
    text_add(body, "    fairmill ");
    text_add_printable(body, line.text.bytes);
    text_add(body, "\n");
    text_free(&line.text);
    text_free(&name);
}

/* Records a message that was sent.  A failure ends the command: the next message could not be
 * recorded either, and would be sent again each time. */
static int notify_record(struct notify_cluster *of, const struct notice *notice, struct error *err)
{
    struct notify *notify = of->notify;
    struct retry retry = { deadline_of(notify->settings), 0 };
    while (notice_add(&notify->writer, of->cluster->name, notice, clock_now(), err)) {
        if (err->class == ERROR_GONE)
            notice_writer_close(&notify->writer);
        if (!try_again(&retry, err))
            return fail_in(err,
                           "a message to '%s' was sent, but cannot be recorded, and will be sent "
                           "again",
                           notice->recipient);
    }
    return 0;
}

static int notify_preview(struct notify *notify, const struct mail *mail, struct error *err)
{
    struct text text = { 0 };
    text_add(&text, notify->previews++ ? "\n\n" : "");
    mail_add_preview(&text, mail);
    int result = command_print(&text, err);
    text_free(&text);
    return result;
}

/* Sends one message.  Continues after a message that the mailer did not accept, which may be the
 * fault of its recipient. */
static int notify_send_to(struct notify_cluster *of, uint32_t node, struct notify_message *message,
                          struct error *err)
{
    struct notify *notify = of->notify;
    struct text address = { 0 };
    const char *login = message->notice.recipient, *domain = notify->settings->mail_domain;
    if (!mail_login_is_plain(login)) {
        fail(err, ERROR_DATA,
             "notify: the coordinator '%s' of account '%s' is not a plain address; correct it with "
             "`sacctmgr delete coordinator`",
             login, notify_account(of, node));
        complain(err);
        return 0;
    }
    text_format(&address, "%s%s%s", login, *domain ? "@" : "", domain);
    message->mail.to = address.bytes;
    int result = notify->dry_run ? notify_preview(notify, &message->mail, err)
                                 : mail_send(&message->mail, notify->settings, err);
    if (!result) {
        notify->failed_in_a_row = 0;
        if (!notify->dry_run)
            result = notify_record(of, &message->notice, err);
        log_note("%s: %s", address.bytes, message->mail.subject.bytes);
    } else {
        fail_in(err, "notify: message to '%s'", address.bytes);
        if (err->class == ERROR_OTHER && ++notify->failed_in_a_row < FAILED_AT_MOST) {
            complain(err);
            result = 0;
        }
    }
    text_free(&address);
    return result;
}

int notify_send(struct notify_cluster *of, uint32_t node, struct notify_message *message,
                struct error *err)
{
    const struct notify *notify = of->notify;
    int result = 0;
    message->mail.from = notify->settings->mail_from;
    message->mail.date = clock_now();
    for (size_t i = 0; !result && i < notify->coordinator_count; i++) {
        message->notice.recipient = notify->coordinators[i].user;
        if (notify_coordinates(of, &notify->coordinators[i], node) &&
            !notices_have(&of->notices, &message->notice))
            result = notify_send_to(of, node, message, err);
    }
    return result;
}
