#!/bin/sh
# What bare_root_test.sh does in the root, where /packages has the packages and the test of docs/getting-started.md.
set -eu
cd /packages
fail() {
  echo "bare_root_test: $1" >&2
  exit 1
}
install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >log 2>&1 || { cat log >&2; fail "apt-get"; }
}

# No compiler, no headers: a program of Debian's that sets no filter policy, and the tool.
install ./libexactbloom0_*.deb ./exactbloom-tools_*.deb rocksdb-tools
for name in g++ librocksdb-dev libexactbloom-dev; do
  ! dpkg-query --status "$name" >/dev/null 2>&1 || fail "$name came with the packages"
done
object=$(dpkg-query --listfiles libexactbloom0 | grep '/libexactbloom_rocksdb.so$')
EXACTBLOOM_POLICY=classic_bloom:10 LD_PRELOAD=$object \
  db_bench --benchmarks=fillseq,flush,readmissing --num=20000 --reads=20000 --statistics --bloom_bits=-1 --db=/packages/database \
  >log 2>&1 || { cat log >&2; fail "db_bench with the preloaded object"; }
stopped=$(sed -n 's/^rocksdb.bloom.filter.useful COUNT : //p' log)
[ "$stopped" -ge 19700 ] || fail "the filters stopped $stopped of 20000 absent keys"
exactbloom inspect database >log
grep -q '; the only table has a working filter\.' log || { cat log; fail "inspect does not find the filter"; }
echo "bare_root_test: db_bench of rocksdb-tools: the filters stopped $stopped of 20000 absent keys"

# The development package brings what compiling needs, but a compiler.
install ./libexactbloom-dev_*.deb g++ pkg-config python3
for language in c cpp python; do
  python3 getting_started_test.py /usr/share/doc/libexactbloom-dev/docs/getting-started.md "$language" --prefix /usr >log 2>&1 ||
    { cat log >&2; fail "$language"; }
  echo "bare_root_test: $language: $(grep 'exactbloom: ' log)"
done
cp -r /usr/share/doc/libexactbloom-dev/examples examples
(cd examples && sed -n 's/^    //p' README.md | sh -eu >log 2>&1) || { cat examples/log >&2; fail "examples/README.md"; }
echo "bare_root_test: the commands of examples/README.md"
dpkg --purge libexactbloom-dev libexactbloom0 exactbloom-tools >/dev/null
! ls -d /usr/include/exactbloom /usr/lib/*/exactbloom /usr/bin/exactbloom 2>/dev/null || fail "files are left behind"
