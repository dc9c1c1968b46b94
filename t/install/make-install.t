#!/bin/bash
# SPDX-License-Identifier: MIT
# make install puts each file where it belongs, with its mode, and make uninstall takes it away.
. "$(dirname "$0")/../lib/tap.sh"
build=${top_builddir:-$top/build}
root=$scratch/root
umask 022
forget_build

# The usual places, wherever this build was configured for.
make_here() {
    make -s -C "$build" DESTDIR="$root" prefix=/usr exec_prefix=/usr bindir=/usr/bin \
        datarootdir=/usr/share datadir=/usr/share docdir=/usr/share/doc/fairmill \
        mandir=/usr/share/man systemdsystemunitdir=/usr/lib/systemd/system "$@"
}

cat >"$scratch/expected" <<'END2'
644 /usr/lib/systemd/system/fairmill-answer.service
644 /usr/lib/systemd/system/fairmill-report.service
644 /usr/lib/systemd/system/fairmill-report.timer
644 /usr/lib/systemd/system/fairmill-verify.service
644 /usr/lib/systemd/system/fairmill-verify.timer
644 /usr/lib/systemd/system/fairmill.service
644 /usr/lib/systemd/system/fairmill.socket
644 /usr/lib/systemd/system/fairmill.timer
644 /usr/lib/sysusers.d/fairmill.conf
644 /usr/lib/tmpfiles.d/fairmill-report.conf
644 /usr/lib/tmpfiles.d/fairmill.conf
644 /usr/share/bash-completion/completions/fairmill
644 /usr/share/fairmill/grafana/mysql/operators/fairmill-account.json
644 /usr/share/fairmill/grafana/mysql/operators/fairmill-health.json
644 /usr/share/fairmill/grafana/mysql/operators/fairmill-site.json
644 /usr/share/fairmill/grafana/mysql/viewers/fairmill-account.json
644 /usr/share/fairmill/grafana/mysql/viewers/fairmill-health.json
644 /usr/share/fairmill/grafana/mysql/viewers/fairmill-site.json
644 /usr/share/fairmill/grafana/pgsql/operators/fairmill-account.json
644 /usr/share/fairmill/grafana/pgsql/operators/fairmill-health.json
644 /usr/share/fairmill/grafana/pgsql/operators/fairmill-site.json
644 /usr/share/fairmill/grafana/pgsql/viewers/fairmill-account.json
644 /usr/share/fairmill/grafana/pgsql/viewers/fairmill-health.json
644 /usr/share/fairmill/grafana/pgsql/viewers/fairmill-site.json
644 /usr/share/fairmill/prometheus/fairmill.rules.yml
644 /usr/share/fish/vendor_completions.d/fairmill.fish
644 /usr/share/man/man1/fairmill.1
644 /usr/share/man/man5/fairmill.conf.5
644 /usr/share/man/man7/fairmill-tables.7
644 /usr/share/man/man8/fairmill.8
644 /usr/share/zsh/site-functions/_fairmill
755 /usr/bin/fairmill
END2
# A build for a machine without systemd has none of its files.
grep -q '^systemdsystemunitdir = .' "$build/Makefile" ||
    sed -i -e '/systemd/d' -e '/sysusers/d' -e '/tmpfiles/d' "$scratch/expected"
# Without the page nothing writes it.
"$FAIRMILL" report --help >"$out" 2>&1 || sed -i '/fairmill-report/d' "$scratch/expected"

ok "make install ends well" make_here install
documents=$root/usr/share/doc/fairmill
(cd "$root" && find . ! -type d ! -path './usr/share/doc/*' -printf '%m /%P\n' | sort) >"$scratch/installed"
is "each file is in its place with its mode" "$(cat "$scratch/installed")" "$(cat "$scratch/expected")"
for document in CONTRIBUTING.md HACKING.md LICENSE NEWS README.md SECURITY.md doc/install.md \
    examples/fairmill{,-httpd}.conf examples/fairmill.cron examples/sql/{site/{hours,pbs},slurmdbd/{pgsql,sqlite}}.sql; do
    ok "$document is there" test -s "$documents/$document"
done
find "$documents" ! -type d ! -perm 644 >"$scratch/documents"
empty "all may read the documents, and only their owner may write them" "$scratch/documents"
find "$root" -mindepth 1 -type d ! -perm 755 >"$scratch/folders"
empty "all may enter the folders, and only their owner may write there" "$scratch/folders"
ok "the installed program runs" "$root/usr/bin/fairmill" --version
grep -rl -F -e "$root" -e '@bindir@' -e '@sysconfdir@' "$root" >"$scratch/marks"
empty "no file knows where it was made" "$scratch/marks"

if [ -e "$root/usr/lib/systemd" ]; then
    configured=$(sed -n 's/^prefix = //p' "$build/Makefile")
    like "the service starts the program where configure said" \
        "$root/usr/lib/systemd/system/fairmill.service" "^ExecStart=$configured/bin/fairmill run\$"
fi

ok "make uninstall ends well" make_here uninstall
find "$root" ! -type d >"$scratch/left"
empty "make uninstall leaves no file" "$scratch/left"
done_testing
