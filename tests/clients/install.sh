#!/usr/bin/env bash
# Installs the real clients of pins.txt by npm, each into a folder of its own, `NAME-VERSION`; what is there stays.
#
#     tests/clients/install.sh
#
# TOOLSYNC_CLIENTS_DIR  where to (default: .clients in the checkout)
# TOOLSYNC_CLIENTS=all  the large ones too
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=${TOOLSYNC_CLIENTS_DIR:-$here/../../.clients}
mkdir -p "$folder"

install() { # into a folder beside the final one, so that a half-done installation is never taken for a whole one
    local target=$1
    shift
    rm -rf "$target.part"
    mkdir "$target.part"
    npm install --prefix "$target.part" --ignore-scripts --no-save --no-audit --no-fund --loglevel=error "$@" </dev/null
    mv "$target.part" "$target"
}

while read -r name version when arguments; do
    case $name in '' | '#'*) continue ;; esac
    [ "$when" = always ] || [ "${TOOLSYNC_CLIENTS:-}" = "$when" ] || continue
    target=$folder/$name-$version
    [ ! -d "$target" ] || continue
    echo "installing $name $version"
    # shellcheck disable=SC2086  the arguments are words; a registry that fails once is asked once more
    install "$target" $arguments || { sleep 5; install "$target" $arguments; }
done <"$here/pins.txt"
