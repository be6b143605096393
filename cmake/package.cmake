# The Debian packages, as `make package` makes them, one for each component of the installation, and what packages have
# besides the installed files.
set(EXACTBLOOM_MAINTAINER "ExactBloom maintainers <maintainers@exactbloom.example>" CACHE STRING
    "The packages' Maintainer field")
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(package_version "${PROJECT_VERSION}-1")
set(package_files "${PROJECT_BINARY_DIR}/package_files")
configure_file(cmake/package/copyright.in package_files/copyright @ONLY)
configure_file(cmake/package/changelog.in package_files/changelog.Debian @ONLY)
configure_file(CHANGELOG.md package_files/changelog COPYONLY)
execute_process(COMMAND gzip --force --best --no-name changelog changelog.Debian
  WORKING_DIRECTORY "${package_files}" COMMAND_ERROR_IS_FATAL ANY)

# The objects work only with the minor version of RocksDB that they were compiled against.
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" rocksdb_version "${RocksDBLibrary_VERSION}")
math(EXPR next_minor "${CMAKE_MATCH_2} + 1")
set(next_rocksdb_version "${CMAKE_MATCH_1}.${next_minor}")

# Debian's name of the processor that was compiled for.
execute_process(COMMAND dpkg-architecture --force --host-type ${CMAKE_LIBRARY_ARCHITECTURE} --query DEB_HOST_ARCH
  OUTPUT_VARIABLE CPACK_DEBIAN_PACKAGE_ARCHITECTURE OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME exactbloom)
set(CPACK_PACKAGE_CONTACT "${EXACTBLOOM_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE exactbloom)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL runtime dev tools)

set(about "ExactBloom builds Ribbon filters for the tables of a RocksDB database, sized by
their exact false-positive rates, and divides the filter memory among its sorted
runs: small ones get more bits per key. Before it is removed, set the policy
rocksdb_bloom and replace the filters: without it every key passes them.
.
")

# describe_package(COMPONENT NAME SECTION SUMMARY TEXT)
function(describe_package component name section summary text)
  string(TOUPPER "${component}" upper)
  install(FILES "${package_files}/copyright" "${package_files}/changelog.gz" "${package_files}/changelog.Debian.gz"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}" COMPONENT ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  # CMake takes the first line as the summary.
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${about}${text}" PARENT_SCOPE)
endfunction()

describe_package(runtime libexactbloom0 libs "exactly sized Bloom filters for programs on RocksDB"
"This package has the shared objects that are preloaded into programs that use
librocksdb.so, and that languages load for ExactBloom's C interface.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_MULTIARCH same)

describe_package(dev libexactbloom-dev libdevel "exactly sized Bloom filters for RocksDB (development files)"
"This package has the filter policy and the filter alone as static libraries,
the headers for C++ and C, a CMake package, and examples in several languages.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libexactbloom0 (= ${package_version}), \
librocksdb-dev (>= ${rocksdb_version}), librocksdb-dev (<< ${next_rocksdb_version})")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS exactbloom-tools)

describe_package(tools exactbloom-tools database "exactly sized Bloom filters for RocksDB (tool)"
"This package has the tool exactbloom, which computes rates and sizes, shows and
verifies the filters of a database, and advises on settings.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "libexactbloom0, rocksdb-tools")
include(CPack)
