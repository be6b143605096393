#!/bin/sh
# Builds the Debian packages in a root of the Debian SUITE, tests them there, and installs them in a bare Debian that is made
# and thrown away: first the object and the tool with a program of Debian's, without any compiler, then the programs of
# docs/getting-started.md.
# Needs root. The packages are in build/packages/SUITE.
#   bare_root_test.sh SUITE
set -eu
suite=$1
cd "$(dirname "$0")/../.."
scripts/debian_root "$suite" make package
packages=$PWD/build/packages/$suite
rm -rf "$packages"
mkdir -p "$packages"
cp "${XDG_CACHE_HOME:-$HOME/.cache}/exactbloom/$suite/exactbloom/build/package"/*.deb "$packages"

# mmdebstrap runs the last hook in the new root. What it makes goes nowhere.
mmdebstrap --quiet --variant=minbase --format=null \
  --aptopt='Acquire::Languages "none";' \
  --customize-hook='cp /etc/apt/apt.conf.d/* "$1/etc/apt/apt.conf.d/"' \
  --customize-hook='mkdir "$1/packages"' \
  --customize-hook="cp '$packages'/*.deb \"\$1/packages\"" \
  --customize-hook='cp tests/install/in_bare_root.sh tests/examples/getting_started_test.py "$1/packages"' \
  --customize-hook='chroot "$1" /packages/in_bare_root.sh' \
  "$suite" - "$(scripts/debian_mirror)" >/dev/null
