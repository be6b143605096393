#!/bin/sh
# Installs the Debian packages in a bare Debian that is made for it and thrown away, and uses them there as a reader would:
# first the object and the tool with a program of Debian's, without any compiler, then the quick starts.
#   bare_root_test.sh SUITE DIRECTORY      the folder of the packages, which were built for that suite; needs root
set -eu
suite=$1
packages=$(realpath "$2")
cd "$(dirname "$0")/../.."
[ "$(id -u)" -eq 0 ] || { echo "bare_root_test: root is needed to make a Debian $suite" >&2; exit 2; }
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Component: main' |
  grep -v -e '-security' | head -n 1)

# mmdebstrap runs the last hook in the new root. What it makes goes nowhere.
mmdebstrap --quiet --variant=minbase --format=null \
  --aptopt='Acquire::Languages "none";' \
  --customize-hook='cp /etc/apt/apt.conf.d/* "$1/etc/apt/apt.conf.d/"' \
  --customize-hook='mkdir "$1/packages"' \
  --customize-hook="cp '$packages'/*.deb \"\$1/packages\"" \
  --customize-hook='cp tests/install/in_bare_root.sh tests/examples/quick_start_test.py "$1/packages"' \
  --customize-hook='chroot "$1" /packages/in_bare_root.sh' \
  "$suite" - "$mirror" >/dev/null
