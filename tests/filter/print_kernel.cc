// Prints the name of the kernels that this processor gets.
#include <iostream>

#include "exactbloom/filter.h"

int main() { std::cout << exactbloom::KernelName() << '\n'; }
