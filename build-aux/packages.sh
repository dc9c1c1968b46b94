# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Lists of the Debian packages that fairmill needs, and functions to install them.  Source it from bash.

# For the build, in addition to a driver.
# shellcheck disable=SC2034 # used by scripts that source this file
packages_build=(
    gcc libc6-dev make autoconf automake pkg-config perl
    libiniparser-dev libgmp-dev libjansson-dev libxxhash-dev zlib1g-dev
)

# The client library of each driver.
# shellcheck disable=SC2034
packages_sqlite=(libsqlite3-dev)
# shellcheck disable=SC2034
packages_mysql=(libmariadb-dev)
# shellcheck disable=SC2034
packages_pgsql=(libpq-dev)

# For the demonstration site.
# shellcheck disable=SC2034
packages_demo=(python3 sqlite3)

# Servers and programs for tests of databases.
# shellcheck disable=SC2034
packages_servers=(mariadb-server mariadb-client galera-4 rsync postgresql)

# A small Slurm.
# shellcheck disable=SC2034
packages_slurm=(munge slurmdbd slurmctld slurmd slurm-client)

# For all tests: servers, linters, packaging tools, and tools for other systems.
# shellcheck disable=SC2034
packages_test=(
    git ccache man-db openssl tzdata valgrind cppcheck shellcheck universal-ctags clang libclang-rt-dev
    "${packages_servers[@]}" "${packages_slurm[@]}"
    build-essential debhelper fakeroot lintian systemd rpm rpmlint selinux-policy-dev semodule-utils
    chromium chromium-driver firefox-esr poppler-utils prometheus mmdebstrap zsh fish ruby socat
)

# packages_of_system SYSTEM: print the packages that t/systems/run installs, one on each line.  A SYSTEM is
# SUITE-KIND.  The kinds are:
#
#   slurm       packages for tests without a server, and a small Slurm on MariaDB
#   mysql       MySQL's server and client library, and PostgreSQL; they conflict with Slurm's packages
#   libmariadb  the same with MariaDB's client library, which the Debian and RPM packages use
#   compilers   all compilers of the suite
#   all         packages for all tests, without linters
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
    bullseye-*) printf '%s\n' "${packages[@]}" prometheus ;;
    trixie-all | unstable-all)
        printf '%s\n' "${packages[@]}" build-essential debhelper fakeroot lintian systemd \
            chromium chromium-driver firefox-esr poppler-utils prometheus zsh fish
        ;;
    *) printf '%s\n' "${packages[@]}" ;;
    esac
}

# For building and running the images of Containerfile without a registry.
# shellcheck disable=SC2034
packages_container=(mmdebstrap buildah podman runc)

# For building for other processors and running the result (t/systems/processors).
# shellcheck disable=SC2034
packages_processors=(
    qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    gcc-i686-linux-gnu libc6-dev-i386-cross
)

# The rules of accessibility for t/command/page.t.
axe='axe-core@4.14.1'

# packages_install_axe DIRECTORY: install them there with npm.
packages_install_axe() {
    grep -qs "\"version\": \"${axe#*@}\"" "$1/node_modules/axe-core/package.json" && return
    command -v npm >/dev/null || packages_install npm || return
    npm install --prefix "$1" --no-audit --no-fund --ignore-scripts --loglevel error "$axe" </dev/null
}

# packages_missing PACKAGE...: print the packages that are not installed.
packages_missing() {
    local package
    for package; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            echo "$package"
    done
}

# packages_install PACKAGE...: install missing packages, as root or with sudo if sudo needs no password.
# Otherwise fails and prints the command to run.  On systems without apt it prints the packages and succeeds;
# configure then decides.
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
