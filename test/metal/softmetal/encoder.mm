#include "encoder.h"

#include "ledger.h"

SoftEncoder::SoftEncoder(const char* className, SoftMetalCommandBuffer* commandBuffer, const softmetal::Call& call)
    : Counted(className), buffer(commandBuffer) {
  SoftCommandBuffer& recorded = softmetal::recording(commandBuffer, call);
  recorded.openEncoder = className;
  recorded.passes.emplace_back();
  softmetal::count("encoders");
}

SoftEncoder::~SoftEncoder() {
  const softmetal::Call call { className, @selector(release) };
  if (!ended) call.refuse("is sent before endEncoding.");
}

void SoftEncoder::end(const softmetal::Call& call) {
  if (ended) call.refuse("is called twice.");
  if (debugGroups != 0) call.refuse("is called while (%d) debug groups are open.", debugGroups);
  ended = true;
  commandBuffer().openEncoder = nullptr;
}

void SoftEncoder::push(NSString* string, const softmetal::Call& call) {
  checkOpen(call);
  if (string == nil) call.refuse("is given a nil string.");
  ++debugGroups;
}

void SoftEncoder::pop(const softmetal::Call& call) {
  checkOpen(call);
  if (--debugGroups < 0) call.refuse("is called without a pushDebugGroup:.");
}
