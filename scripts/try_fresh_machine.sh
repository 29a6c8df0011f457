#!/bin/bash
# Prove, on a Debian that has next to nothing, that `make demo` and `make test` work as the first command, and that
# what is missing is named in one line. Needs root, debootstrap and a network; leaves nothing behind but FOLDER.
#
#   scripts/try_fresh_machine.sh [FOLDER]      (default: a new folder under /var/tmp; an old one is used again)
#
# The mirror is apt's, the package index is pip's: both as this machine has them configured. The commit that is
# checked out is what is tried, as an ordinary user, in a folder whose name has a space.
set -euo pipefail
[ "${INSIDE:-}" ] || exec env INSIDE=1 unshare --mount --propagation private "$0" "$@"  # mounts end with this script
cd "$(dirname "$0")/.."
suite=bookworm
machine=${1:-$(mktemp -d /var/tmp/fresh-machine-XXXXXX)}
checkout="$machine/home/user/a checkout"
certificates=/etc/certificates-of-the-host.crt
passed=0
failed=0

make_machine() {
  local mirror
  mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$suite //p" | head -n 1)
  [ -e "$machine/etc/debian_version" ] || debootstrap --variant=minbase "$suite" "$machine" "$mirror" >"$machine.log"
  chroot "$machine" useradd --create-home user 2>/dev/null || true
  mount -t proc proc "$machine/proc"
  cp /etc/resolv.conf "$machine/etc/resolv.conf"
}

# The registries are reached as from here: pip's settings, the folders they name, and the certificates.
share_package_index() {
  local folder
  cp /etc/ssl/certs/ca-certificates.crt "$machine$certificates"
  {
    echo "[global]"
    python3 -m pip config list | sed -n "s/^global\.\([^=]*\)=/\1 = /p" | tr -d "'" | grep -v '^cert '
    echo "cert = $certificates"
  } >"$machine/etc/pip.conf"
  for folder in $(grep -o 'file://[^ ]*' "$machine/etc/pip.conf" | sed 's,file://,,; s,/simple$,,'); do
    mkdir -p "$machine$folder"
    mount --bind -o ro "$folder" "$machine$folder"
  done
}

packages() { chroot "$machine" env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends "$@" >>"$machine.log" 2>&1; }
without() { chroot "$machine" env DEBIAN_FRONTEND=noninteractive apt-get -qq autoremove --purge "$@" >>"$machine.log" 2>&1; }

fresh_checkout() {
  rm -rf --one-file-system "$checkout"
  git clone --quiet --no-hardlinks . "$checkout"
  chroot "$machine" chown -R user:user /home/user
}

as_user() {
  chroot --userspec=user:user "$machine" env -i HOME=/home/user PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
    SSL_CERT_FILE=$certificates sh -c "cd '/home/user/a checkout' && $1" </dev/null
}

report() {
  if [ "$1" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  printf '%-6s %s\n' "$1" "$2"
}

# works NAME COMMAND: the command ends well.
works() {
  if as_user "$2" >"$machine.out" 2>&1; then report ok "$1: $(tail -n 1 "$machine.out")"; else report FAILED "$1"; tail -n 30 "$machine.out"; fi
}

# names NAME COMMAND PACKAGE: in a fresh checkout the command fails, and one line of ours names what to install.
names() {
  local ours
  fresh_checkout
  if as_user "$2" >"$machine.out" 2>&1; then report FAILED "$1: it ended well"; return; fi
  ours=$(grep -c '^fsstream: error:' "$machine.out" || true)
  if [ "$ours" = 1 ] && grep -q "apt install $3" "$machine.out" &&
    [ "$(grep -vc -e '^make' -e '^fsstream: [mi]' "$machine.out")" = 1 ]; then  # besides "making", "installing"
    report ok "$1: $(grep '^fsstream: error' "$machine.out")"
  else
    report FAILED "$1"
    cat "$machine.out"
  fi
}

make_machine
share_package_index

without python3-minimal g++ || true
packages make
names "no Python" "make test" python3
packages python3
names "no compiler" "make test" g++
packages g++
names "no Python.h" "make test" python3-dev
packages python3-dev
names "no pip, no venv, no index" "make test" python3-venv
packages python3-pip
fresh_checkout
works "pip but no venv, externally managed: demo comes first" "make demo"
works "pip but no venv, externally managed: test" "make test"
works "pip but no venv: second test makes nothing" "make test >/dev/null 2>&1 && make test 2>&1 | tee out && ! grep -e making -e compiling out"
packages python3-venv
fresh_checkout
works "everything: test comes first" "make test ARGS=tests/unit"
works "everything: wheel" "make wheel && ls dist"

echo "$passed ok, $failed failed; the machine is in $machine, its log in $machine.log"
[ "$failed" = 0 ]
