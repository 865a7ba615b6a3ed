#include "function.h"

#include "constant-values.h"

using softmetal::Call;

@implementation SoftMetalFunction
SOFT_LIFETIME("MTLFunction")
SOFT_LABEL("MTLFunction")
- (id<MTLDevice>)device {
  return used(state_, Call{"MTLFunction", _cmd}).device.get();
}
- (MTLFunctionType)functionType {
  used(state_, Call{"MTLFunction", _cmd});
  return MTLFunctionTypeKernel;
}
- (NSString*)name {
  return softmetal::stringOf(used(state_, Call{"MTLFunction", _cmd}).signature.name);
}
- (NSDictionary<NSString*, MTLFunctionConstant*>*)functionConstantsDictionary {
  return softmetal::dictionaryOf(used(state_, Call{"MTLFunction", _cmd}).shader->constants());
}
@end
