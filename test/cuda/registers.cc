// Restores the registers of a coded text (objc/cuda/registers.h), from the standard input to the standard output. A
// refusal's code and message go to the standard error.
#include "../../objc/cuda/registers.h"

#include <iostream>
#include <iterator>

#include "../../objc/failure.h"

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  try {
    std::cout << covarium::cuda::withRegisters(text);
  } catch (const covarium::Failure& failure) {
    std::cerr << failure.code << ' ' << failure.what();
    return 1;
  }
}
