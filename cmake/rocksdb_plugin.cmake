# What RocksDB's CMake build asks of a plugin beyond exactbloom.mk: where headers are, and which to install.
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
find_package(xxHashHeader REQUIRED)
set(exactbloom_INCLUDE_PATHS "${CMAKE_CURRENT_SOURCE_DIR}/include" "${xxHashHeader_INCLUDE_DIR}" PARENT_SCOPE)

file(STRINGS exactbloom.mk line REGEX "_HEADERS = ")
string(REGEX REPLACE ".*_HEADERS = " "" line "${line}")
string(REPLACE " " ";" headers "${line}")
set(exactbloom_HEADERS "${headers}" PARENT_SCOPE)
