# Finds an installed RocksDB and defines the target RocksDB::library and RocksDBLibrary_VERSION.
#
# RocksDB's own package file is not used: the one that Debian ships asks for packages of all of
# RocksDB's dependencies, which linking to the shared library does not need.
find_path(RocksDBLibrary_INCLUDE_DIR rocksdb/version.h)
find_library(RocksDBLibrary_LIBRARY rocksdb)
mark_as_advanced(RocksDBLibrary_INCLUDE_DIR RocksDBLibrary_LIBRARY)

if(RocksDBLibrary_INCLUDE_DIR)
  set(RocksDBLibrary_VERSION "")
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS "${RocksDBLibrary_INCLUDE_DIR}/rocksdb/version.h" line REGEX "define ROCKSDB_${part} ")
    string(REGEX MATCH "[0-9]+$" number "${line}")
    list(APPEND RocksDBLibrary_VERSION "${number}")
  endforeach()
  list(JOIN RocksDBLibrary_VERSION "." RocksDBLibrary_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  RocksDBLibrary
  REQUIRED_VARS RocksDBLibrary_LIBRARY RocksDBLibrary_INCLUDE_DIR
  VERSION_VAR RocksDBLibrary_VERSION
  REASON_FAILURE_MESSAGE "Debian's package is librocksdb-dev")

if(RocksDBLibrary_FOUND AND NOT TARGET RocksDB::library)
  add_library(RocksDB::library UNKNOWN IMPORTED)
  set_target_properties(RocksDB::library PROPERTIES
    IMPORTED_LOCATION "${RocksDBLibrary_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${RocksDBLibrary_INCLUDE_DIR}")
  if(RocksDBLibrary_VERSION VERSION_GREATER_EQUAL 10.7)
    set_target_properties(RocksDB::library PROPERTIES INTERFACE_COMPILE_FEATURES cxx_std_20)  # its headers need it
  endif()
endif()
