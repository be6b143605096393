# The Debian package, as `make package` makes it: what a package has besides the installed files.
set(EXACTBLOOM_MAINTAINER "ExactBloom maintainers <maintainers@exactbloom.example>" CACHE STRING
    "The package's Maintainer field")
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(package_version "${PROJECT_VERSION}-1")
configure_file(cmake/package/copyright.in package_files/copyright @ONLY)
configure_file(cmake/package/changelog.in package_files/changelog.Debian @ONLY)
configure_file(CHANGELOG.md package_files/changelog COPYONLY)
set(package_files "${PROJECT_BINARY_DIR}/package_files")
execute_process(COMMAND gzip --force --best --no-name changelog changelog.Debian
  WORKING_DIRECTORY "${package_files}" COMMAND_ERROR_IS_FATAL ANY)
install(FILES "${package_files}/copyright" "${package_files}/changelog.gz" "${package_files}/changelog.Debian.gz"
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The objects work only with the minor version of RocksDB that they were compiled against.
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" rocksdb_version "${RocksDBLibrary_VERSION}")
math(EXPR next_minor "${CMAKE_MATCH_2} + 1")
set(next_rocksdb_version "${CMAKE_MATCH_1}.${next_minor}")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME exactbloom)
set(CPACK_PACKAGE_CONTACT "${EXACTBLOOM_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "librocksdb-dev (>= ${rocksdb_version}), librocksdb-dev (<< ${next_rocksdb_version})")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS rocksdb-tools)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exactly sized Bloom filters as a RocksDB filter policy")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "ExactBloom builds the filters of RocksDB's SSTables as classic or standard
Bloom filters, sized by their exact false-positive rate. It is switched on
over an existing database, and off again, without rewriting anything.
.
This package has the filter policy as a static library and as a shared object
for programs that use librocksdb.so, the filter alone, the headers, a CMake
package, and the tool exactbloom, which computes rates and sizes.")
include(CPack)
