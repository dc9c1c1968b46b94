# SPDX-License-Identifier: MIT
#
# Compute and publish fairshare values every five minutes, and verify them every week, once there are settings, and unless
# systemd runs: there fairmill.timer and fairmill-verify.timer do it.

SHELL=/bin/sh
PATH=/usr/bin:/usr/sbin:/bin:/sbin
MAILTO=root

*/5 * * * * fairmill if [ ! -d /run/systemd/system ] && [ -x /usr/bin/fairmill ] && [ -e /etc/fairmill/fairmill.conf ]; then fairmill run; fi
17 4 * * 0 fairmill if [ ! -d /run/systemd/system ] && [ -x /usr/bin/fairmill ] && [ -e /etc/fairmill/fairmill.conf ]; then fairmill verify --noheader; fi
