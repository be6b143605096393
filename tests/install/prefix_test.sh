#!/bin/sh
# The prefix that `make install PREFIX=...` gives to CMake: the folder that was named, as an absolute path.
#   prefix_test.sh SOURCE_DIR
set -eu
cd "$1"
unset MAKEFLAGS
cmake() {
  for argument; do
    case $argument in -DCMAKE_INSTALL_PREFIX=*) printf '%s\n' "${argument#*=}" ;; esac
  done
}
for prefix in /usr/local "/tmp/a b/c" "a b" ../c; do
  case $prefix in
    /*) wanted=$prefix ;;
    ../*) wanted=${PWD%/*}/${prefix#../} ;;
    *) wanted=$PWD/$prefix ;;
  esac
  found=$(eval "$(make --no-print-directory --dry-run install "PREFIX=$prefix" | grep CMAKE_INSTALL_PREFIX)")
  if [ "$found" != "$wanted" ]; then
    echo "make install PREFIX='$prefix' installs to '$found' instead of '$wanted'" >&2
    exit 1
  fi
done
