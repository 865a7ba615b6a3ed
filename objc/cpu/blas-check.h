// Whether a BLAS library computes the right numbers: some builds on some processors don't.
#pragma once

#include <string>

#include "blas.h"

namespace covarium::cpu {

// The first routine that gives a wrong number, with its shape; empty if none does. Takes about 2 ms.
std::string wrongRoutine(const Blas& library);

}  // namespace covarium::cpu
