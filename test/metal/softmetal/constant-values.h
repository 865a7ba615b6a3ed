#pragma once

#import <Metal/Metal.h>

#include "object.h"
#include "shader.h"

namespace softmetal {

// The bytes for each of a text's constants that `values` have, by name or by index. Refuses one of another type.
ConstantBytes bytesFor(const std::vector<FunctionConstant>& constants, MTLFunctionConstantValues* values,
                       const Call& call);

// Autoreleased: what -[MTLFunction functionConstantsDictionary] gives.
NSDictionary* dictionaryOf(const std::vector<FunctionConstant>& constants);

}  // namespace softmetal
