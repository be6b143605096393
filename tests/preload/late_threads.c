/* Loads RocksDB late, as language bindings do, and uses it from several threads and processes at once.
     late_threads MODE LIBROCKSDB LIBRARY DELAY
   MODE says what happens DELAY microseconds after another thread began the process's first call of RocksDB:
     load    dlopen of LIBRARY, whose constructor calls RocksDB if CALLS_IN_CONSTRUCTOR is set
     close   dlclose of LIBRARY, whose destructor calls RocksDB
     fork    forks until the call has ended; each child calls RocksDB
     again   nothing: two threads load, use and close LIBRARY a hundred times
   Ends by SIGALRM after 10 seconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* library;
static void* (*create)(double);
static pthread_barrier_t start;
static volatile int called;

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  _exit(3);
}

static void* call(void* unused) {
  if (create(10) == NULL) fail("no policy");
  called = 1;
  return unused;
}

static void* call_first(void* unused) {
  pthread_barrier_wait(&start);
  return call(unused);
}

static void fork_a_caller(void) {
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    alarm(5);
    call(NULL);
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || status != 0) fail("the child did not end well");
}

static void* open_library(void) {
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == NULL) fail(dlerror());
  return handle;
}

static void* load_use_and_close(void* unused) {
  for (int i = 0; i < 100; ++i) {
    void* handle = open_library();
    ((void (*)(void))dlsym(handle, "make_policy"))();
    dlclose(handle);
  }
  return unused;
}

int main(int argc, char** argv) {
  pthread_t other;
  if (argc != 5) return 2;
  const char* mode = argv[1];
  library = argv[3];
  alarm(10);
  if (strcmp(mode, "again") == 0) {
    pthread_create(&other, NULL, load_use_and_close, NULL);
    load_use_and_close(NULL);
    pthread_join(other, NULL);
    return 0;
  }
  if (dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL) == NULL) fail(dlerror());
  create = (void* (*)(double))dlsym(RTLD_DEFAULT, "rocksdb_filterpolicy_create_bloom");
  void* handle = strcmp(mode, "close") == 0 ? open_library() : NULL;
  pthread_barrier_init(&start, NULL, 2);
  pthread_create(&other, NULL, call_first, NULL);
  pthread_barrier_wait(&start);
  usleep((useconds_t)atoi(argv[4]));
  if (strcmp(mode, "load") == 0) open_library();
  if (strcmp(mode, "close") == 0) dlclose(handle);
  if (strcmp(mode, "fork") == 0) {
    do fork_a_caller();
    while (!called);
  }
  pthread_join(other, NULL);
  return 0;
}
