// Objects that option strings name.
#pragma once

#include <rocksdb/utilities/object_registry.h>

#include <memory>
#include <string>

#include "exactbloom/rocksdb_namespace.h"
#include "exception_barrier.h"

namespace exactbloom {

// `make` returns a std::unique_ptr<Object> for a text that the pattern matches.
template <typename Object, typename Make>
void AddFactory(rocksdb::ObjectLibrary& library, const rocksdb::ObjectLibrary::PatternEntry& names,
                Make make) {
  library.AddFactory<Object>(
      names, [make](const std::string& id, std::unique_ptr<Object>* guard, std::string* error) {
        *guard = ResultOr(std::unique_ptr<Object>(), [&] { return make(id); });
        if (*guard == nullptr) *error = "cannot be made";
        return guard->get();
      });
}

}  // namespace exactbloom
