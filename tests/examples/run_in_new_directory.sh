#!/bin/sh
# Runs a command in a directory that is empty before and gone afterwards.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
"$@"
