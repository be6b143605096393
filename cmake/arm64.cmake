# Debian's cross compiler for 64-bit ARM, with the libraries of a Debian that has arm64 as a second architecture; scripts/arm64
# runs what it compiles.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_INSTALL_LIBDIR lib/aarch64-linux-gnu CACHE PATH "")  # which CMake knows only where it does not cross-compile
