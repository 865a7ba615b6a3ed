#include "ledger.h"
#include "matrix-kernel.h"

using softmetal::Call;
using softmetal::View;

namespace {

struct Copy : SoftKernel {
  using SoftKernel::SoftKernel;
  size_t rows = 0, columns = 0;
  bool sourcesTransposed = false, destinationsTransposed = false;
};

struct Operation {
  softmetal::Ref<MPSMatrix*> source, destination;
  MPSMatrixCopyOffsets offsets = {};
};

void copy(const View& from, bool fromTransposed, const View& to, bool toTransposed, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      to.at(toTransposed ? j : i, toTransposed ? i : j) = from.at(fromTransposed ? j : i, fromTransposed ? i : j);
}

}  // namespace

struct SoftCopyDescriptor : softmetal::Counted {
  explicit SoftCopyDescriptor(size_t count) : Counted("MPSMatrixCopyDescriptor"), operations(count) {}
  std::vector<Operation> operations;
};

@interface MPSMatrixCopyDescriptor (Software)
- (SoftCopyDescriptor*)soft;
@end

@implementation MPSMatrixCopyDescriptor
SOFT_LIFETIME("MPSMatrixCopyDescriptor")
- (SoftCopyDescriptor*)soft {
  return state_;
}
+ (instancetype)descriptorWithSourceMatrix:(MPSMatrix*)sourceMatrix
                         destinationMatrix:(MPSMatrix*)destinationMatrix
                                   offsets:(MPSMatrixCopyOffsets)offsets {
  MPSMatrixCopyDescriptor* descriptor = [[[self alloc] initWithDevice:[sourceMatrix device] count:1] autorelease];
  [descriptor setCopyOperationAtIndex:0 sourceMatrix:sourceMatrix destinationMatrix:destinationMatrix offsets:offsets];
  return descriptor;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device count:(NSUInteger)count {
  const Call call{"MPSMatrixCopyDescriptor", _cmd};
  if (device == nil) call.refuse("is given a nil device.");
  if (count == 0) call.refuse("is given count (0).");
  if ((self = [super init]) != nil) state_ = new SoftCopyDescriptor(count);
  return self;
}
- (void)setCopyOperationAtIndex:(NSUInteger)index
                   sourceMatrix:(MPSMatrix*)sourceMatrix
              destinationMatrix:(MPSMatrix*)destinationMatrix
                        offsets:(MPSMatrixCopyOffsets)offsets {
  const Call call{"MPSMatrixCopyDescriptor", _cmd};
  auto& operations = used(state_, call).operations;
  if (index >= operations.size()) call.refuse("is given index (%zu) of (%zu).", size_t{index}, operations.size());
  softmetal::extentOf(sourceMatrix, "source matrix", call);
  softmetal::extentOf(destinationMatrix, "destination matrix", call);
  operations[index] = {softmetal::Ref<MPSMatrix*>(sourceMatrix), softmetal::Ref<MPSMatrix*>(destinationMatrix),
                       offsets};
}
@end

@implementation MPSMatrixCopy
- (instancetype)initWithDevice:(id<MTLDevice>)device
                      copyRows:(NSUInteger)copyRows
                   copyColumns:(NSUInteger)copyColumns
          sourcesAreTransposed:(BOOL)sourcesAreTransposed
     destinationsAreTransposed:(BOOL)destinationsAreTransposed {
  const Call call{"MPSMatrixCopy", _cmd};
  if (copyRows == 0 || copyColumns == 0) call.refuse("is given (%zu x %zu).", size_t{copyRows}, size_t{copyColumns});
  auto* made = new Copy("MPSMatrixCopy");
  made->rows = copyRows;
  made->columns = copyColumns;
  made->sourcesTransposed = sourcesAreTransposed;
  made->destinationsTransposed = destinationsAreTransposed;
  SOFT_KERNEL_INIT(made, device,
                   std::to_string(copyRows) + "x" + std::to_string(copyColumns) + (sourcesAreTransposed ? " T" : " N") +
                       (destinationsAreTransposed ? "T" : "N"));
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
               copyDescriptor:(MPSMatrixCopyDescriptor*)copyDescriptor {
  const Call call{"MPSMatrixCopy", _cmd};
  auto& kernel = static_cast<Copy&>(used(state_, call));
  if (copyDescriptor == nil) call.refuse("is given a nil descriptor.");
  for (const Operation& operation : used([copyDescriptor soft], call).operations) {
    const SoftExtent &from = softmetal::extentOf(operation.source.get(), "source matrix", call),
                     &to = softmetal::extentOf(operation.destination.get(), "destination matrix", call);
    // Offsets count rows and columns as they are stored.
    const bool flip = kernel.sourcesTransposed, turn = kernel.destinationsTransposed;
    const MPSMatrixCopyOffsets at = operation.offsets;
    const View source =
        softmetal::viewOf(from, "the source matrix", MTLOriginMake(at.sourceRowOffset, at.sourceColumnOffset, 0), 0,
                          flip ? kernel.columns : kernel.rows, flip ? kernel.rows : kernel.columns, call);
    const View destination = softmetal::viewOf(
        to, "the destination matrix", MTLOriginMake(at.destinationRowOffset, at.destinationColumnOffset, 0), 0,
        turn ? kernel.columns : kernel.rows, turn ? kernel.rows : kernel.columns, call);
    softmetal::checkApart(destination, source, false, call);
    softmetal::record(
        kernel, commandBuffer, {&from, &to}, {destination},
        [=, rows = kernel.rows, columns = kernel.columns] { copy(source, flip, destination, turn, rows, columns); },
        call);
  }
}
- (NSUInteger)copyRows {
  return static_cast<Copy&>(used(state_, Call{"MPSMatrixCopy", _cmd})).rows;
}
- (NSUInteger)copyColumns {
  return static_cast<Copy&>(used(state_, Call{"MPSMatrixCopy", _cmd})).columns;
}
- (BOOL)sourcesAreTransposed {
  return static_cast<Copy&>(used(state_, Call{"MPSMatrixCopy", _cmd})).sourcesTransposed;
}
- (BOOL)destinationsAreTransposed {
  return static_cast<Copy&>(used(state_, Call{"MPSMatrixCopy", _cmd})).destinationsTransposed;
}
@end
