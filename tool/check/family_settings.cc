#include "family_settings.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/nearest_name.h"
#include "support/number_text.h"

namespace exactbloom::tool {
namespace {

// Of true, 4096 or 4K.
std::optional<double> ValueOf(const std::string& text) {
  if (text == "true" || text == "false") return text == "true" ? 1.0 : 0.0;
  if (const auto number = support::ReadNumber(text)) return number;
  const auto bytes = support::ReadBytes(text);
  return bytes ? std::optional<double>(static_cast<double>(*bytes)) : std::nullopt;
}

bool IsSame(const std::string& written, const std::string& kept) {
  return written == kept || (ValueOf(written) && ValueOf(written) == ValueOf(kept));
}

// The name of an object that is written as NAME, id=NAME or {id=NAME;...}.
std::string NameIn(const std::string& text) {
  const std::size_t begin = text.find_first_not_of("{ ");
  if (begin == std::string::npos) return "";
  const std::string name = Trimmed(text.substr(begin, text.find_first_of(";}", begin) - begin));
  return name.rfind("id=", 0) == 0 ? name.substr(3) : name;
}

// The settings of tables that decide which filters they get. RocksDB changes some of them when a
// database is opened, depending on others.
void CheckTableSettings(const OptionsSection& tables, const rocksdb::TableFactory& kept,
                        CheckedFile* file) {
  for (const char* name :
       {"partition_filters", "decouple_partitioned_filters", "index_type", "metadata_block_size",
        "whole_key_filtering", "optimize_filters_for_memory", "format_version"}) {
    const OptionsLine* line = tables.Find(name);
    std::string value;
    if (line == nullptr || !kept.GetOption({}, name, &value).ok() || IsSame(line->value, value)) {
      continue;
    }
    const bool lacks_index = line->name == "partition_filters";
    file->Add(*line, "RocksDB takes it for " + value,
              lacks_index ? "index_type=kTwoLevelIndexSearch beside it" : "");
  }
}

void CheckTableFormat(const OptionsSection& family, const OptionsSection* tables,
                      const rocksdb::TableFactory& kept, CheckedFile* file) {
  const OptionsLine* line = family.Find("table_factory");
  if (line == nullptr || kept.IsInstanceOf(NameIn(line->value))) return;
  file->Add(*line, fmt::format("RocksDB takes {}{}", kept.Name(),
                               tables == nullptr
                                   ? ""
                                   : fmt::format(", by the section of line {}", tables->number)));
}

bool NamesExtractor(const OptionsLine* line) {
  return line != nullptr && !line->value.empty() && line->value != "nullptr";
}

// The number of bytes at the end of fixed:8 or rocksdb.FixedPrefix.8.
std::optional<double> LengthIn(const std::string& extractor) {
  return support::ReadNumber(extractor.substr(extractor.find_last_of(":.") + 1));
}

bool IsExtractor(const std::string& text) {
  std::shared_ptr<const rocksdb::SliceTransform> extractor;
  rocksdb::SliceTransform::CreateFromString({}, text, &extractor).PermitUncheckedError();
  return extractor != nullptr;
}

// An extractor that RocksDB does not know is a misspelt one of RocksDB's, or the program's own.
void CheckUnknownExtractor(const OptionsLine& line, bool whole_keys, CheckedFile* file) {
  const std::string name = NameIn(line.value);
  const std::string first = name.substr(0, name.find(':'));
  const std::string plain = first.substr(0, first.find_last_not_of(".0123456789") + 1);
  const std::string nearest = support::NearestName(
      plain, {"fixed", "capped", "rocksdb.FixedPrefix", "rocksdb.CappedPrefix", "rocksdb.Noop"});
  if (nearest.empty()) {
    file->Add(RemarkKind::kNote, line,
              whole_keys ? "not known here: without it filters hold no prefixes"
                         : "not known here: without it filters hold no key, and tables get none");
    return;
  }
  std::string meant = line.value;
  meant.replace(meant.find(plain), plain.size(), nearest);
  file->Add(line, "RocksDB does not understand it, and drops it",
            IsExtractor(meant) ? "prefix_extractor=" + meant : "");
}

// Keys and prefixes are what filters hold.
void CheckKeys(const OptionsSection& family, const OptionsSection& tables,
               const rocksdb::ColumnFamilyOptions& kept, bool whole_keys, CheckedFile* file) {
  const OptionsLine* extractor = family.Find("prefix_extractor");
  const OptionsLine* whole = tables.Find("whole_key_filtering");
  if (kept.prefix_extractor != nullptr) {
    const std::string id = kept.prefix_extractor->GetId();
    if (extractor == nullptr || LengthIn(NameIn(extractor->value)) == LengthIn(id)) return;
    file->Add(*extractor, "RocksDB takes it for " + id);
  } else if (NamesExtractor(extractor)) {
    CheckUnknownExtractor(*extractor, whole_keys, file);
  } else if (!whole_keys && whole != nullptr) {
    file->Add(*whole, "without a prefix_extractor filters hold no key, and tables get none",
              "whole_key_filtering=true");
  }
}

// RocksDB's own filter of the data that are not in tables yet.
void CheckMemtable(const OptionsSection& family, const rocksdb::ColumnFamilyOptions& kept,
                   CheckedFile* file) {
  constexpr double kMostOfMemtable = 0.25;  // SanitizeOptions in RocksDB's db/column_family.cc
  const OptionsLine* line = family.Find("memtable_prefix_bloom_size_ratio");
  if (line == nullptr) return;
  const double ratio = kept.memtable_prefix_bloom_size_ratio;
  const double taken = std::clamp(ratio, 0.0, kMostOfMemtable);
  if (ratio != taken) {
    file->Add(*line, fmt::format("RocksDB takes it for {}", taken));
  } else if (ratio > 0.0 && !kept.memtable_whole_key_filtering &&
             !NamesExtractor(family.Find("prefix_extractor"))) {
    file->Add(*line, "without a prefix_extractor the memtable's filter holds no key",
              "memtable_whole_key_filtering=true beside it");
  }
}

}  // namespace

void CheckFamily(const OptionsSection& family, const OptionsSection* tables,
                 const rocksdb::ColumnFamilyOptions& kept, CheckedFile* file) {
  CheckMemtable(family, kept, file);
  if (kept.table_factory == nullptr) return;  // of a format that RocksDB does not know
  CheckTableFormat(family, tables, *kept.table_factory, file);
  const auto* options = kept.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (tables == nullptr || options == nullptr) return;
  CheckTableSettings(*tables, *kept.table_factory, file);
  if (options->filter_policy != nullptr) {
    CheckKeys(family, *tables, kept, options->whole_key_filtering, file);
  }
}

}  // namespace exactbloom::tool
