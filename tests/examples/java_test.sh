#!/bin/sh
# Runs examples/java with a jar of RocksDB that ExactBloom is built into: java_test.sh JAR
# The program itself fails if there are no filters, or if they waste too much.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
java -cp "$1" "$(dirname "$0")/../../examples/java/WastedReads.java" "$directory/databases" >"$directory/printed"
cat "$directory/printed"
# The info logs of both databases name the policy.
[ "$(grep -c 'exactbloom: column family \[default\]: exactbloom:10, kernel' "$directory/printed")" -eq 2 ]
