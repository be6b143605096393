# Finds xxhash.h, which is inlined into the library, and defines the target xxHash::header.
find_path(xxHashHeader_INCLUDE_DIR xxhash.h)
if(CMAKE_CROSSCOMPILING AND NOT xxHashHeader_INCLUDE_DIR)
  # The build machine's header works for any target, but not the headers next to it.
  find_file(xxHashHeader_FILE xxhash.h NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(xxHashHeader_FILE)
  if(xxHashHeader_FILE)
    file(COPY "${xxHashHeader_FILE}" DESTINATION "${PROJECT_BINARY_DIR}/xxhash")
    set_property(CACHE xxHashHeader_INCLUDE_DIR PROPERTY VALUE "${PROJECT_BINARY_DIR}/xxhash")
  endif()
endif()
mark_as_advanced(xxHashHeader_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  xxHashHeader REQUIRED_VARS xxHashHeader_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian's package is libxxhash-dev")
if(xxHashHeader_FOUND AND NOT TARGET xxHash::header)
  add_library(xxHash::header INTERFACE IMPORTED)
  set_target_properties(xxHash::header PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${xxHashHeader_INCLUDE_DIR}")
endif()
