# Test programs. `make test` runs the tests without the label `check`, `make check` those with it.
set(EXACTBLOOM_SKIPPED_TESTS "" CACHE STRING "Tests that this build does not run, as --gtest_filter takes them")

# exactbloom_add_gtest(NAME SOURCES ... LIBRARIES ... [LABELS ...] [ENVIRONMENT ...] [SHARDS count] [EXHAUSTIVE])
# Builds a test program, which ctest runs as NAME, or as NAME.1, NAME.2, ... where its tests are shared out among
# SHARDS processes. Test suites named *Exhaustive try all cases of which other tests try some; with EXHAUSTIVE they are
# run as NAME.exhaustive, which has the label `check`.
function(exactbloom_add_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 test "EXHAUSTIVE" "SHARDS" "SOURCES;LIBRARIES;LABELS;ENVIRONMENT")
  add_executable(${name} ${test_SOURCES})
  target_link_libraries(${name} PRIVATE ${test_LIBRARIES} exactbloom_compile_options GTest::gtest_main)
  if("check" IN_LIST test_LABELS)
    exactbloom_build_for_check(${name})
  endif()

  if(NOT test_SHARDS)
    set(test_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${test_SHARDS})
    set(entry ${name})
    if(test_SHARDS GREATER 1)
      string(APPEND entry ".${shard}")
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${entry} COMMAND ${name} "--gtest_filter=-*Exhaustive.*:${EXACTBLOOM_SKIPPED_TESTS}")
    set_tests_properties(${entry} PROPERTIES LABELS "${test_LABELS}" COST ${test_SHARDS}
      ENVIRONMENT "${test_ENVIRONMENT};GTEST_TOTAL_SHARDS=${test_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
  if(test_EXHAUSTIVE)
    add_test(NAME ${name}.exhaustive COMMAND ${name} "--gtest_filter=*Exhaustive.*")
    set_tests_properties(${name}.exhaustive PROPERTIES LABELS check ENVIRONMENT "${test_ENVIRONMENT}")
  endif()
endfunction()
