# Headers that take longer to read than the code that includes them takes to compile, read once a target: in the
# programs and the tests only, whose sources still include what they use. CLI11 is not among them: its constants would be compiled into every object. CMAKE_DISABLE_PRECOMPILE_HEADERS turns it off.
include_guard()

set(precompiled_for_tests <gtest/gtest.h> <algorithm> <cmath> <cstdint> <memory> <string> <vector>)
set(precompiled_for_databases
    <rocksdb/convenience.h> <rocksdb/db.h> <rocksdb/env.h> <rocksdb/filter_policy.h> <rocksdb/options.h>
    <rocksdb/slice_transform.h> <rocksdb/table.h> <rocksdb/utilities/options_util.h>)
set(precompiled_for_reports <fmt/format.h> <nlohmann/json.hpp> <algorithm> <map> <memory> <string> <vector>)
