# Installs the build BUILD_DIR into a prefix of its own below WORK_DIR, or takes the one that is at PREFIX;
# configures, builds and runs examples against it, with CMake and with pkg-config.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${WORK_DIR}" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
if(NOT PREFIX)
  set(PREFIX "${WORK_DIR}/prefix")
  run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${PREFIX}")
endif()

# A copy, so that nothing of the tree lies around the project.
set(examples "${CMAKE_CURRENT_LIST_DIR}/../../examples")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/scratch_project/" "${examples}/standalone_filter.cc" "${examples}/parallel_build.cc"
  "${examples}/register_policy.cc" "${examples}/open_database.h" "${examples}/c/quick_start.c" DESTINATION "${WORK_DIR}/project")
set(flags "")
set(ENV{CMAKE_PREFIX_PATH} "${ROCKSDB_PREFIX}")  # where the RocksDB of the build is
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()
run("${CMAKE_COMMAND}" -S "${WORK_DIR}/project" -B "${WORK_DIR}/build" -G "${GENERATOR}"
  "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_CXX_FLAGS=${flags}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
run("${WORK_DIR}/build/standalone_filter" "${WORK_DIR}/filter")
run("${WORK_DIR}/build/parallel_build" 2)
run("${WORK_DIR}/build/register_policy" "${WORK_DIR}/database")

# A RocksDB of another minor version is refused.
file(WRITE "${WORK_DIR}/other/rocksdb/version.h" "#define ROCKSDB_MAJOR 99\n#define ROCKSDB_MINOR 1\n#define ROCKSDB_PATCH 0\n")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK_DIR}/project" -B "${WORK_DIR}/build_with_other" -G "${GENERATOR}"
  "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DRocksDBLibrary_INCLUDE_DIR=${WORK_DIR}/other"
  RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "was built with RocksDB" OR NOT output MATCHES "99.1.0")
  message(FATAL_ERROR "RocksDB 99.1 is not refused:\n${output}")
endif()

# The filter must not drag RocksDB in.
execute_process(COMMAND ldd "${WORK_DIR}/build/standalone_filter" OUTPUT_VARIABLE libraries)
if(libraries MATCHES "librocksdb")
  message(FATAL_ERROR "exactbloom::exactbloom links with RocksDB:\n${libraries}")
endif()

# The same without CMake, and in C.
file(GLOB_RECURSE pkg_config_files "${PREFIX}/*/exactbloom-rocksdb.pc")
get_filename_component(pkg_config_dir "${pkg_config_files}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} "${pkg_config_dir}")
function(build_with package compiler standard source program)
  execute_process(COMMAND pkg-config --cflags --libs ${package} OUTPUT_VARIABLE arguments
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(arguments UNIX_COMMAND "${arguments} ${flags}")
  run("${compiler}" -std=${standard} "${WORK_DIR}/project/${source}" ${arguments} -o "${WORK_DIR}/${program}")
endfunction()
build_with(exactbloom "${CXX_COMPILER}" c++17 standalone_filter.cc pkg_filter)
run("${WORK_DIR}/pkg_filter" "${WORK_DIR}/filter")
build_with(exactbloom-theory "${CXX_COMPILER}" c++17 parallel_build.cc pkg_theory)
run("${WORK_DIR}/pkg_theory" 2)
build_with(exactbloom-rocksdb "${CXX_COMPILER}" c++20 register_policy.cc pkg_policy)
build_with(exactbloom-rocksdb "${C_COMPILER}" c99 quick_start.c pkg_policy_in_c)
if(ROCKSDB_PREFIX)
  set(ENV{LD_LIBRARY_PATH} "${ROCKSDB_PREFIX}/lib")
endif()
run("${WORK_DIR}/pkg_policy" "${WORK_DIR}/pkg_database")
run("${WORK_DIR}/pkg_policy_in_c")

# By name, from the installation and from the build. Where a shared object of that name lies beside the static library, the
# linker takes it.
set(folders "${pkg_config_dir}/..")
set(rocksdb_flags -lrocksdb)
if(BUILD_DIR)
  list(APPEND folders "${BUILD_DIR}/lib")
endif()
if(ROCKSDB_PREFIX)
  list(PREPEND rocksdb_flags "-I${ROCKSDB_PREFIX}/include" "-L${ROCKSDB_PREFIX}/lib")
endif()
foreach(folder IN LISTS folders)
  run("${C_COMPILER}" "${WORK_DIR}/project/quick_start.c" "-I${PREFIX}/include" "-L${folder}" -lexactbloom_rocksdb -lexactbloom
    ${rocksdb_flags} -lstdc++ -lm ${flags} -o "${WORK_DIR}/by_name")
  execute_process(COMMAND ldd "${WORK_DIR}/by_name" OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
  if(libraries MATCHES "libexactbloom")
    message(FATAL_ERROR "-L${folder} -lexactbloom_rocksdb takes a shared object:\n${libraries}")
  endif()
endforeach()

foreach(package IN ITEMS exactbloom exactbloom-theory exactbloom-rocksdb)
  execute_process(COMMAND pkg-config --modversion ${package} OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
  file(STRINGS "${PREFIX}/include/exactbloom/version.h" line REGEX "EXACTBLOOM_VERSION")
  string(STRIP "${version}" version)
  if(NOT line MATCHES "\"${version}\"")
    message(FATAL_ERROR "pkg-config says that ${package} has version ${version}")
  endif()
endforeach()
