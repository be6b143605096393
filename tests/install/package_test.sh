#!/bin/sh
# The Debian packages of ExactBloom have what they should have, and are used from outside the build tree.
#   package_test.sh DIRECTORY      the folder of the packages
set -eu
packages=$(realpath "$1")
tests=$(cd "$(dirname "$0")/.." && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

fail() {
  echo "package_test: $1" >&2
  exit 1
}

version=$(sed -n 's/^#define EXACTBLOOM_VERSION "\(.*\)"/\1/p' "$tests/../include/exactbloom/version.h")
names="libexactbloom0 libexactbloom-dev exactbloom-tools"
for name in $names; do
  set -- "$packages/${name}_$version-1"_*.deb
  [ $# -eq 1 ] && [ -f "$1" ] || fail "there is no $1"
  dpkg-deb --extract "$1" "$directory/$name"
  dpkg-deb --extract "$1" "$directory/root"
  for file in copyright changelog.gz changelog.Debian.gz; do
    [ -f "$directory/$name/usr/share/doc/$name/$file" ] || fail "$name has no $file"
  done
done

# depends_on NAME PACKAGE ...
depends_on() {
  depends=$(dpkg-deb --field "$packages/${1}_$version-1"_*.deb Depends)
  shift
  for dependency in "$@"; do
    echo "$depends" | grep -qF "$dependency" || fail "there is no dependency on $dependency: $depends"
  done
}
rocksdb=$(dpkg-query --show --showformat='${Version}' librocksdb-dev | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
depends_on libexactbloom0 "librocksdb$rocksdb " "libstdc++6 " "libc6 "
depends_on libexactbloom-dev "libexactbloom0 (= $version-1)" "librocksdb-dev (>= $rocksdb)" "librocksdb-dev (<<"
depends_on exactbloom-tools "librocksdb$rocksdb " "libstdc++6 " "libc6 "

# Every file is in the package that it belongs to.
libraries=usr/lib/$(dpkg-architecture --query DEB_HOST_MULTIARCH)
has() {
  name=$1
  shift
  for file in "$@"; do
    [ -f "$directory/$name/$file" ] || fail "$name has no $file"
    [ "$(find "$directory/libexactbloom0" "$directory/libexactbloom-dev" "$directory/exactbloom-tools" \
      -path "*/$file" | wc -l)" -eq 1 ] || fail "$file is in two packages"
  done
}
has libexactbloom0 "$libraries/exactbloom/libexactbloom_rocksdb.so" "$libraries/exactbloom/libexactbloom_rocksdb_core.so"
has libexactbloom-dev usr/include/exactbloom/filter_policy.h usr/include/exactbloom/c.h "$libraries/libexactbloom.a" \
  "$libraries/libexactbloom_theory.a" usr/include/exactbloom/theory/occupancy.h \
  "$libraries/libexactbloom_rocksdb.a" "$libraries/cmake/exactbloom/exactbloomConfig.cmake" \
  "$libraries/pkgconfig/exactbloom-rocksdb.pc" usr/share/doc/libexactbloom-dev/examples/c/quick_start.c
for name in libexactbloom-dev exactbloom-tools; do
  DOCUMENTS=$directory/$name/usr/share/doc/$name python3 "$tests/documents/documents_test.py" \
    DocumentsTest.test_links_lead_somewhere 2>"$directory/log" || { cat "$directory/log" >&2; fail "links in the pages of $name are broken"; }
done
has exactbloom-tools usr/bin/exactbloom usr/share/man/man1/exactbloom.1.gz
unexpected=$(cd "$directory/libexactbloom0" && find . -type f ! -path './usr/share/doc/*' ! -name '*.so')
[ -z "$unexpected" ] || fail "libexactbloom0 has $unexpected"
unexpected=$(cd "$directory/exactbloom-tools" && find . -type f \( -name '*.h' -o -name '*.a' -o -name '*.so' \))
[ -z "$unexpected" ] || fail "exactbloom-tools has $unexpected"

prefix=$directory/root/usr
"$prefix/bin/exactbloom" rate --m 64 --n 4 --k 9 >"$directory/rate" || fail "the tool does not run"
EXACTBLOOM_POLICY=classic_bloom:10 LD_PRELOAD="$directory/root/$libraries/exactbloom/libexactbloom_rocksdb.so" \
  db_bench --db="$directory/db" --num=1000 --benchmarks=fillseq,flush >"$directory/log" 2>&1 ||
  { cat "$directory/log" >&2; fail "db_bench does not run with the object preloaded"; }
grep -q 'exactbloom: column family .default.: classic_bloom:10' "$directory/db/LOG" || fail "the object gives db_bench no filters"
cmake -D "PREFIX=$prefix" -D "WORK_DIR=$directory/work" -D GENERATOR=Ninja -D CXX_COMPILER=g++ -D C_COMPILER=gcc \
  -D SANITIZE= -P "$tests/install/install_test.cmake" >"$directory/log" 2>&1 || { cat "$directory/log" >&2; fail "a project outside the tree cannot use it"; }

# Into a system of its own, where the packages that they depend on are missing.
if [ "$(id -u)" -eq 0 ]; then
  system=$directory/system
  mkdir -p "$system/var/lib/dpkg/info" "$system/var/lib/dpkg/updates"
  touch "$system/var/lib/dpkg/status"
  dpkg --root="$system" --force-depends --log=/dev/null --install "$packages"/*_"$version-1"_*.deb >"$directory/log" 2>&1 ||
    { cat "$directory/log" >&2; fail "dpkg does not install them"; }
  [ -x "$system/usr/bin/exactbloom" ] || fail "dpkg installed no tool"
  # shellcheck disable=SC2086 # three names
  dpkg --root="$system" --force-depends --log=/dev/null --purge $names >/dev/null
  [ -z "$(find "$system/usr" -type f 2>/dev/null)" ] || fail "files are left behind"
fi
lintian --fail-on error "$packages"/*_"$version-1"_*.deb || fail "lintian has objections"
echo "package_test: the packages of $version are right"
