// The database of the examples in docs/tool.md.
#pragma once

#include <string>

namespace exactbloom {

// Makes it in a new directory. The same bytes come out each time, but for times and identities.
//
//   level 2   bloomfilter:10      8,000 keys, from before
//   level 1   no filter           2,000 keys
//   level 0   classic_bloom:10    twice 1,000 keys, of which 300 are in both
//
// It is set to classic_bloom:10.
void MakeDocumentDatabase(const std::string& directory);

}  // namespace exactbloom
