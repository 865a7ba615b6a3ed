// Function constants: their declarations in a text, and the values that a caller gives.
#include "constant-values.h"

using softmetal::Call;
using softmetal::FunctionConstant;

namespace {

struct Value {
  MTLDataType type;
  std::vector<uint8_t> bytes;
};

// Scalars and vectors: Apple numbers each scalar's four widths consecutively.
size_t sizeOf(MTLDataType type, const Call& call) {
  constexpr struct {
    MTLDataType first;
    size_t sizeBytes;
  } scalars[] = {{MTLDataTypeFloat, 4}, {MTLDataTypeHalf, 2},   {MTLDataTypeInt, 4},  {MTLDataTypeUInt, 4},
                 {MTLDataTypeShort, 2}, {MTLDataTypeUShort, 2}, {MTLDataTypeChar, 1}, {MTLDataTypeUChar, 1},
                 {MTLDataTypeBool, 1},  {MTLDataTypeLong, 8},   {MTLDataTypeULong, 8}};
  for (const auto& scalar : scalars) {
    if (type < scalar.first || type > scalar.first + 3) continue;
    const size_t width = type - scalar.first + 1;
    return scalar.sizeBytes * (width == 3 ? 4 : width);
  }
  call.refuse("is given a type (%zu) that no function constant has.", size_t{type});
}

}  // namespace

struct SoftConstantValues : softmetal::Counted {
  SoftConstantValues() : Counted("MTLFunctionConstantValues") {}
  std::map<std::string, Value> named;
  std::map<NSUInteger, Value> indexed;
};

struct SoftFunctionConstant : softmetal::Counted {
  explicit SoftFunctionConstant(const FunctionConstant& constant)
      : Counted("MTLFunctionConstant"), constant(constant) {}
  const FunctionConstant constant;
};

@interface MTLFunctionConstantValues (Software)
- (SoftConstantValues&)values;
@end

@interface MTLFunctionConstant (Software)
- (instancetype)initWithConstant:(const FunctionConstant&)constant;
@end

namespace softmetal {

ConstantBytes bytesFor(const std::vector<FunctionConstant>& constants, MTLFunctionConstantValues* values,
                       const Call& call) {
  ConstantBytes bytes;
  const SoftConstantValues& given = [values values];
  for (const FunctionConstant& constant : constants) {
    const auto named = given.named.find(constant.name);
    const auto indexed = given.indexed.find(constant.index);
    if (named == given.named.end() && indexed == given.indexed.end()) continue;
    const Value& value = named != given.named.end() ? named->second : indexed->second;
    if (value.type != constant.type)
      call.refuse("is given constant (%s) of type (%zu), but the text says (%u).", constant.name.c_str(),
                  size_t{value.type}, constant.type);
    bytes[constant.name] = value.bytes;
  }
  return bytes;
}

NSDictionary* dictionaryOf(const std::vector<FunctionConstant>& constants) {
  NSMutableDictionary* dictionary = [NSMutableDictionary dictionary];
  for (const FunctionConstant& constant : constants) {
    MTLFunctionConstant* object = [[MTLFunctionConstant alloc] initWithConstant:constant];
    [dictionary setObject:object forKey:stringOf(constant.name)];
    [object release];
  }
  return dictionary;
}

}  // namespace softmetal

@implementation MTLFunctionConstantValues
SOFT_LIFETIME("MTLFunctionConstantValues")
- (instancetype)init {
  if ((self = [super init]) != nil) state_ = new SoftConstantValues;
  return self;
}
- (SoftConstantValues&)values {
  return used(state_, Call{"MTLFunctionConstantValues", _cmd});
}
- (id)copyWithZone:(NSZone*)zone {
  const SoftConstantValues& from = used(state_, Call{"MTLFunctionConstantValues", _cmd});
  MTLFunctionConstantValues* copy = [[MTLFunctionConstantValues allocWithZone:zone] init];
  copy->state_->named = from.named;
  copy->state_->indexed = from.indexed;
  return copy;
}
- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index {
  const Call call{"MTLFunctionConstantValues", _cmd};
  if (value == nullptr) call.refuse("is given no value.");
  const auto* bytes = static_cast<const uint8_t*>(value);
  used(state_, call).indexed[index] = {type, {bytes, bytes + sizeOf(type, call)}};
}
- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name {
  const Call call{"MTLFunctionConstantValues", _cmd};
  if (value == nullptr) call.refuse("is given no value.");
  if (name == nil) call.refuse("is given a nil name.");
  const auto* bytes = static_cast<const uint8_t*>(value);
  used(state_, call).named[softmetal::textOf(name)] = {type, {bytes, bytes + sizeOf(type, call)}};
}
- (void)reset {
  SoftConstantValues& values = used(state_, Call{"MTLFunctionConstantValues", _cmd});
  values.named.clear();
  values.indexed.clear();
}
@end

@implementation MTLFunctionConstant
SOFT_LIFETIME("MTLFunctionConstant")
- (instancetype)initWithConstant:(const FunctionConstant&)constant {
  if ((self = [super init]) != nil) state_ = new SoftFunctionConstant(constant);
  return self;
}
- (NSString*)name {
  return softmetal::stringOf(used(state_, Call{"MTLFunctionConstant", _cmd}).constant.name);
}
- (MTLDataType)type {
  return static_cast<MTLDataType>(used(state_, Call{"MTLFunctionConstant", _cmd}).constant.type);
}
- (NSUInteger)index {
  return used(state_, Call{"MTLFunctionConstant", _cmd}).constant.index;
}
- (BOOL)required {
  return used(state_, Call{"MTLFunctionConstant", _cmd}).constant.required;
}
@end
