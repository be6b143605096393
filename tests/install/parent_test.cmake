# A project that takes the source SOURCE_DIR by FetchContent, and by add_subdirectory, links exactbloom::exactbloom_rocksdb and
# runs, and installs nothing of ExactBloom; and by one that installs it, too, and hides its own symbols. The objects of the build BUILD_DIR that the file OBJECTS lists are taken instead
# of compiling them again.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
file(READ "${OBJECTS}" objects)
foreach(object IN LISTS objects)
  cmake_path(GET object PARENT_PATH folder)
  file(RELATIVE_PATH folder "${BUILD_DIR}" "${folder}")
  string(REGEX REPLACE "/CMakeFiles/[a-z_]+[.]dir" "" folder "${folder}")
  file(COPY "${object}" DESTINATION "${WORK_DIR}/objects/plugin/exactbloom/${folder}")
endforeach()

set(ENV{CMAKE_PREFIX_PATH} "${ROCKSDB_PREFIX}")  # where the RocksDB of the build is
function(configure build way)
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/parent_project" -B "${WORK_DIR}/${build}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DEXACTBLOOM_OBJECTS=${WORK_DIR}/objects" "-DWAY=${way}"
    "-DFETCHCONTENT_SOURCE_DIR_EXACTBLOOM=${SOURCE_DIR}" ${ARGN})
endfunction()
foreach(way IN ITEMS FetchContent add_subdirectory)
  configure(${way} ${way})
  run("${CMAKE_COMMAND}" --build "${WORK_DIR}/${way}" --target program)
  run("${WORK_DIR}/${way}/program" "${WORK_DIR}/${way}/database")
  run("${CMAKE_COMMAND}" --install "${WORK_DIR}/${way}" --prefix "${WORK_DIR}/${way}/prefix")
  file(GLOB_RECURSE installed RELATIVE "${WORK_DIR}/${way}/prefix" "${WORK_DIR}/${way}/prefix/*")
  if(NOT installed STREQUAL "bin/program;share/doc/parent/README.md")
    message(FATAL_ERROR "with ${way} these are installed: ${installed}")
  endif()
endforeach()

configure(installing add_subdirectory -DEXACTBLOOM_INSTALL=ON -DCMAKE_CXX_VISIBILITY_PRESET=hidden
  -DCMAKE_CXX_FLAGS=-fvisibility=hidden)
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/installing")
run("${CMAKE_COMMAND}" --install "${WORK_DIR}/installing" --prefix "${WORK_DIR}/installing/prefix")
set(pages "${WORK_DIR}/installing/prefix/share/doc")
run("${CMAKE_COMMAND}" -E compare_files "${CMAKE_CURRENT_LIST_DIR}/parent_project/CMakeLists.txt" "${pages}/parent/README.md")
run("${CMAKE_COMMAND}" -E compare_files "${SOURCE_DIR}/README.md" "${pages}/exactbloom/README.md")
# What the shared objects export.
run("${CMAKE_CURRENT_LIST_DIR}/../preload/preload_test.py" "${WORK_DIR}/installing/exactbloom" db_bench ldb librocksdb.so Exports)

# Where RocksDB is a static library there are no shared objects. None of its functions is needed until a program is linked.
run("${AR}" qc "${WORK_DIR}/librocksdb.a")
configure(static add_subdirectory -DEXACTBLOOM_INSTALL=ON "-DRocksDBLibrary_LIBRARY=${WORK_DIR}/librocksdb.a")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/static" --target exactbloom_rocksdb exactbloom_theory)
foreach(component IN ITEMS runtime dev)
  run("${CMAKE_COMMAND}" --install "${WORK_DIR}/static" --prefix "${WORK_DIR}/static/prefix" --component ${component})
endforeach()
file(GLOB_RECURSE installed RELATIVE "${WORK_DIR}/static/prefix" "${WORK_DIR}/static/prefix/*exactbloom_rocksdb*")
if(NOT installed MATCHES "^lib[^;]*/libexactbloom_rocksdb[.]a$")
  message(FATAL_ERROR "with a static RocksDB these are installed: ${installed}")
endif()
