#!/bin/sh
# A Debian package of ExactBloom has what it should have, and is used from outside the build tree.
#   package_test.sh PACKAGE
set -eu
package=$(realpath "$1")
tests=$(cd "$(dirname "$0")/.." && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

fail() {
  echo "package_test: $1" >&2
  exit 1
}

field() { dpkg-deb --field "$package" "$1"; }
version=$(sed -n 's/^#define EXACTBLOOM_VERSION "\(.*\)"/\1/p' "$tests/../include/exactbloom/version.h")
[ "$(field Version)" = "$version-1" ] || fail "the version is $(field Version), not $version-1"
rocksdb=$(dpkg-query --show --showformat='${Version}' librocksdb-dev | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
for dependency in "librocksdb$rocksdb " "librocksdb-dev (>= $rocksdb)" "libstdc++6 " "libc6 "; do
  field Depends | grep -qF "$dependency" || fail "it does not depend on $dependency: $(field Depends)"
done

dpkg-deb --extract "$package" "$directory/root"
prefix=$directory/root/usr
libraries=$prefix/lib/$(dpkg-architecture --query DEB_HOST_MULTIARCH)
shared_object=$libraries/exactbloom/libexactbloom_rocksdb.so
for file in "$prefix/bin/exactbloom" "$prefix/include/exactbloom/filter_policy.h" "$libraries/libexactbloom.a" \
  "$libraries/libexactbloom_rocksdb.a" "$shared_object" \
  "$libraries/cmake/exactbloom/exactbloomConfig.cmake" "$prefix/share/doc/exactbloom/copyright"; do
  [ -f "$file" ] || fail "$file is not in it"
done

"$prefix/bin/exactbloom" rate --m 64 --n 4 --k 9 >"$directory/rate" || fail "the tool does not run"
"$tests/plugin/preload_test.sh" db_bench "$shared_object"
cmake -D "PREFIX=$prefix" -D "WORK_DIR=$directory/work" -D "SCRATCH_PROJECT=$tests/install/scratch_project" \
  -D GENERATOR=Ninja -D CXX_COMPILER=g++ -D C_COMPILER=gcc -D SANITIZE= -P "$tests/install/install_test.cmake" \
  >"$directory/log" 2>&1 || { cat "$directory/log" >&2; fail "a project outside the tree cannot use it"; }

# Into a system of its own, where the packages that it depends on are missing.
if [ "$(id -u)" -eq 0 ]; then
  system=$directory/system
  mkdir -p "$system/var/lib/dpkg/info" "$system/var/lib/dpkg/updates"
  touch "$system/var/lib/dpkg/status"
  dpkg --root="$system" --force-depends --log=/dev/null --install "$package" >"$directory/log" 2>&1 ||
    { cat "$directory/log" >&2; fail "dpkg does not install it"; }
  [ -x "$system/usr/bin/exactbloom" ] || fail "dpkg installed no tool"
  dpkg --root="$system" --log=/dev/null --purge exactbloom >/dev/null
  [ -z "$(find "$system/usr" -type f 2>/dev/null)" ] || fail "files are left behind"
fi
if command -v lintian >/dev/null; then
  lintian --fail-on error "$package" || fail "lintian has objections"
fi
echo "package_test: $(basename "$package") is right"
