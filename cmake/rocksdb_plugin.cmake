# What RocksDB's CMake build asks of a plugin beyond exactbloom.mk: where headers are, which to install, and how our
# sources are compiled, which exactbloom.mk says to RocksDB's Makefile alone.
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
find_package(xxHashHeader REQUIRED)
set(exactbloom_INCLUDE_PATHS "${CMAKE_CURRENT_SOURCE_DIR}/include" PARENT_SCOPE)

function(read_list name result)
  file(STRINGS exactbloom.mk line REGEX "_${name} = ")
  string(REGEX REPLACE ".*_${name} = " "" line "${line}")
  string(REPLACE " " ";" list "${line}")
  set(${result} "${list}" PARENT_SCOPE)
endfunction()
read_list(HEADERS headers)
set(exactbloom_HEADERS "${headers}" PARENT_SCOPE)
read_list(SOURCES sources)
list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
set_property(SOURCE ${sources} DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY
             COMPILE_DEFINITIONS EXACTBLOOM_IN_ROCKSDB
             # By its path: LZ4's sources, which may be on the include path, have an old xxhash.h.
             "EXACTBLOOM_XXHASH_FILE=\"${xxHashHeader_INCLUDE_DIR}/xxhash.h\"")
# One by one also in a unity build, where names of unnamed namespaces could collide.
set_property(SOURCE ${sources} DIRECTORY "${PROJECT_SOURCE_DIR}" PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
