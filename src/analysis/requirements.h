// What every build needs: exceptions, by which short memory becomes a status or a filter that lets
// every key pass, and 64 bits, since counts of keys and products of hashes do not fit into fewer.
// __cpp_exceptions is of C++'s feature tests; GCC and Clang define the other two.
#pragma once

#ifndef __cpp_exceptions
#error ExactBloom needs exceptions: compile it without -fno-exceptions (docs/install.md)
#endif
#if !defined(__SIZEOF_INT128__) || __SIZEOF_POINTER__ < 8
#error ExactBloom needs GCC or Clang with pointers of 64 bits (docs/install.md)
#endif
