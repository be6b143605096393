# What makes the programs and the tests quick to compile. Headers that take longer to read than the code that includes
# them takes to compile are precompiled, once for all targets with the same flags. Sources are compiled in batches (unity
# builds), which read their headers and instantiate their templates once a batch. Every source still includes what it
# uses, and CMAKE_DISABLE_PRECOMPILE_HEADERS compiles it by itself, as clang-tidy wants it. CLI11 is not precompiled: its
# constants would be compiled into every object.
include_guard()

set(test_headers <gtest/gtest.h> <algorithm> <cmath> <cstdint> <memory> <string> <vector>)
set(database_headers
    <rocksdb/convenience.h> <rocksdb/db.h> <rocksdb/env.h> <rocksdb/filter_policy.h> <rocksdb/options.h>
    <rocksdb/slice_transform.h> <rocksdb/table.h> <rocksdb/utilities/options_util.h>)
set(program_headers <fmt/format.h> <nlohmann/json.hpp> <algorithm> <map> <memory> <string> <vector>)

# The target whose precompiled headers others reuse. No position-independent code is asked for: a library and a program
# would ask for two kinds.
function(exactbloom_precompile target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# exactbloom_compile_quickly(TARGET OWNER [BATCH]): with the precompiled headers of OWNER, BATCH sources at once.
function(exactbloom_compile_quickly target owner)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${target} REUSE_FROM ${owner})
  if(ARGC GREATER 2)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ARGV2})
  endif()
endfunction()

# What the default build leaves out: `make check` builds and runs it.
add_custom_target(check_programs)
function(exactbloom_build_for_check)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(check_programs ${ARGN})
endfunction()
