# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Debian's packages that fairmill needs, and how to get them; to be sourced by bash.

# To build, besides a driver.
# shellcheck disable=SC2034 # for those who source this
packages_build=(
    gcc libc6-dev make autoconf automake pkg-config perl
    libiniparser-dev libgmp-dev libjansson-dev libxxhash-dev zlib1g-dev libjs-chart.js node-d3-hierarchy
)

# The client library of each driver.
# shellcheck disable=SC2034
packages_sqlite=(libsqlite3-dev)
# shellcheck disable=SC2034
packages_mysql=(libmariadb-dev)
# shellcheck disable=SC2034
packages_pgsql=(libpq-dev)

# To make the demonstration site and to query it.
# shellcheck disable=SC2034
packages_demo=(python3 sqlite3)

# Servers and programs that tests of databases start.
# shellcheck disable=SC2034
packages_servers=(mariadb-server mariadb-client galera-4 rsync postgresql)

# A small Slurm.
# shellcheck disable=SC2034
packages_slurm=(munge slurmdbd slurmctld slurm-client)

# To run every test: servers, programs that read code, what makes and reads packages, and other systems.
# shellcheck disable=SC2034
packages_test=(
    git ccache man-db openssl tzdata valgrind cppcheck shellcheck universal-ctags clang libclang-rt-dev
    "${packages_servers[@]}" "${packages_slurm[@]}"
    build-essential debhelper fakeroot lintian systemd rpm rpmlint selinux-policy-dev semodule-utils
    chromium chromium-driver prometheus mmdebstrap zsh fish ruby socat
)

# SYSTEM: what t/systems/run installs there, one a line.  A system is SUITE-KIND.  A kind is `slurm`: what
# needs no server, and a small Slurm on MariaDB; `mysql`: MySQL's server and client library, with which Slurm's
# packages cannot be, and PostgreSQL; `libmariadb`: the same with MariaDB's client library, as Debian's and the RPM's
# own packages have it; `compilers`: every compiler that the suite has; `all`: what every test needs, but no program
# that reads code.
packages_of_system() {
    local packages=(
        "${packages_build[@]}" "${packages_sqlite[@]}" "${packages_pgsql[@]}" "${packages_demo[@]}"
        ca-certificates git man-db openssl procps tzdata
    )
    case $1 in
    *-slurm) packages+=("${packages_mysql[@]}" mariadb-server mariadb-client "${packages_slurm[@]}" prometheus ruby socat) ;;
    *-mysql) packages+=(libmysqlclient-dev mysql-server-core mysql-client postgresql valgrind prometheus ruby socat zsh fish) ;;
    *-libmariadb) packages+=("${packages_mysql[@]}" mysql-server-core mysql-client postgresql) ;;
    unstable-compilers) packages+=("${packages_mysql[@]}" gcc-{11,12,13,14,15} clang) ;;
    *-all) packages+=("${packages_mysql[@]}" "${packages_servers[@]}" "${packages_slurm[@]}" ccache valgrind ruby socat) ;;
    *) return 1 ;;
    esac
    case $1 in
    # Its Chart.js is too old for the page, and it has no d3-hierarchy.
    bullseye-*) printf '%s\n' "${packages[@]}" prometheus | grep -vx -e libjs-chart.js -e node-d3-hierarchy ;;
    trixie-all | unstable-all)
        printf '%s\n' "${packages[@]}" build-essential debhelper fakeroot lintian systemd \
            chromium chromium-driver prometheus zsh fish
        ;;
    *) printf '%s\n' "${packages[@]}" ;;
    esac
}

# To build the images of Containerfile on a base of this machine's own, and to run them.
# shellcheck disable=SC2034
packages_container=(mmdebstrap buildah podman runc)

# To build for other processors, and to run that (t/systems/processors).
# shellcheck disable=SC2034
packages_processors=(
    qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    gcc-i686-linux-gnu libc6-dev-i386-cross
)

# PACKAGE...: those that are not installed.
packages_missing() {
    local package
    for package; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            echo "$package"
    done
}

# PACKAGE...: install what is missing, as root or with a sudo that does not ask.  Fails, and
# says what to do, if that cannot be.  Elsewhere than on Debian and its kin it says what is
# needed and leaves the verdict to configure.
packages_install() {
    local missing as_root=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is no Debian; its names for what is needed: $*"
        return 0
    fi
    mapfile -t missing < <(packages_missing "$@")
    [ ${#missing[@]} -gt 0 ] || return 0

    if [ "$(id -u)" != 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            echo "Packages are missing.  Please install them: sudo apt-get install ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo -n)
    fi
    echo "Installing ${missing[*]}"
    as_root+=(env DEBIAN_FRONTEND=noninteractive)
    "${as_root[@]}" apt-get -q update </dev/null &&
        "${as_root[@]}" apt-get -q install -y --no-install-recommends "${missing[@]}" </dev/null
}
