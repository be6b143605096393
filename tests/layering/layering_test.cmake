# Enforces the rule of the layers over all sources below SOURCE_DIR:
#   analysis (L0)  includes the standard library and itself
#   filter (L1)    also L0 and xxHash; SIMD headers in kernels only; names no RocksDB
#   plugin (L2)    also L1's public headers and batch.h, RocksDB and the allocator's; names no intrinsic
#   plugin/sstable RocksDB's file format: knows RocksDB and xxHash, but nothing of ours
# and that no folder is a drawer for things without a place.
cmake_minimum_required(VERSION 3.25)

set(standard "<[a-z_]+>")
set(l0_public "\"exactbloom/(confidence_interval|counting_filter|efficiency|false_positive_rate|filter_sizer|key_count_estimate|layout|levels|occupancy|rate_bounds|ribbon_rate|sizing|version)\\.h\"")
set(l1_public "\"exactbloom/bloom_filter\\.h\"")
set(l2_public "\"exactbloom/(filter_policy|rebuild_filters|table_filters)\\.h\"")
set(own "\"[a-z0-9_]+\\.(h|inc)\"")
set(intrinsics "<(immintrin|x86intrin|arm_neon|cpuid|[a-z]+mmintrin)\\.h>")

# Every include of `file` must match `allowed`, no line of code may match `forbidden`.
function(check_file file allowed forbidden)
  file(READ "${file}" text)
  string(REPLACE ";" "," text "${text}")
  string(REGEX REPLACE "//[^\n]*" "" code "${text}")
  string(REGEX MATCHALL "#[ ]*include[ ]+[<\"][^\n]+[>\"]" includes "${code}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#[ ]*include[ ]+" "" header "${include}")
    if(NOT header MATCHES "^(${allowed})$")
      message(SEND_ERROR "${file} may not include ${header}")
    endif()
  endforeach()
  if(NOT forbidden STREQUAL "" AND code MATCHES "(${forbidden})")
    message(SEND_ERROR "${file} may not name ${CMAKE_MATCH_1}")
  endif()
endfunction()

# Checks all sources that the pattern finds; the layer must have some.
function(check_layer allowed forbidden)
  file(GLOB files ${ARGN})
  if(files STREQUAL "")
    message(SEND_ERROR "no sources found: ${ARGN}")
  endif()
  foreach(file IN LISTS files)
    check_file("${file}" "${allowed}" "${forbidden}")
  endforeach()
endfunction()

set(no_rocksdb "rocksdb|ROCKSDB")
set(no_intrinsic "_mm[0-9]*_|__m(128|256|512)|v(ld|st)1q?_|__builtin_ia32|__builtin_cpu")
set(analysis "${standard}|${l0_public}|${own}")
set(filter "${analysis}|${l1_public}|<xxhash\\.h>")
set(rocksdb "<rocksdb/[a-z_/]+\\.h>")
set(sstable "${standard}|${own}|${rocksdb}|<xxhash\\.h>")
set(plugin "${standard}|${l0_public}|${l1_public}|${l2_public}|${own}|\"sstable/[a-z_]+\\.h\"|\"\\.\\./src/filter/batch\\.h\"|${rocksdb}|<malloc(_np)?\\.h>|\"table/block_based/filter_policy_internal\\.h\"")

check_layer("${analysis}" "${no_rocksdb}|${no_intrinsic}" "${SOURCE_DIR}/src/analysis/*.h" "${SOURCE_DIR}/src/analysis/*.cc")
file(GLOB filter_files "${SOURCE_DIR}/src/filter/*.h" "${SOURCE_DIR}/src/filter/*.cc")
foreach(file IN LISTS filter_files)
  if(file MATCHES "kernel_[a-z0-9]+\\.cc$")
    check_file("${file}" "${filter}|${intrinsics}" "${no_rocksdb}")
  else()
    check_file("${file}" "${filter}" "${no_rocksdb}|${no_intrinsic}")
  endif()
endforeach()
check_layer("${plugin}" "${no_intrinsic}" "${SOURCE_DIR}/plugin/*.h" "${SOURCE_DIR}/plugin/*.cc")
check_layer("${sstable}" "${no_intrinsic}" "${SOURCE_DIR}/plugin/sstable/*.h" "${SOURCE_DIR}/plugin/sstable/*.cc")

# The public headers keep to the same layers.
file(GLOB public_headers "${SOURCE_DIR}/include/exactbloom/*.h")
foreach(file IN LISTS public_headers)
  get_filename_component(name "${file}" NAME)
  if("\"exactbloom/${name}\"" MATCHES "^${l2_public}$")
    check_file("${file}" "${plugin}" "${no_intrinsic}")
  else()
    check_file("${file}" "${standard}|${l0_public}" "${no_rocksdb}|${no_intrinsic}")
  endif()
endforeach()

# A file of L0 that includes a header of its own by name must find it in its own folder.
foreach(layer analysis filter)
  file(GLOB files "${SOURCE_DIR}/src/${layer}/*.h" "${SOURCE_DIR}/src/${layer}/*.cc")
  foreach(file IN LISTS files)
    file(STRINGS "${file}" includes REGEX "^#include \"[a-z0-9_]+\\.h\"")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "#include \"([^\"]+)\"" "\\1" header "${include}")
      if(NOT EXISTS "${SOURCE_DIR}/src/${layer}/${header}")
        message(SEND_ERROR "${file} includes ${header}, which is not in its layer")
      endif()
    endforeach()
  endforeach()
endforeach()

file(GLOB drawers LIST_DIRECTORIES true
  "${SOURCE_DIR}/*" "${SOURCE_DIR}/src/*" "${SOURCE_DIR}/plugin/*" "${SOURCE_DIR}/tests/*" "${SOURCE_DIR}/bench/*")
foreach(folder IN LISTS drawers)
  if(IS_DIRECTORY "${folder}" AND folder MATCHES "/(util|utils|common|misc)$")
    message(SEND_ERROR "${folder}: a folder is a layer or an idea")
  endif()
endforeach()
