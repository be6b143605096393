#!/bin/sh
# Builds the Debian packages for 64-bit ARM in the root of scripts/debian_root --cross SUITE, and uses them under qemu: db_bench
# with the object preloaded, whose tables the tool reads. They are in build/packages/SUITE-arm64.
#   arm64_package_test.sh SUITE
set -eu
suite=$1
cd "$(dirname "$0")/../.."
scripts/debian_root --cross "$suite" sh -c '
  scripts/install_packages cross
  cmake --preset package -B build/package-arm64 --toolchain cmake/arm64.cmake
  cmake --build build/package-arm64 --target exactbloom_rocksdb_shared exactbloom_tool
  cd build/package-arm64 && rm -f *.deb && dpkg-architecture --host-arch arm64 --command cpack'
packages=$PWD/build/packages/$suite-arm64
rm -rf "$packages"
mkdir -p "$packages"
cp "${XDG_CACHE_HOME:-$HOME/.cache}/exactbloom/$suite-cross/exactbloom/build/package-arm64"/*.deb "$packages"

fail() {
  echo "arm64_package_test: $1" >&2
  exit 1
}
for name in libexactbloom0 libexactbloom-dev exactbloom-tools; do
  package=$(ls "$packages/${name}"_*_arm64.deb) || fail "there is no package $name for arm64"
  [ "$(dpkg-deb --field "$package" Architecture)" = arm64 ] || fail "$package has another architecture"
  dpkg-deb --field "$package" Depends | grep -q 'librocksdb' || fail "$package does not depend on librocksdb"
done

# shellcheck disable=SC2016 # for the inner shell
scripts/arm64 "$suite" sh -c '
  set -eu
  directory=$(mktemp -d)
  trap "rm -rf $directory" EXIT
  for package in build/package-arm64/*.deb; do dpkg-deb --extract "$package" "$directory"; done
  cd "$directory"
  EXACTBLOOM_POLICY=exactbloom:10 LD_PRELOAD=$PWD/usr/lib/aarch64-linux-gnu/exactbloom/libexactbloom_rocksdb.so \
    db_bench --benchmarks=fillrandom,flush,readmissing --num=20000 --reads=20000 --statistics --bloom_bits=-1 --db=database >log 2>&1 ||
    { cat log; exit 1; }
  stopped=$(sed -n "s/^rocksdb.bloom.filter.useful COUNT : //p" log)
  [ "$stopped" -ge 19700 ] || { echo "the filters stopped $stopped of 20000 absent keys"; exit 1; }
  usr/bin/exactbloom inspect database
  usr/bin/exactbloom verify database' || fail "the packages do not work"
echo "arm64_package_test: the packages for arm64 are right"
