// The version of these headers, for C and C++; CMake parses the text. exactbloom_version() in c.h
// returns that of the library which is linked or loaded.
//
//   #if EXACTBLOOM_VERSION_MAJOR > 0 || EXACTBLOOM_VERSION_MINOR >= 1
#pragma once

#define EXACTBLOOM_VERSION "0.1.0"
#define EXACTBLOOM_VERSION_MAJOR 0
#define EXACTBLOOM_VERSION_MINOR 1
#define EXACTBLOOM_VERSION_PATCH 0
