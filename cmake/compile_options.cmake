# How ExactBloom's code is compiled. L0 to L2 are C++17, the standard of the RocksDB trees that they go into.
add_library(exactbloom_compile_options INTERFACE)
target_compile_features(exactbloom_compile_options INTERFACE cxx_std_17)
target_compile_options(exactbloom_compile_options INTERFACE -Wall -Wextra -Wshadow -Wconversion)
if(EXACTBLOOM_WARNINGS_AS_ERRORS)
  target_compile_options(exactbloom_compile_options INTERFACE -Werror)
endif()

# For sources that read command lines: most of their code is CLI11's templates, which take long to compile.
function(exactbloom_command_line_sources)
  set(options $<$<CONFIG:RelWithDebInfo>:-O1>)
  if(EXACTBLOOM_SANITIZE MATCHES "undefined")
    list(APPEND options -fno-sanitize=undefined)
  endif()
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(EXACTBLOOM_SANITIZE)
  # The sanitizers' instrumentation makes GCC see uninitialised reads where there are none (its manual says so of
  # -fsanitize); the builds without them keep that warning.
  add_compile_options(-fsanitize=${EXACTBLOOM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${EXACTBLOOM_SANITIZE})
endif()
