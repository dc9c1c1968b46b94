/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_NOTIFY_NOTIFY_SENDER_H
#define FAIRMILL_COMMAND_NOTIFY_NOTIFY_SENDER_H

#include <stdbool.h>

#include "command/notify/mail.h"
#include "results/notice_rows.h"
#include "results/published.h"

struct settings;

/* Sends messages to the coordinators of accounts.  Functions that return int return -1 on error. */

/* A coordinator of an account, on all clusters.  Names are UTF-8. */
struct coordinator {
    char *account, *user;
};

struct notify {
    const struct settings *settings;
    struct published *published;
    struct coordinator *coordinators;
    size_t coordinator_count;
    bool dry_run;                /* print messages, and change nothing */
    struct notice_writer writer; /* not open if dry_run is true */
    unsigned previews;           /* messages that were printed */
    unsigned failed_in_a_row;    /* messages that the mailer did not accept */
};

/* A cluster, and the messages that were sent about it. */
struct notify_cluster {
    struct notify *notify;
    struct published_cluster *cluster; /* with its tree */
    struct notices notices;
    bool *has_users; /* indexed by node: a user is below it */
};

/* A message that all recipients get; they differ in mail.to. */
struct notify_message {
    struct mail mail;
    struct notice notice;
};

/* Returns true if the user coordinates the account of the node. */
bool notify_coordinates(const struct notify_cluster *of, const struct coordinator *coordinator,
                        uint32_t node);
/* Returns true if a coordinator of the account of the node did not get this notice yet. */
bool notify_has_pending(const struct notify_cluster *of, uint32_t node,
                        const struct notice *notice);
/*
 * Sends a message to each coordinator of the account of the node who did not get it yet, and
 * records it.  Reports messages that could not be sent with complain().  Fails if no further
 * message can be sent or recorded.
 */
int notify_send(struct notify_cluster *of, uint32_t node, struct notify_message *message,
                struct error *err);

/* Adds the title of the commands at the end of a message. */
void notify_add_commands_title(struct text *body);
/* Adds a line with a command: its words, and `account/` of the node. */
void notify_add_command(struct text *body, const struct notify_cluster *of, const char *words,
                        uint32_t node);
/* Returns the name of the node's account. */
const char *notify_account(const struct notify_cluster *of, uint32_t node);

#endif
