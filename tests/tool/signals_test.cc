// SIGINT and SIGTERM end every command wherever it is: writing into a pipe that nobody reads,
// reading one that nobody writes, computing, or in RocksDB. A signal that comes before that state
// has the same effect, and the time limit only ends a test that fails.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A pipe that is full, and whose reader does not read.
class FullPipe {
 public:
  FullPipe() {
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
    fcntl(WriteEnd(), F_SETFL, O_NONBLOCK);
    const std::string bytes(4096, 'x');
    while (write(WriteEnd(), bytes.data(), bytes.size()) > 0) {
    }
    fcntl(WriteEnd(), F_SETFL, 0);
  }
  ~FullPipe() {
    for (const int end : ends_) close(end);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

  int WriteEnd() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{};
};

// The status of a command of the shell, as waitpid gives it, with this output; a signal ends it
// after a while.
int StatusAfter(int signal, const std::string& command, int output) {
  const std::string exec = "exec " + command;
  const pid_t child = fork();
  if (child == 0) {
    dup2(output, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", exec.c_str(), nullptr);
    _exit(1);
  }
  // Repeated, since a command that has not started yet may ignore it.
  constexpr auto kPause = 300ms;
  constexpr auto kTimeLimit = 20s;
  const auto start = std::chrono::steady_clock::now();
  auto next = start + kPause;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const auto time = std::chrono::steady_clock::now();
    if (time > next) {
      kill(child, time < start + kTimeLimit ? signal : SIGKILL);
      next = time + kPause;
    }
    std::this_thread::sleep_for(1ms);
  }
  return status;
}

void ExpectBothEnd(const std::string& command, int output = STDERR_FILENO) {
  for (const int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(fmt::format("{}: signal {}", command, signal));
    const int status = StatusAfter(signal, command, output);
    EXPECT_TRUE(WIFSIGNALED(status)) << "exit status " << WEXITSTATUS(status);
    EXPECT_EQ(WTERMSIG(status), signal);
  }
}

class Signals : public ::testing::Test {
 protected:
  Signals() {
    const std::string db = directory_.path("db");
    PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), db), 1000);
    EXPECT_EQ(mkfifo(directory_.path("fifo").c_str(), 0600), 0);
    // Open for writing, too, so that it does not end.
    fifo_ = open(directory_.path("fifo").c_str(), O_RDWR | O_CLOEXEC);
  }
  ~Signals() override { close(fifo_); }

  // {0} is the directory of the fixture, with a database `db` and a FIFO `fifo`.
  std::string Command(const std::string& program, const std::string& arguments) const {
    return program + " " + fmt::format(fmt::runtime(arguments), directory_.path());
  }

  TemporaryDirectory directory_;
  int fifo_ = -1;
};

TEST_F(Signals, EndACommandThatCannotWriteItsAnswer) {
  const std::vector<std::string> commands = {"rate --m 64 --n 4 --k 9",
                                             "plan --keys 1e6 --fpr 0.01",
                                             "inspect {}/db",
                                             "verify {}/db",
                                             "overlap {}/db",
                                             "advise {}/db",
                                             "check {}/db"};
  std::set<std::string> tried;
  for (const std::string& arguments : commands) {
    const FullPipe pipe;
    ExpectBothEnd(Command(EXACTBLOOM_TOOL, arguments), pipe.WriteEnd());
    tried.insert(arguments.substr(0, arguments.find(' ')));
  }
  EXPECT_EQ(tried, testing::Subcommands());
}

TEST_F(Signals, EndACommandThatWaitsForKeys) {
  ExpectBothEnd(Command(EXACTBLOOM_TOOL, "inspect --lookups {0}/fifo {0}/db"));
  ExpectBothEnd(Command(EXACTBLOOM_TOOL, "advise --lookups {0}/fifo {0}/db"));
  ExpectBothEnd(Command(READAMP, "--keys {0}/fifo"));
}

TEST_F(Signals, EndACommandThatComputes) {
  ExpectBothEnd(Command(EXACTBLOOM_TOOL, "verify --absent 9e15 --threads 2 {}/db"));
}

// Also where the shell made it ignore the signal.
TEST_F(Signals, EndACommandInTheBackground) {
  ExpectBothEnd("env --ignore-signal=INT --ignore-signal=TERM " +
                Command(EXACTBLOOM_TOOL, "inspect --lookups {0}/fifo {0}/db"));
}

TEST_F(Signals, LeaveNoTemporaryFile) {
  const std::string directory = directory_.path("temporary");
  fs::create_directory(directory);
  ExpectBothEnd(
      Command(READAMP, "--synthetic 1e8 --directory {0}/temporary --json {0}/temporary/r"));
  for (const auto& file : fs::directory_iterator(directory)) ADD_FAILURE() << file << " is left";
}

}  // namespace
}  // namespace exactbloom
