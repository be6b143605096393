#include "loaded_rocksdb.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <rocksdb/version.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "exactbloom/version.h"

namespace exactbloom::preload {
namespace {

constexpr char kVersionSymbol[] = "_ZN7rocksdb23GetRocksVersionAsStringB5cxx11Eb";
constexpr char kCoreFile[] = "libexactbloom_rocksdb_core.so";
constexpr std::size_t kMessageSize = 2 * PATH_MAX;

enum class State { kUnknown, kDeciding, kActive, kRefused };

// Recursive: the core's initialisation calls hooks, which call LoadedCore.
pthread_mutex_t deciding = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
std::atomic<State> state{State::kUnknown};
const Core* core = nullptr;
const void* core_base = nullptr;
const void* rocksdb_base = nullptr;
char own_path[PATH_MAX];
pid_t started_process = 0;
struct stat standard_error;  // that the program was started with; all zero if it had none
char refusal[kMessageSize] = "no RocksDB is loaded";

bool HasStandardError() {
  struct stat now;
  return fstat(STDERR_FILENO, &now) == 0 && now.st_mode == standard_error.st_mode &&
         now.st_dev == standard_error.st_dev && now.st_ino == standard_error.st_ino;
}

// If the program closed standard error, or was started without it, descriptor 2 may be a file of
// its own.
void Report(const char* message) {
  const bool is_started = started_process != 0;
  if (!is_started || HasStandardError()) dprintf(STDERR_FILENO, "%s\n", message);
}

[[gnu::format(printf, 1, 2)]] void Refuse(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(refusal, sizeof refusal, format, arguments);
  va_end(arguments);
  state = State::kRefused;
  constexpr char kWhole[] = "exactbloom: %s; this object changes nothing";
  char message[sizeof refusal + sizeof kWhole];
  snprintf(message, sizeof message, kWhole, refusal);
  Report(message);
}

bool IsPolicy(const char* value) { return value[strspn(value, kBlanks)] != '\0'; }

bool IsSet() {
  const char* value = secure_getenv(kVariable);
  return value != nullptr && IsPolicy(value);
}

const void* BaseOf(const void* address) {
  Dl_info info;
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Returns the symbol of the object at this path, or of one that it needs, if the object is loaded.
// An empty path is the program.
void* FindFrom(const char* path, const char* symbol) {
  void* handle = dlopen(*path == '\0' ? nullptr : path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = dlsym(handle, symbol);
  dlclose(handle);  // the object stays loaded by its other handles
  return found;
}

// The same if the object, which has this base, defines the symbol itself.
void* FindIn(const char* path, const void* base, const char* symbol) {
  void* found = FindFrom(path, symbol);
  return BaseOf(found) == base ? found : nullptr;
}

// A shared object of the process, or its program.
struct Object {
  char* path;
  const void* base;
};

struct Objects {
  Object* list = nullptr;
  std::size_t count = 0;
};

// Appends to Objects. The loader must not be called from here: dl_iterate_phdr holds its lock.
int Collect(dl_phdr_info* info, std::size_t /*size*/, void* objects) {
  auto& all = *static_cast<Objects*>(objects);
  void* grown = realloc(all.list, (all.count + 1) * sizeof(Object));
  if (grown == nullptr) return 1;
  all.list = static_cast<Object*>(grown);
  // The address of the first segment, which dladdr also returns as the base.
  const void* base = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): dl_phdr_info has numbers
    base = reinterpret_cast<const void*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    break;
  }
  all.list[all.count] = {strdup(info->dlpi_name), base};
  if (all.list[all.count].path == nullptr) return 1;
  ++all.count;
  return 0;
}

// One copy of RocksDB in the process.
struct Copy {
  char path[PATH_MAX] = "the program";
  char version[64] = "";
  const void* base = nullptr;
};

// The string is never destroyed, because ~basic_string would need the C++ library.
void CallVersion(void* function, char* version, std::size_t size) {
  union Kept {
    Kept() {}
    ~Kept() {}
    std::string text;
  } kept;
  using Function = std::string (*)(bool);
  new (&kept.text) std::string(reinterpret_cast<Function>(function)(true));
  snprintf(version, size, "%s", kept.text.c_str());
}

// Fills in the first two copies, and returns how many there are.
std::size_t FindCopies(Copy (&copies)[2]) {
  Objects objects;
  dl_iterate_phdr(Collect, &objects);
  std::size_t count = 0;
  for (std::size_t i = 0; i < objects.count; ++i) {
    const Object& object = objects.list[i];
    void* version = FindIn(object.path, object.base, kVersionSymbol);
    if (version != nullptr && count < 2) {
      Copy& copy = copies[count];
      if (*object.path != '\0') snprintf(copy.path, sizeof copy.path, "%s", object.path);
      copy.base = object.base;
      CallVersion(version, copy.version, sizeof copy.version);
    }
    if (version != nullptr) ++count;
    free(object.path);
  }
  free(objects.list);
  return count;
}

bool IsMinorVersion(const char* version) {
  int major = 0;
  int minor = 0;
  return sscanf(version, "%d.%d", &major, &minor) == 2 && major == ROCKSDB_MAJOR &&
         minor == ROCKSDB_MINOR;
}

// The base of the RocksDB that programs link with, if it is loaded.
const void* BaseOfLibrary() { return BaseOf(FindFrom(EXACTBLOOM_ROCKSDB_SONAME, kVersionSymbol)); }

void LoadCore() {
  char path[sizeof own_path + sizeof kCoreFile];
  const char* slash = strrchr(own_path, '/');
  const int folder = slash == nullptr ? 0 : static_cast<int>(slash + 1 - own_path);
  snprintf(path, sizeof path, "%.*s%s", folder, own_path, kCoreFile);
  void* handle = dlopen(path, RTLD_NOW);
  if (handle == nullptr) return Refuse("cannot load the policies: %s", dlerror());
  void* function = dlsym(handle, kCoreFunction);
  if (function == nullptr) return Refuse("%s is not the core of ExactBloom", path);
  const Core* found = reinterpret_cast<CoreFunction*>(function)();
  if (strncmp(found->version, EXACTBLOOM_VERSION, sizeof found->version) != 0 ||
      found->size != sizeof(Core)) {
    return Refuse(
        "%s is of another build, ExactBloom %.*s, than the preloaded %s: restart the program", path,
        static_cast<int>(sizeof found->version), found->version, EXACTBLOOM_VERSION);
  }
  core = found;
  core_base = BaseOf(function);
  rocksdb_base = BaseOfLibrary();
  if (!core->prepare(IsSet(), Report)) return Refuse("out of memory");
  state = State::kActive;
}

void Decide(bool brings_rocksdb) {
  Copy copies[2];
  const std::size_t count = FindCopies(copies);
  if (count == 0) {
    if (brings_rocksdb) LoadCore();
    return;
  }
  if (count > 1) {
    return Refuse("the program has two copies of RocksDB, %s (%s) and %s (%s)", copies[0].path,
                  copies[0].version, copies[1].path, copies[1].version);
  }
  const Copy& copy = copies[0];
  if (!IsMinorVersion(copy.version)) {
    return Refuse("made for RocksDB %d.%d, but %s has RocksDB %s", ROCKSDB_MAJOR, ROCKSDB_MINOR,
                  copy.path, copy.version);
  }
  if (BaseOfLibrary() != copy.base) {
    return Refuse("RocksDB %s is linked into %s, where it cannot be reached, and not %s",
                  copy.version, copy.path, EXACTBLOOM_ROCKSDB_SONAME);
  }
  LoadCore();
}

// Whether the function belongs to another RocksDB than the core's, one that was loaded later.
bool IsOtherRocksDB(const void* function) {
  Dl_info info;
  if (dladdr(function, &info) == 0 || info.dli_fbase == rocksdb_base) return false;
  return FindIn(info.dli_fname, info.dli_fbase, kVersionSymbol) != nullptr;
}

[[gnu::constructor]] void Start() {
  started_process = getpid();
  if (fstat(STDERR_FILENO, &standard_error) != 0) standard_error = {};
  Dl_info info;
  // The address of a function that is exported could be another object's.
  if (dladdr(&own_path, &info) == 0 || realpath(info.dli_fname, own_path) == nullptr) return;
  const void* first = dlsym(RTLD_DEFAULT, "exactbloom_version");
  Dl_info other;
  if (first != nullptr && dladdr(first, &other) != 0 && other.dli_fbase != info.dli_fbase) {
    return Refuse("loaded twice, of which only %s is used and %s does nothing", other.dli_fname,
                  own_path);
  }
  LoadedCore();
}

// Whether the parent also has the variable. Then the parent reports, not its helper processes: a
// script can start many.
bool HasParentWithVariable() {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/environ", static_cast<int>(getppid()));
  FILE* file = fopen(path, "re");
  if (file == nullptr) return false;
  char* entry = nullptr;
  std::size_t capacity = 0;
  bool found = false;
  constexpr std::size_t kLength = sizeof kVariable - 1;
  while (!found && getdelim(&entry, &capacity, '\0', file) > 0) {
    found = strncmp(entry, kVariable, kLength) == 0 && entry[kLength] == '=' &&
            IsPolicy(entry + kLength + 1);
  }
  free(entry);
  fclose(file);
  return found;
}

// A program may load RocksDB at any time, so only at its end is it certain that it has none. A
// forked child must not call the loader: another thread of its parent may have held the lock.
[[gnu::destructor]] void End() {
  if (state != State::kUnknown || !IsSet() || getpid() != started_process) return;
  Copy copies[2];
  if (FindCopies(copies) != 0 || HasParentWithVariable()) return;
  Refuse("%s is set, but %s uses no librocksdb.so, or has RocksDB linked statically", kVariable,
         program_invocation_name);
}

}  // namespace

const Core* LoadedCore(bool brings_rocksdb) {
  if (state == State::kActive) return core;
  if (state == State::kRefused) return nullptr;
  pthread_mutex_lock(&deciding);
  if (state == State::kUnknown) {
    state = State::kDeciding;
    Decide(brings_rocksdb);
    State undecided = State::kDeciding;
    state.compare_exchange_strong(undecided, State::kUnknown);
  }
  const bool is_active = state == State::kActive;
  pthread_mutex_unlock(&deciding);
  return is_active ? core : nullptr;
}

const char* Refusal() { return refusal; }

void* NextDefinition(void* own, void* caller) {
  Dl_info self;
  if (dladdr(own, &self) == 0 || self.dli_sname == nullptr) abort();
  void* next = dlsym(RTLD_NEXT, self.dli_sname);
  if (next != nullptr) return next;
  // RocksDB was loaded with RTLD_LOCAL, as language bindings do.
  Dl_info calling;
  if (dladdr(caller, &calling) != 0) next = FindFrom(calling.dli_fname, self.dli_sname);
  if (next != nullptr && BaseOf(next) != self.dli_fbase) return next;
  char message[kMessageSize];
  snprintf(message, sizeof message, "exactbloom: %s is called, and no RocksDB has it",
           self.dli_sname);
  Report(message);
  abort();
}

const Core* CoreForCall(void* next, void* caller) {
  if (!IsSet()) return nullptr;
  const Core* loaded = LoadedCore();
  // The core itself calls RocksDB's functions: its policies read RocksDB's filters, too.
  if (loaded == nullptr || BaseOf(caller) == core_base || IsOtherRocksDB(next)) return nullptr;
  return loaded;
}

}  // namespace exactbloom::preload
