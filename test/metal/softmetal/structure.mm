// What reflection reports about a struct that a kernel takes.
#include "structure.h"

#include "object.h"

using softmetal::Call;
using softmetal::Member;

struct SoftStructMember : softmetal::Counted {
  explicit SoftStructMember(const Member& member) : Counted("MTLStructMember"), member(member) {}
  const Member member;
};

struct SoftStructType : softmetal::Counted {
  SoftStructType() : Counted("MTLStructType") {}
  softmetal::Ref<NSMutableArray*> members = softmetal::Ref<NSMutableArray*>::adopt([[NSMutableArray alloc] init]);
};

@interface MTLStructMember (Software)
- (instancetype)initWithMember:(const Member&)member;
@end

@interface MTLStructType (Software)
- (instancetype)initWithMembers:(const std::vector<Member>&)members;
@end

namespace softmetal {

MTLStructType* structTypeOf(const std::vector<Member>& members) {
  if (members.empty()) return nil;
  return [[[MTLStructType alloc] initWithMembers:members] autorelease];
}

}  // namespace softmetal

@implementation MTLType
@end

@implementation MTLStructMember
SOFT_LIFETIME("MTLStructMember")
- (instancetype)initWithMember:(const Member&)member {
  if ((self = [super init]) != nil) state_ = new SoftStructMember(member);
  return self;
}
- (NSString*)name {
  return softmetal::stringOf(used(state_, Call{"MTLStructMember", _cmd}).member.name);
}
- (NSUInteger)offset {
  return used(state_, Call{"MTLStructMember", _cmd}).member.offsetBytes;
}
@end

@implementation MTLStructType
SOFT_LIFETIME("MTLStructType")
- (instancetype)initWithMembers:(const std::vector<Member>&)members {
  if ((self = [super init]) == nil) return nil;
  state_ = new SoftStructType;
  for (const Member& member : members) {
    MTLStructMember* object = [[MTLStructMember alloc] initWithMember:member];
    [state_->members.get() addObject:object];
    [object release];
  }
  return self;
}
- (NSArray<MTLStructMember*>*)members {
  return used(state_, Call{"MTLStructType", _cmd}).members.get();
}
- (MTLStructMember*)memberByName:(NSString*)name {
  for (MTLStructMember* member in used(state_, Call{"MTLStructType", _cmd}).members.get())
    if ([[member name] isEqualToString:name]) return member;
  return nil;
}
@end
