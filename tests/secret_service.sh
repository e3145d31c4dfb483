#!/usr/bin/env bash
# Runs a command with a real Secret Service (GNOME Keyring) of its own, on a session bus at /run/user/UID/bus, where
# `key print` finds it without a bus address in the environment:
#
#     tests/secret_service.sh python -m pytest
#
# Needs gnome-keyring and dbus, and `unshare` (util-linux). The bus lives in a private mount namespace, so that a
# keyring of the person who runs this is out of reach. Where no namespace can be made, the bus is put in place only if
# nothing stands there.
#
# SECRET_SERVICE_HOME      a folder for the keyring's files, to be used again (default: a new one, removed at the end)
# SECRET_SERVICE_PASSWORD  the keyring's password (default: ci); another one than before on the same folder: locked
set -euo pipefail

fail() { echo "secret_service.sh: $*" >&2; exit 2; }

[ $# -gt 0 ] || fail "give a command to run"
for program in dbus-daemon dbus-send gnome-keyring-daemon; do
    command -v "$program" >/dev/null || fail "$program is missing (Debian, Ubuntu: apt-get install gnome-keyring dbus)"
done

# 1. A mount namespace of our own, in which /run/user is empty; this script, run again inside, goes on at 2.
if [ "${1}" != --inside ]; then
    for way in "--mount" "--user --map-current-user --keep-caps --mount" "--user --map-root-user --mount"; do
        # shellcheck disable=SC2086  the ways are words
        if unshare $way -- sh -c 'mkdir -p /run/user && mount -t tmpfs -o mode=0755 tmpfs /run/user' 2>/dev/null; then
            # shellcheck disable=SC2086
            exec unshare $way -- sh -c 'mount -t tmpfs -o mode=0755 tmpfs /run/user && exec "$@"' - "$0" --inside "$@"
        fi
    done
    set -- --inside "$@"
fi
shift

# 2. The bus's place.
runtime=/run/user/$(id -u)
[ ! -e "$runtime/bus" ] || fail "something stands at $runtime/bus, and no private namespace can be made: run this as root or in a container"
made=
if [ ! -d "$runtime" ]; then
    mkdir -p -m 0755 /run/user 2>/dev/null && mkdir -m 0700 "$runtime" 2>/dev/null || fail "$runtime cannot be made: run this as root or in a container"
    made=$runtime
fi

# 3. What is started here ends here, by its number.
files=$(mktemp -d)
sockets=$runtime/secret-service # not in $files: a socket's path may have 107 characters
started=()
end() {
    trap - EXIT INT TERM HUP
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$files" "$runtime/bus" "$sockets"
    [ -z "$made" ] || rmdir "$made" 2>/dev/null || true
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

home=${SECRET_SERVICE_HOME:-$files/home}
password=${SECRET_SERVICE_PASSWORD-ci}
unset DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR SECRET_SERVICE_HOME SECRET_SERVICE_PASSWORD
mkdir -p "$home" && mkdir -m 700 "$sockets"

# 4. A bus that starts no service by itself: a locked or ended keyring must stay so.
cat >"$files/bus.conf" <<CONF
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=$runtime/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
CONF
dbus-daemon --config-file="$files/bus.conf" --nofork --nopidfile >"$files/log" 2>&1 &
started+=($!)
for _ in $(seq 1000); do [ -S "$runtime/bus" ] && break; sleep 0.02; done
[ -S "$runtime/bus" ] || { cat "$files/log" >&2; fail "dbus-daemon did not start"; }

# 5. The keyring. In the foreground: what `--unlock` alone leaves running is nobody's child. It is known to abort when a
# client goes while its session is opened (gnome-keyring 42 to 50), and a desktop's session starts it anew: so do we.
keyring() {
    local daemon= rc
    trap 'kill "$daemon" 2>/dev/null; wait "$daemon" 2>/dev/null; exit' TERM
    while :; do
        env HOME="$home" XDG_RUNTIME_DIR="$sockets" XDG_DATA_HOME="$home/.local/share" XDG_CONFIG_HOME="$home/.config" \
            XDG_CACHE_HOME="$home/.cache" DBUS_SESSION_BUS_ADDRESS="unix:path=$runtime/bus" \
            gnome-keyring-daemon --foreground --unlock --components=secrets < <(printf %s "$password") &
        daemon=$! rc=0
        wait "$daemon" || rc=$?
        case $rc in
            134 | 139) echo "secret_service.sh: gnome-keyring-daemon crashed (status $rc) and is started anew" >&3 ;;
            *) exit "$rc" ;;
        esac
    done
}
keyring 3>&2 >>"$files/log" 2>&1 &
started+=($!)
answers() {
    dbus-send --bus="unix:path=$runtime/bus" --print-reply --dest=org.freedesktop.DBus / \
        org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets 2>/dev/null | grep -q 'boolean true'
}
for _ in $(seq 200); do answers && break; sleep 0.05; done
answers || { cat "$files/log" >&2; fail "gnome-keyring-daemon did not start"; }

# 6. The command; the tests that need all this look for the variable.
rc=0
TOOLSYNC_SECRET_SERVICE=private "$@" || rc=$?
exit "$rc"
