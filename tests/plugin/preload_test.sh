#!/bin/sh
# An unmodified db_bench, with the shared object preloaded, uses the policy of its options file.
#   preload_test.sh DB_BENCH SHARED_OBJECT
set -eu
db_bench=$1
shared_object=$2

fail() {
  echo "preload_test: $1" >&2
  exit 1
}

LD_PRELOAD=$shared_object /bin/true || fail "preloading into a program without RocksDB fails"

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# Prints a counter of a db_bench run with the filter policy $2 over an own database.
useful() {
  cat >"$directory/options" <<END
[Version]
  rocksdb_version=7.8.3
  options_file_version=1.1
[DBOptions]
  create_if_missing=true
[CFOptions "default"]
  compression=kNoCompression
[TableOptions/BlockBasedTable "default"]
  filter_policy=$1
END
  LD_PRELOAD=$shared_object "$db_bench" --options_file="$directory/options" --db="$directory/$1" \
    --benchmarks=fillrandom,flush,readmissing --num=20000 --reads=10000 --statistics=true \
    >"$directory/output" 2>&1 || { cat "$directory/output" >&2; fail "db_bench failed with $1"; }
  sed -n 's/^rocksdb.bloom.filter.useful COUNT : //p' "$directory/output"
}

for policy in classic_bloom:10 standard_bloom:10; do
  count=$(useful "$policy")
  echo "$policy: $count of 10000 lookups of missing keys were stopped by the filter"
  [ -n "$count" ] && [ "$count" -gt 9700 ] || fail "$policy does not filter"
  grep -q "filter_policy=$policy" "$directory/$policy"/OPTIONS-* || fail "$policy is not in OPTIONS"
done
count=$(useful nullptr)
[ "$count" -eq 0 ] || fail "there is a filter without a policy"
