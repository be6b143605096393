#include "fault_source.h"

#include <algorithm>
#include <string_view>

namespace exactbloom::faults {
namespace {

bool EndsIn(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

FileKind FileKindOf(const std::string& path) {
  if (EndsIn(path, ".sst")) return FileKind::kTable;
  if (EndsIn(path, ".log")) return FileKind::kLog;
  const std::size_t name = path.rfind('/') + 1;
  return path.compare(name, 9, "MANIFEST-") == 0 ? FileKind::kManifest : FileKind::kOther;
}

void FaultSource::Switch(bool on) {
  const std::lock_guard<std::mutex> lock(mutex_);
  on_ = on;
}

std::optional<Fault> FaultSource::Draw(FileKind file, Operation operation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!on_) return std::nullopt;
  double number = std::uniform_real_distribution<double>()(random_);
  for (const Fault fault : {Fault::kFail, Fault::kShorten, Fault::kCorrupt}) {
    const double probability = probabilities_.At(file, operation, fault);
    if (number < probability) {
      ++counts_.At(file, operation, fault);
      return fault;
    }
    number -= probability;
  }
  return std::nullopt;
}

std::size_t FaultSource::Choose(std::size_t end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
}

void FaultSource::LeaveSpace(std::uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  space_ = bytes;
}

std::uint64_t FaultSource::TakeSpace(std::uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (space_ == std::numeric_limits<std::uint64_t>::max()) return bytes;
  const std::uint64_t taken = std::min(bytes, space_);
  space_ -= taken;
  if (taken < bytes) ++full_writes_;
  return taken;
}

FaultTable<std::uint64_t> FaultSource::Counts() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

std::uint64_t FaultSource::FullWrites() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return full_writes_;
}

}  // namespace exactbloom::faults
