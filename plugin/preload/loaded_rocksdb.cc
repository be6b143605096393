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
#include <ctime>
#include <new>
#include <string>

#include "exactbloom/version.h"

namespace exactbloom::preload {
namespace {

constexpr char kVersionSymbol[] = "_ZN7rocksdb23GetRocksVersionAsStringB5cxx11Eb";
constexpr char kCoreFile[] = "libexactbloom_rocksdb_core.so";
constexpr std::size_t kMessageSize = 2 * PATH_MAX;

// What was found out of the process's RocksDB: the core, or why there is none.
struct Decision {
  const Core* core;
  const void* core_base;
  const void* rocksdb_base;
  char refusal[kMessageSize];
};

// This object has no lock: each thread that finds no decision decides by itself, and one result is
// kept for ever. A thread with a lock could wait for the loader's, which is held by a thread whose
// dlopen runs a constructor that calls RocksDB, and so waits for the lock.
std::atomic<const Decision*> decision{nullptr};
std::atomic<int> deciding_threads{0};
std::atomic<int> forking_threads{0};
thread_local bool is_deciding = false;  // the core's initialisation calls hooks
char own_path[PATH_MAX];
pid_t started_process = 0;
struct stat standard_error;  // that the program was started with; all zero if it had none

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

// Returns a decision that the caller owns, or null if out of memory.
Decision* NewDecision() { return static_cast<Decision*>(calloc(1, sizeof(Decision))); }

[[gnu::format(printf, 1, 2)]] Decision* Refuse(const char* format, ...) {
  Decision* refused = NewDecision();
  if (refused == nullptr) return nullptr;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(refused->refusal, sizeof refused->refusal, format, arguments);
  va_end(arguments);
  return refused;
}

// Publishes the decision, unless another thread was faster, and returns the one that is kept. A
// refusal is reported. `made` may be null.
const Decision* Keep(Decision* made) {
  const Decision* kept = nullptr;
  if (made == nullptr) return decision.load();
  if (!decision.compare_exchange_strong(kept, made)) {
    free(made);
    return kept;
  }
  if (made->core == nullptr) {
    constexpr char kWhole[] = "exactbloom: %s; this object changes nothing";
    char message[sizeof made->refusal + sizeof kWhole];
    snprintf(message, sizeof message, kWhole, made->refusal);
    Report(message);
  }
  return made;
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

// Returns a handle of the object at this path if it is loaded. An empty path is the program. Until
// dlclose() the object stays loaded, whatever other threads close.
void* Hold(const char* path) {
  return dlopen(*path == '\0' ? nullptr : path, RTLD_LAZY | RTLD_NOLOAD);
}

// Returns the symbol of the object at this path, or of one that it needs, if the object is loaded.
// The caller knows that it stays loaded, or only compares the address.
void* FindFrom(const char* path, const char* symbol) {
  void* handle = Hold(path);
  if (handle == nullptr) return nullptr;
  void* found = dlsym(handle, symbol);
  dlclose(handle);
  return found;
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

// Whether the object is a RocksDB; then `copy` is filled in.
bool IsCopy(const Object& object, Copy* copy) {
  void* handle = Hold(object.path);
  if (handle == nullptr) return false;
  void* version = dlsym(handle, kVersionSymbol);
  const bool is_copy = version != nullptr && BaseOf(version) == object.base;
  if (is_copy) {
    if (*object.path != '\0') snprintf(copy->path, sizeof copy->path, "%s", object.path);
    copy->base = object.base;
    CallVersion(version, copy->version, sizeof copy->version);
  }
  dlclose(handle);
  return is_copy;
}

// Fills in the first two copies of RocksDB, and returns how many of these there are.
std::size_t FindCopies(Copy (&copies)[2]) {
  Objects objects;
  dl_iterate_phdr(Collect, &objects);
  std::size_t count = 0;
  for (std::size_t i = 0; i < objects.count; ++i) {
    if (count < 2 && IsCopy(objects.list[i], &copies[count])) ++count;
    free(objects.list[i].path);
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

// This and Decide() return a decision that the caller owns, or null: no RocksDB is loaded yet, or
// memory is short.
Decision* LoadCore() {
  char path[sizeof own_path + sizeof kCoreFile];
  const char* slash = strrchr(own_path, '/');
  const int folder = slash == nullptr ? 0 : static_cast<int>(slash + 1 - own_path);
  snprintf(path, sizeof path, "%.*s%s", folder, own_path, kCoreFile);
  void* handle = dlopen(path, RTLD_NOW);
  if (handle == nullptr) return Refuse("cannot load the policies: %s", dlerror());
  void* function = dlsym(handle, kCoreFunction);
  if (function == nullptr) return Refuse("%s is not the core of ExactBloom", path);
  const Core* core = reinterpret_cast<CoreFunction*>(function)();
  if (strncmp(core->version, EXACTBLOOM_VERSION, sizeof core->version) != 0 ||
      core->size != sizeof(Core)) {
    return Refuse(
        "%s is of another build, ExactBloom %.*s, than the preloaded %s: restart the program", path,
        static_cast<int>(sizeof core->version), core->version, EXACTBLOOM_VERSION);
  }
  if (!core->prepare(IsSet(), Report)) return Refuse("out of memory");
  Decision* made = NewDecision();
  if (made != nullptr) *made = {core, BaseOf(function), BaseOfLibrary(), ""};
  return made;
}

Decision* Decide(bool brings_rocksdb) {
  Copy copies[2];
  const std::size_t count = FindCopies(copies);
  if (count == 0) return brings_rocksdb ? LoadCore() : nullptr;
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
  return LoadCore();
}

// A child has none of the other threads of its parent, and what one of them had half done in the
// loader or in RocksDB stays so in the child. Forks and decisions therefore wait for each other,
// which takes milliseconds, but at most a second: a thread may hold a lock that the other needs. Of
// two that begin at once the fork comes first.
constexpr timespec kStep = {0, 1'000'000};
constexpr int kMostSteps = 1000;

void BeginFork() {
  if (is_deciding) return;
  ++forking_threads;
  for (int i = 0; i < kMostSteps && deciding_threads != 0; ++i) nanosleep(&kStep, nullptr);
}

void EndFork() {
  if (!is_deciding) --forking_threads;
}

void EndForkInChild() {
  forking_threads = 0;
  deciding_threads = is_deciding ? 1 : 0;
}

void BeginDeciding() {
  ++deciding_threads;
  for (int i = 0; i < kMostSteps && forking_threads != 0; ++i) {
    --deciding_threads;
    nanosleep(&kStep, nullptr);
    ++deciding_threads;
  }
  is_deciding = true;
}

void EndDeciding() {
  is_deciding = false;
  --deciding_threads;
}

// Returns what is decided, by this thread if need be; null if nothing is.
const Decision* DecideOnce(bool brings_rocksdb) {
  const Decision* made = decision;
  if (made != nullptr || is_deciding) return made;
  BeginDeciding();
  made = Keep(Decide(brings_rocksdb));
  EndDeciding();
  return made;
}

// Whether the function belongs to another RocksDB than the core's, one that was loaded later.
bool IsOtherRocksDB(const void* function, const void* rocksdb_base) {
  Dl_info info;
  if (dladdr(function, &info) == 0 || info.dli_fbase == rocksdb_base) return false;
  return BaseOf(FindFrom(info.dli_fname, kVersionSymbol)) == info.dli_fbase;
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
    Keep(Refuse("loaded twice, of which only %s is used and %s does nothing", other.dli_fname,
                own_path));
    return;
  }
  pthread_atfork(BeginFork, EndFork, EndForkInChild);
  DecideOnce(/*brings_rocksdb=*/false);
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
  if (decision != nullptr || !IsSet() || getpid() != started_process) return;
  Copy copies[2];
  if (FindCopies(copies) != 0 || HasParentWithVariable()) return;
  Keep(Refuse("%s is set, but %s uses no librocksdb.so, or has RocksDB linked statically",
              kVariable, program_invocation_name));
}

}  // namespace

const Core* LoadedCore(bool brings_rocksdb) {
  const Decision* made = DecideOnce(brings_rocksdb);
  return made == nullptr ? nullptr : made->core;
}

const char* Refusal() {
  const Decision* made = decision;
  return made == nullptr ? "out of memory" : made->refusal;
}

void* NextDefinition(void* own, void* caller) {
  Dl_info self;
  if (dladdr(own, &self) == 0 || self.dli_sname == nullptr) abort();
  void* next = dlsym(RTLD_NEXT, self.dli_sname);
  if (next != nullptr) return next;
  // RocksDB was loaded with RTLD_LOCAL, as language bindings do.
  Dl_info calling;
  if (dladdr(caller, &calling) != 0) next = FindFrom(calling.dli_fname, self.dli_sname);
  if (next != nullptr && BaseOf(next) != self.dli_fbase) return next;
  // The caller does not need RocksDB: what it called ended with this call, or it has the database
  // from another object, and calls by the table of virtual functions.
  Copy copies[2];
  if (FindCopies(copies) == 1) next = FindFrom(copies[0].path, self.dli_sname);
  if (next != nullptr && BaseOf(next) != self.dli_fbase) return next;
  char message[kMessageSize];
  snprintf(message, sizeof message, "exactbloom: %s is called, and no RocksDB has it",
           self.dli_sname);
  Report(message);
  abort();
}

const Core* CoreForCall(void* next, void* caller) {
  if (!IsSet()) return nullptr;
  const Decision* made = DecideOnce(/*brings_rocksdb=*/false);
  if (made == nullptr || made->core == nullptr) return nullptr;
  // The core itself calls RocksDB's functions: its policies read RocksDB's filters, too.
  if (BaseOf(caller) == made->core_base || IsOtherRocksDB(next, made->rocksdb_base)) return nullptr;
  return made->core;
}

}  // namespace exactbloom::preload
