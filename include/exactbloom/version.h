// The one place that holds ExactBloom's version; CMake parses it.
#pragma once

#define EXACTBLOOM_VERSION "0.1.0"
