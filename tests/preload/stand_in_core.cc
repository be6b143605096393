// Stands in for the core of another build. Nothing behind the version and the size can be called.
#include <cstdio>
#include <cstdlib>

#include "exactbloom/version.h"
#include "plugin/preload/preload_core.h"

extern "C" __attribute__((visibility("default"))) const exactbloom::preload::Core*
exactbloom_preload_core() {
  static exactbloom::preload::Core core = {};
  const bool same_version = std::getenv("STAND_IN_SAME_VERSION") != nullptr;
  std::snprintf(core.version, sizeof core.version, "%s",
                same_version ? EXACTBLOOM_VERSION : "99.1");
  core.size = sizeof core + (same_version ? sizeof(void*) : 0);
  return &core;
}
