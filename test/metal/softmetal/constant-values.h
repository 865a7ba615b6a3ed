#pragma once

#import <Metal/Metal.h>

#include "object.h"
#include "shader.h"

namespace softmetal {

// The bytes of those of a text's constants that `values` has, by name or by index. Refuses a value of another type.
ConstantBytes bytesFor(const std::vector<FunctionConstant>& constants, MTLFunctionConstantValues* values,
                       const Call& call);

// Autoreleased: the result of -[MTLFunction functionConstantsDictionary].
NSDictionary* dictionaryOf(const std::vector<FunctionConstant>& constants);

}  // namespace softmetal
