#pragma once

#import <Metal/Metal.h>

#include "signature.h"

namespace softmetal {

// Autoreleased; nil if it is not a struct.
MTLStructType* structTypeOf(const std::vector<Member>& members);

}  // namespace softmetal
