# Installation: `cmake --install build` gives other projects find_package(exactbloom), with the targets
# exactbloom::exactbloom, exactbloom::exactbloom_theory and exactbloom::exactbloom_rocksdb. Of the three components, each a Debian package, `dev` has what
# is not said to be in another; the tool's own rule is in its folder.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/exactbloom")

install(TARGETS exactbloom exactbloom_theory exactbloom_rocksdb EXPORT exactbloomTargets)
# For LD_PRELOAD, by its path; nothing links with it. It finds the core beside itself.
if(TARGET exactbloom_rocksdb_shared)
  install(TARGETS exactbloom_rocksdb_shared exactbloom_rocksdb_core LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/exactbloom
    COMPONENT runtime)
endif()
install(DIRECTORY include/exactbloom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(EXACTBLOOM_PROGRAMS)
  configure_file(docs/exactbloom.1 exactbloom.1 COPYONLY)
  execute_process(COMMAND gzip --force --best --no-name "${PROJECT_BINARY_DIR}/exactbloom.1"
    COMMAND_ERROR_IS_FATAL ANY)
  install(FILES "${PROJECT_BINARY_DIR}/exactbloom.1.gz" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
  install(FILES tool/completion.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME exactbloom COMPONENT tools)
endif()
set(documents "${CMAKE_INSTALL_DOCDIR}")
if(NOT PROJECT_IS_TOP_LEVEL)
  set(documents "${CMAKE_INSTALL_DATADIR}/doc/exactbloom")  # CMAKE_INSTALL_DOCDIR may have the other project's pages
endif()
if(EXACTBLOOM_PACKAGE)
  set(documents "${CMAKE_INSTALL_DATADIR}/doc/libexactbloom-dev")
  include(package)
endif()
# All pages, and the files that they link to.
function(exactbloom_install_documents folder component)
  install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE DESTINATION ${folder} COMPONENT ${component})
  install(DIRECTORY docs DESTINATION ${folder} COMPONENT ${component} PATTERN "*.1" EXCLUDE)
  install(FILES bench/README.md DESTINATION ${folder}/bench COMPONENT ${component})
endfunction()
exactbloom_install_documents(${documents} dev)
if(EXACTBLOOM_PACKAGE)
  exactbloom_install_documents("${CMAKE_INSTALL_DATADIR}/doc/exactbloom-tools" tools)
endif()
install(DIRECTORY examples DESTINATION ${documents} REGEX "examples/CMakeLists.txt$" EXCLUDE)
install(EXPORT exactbloomTargets NAMESPACE exactbloom:: DESTINATION ${package_dir})

configure_package_config_file(cmake/exactbloomConfig.cmake.in exactbloomConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(exactbloomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/exactbloomConfig.cmake"
  "${PROJECT_BINARY_DIR}/exactbloomConfigVersion.cmake"
  cmake/FindRocksDBLibrary.cmake
  DESTINATION ${package_dir})

# For builds without CMake: pkg-config --cflags --libs exactbloom, exactbloom-theory or exactbloom-rocksdb. The files find the prefix that
# they are installed to, and name the RocksDB of this build where compilers do not look for it.
set(pkg_config_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH to_prefix "/prefix/${pkg_config_dir}" "/prefix")
string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${to_prefix}")
get_filename_component(rocksdb_lib_dir "${RocksDBLibrary_LIBRARY}" DIRECTORY)
if(NOT RocksDBLibrary_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
  set(pc_rocksdb_cflags " -I${RocksDBLibrary_INCLUDE_DIR}")
endif()
if(NOT rocksdb_lib_dir IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
  set(pc_rocksdb_libs " -L${rocksdb_lib_dir}")
endif()
foreach(name IN ITEMS exactbloom exactbloom-theory exactbloom-rocksdb)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION ${pkg_config_dir})
endforeach()
