# Stops where RocksDBLibrary_VERSION is not supported or RocksDBLibrary_LIBRARY lacks what the objects would refer to.
# CMake keeps a message that begins with a space in one line.

# The range stands where versions are told apart.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../plugin/filter_bits_interface.h" supported REGEX "^#error.*RocksDB")
string(REGEX MATCH "([0-9.]+) to ([0-9]+)\\.([0-9]+)" supported "${supported}")
math(EXPR after "${CMAKE_MATCH_3} + 1")
set(after "${CMAKE_MATCH_2}.${after}")
set(found_rocksdb " ExactBloom supports RocksDB ${supported} (docs/install.md), and found")

if(RocksDBLibrary_VERSION VERSION_LESS CMAKE_MATCH_1 OR RocksDBLibrary_VERSION VERSION_GREATER_EQUAL after)
  message(FATAL_ERROR "${found_rocksdb} ${RocksDBLibrary_VERSION} in ${RocksDBLibrary_INCLUDE_DIR}")
endif()

# A subclass refers to the type information of its base. A RocksDB that was compiled without RTTI has only the table of
# virtual functions.
file(STRINGS "${RocksDBLibrary_LIBRARY}" symbols REGEX "_ZT[IV]N7rocksdb12FilterPolicyE")
if(symbols MATCHES "_ZTVN7" AND NOT symbols MATCHES "_ZTIN7" AND NOT CMAKE_CXX_FLAGS MATCHES "-fno-rtti")
  message(FATAL_ERROR "${found_rocksdb} ${RocksDBLibrary_VERSION} without RTTI, "
    "${RocksDBLibrary_LIBRARY}: configure with "
    "-DCMAKE_CXX_FLAGS=-fno-rtti -DEXACTBLOOM_TESTS=OFF -DEXACTBLOOM_PROGRAMS=OFF")
endif()
