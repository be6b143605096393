# How ExactBloom's code is compiled. L0 to L2 are C++17, the standard of the RocksDB trees that they go into.
add_library(exactbloom_compile_options INTERFACE)
target_compile_features(exactbloom_compile_options INTERFACE cxx_std_17)
target_compile_options(exactbloom_compile_options INTERFACE -Wall -Wextra -Wshadow -Wconversion)
if(EXACTBLOOM_WARNINGS_AS_ERRORS)
  target_compile_options(exactbloom_compile_options INTERFACE -Werror)
endif()

# For programs: filters are asked and built in the library; what takes time here is compiling the templates of CLI11, JSON
# and fmt.
set(program_optimisation $<$<CONFIG:Debug>:-O0> $<$<CONFIG:RelWithDebInfo>:-O1>)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(EXACTBLOOM_SANITIZE)
  # The sanitizers' instrumentation makes GCC see uninitialised reads where there are none (its manual says so of
  # -fsanitize); the builds without them keep that warning.
  add_compile_options(-fsanitize=${EXACTBLOOM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${EXACTBLOOM_SANITIZE})
endif()
