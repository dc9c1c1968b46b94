# SPDX-License-Identifier: MIT
#
# Computes and publishes fairshare values every five minutes, and verifies them every week, if the settings exist.
# Does nothing on a system that runs systemd, because fairmill.timer and fairmill-verify.timer start these commands.

SHELL=/bin/sh
PATH=/usr/bin:/usr/sbin:/bin:/sbin
MAILTO=root

*/5 * * * * fairmill if [ ! -d /run/systemd/system ] && [ -x /usr/bin/fairmill ] && [ -e /etc/fairmill/fairmill.conf ]; then fairmill run; fi
17 4 * * 0 fairmill if [ ! -d /run/systemd/system ] && [ -x /usr/bin/fairmill ] && [ -e /etc/fairmill/fairmill.conf ]; then fairmill verify --noheader; fi
