// What both kinds of command encoder share.
#pragma once

#include "command-buffer.h"

struct SoftEncoder : softmetal::Counted {
  SoftEncoder(const char* className, SoftMetalCommandBuffer* buffer, const softmetal::Call& call);
  ~SoftEncoder() override;

  // Refuses calls after endEncoding.
  void checkOpen(const softmetal::Call& call) const {
    if (ended) call.refuse("is called after endEncoding.");
  }
  void end(const softmetal::Call& call);
  void push(NSString* string, const softmetal::Call& call);
  void pop(const softmetal::Call& call);
  SoftCommandBuffer& commandBuffer() const { return *buffer.get()->state_; }

  softmetal::Ref<SoftMetalCommandBuffer*> buffer;
  softmetal::Ref<NSString*> label;
  bool ended = false;
  int debugGroups = 0;
};

// The methods of MTLCommandEncoder.
#define SOFT_ENCODER(NAME)                                                  \
  SOFT_LIFETIME(NAME)                                                       \
  SOFT_LABEL(NAME)                                                          \
  -(id<MTLDevice>)device {                                                  \
    return [used(state_, softmetal::Call{NAME, _cmd}).buffer.get() device]; \
  }                                                                         \
  -(void)endEncoding {                                                      \
    used(state_, softmetal::Call{NAME, _cmd}).end({NAME, _cmd});            \
  }                                                                         \
  -(void)insertDebugSignpost : (NSString*)string {                          \
    used(state_, softmetal::Call{NAME, _cmd}).push(string, {NAME, _cmd});   \
    used(state_, softmetal::Call{NAME, _cmd}).pop({NAME, _cmd});            \
  }                                                                         \
  -(void)pushDebugGroup : (NSString*)string {                               \
    used(state_, softmetal::Call{NAME, _cmd}).push(string, {NAME, _cmd});   \
  }                                                                         \
  -(void)popDebugGroup {                                                    \
    used(state_, softmetal::Call{NAME, _cmd}).pop({NAME, _cmd});            \
  }
