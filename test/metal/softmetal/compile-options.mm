#import <Metal/Metal.h>

#include "object.h"

using softmetal::Call;

struct SoftCompileOptions : softmetal::Counted {
  SoftCompileOptions() : Counted("MTLCompileOptions") {}
  softmetal::Ref<NSDictionary*> macros;
  BOOL fastMathEnabled = YES;  // Apple's default
  MTLMathMode mathMode = MTLMathModeFast;
  MTLMathFloatingPointFunctions functions = MTLMathFloatingPointFunctionsFast;
  MTLLanguageVersion languageVersion = MTLLanguageVersion3_0;
  BOOL logs = NO;
};

namespace {

Call since15(SEL selector) {
  const Call call{"MTLCompileOptions", selector};
  call.needs(15);
  return call;
}

}  // namespace

@implementation MTLCompileOptions
SOFT_LIFETIME("MTLCompileOptions")
- (instancetype)init {
  if ((self = [super init]) != nil) state_ = new SoftCompileOptions;
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  const SoftCompileOptions& from = used(state_, Call{"MTLCompileOptions", _cmd});
  MTLCompileOptions* copy = [[MTLCompileOptions allocWithZone:zone] init];
  copy->state_->macros = from.macros;
  copy->state_->fastMathEnabled = from.fastMathEnabled;
  copy->state_->mathMode = from.mathMode;
  copy->state_->functions = from.functions;
  copy->state_->languageVersion = from.languageVersion;
  copy->state_->logs = from.logs;
  return copy;
}
- (NSDictionary<NSString*, NSObject*>*)preprocessorMacros {
  return used(state_, Call{"MTLCompileOptions", _cmd}).macros.get();
}
- (void)setPreprocessorMacros:(NSDictionary<NSString*, NSObject*>*)macros {
  used(state_, Call{"MTLCompileOptions", _cmd}).macros = softmetal::Ref<NSDictionary*>::adopt([macros copy]);
}
- (BOOL)fastMathEnabled {
  return used(state_, Call{"MTLCompileOptions", _cmd}).fastMathEnabled;
}
- (void)setFastMathEnabled:(BOOL)enabled {
  SoftCompileOptions& options = used(state_, Call{"MTLCompileOptions", _cmd});
  options.fastMathEnabled = enabled;
  options.mathMode = enabled ? MTLMathModeFast : MTLMathModeSafe;
}
- (MTLMathMode)mathMode {
  return used(state_, since15(_cmd)).mathMode;
}
- (void)setMathMode:(MTLMathMode)mode {
  SoftCompileOptions& options = used(state_, since15(_cmd));
  options.mathMode = mode;
  options.fastMathEnabled = mode != MTLMathModeSafe;
}
- (MTLMathFloatingPointFunctions)mathFloatingPointFunctions {
  return used(state_, since15(_cmd)).functions;
}
- (void)setMathFloatingPointFunctions:(MTLMathFloatingPointFunctions)functions {
  used(state_, since15(_cmd)).functions = functions;
}
- (BOOL)enableLogging {
  return used(state_, since15(_cmd)).logs;
}
- (void)setEnableLogging:(BOOL)logs {
  used(state_, since15(_cmd)).logs = logs;
}
- (MTLLanguageVersion)languageVersion {
  return used(state_, Call{"MTLCompileOptions", _cmd}).languageVersion;
}
- (void)setLanguageVersion:(MTLLanguageVersion)version {
  used(state_, Call{"MTLCompileOptions", _cmd}).languageVersion = version;
}
@end
