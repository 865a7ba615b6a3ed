#include "matrix-kernel.h"

#include <cmath>

#include "device.h"
#include "ledger.h"
#include "settings.h"

using softmetal::Call;

namespace softmetal {

namespace {

// "MPSMatrixSum" makes the first result wrong, "MPSMatrixSum:nan" all of them NaN.
void spoil(const std::string& className, const std::vector<View>& results) {
  const std::string broken = text("brokenMps");
  if (broken.substr(0, broken.find(':')) != className) return;
  for (const View& result : results) {
    if (broken.find(":nan") != std::string::npos) {
      fillWithNaN(result);
    } else {
      result.at(0, 0) += 1 + std::fabs(result.at(0, 0));
    }
  }
}

}  // namespace

bool prepare(SoftKernel& kernel, id<MTLDevice> device, const std::string& shape, const Call& call) {
  deviceOf(device, call);
  kernel.device = Ref<id<MTLDevice>>(device);
  if (!MPSSupportsMTLDevice(device)) return false;
  count(kernel.className);
  count(kernel.className + (" " + shape));
  return true;
}

void record(SoftKernel& kernel, id<MTLCommandBuffer> commandBuffer, std::vector<const SoftExtent*> operands,
            std::vector<View> results, std::function<void()> command, const Call& call) {
  SoftCommandBuffer& buffer = recording(commandBuffer, call);
  checkSameDevice([commandBuffer device], kernel.device.get(), "kernel", call);
  buffer.passes.emplace_back();
  for (const SoftExtent* operand : operands) buffer.uses(operand->data.get(), call);
  buffer.pass().commands.push_back(
      [name = std::string(kernel.className), command = std::move(command), results = std::move(results)] {
        count("encoded " + name);
        command();
        spoil(name, results);
      });
}

std::pair<size_t, size_t> batchOf(const SoftKernel& kernel, const std::vector<const SoftExtent*>& operands,
                                  const Call& call) {
  size_t most = NSUIntegerMax;
  for (const SoftExtent* operand : operands) most = std::min(most, size_t{operand->matrices});
  if (kernel.batchStart >= most || kernel.batchSize == 0)
    call.refuse("has the empty batch of (%zu) from (%zu) of (%zu) matrices.", size_t{kernel.batchSize},
                size_t{kernel.batchStart}, most);
  return {kernel.batchStart, kernel.batchStart + std::min<size_t>(kernel.batchSize, most - kernel.batchStart)};
}

void checkApart(const View& result, const View& source, bool mayBeSame, const Call& call) {
  if (result.end() <= source.bytes || source.end() <= result.bytes) return;
  if (mayBeSame && result.bytes == source.bytes && result.rowBytes == source.rowBytes) return;
  // They may lie side by side in the same rows.
  if (result.rowBytes == source.rowBytes) {
    const size_t stride = result.rowBytes, base = reinterpret_cast<size_t>(std::min(result.bytes, source.bytes));
    const size_t a = (reinterpret_cast<size_t>(result.bytes) - base) % stride, aEnd = a + result.columns * 4;
    const size_t b = (reinterpret_cast<size_t>(source.bytes) - base) % stride, bEnd = b + source.columns * 4;
    if (aEnd <= stride && bEnd <= stride && (aEnd <= b || bEnd <= a)) return;
  }
  call.refuse("has a result that overlaps a source.");
}

}  // namespace softmetal

@implementation MPSKernel
SOFT_LIFETIME(state_ == nullptr ? "MPSKernel" : state_->className)
SOFT_LABEL("MPSKernel")
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  const Call call{"MPSKernel", _cmd};
  if ([self class] != [MPSKernel class]) call.refuse("is not for a subclass, which has an initializer of its own.");
  SOFT_KERNEL_INIT(new SoftKernel("MPSKernel"), device, "");
}
- (MPSKernelOptions)options {
  return used(state_, Call{"MPSKernel", _cmd}).options;
}
- (void)setOptions:(MPSKernelOptions)options {
  used(state_, Call{"MPSKernel", _cmd}).options = options;
}
- (id<MTLDevice>)device {
  return used(state_, Call{"MPSKernel", _cmd}).device.get();
}
@end

#define SOFT_FIELD(CLASS, TYPE, GETTER, SETTER, FIELD) \
  -(TYPE)GETTER {                                      \
    return used(state_, Call{CLASS, _cmd}).FIELD;      \
  }                                                    \
  -(void)SETTER : (TYPE)value {                        \
    used(state_, Call{CLASS, _cmd}).FIELD = value;     \
  }

@implementation MPSMatrixUnaryKernel
SOFT_FIELD("MPSMatrixUnaryKernel", MTLOrigin, sourceMatrixOrigin, setSourceMatrixOrigin, firstOrigin)
SOFT_FIELD("MPSMatrixUnaryKernel", MTLOrigin, resultMatrixOrigin, setResultMatrixOrigin, resultOrigin)
SOFT_FIELD("MPSMatrixUnaryKernel", NSUInteger, batchStart, setBatchStart, batchStart)
SOFT_FIELD("MPSMatrixUnaryKernel", NSUInteger, batchSize, setBatchSize, batchSize)
@end

@implementation MPSMatrixBinaryKernel
SOFT_FIELD("MPSMatrixBinaryKernel", MTLOrigin, primarySourceMatrixOrigin, setPrimarySourceMatrixOrigin, firstOrigin)
SOFT_FIELD("MPSMatrixBinaryKernel", MTLOrigin, secondarySourceMatrixOrigin, setSecondarySourceMatrixOrigin,
           secondOrigin)
SOFT_FIELD("MPSMatrixBinaryKernel", MTLOrigin, resultMatrixOrigin, setResultMatrixOrigin, resultOrigin)
SOFT_FIELD("MPSMatrixBinaryKernel", NSUInteger, batchStart, setBatchStart, batchStart)
SOFT_FIELD("MPSMatrixBinaryKernel", NSUInteger, batchSize, setBatchSize, batchSize)
@end
