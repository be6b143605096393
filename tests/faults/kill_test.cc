// A process (killed_writer.h) is killed repeatedly while it flushes, compacts or rebuilds. After
// each kill the database holds exactly what was acknowledged, and no filter denies a key of its
// table. EXACTBLOOM_TEST_LARGE=1 (make stress) runs a hundred cycles.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>
#include <string>

#include "killed_writer.h"
#include "sample_database.h"
#include "tool/database/database_files.h"
#include "tool/verify/table_verification.h"

namespace exactbloom::faults {
namespace {

using Clock = std::chrono::steady_clock;

// The first argument of the process that is killed, which is this program again.
constexpr const char* kWriterFlag = "--write";

// The reports of the process before it ended.
struct Testimony {
  std::uint64_t last_acknowledged = 0;
  std::array<int, kPhases> open{};  // phases begun but not ended
};

// A process that the destructor ends if it still runs.
class Victim {
 public:
  Victim(const std::string& directory, std::uint64_t cycle, std::uint64_t first_batch,
         Phase phase) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const std::string numbers =
        fmt::format("{} {} {} {}", cycle, first_batch, static_cast<int>(phase), ends[1]);
    process_ = fork();
    EXPECT_GE(process_, 0);
    if (process_ == 0) {
      close(ends[0]);
      execl("/proc/self/exe", kWriterFlag, kWriterFlag, directory.c_str(), numbers.c_str(),
            nullptr);
      _exit(127);
    }
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~Victim() {
    if (process_ > 0) End();
    close(pipe_);
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  // Kills the process when `delay` has passed since the beginning of `phase`, and returns its
  // reports. It must not end by itself.
  Testimony KillIn(Phase phase, std::chrono::microseconds delay) {
    constexpr auto kLongest = std::chrono::seconds(20);
    Clock::time_point deadline = Clock::now() + kLongest;
    Testimony testimony;
    Message message{};
    while (Clock::now() < deadline) {
      pollfd waiting = {pipe_, POLLIN, 0};
      const auto left = deadline - Clock::now();
      const timespec limit = {left / std::chrono::seconds(1),
                              (left % std::chrono::seconds(1)) / std::chrono::nanoseconds(1)};
      if (ppoll(&waiting, 1, &limit, nullptr) <= 0) break;
      if (!Hear(&message, &testimony)) break;
      const bool begins = message.kind == Message::Kind::kBegins && message.phase == phase;
      if (begins && !met_) deadline = Clock::now() + delay;
      met_ = met_ || begins;
    }
    EXPECT_TRUE(WIFSIGNALED(End())) << "it ended by itself";
    while (Hear(&message, &testimony)) {
    }
    return testimony;
  }

 private:
  // Kills the process and returns how it ended. Afterwards another process may get its id.
  int End() {
    int status = 0;
    EXPECT_EQ(kill(process_, SIGKILL), 0);
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    process_ = 0;
    return status;
  }

  bool Hear(Message* message, Testimony* testimony) const {
    if (read(pipe_, message, sizeof(*message)) != sizeof(*message)) return false;
    int& open = testimony->open[static_cast<std::size_t>(message->phase)];
    if (message->kind == Message::Kind::kAcknowledged) {
      testimony->last_acknowledged = message->number;
    } else {
      open += message->kind == Message::Kind::kBegins ? 1 : -1;
    }
    return true;
  }

  pid_t process_ = 0;
  int pipe_ = -1;
  bool met_ = false;
};

// Asks each filter for every key of its table. Returns the number of keys.
std::uint64_t VerifyFilters(const std::string& directory) {
  std::uint64_t keys = 0;
  for (const tool::TableLocation& table : tool::ListTables({directory}).tables) {
    const tool::TableVerification result = tool::VerifyTable(table, 0, 0);
    EXPECT_TRUE(result.status.ok()) << table.path << ": " << result.status.ToString();
    EXPECT_EQ(result.false_negatives, 0U) << table.path;
    EXPECT_EQ(result.unchecked, "") << table.path;
    keys += result.keys_checked;
  }
  return keys;
}

// Reopens the database after a kill, and returns the number of its last batch.
std::uint64_t VerifyContents(const std::string& directory, std::uint64_t cycle, std::uint64_t known,
                             std::uint64_t acknowledged, ExpectedContents* expected) {
  const Database db = Open(OptionsOf(cycle), directory);
  if (db == nullptr) return 0;
  std::string last = "0";
  const rocksdb::Status status = db->Get({}, KeyOf(2 * kLastBatchKey), &last);
  EXPECT_TRUE(status.ok() || (status.IsNotFound() && acknowledged == 0)) << status.ToString();
  const std::uint64_t found = std::stoull(last);
  EXPECT_GE(found, acknowledged) << "lost";
  EXPECT_LE(found, acknowledged + 1);
  for (std::uint64_t number = known + 1; number <= found; ++number) {
    expected->Acknowledge(BatchOf(number));
  }
  EXPECT_EQ(expected->FindDifference(*db), "");
  return found;
}

TEST(Kill, NothingAcknowledgedIsLost) {
  const bool large = std::getenv("EXACTBLOOM_TEST_LARGE") != nullptr;
  const std::uint64_t cycles = large ? 100 : 8;
  // The phase to kill in, and the most time after its beginning.
  using Microseconds = std::chrono::microseconds;
  constexpr std::array<std::pair<Phase, Microseconds>, 4> kAims = {{
      {Phase::kRebuild, Microseconds(40'000)},
      {Phase::kFlush, Microseconds(10'000)},
      {Phase::kCompaction, Microseconds(30'000)},
      {Phase::kOpening, Microseconds(50'000)},
  }};
  const TemporaryDirectory directory;
  const std::string path = directory.path("db");
  ExpectedContents expected(kSequenceKeys);
  std::mt19937_64 random(cycles);
  std::array<std::uint64_t, kPhases> kills{};  // within the phase that was aimed at
  std::uint64_t keys_of_tables = 0;
  std::uint64_t last = 0;
  {
    // Tables to compact and rebuild in the first cycle.
    Victim victim(path, 0, 1, Phase::kFlush);
    const Testimony testimony = victim.KillIn(Phase::kCompaction, Microseconds(500'000));
    last = VerifyContents(path, 0, 0, testimony.last_acknowledged, &expected);
  }
  for (std::uint64_t cycle = 1; cycle <= cycles && !HasFailure(); ++cycle) {
    SCOPED_TRACE(fmt::format("cycle {}, {}", cycle, ConfigurationOf(cycle).Name()));
    const auto [phase, most] = kAims[cycle % kAims.size()];
    const Microseconds delay(random() % static_cast<std::uint64_t>(most.count()));
    Victim victim(path, cycle, last + 1, phase);
    const Testimony testimony = victim.KillIn(phase, delay);
    const auto aim = static_cast<std::size_t>(phase);
    kills[aim] += testimony.open[aim] > 0 ? 1 : 0;
    const std::uint64_t acknowledged = std::max(last, testimony.last_acknowledged);
    last = VerifyContents(path, cycle, last, acknowledged, &expected);
    keys_of_tables += VerifyFilters(path);
  }
  // How many keys there are depends on how far the victims came.
  EXPECT_GT(keys_of_tables, cycles * kSequenceKeys / 8);
  if (!large) return;
  for (const Phase phase : {Phase::kFlush, Phase::kCompaction, Phase::kRebuild}) {
    EXPECT_GE(kills[static_cast<std::size_t>(phase)], 5U);
  }
}

}  // namespace
}  // namespace exactbloom::faults

int main(int argc, char** argv) {
  using namespace exactbloom::faults;
  if (argc == 4 && std::string(argv[1]) == kWriterFlag) {
    std::istringstream numbers(argv[3]);
    std::uint64_t cycle = 0;
    std::uint64_t first_batch = 0;
    int phase = 0;
    int pipe = 0;
    numbers >> cycle >> first_batch >> phase >> pipe;
    WriteUntilKilled(argv[2], cycle, first_batch, static_cast<Phase>(phase), pipe);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
