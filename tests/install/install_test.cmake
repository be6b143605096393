# Installs the build BUILD_DIR into a prefix of its own below WORK_DIR, or takes the one that is at PREFIX;
# configures, builds and runs SCRATCH_PROJECT against it.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
if(NOT PREFIX)
  set(PREFIX "${WORK_DIR}/prefix")
  run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${PREFIX}")
endif()

# A copy, so that nothing of the tree lies around the project.
file(COPY "${SCRATCH_PROJECT}/" DESTINATION "${WORK_DIR}/project")
set(flags "")
set(ENV{CMAKE_PREFIX_PATH} "${ROCKSDB_PREFIX}")  # where the RocksDB of the build is
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()
run("${CMAKE_COMMAND}" -S "${WORK_DIR}/project" -B "${WORK_DIR}/build" -G "${GENERATOR}"
  "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_CXX_FLAGS=${flags}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
run("${WORK_DIR}/build/uses_filter")
run("${WORK_DIR}/build/uses_policy" "${WORK_DIR}/database")

# The filter must not drag RocksDB in.
execute_process(COMMAND ldd "${WORK_DIR}/build/uses_filter" OUTPUT_VARIABLE libraries)
if(libraries MATCHES "librocksdb")
  message(FATAL_ERROR "exactbloom::exactbloom links with RocksDB:\n${libraries}")
endif()
