// Every call of Apple's API that objc/metal may make, once, with its types: the stub headers must declare all of
// them. It is compiled and never run.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

static std::string textOf(NSString* text) { return text == nil ? "" : text.UTF8String; }

id<MTLDevice> chooseDevice(uint64_t registryID, BOOL lowPower) {
  NSArray<id<MTLDevice>>* devices = MTLCopyAllDevices();
  id<MTLDevice> chosen = nil;
  for (id<MTLDevice> device in devices) {
    if (device.registryID == registryID && device.isLowPower == lowPower && [device isLowPower] == device.lowPower)
      chosen = [device retain];
  }
  [devices release];
  if (chosen == nil) chosen = MTLCreateSystemDefaultDevice();
  return MPSSupportsMTLDevice(chosen) && [chosen supportsFamily:MTLGPUFamilyMetal3] ? chosen : nil;
}

std::vector<uint64_t> limitsOf(id<MTLDevice> device) {
  const MTLSize most = device.maxThreadsPerThreadgroup;
  return {device.hasUnifiedMemory ? 1u : 0u, device.recommendedMaxWorkingSetSize, device.maxBufferLength,
          device.currentAllocatedSize,       device.maxThreadgroupMemoryLength,   most.width * most.height * most.depth,
          textOf(device.name).size()};
}

id<MTLBuffer> bufferOf(id<MTLDevice> device, void* bytes, NSUInteger length) {
  id<MTLBuffer> copied = [device newBufferWithBytes:bytes length:length options:MTLResourceStorageModeShared];
  [copied release];
  id<MTLBuffer> wrapped = [device newBufferWithBytesNoCopy:bytes
                                                    length:length
                                                   options:MTLResourceStorageModeShared
                                               deallocator:^(void* pointer, NSUInteger size) {
                                                 (void)pointer;
                                                 (void)size;
                                               }];
  [wrapped release];
  id<MTLBuffer> fresh =
      [device newBufferWithLength:length
                          options:MTLResourceStorageModePrivate | MTLResourceHazardTrackingModeTracked |
                                  MTLResourceCPUCacheModeDefaultCache];
  fresh.label = @"covarium";
  if (fresh.storageMode == MTLStorageModeShared && fresh.length >= length && fresh.device == device)
    *static_cast<char*>(fresh.contents) = 0;
  return fresh;
}

id<MTLLibrary> libraryOf(id<MTLDevice> device, const char* source, std::string& message) {
  MTLCompileOptions* options = [[[MTLCompileOptions alloc] init] autorelease];
  options.fastMathEnabled = NO;
// An SDK older than macOS 15 does not declare it.
#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED) || __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
  if (@available(macOS 15.0, *)) options.mathMode = MTLMathModeSafe;
#endif
  options.languageVersion = MTLLanguageVersion3_0;
  NSError* error = nil;
  id<MTLLibrary> library =
      [device newLibraryWithSource:[NSString stringWithUTF8String:source] options:options error:&error];
  if (library == nil && [error.domain isEqualToString:MTLLibraryErrorDomain] &&
      error.code == MTLLibraryErrorCompileFailure)
    message = textOf(error.localizedDescription);
  library.label = @"covarium";
  for (NSString* name in library.functionNames) message += textOf(name);
  return library;
}

id<MTLComputePipelineState> pipelineOf(id<MTLLibrary> library, NSString* name,
                                       std::map<NSUInteger, std::string>& bindings) {
  id<MTLFunction> function = [library newFunctionWithName:name];
  function.label = function.name;
  NSError* error = nil;
  [[library.device newComputePipelineStateWithFunction:function error:&error] release];
  MTLComputePipelineDescriptor* descriptor = [[MTLComputePipelineDescriptor alloc] init];
  descriptor.label = name;
  descriptor.computeFunction = function;
  MTLComputePipelineReflection* reflection = nil;
  id<MTLComputePipelineState> pipeline = [library.device
      newComputePipelineStateWithDescriptor:descriptor
                                    options:MTLPipelineOptionArgumentInfo | MTLPipelineOptionBufferTypeInfo
                                 reflection:&reflection
                                      error:&error];
  for (id<MTLBinding> binding in reflection.bindings) {
    if (!binding.used || !binding.isArgument || binding.access == MTLBindingAccessWriteOnly) continue;
    bindings[binding.index] = textOf(binding.name);
    if (binding.type == MTLBindingTypeBuffer) {
      id<MTLBufferBinding> buffer = (id<MTLBufferBinding>)binding;
      bindings[buffer.bufferDataSize + buffer.bufferAlignment] = "buffer";
    } else if (binding.type == MTLBindingTypeThreadgroupMemory) {
      id<MTLThreadgroupBinding> memory = (id<MTLThreadgroupBinding>)binding;
      bindings[memory.threadgroupMemoryDataSize + memory.threadgroupMemoryAlignment] = "threadgroup";
    }
  }
  [descriptor release];
  [function release];
  const NSUInteger most = pipeline.maxTotalThreadsPerThreadgroup, width = pipeline.threadExecutionWidth;
  bindings[most + width + pipeline.staticThreadgroupMemoryLength] = textOf(pipeline.label);
  return pipeline;
}

void encode(id<MTLCommandBuffer> commands, id<MTLComputePipelineState> pipeline, id<MTLBuffer> buffer) {
  const uint32_t count = 3;
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeSerial];
  encoder.label = @"covarium";
  [encoder pushDebugGroup:@"fill"];
  [encoder setComputePipelineState:pipeline];
  [encoder setBuffer:buffer offset:0 atIndex:0];
  [encoder setBufferOffset:16 atIndex:0];
  [encoder setBytes:&count length:sizeof count atIndex:1];
  [encoder setThreadgroupMemoryLength:128 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(count, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(pipeline.threadExecutionWidth, 1, 1)];
  [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
  [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder popDebugGroup];
  [encoder endEncoding];
  [[commands computeCommandEncoder] endEncoding];
  id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
  blit.label = @"covarium";
  [blit copyFromBuffer:buffer sourceOffset:0 toBuffer:buffer destinationOffset:4 size:4];
  [blit fillBuffer:buffer range:NSMakeRange(0, 4) value:0];
  [blit endEncoding];
}

double commit(id<MTLDevice> device, const std::function<void(id<MTLCommandBuffer>)>& record, std::string& message) {
  id<MTLCommandQueue> queue = [device newCommandQueueWithMaxCommandBufferCount:64];
  [[device newCommandQueue] release];
  queue.label = @"covarium";
  MTLCommandBufferDescriptor* descriptor = [[MTLCommandBufferDescriptor alloc] init];
  descriptor.retainedReferences = YES;
  descriptor.errorOptions = MTLCommandBufferErrorOptionEncoderExecutionStatus;
  id<MTLCommandBuffer> commands =
      queue.device == device ? [queue commandBufferWithDescriptor:descriptor] : [queue commandBuffer];
  [descriptor release];
  commands.label = @"covarium";
  [commands pushDebugGroup:@"sample"];
  record(commands);
  [commands popDebugGroup];
  __block CFTimeInterval seconds = 0;
  [commands addScheduledHandler:^(id<MTLCommandBuffer> scheduled) {
    (void)scheduled.retainedReferences;
  }];
  [commands addCompletedHandler:^(id<MTLCommandBuffer> completed) {
    seconds = completed.GPUEndTime - completed.GPUStartTime + completed.kernelEndTime - completed.kernelStartTime;
  }];
  [commands enqueue];
  [commands commit];
  [commands waitUntilScheduled];
  [commands waitUntilCompleted];
  NSError* error = commands.error;
  if (commands.status == MTLCommandBufferStatusError && [error.domain isEqualToString:MTLCommandBufferErrorDomain]) {
    const bool isKnown =
        error.code == MTLCommandBufferErrorOutOfMemory || error.code == MTLCommandBufferErrorTimeout ||
        error.code == MTLCommandBufferErrorPageFault || error.code == MTLCommandBufferErrorNotPermitted ||
        error.code == MTLCommandBufferErrorInternal || error.code == MTLCommandBufferErrorDeviceRemoved ||
        error.code == MTLCommandBufferErrorStackOverflow || error.code == MTLCommandBufferErrorInvalidResource;
    message = isKnown ? textOf(error.localizedDescription) : std::to_string(error.code);
  }
  [queue release];
  return seconds;
}

MPSMatrix* matrixOf(id<MTLBuffer> buffer, NSUInteger rows, NSUInteger columns) {
  const size_t rowBytes = [MPSMatrixDescriptor rowBytesForColumns:columns dataType:MPSDataTypeFloat32];
  MPSMatrixDescriptor* one =
      [MPSMatrixDescriptor matrixDescriptorWithRows:rows columns:columns rowBytes:rowBytes dataType:MPSDataTypeFloat32];
  MPSMatrixDescriptor* many = [MPSMatrixDescriptor matrixDescriptorWithRows:rows
                                                                    columns:columns
                                                                   matrices:2
                                                                   rowBytes:rowBytes
                                                                matrixBytes:rows * rowBytes
                                                                   dataType:MPSDataTypeFloat32];
  [[[MPSMatrix alloc] initWithBuffer:buffer descriptor:many] release];
  return [[MPSMatrix alloc] initWithBuffer:buffer offset:16 descriptor:one];
}

MPSVector* vectorOf(id<MTLBuffer> buffer, NSUInteger length) {
  MPSVectorDescriptor* descriptor = [MPSVectorDescriptor vectorDescriptorWithLength:length dataType:MPSDataTypeFloat32];
  [[[MPSVector alloc] initWithBuffer:buffer descriptor:descriptor] release];
  return [[MPSVector alloc] initWithBuffer:buffer offset:0 descriptor:descriptor];
}

void products(id<MTLDevice> device, id<MTLCommandBuffer> commands, MPSMatrix* a, MPSVector* x) {
  MPSMatrixMultiplication* product = [[MPSMatrixMultiplication alloc] initWithDevice:device
                                                                       transposeLeft:NO
                                                                      transposeRight:YES
                                                                          resultRows:2
                                                                       resultColumns:2
                                                                     interiorColumns:2
                                                                               alpha:1.0
                                                                                beta:0.0];
  product.leftMatrixOrigin = product.rightMatrixOrigin = product.resultMatrixOrigin = MTLOriginMake(0, 0, 0);
  product.batchStart = 0;
  product.batchSize = 1;
  product.label = @"product";
  product.options = MPSKernelOptionsSkipAPIValidation;
  [product encodeToCommandBuffer:commands leftMatrix:a rightMatrix:a resultMatrix:a];
  MPSMatrixVectorMultiplication* vector =
      [[MPSMatrixVectorMultiplication alloc] initWithDevice:device transpose:NO rows:2 columns:2 alpha:1.0 beta:0.0];
  vector.primarySourceMatrixOrigin = vector.secondarySourceMatrixOrigin = vector.resultMatrixOrigin =
      MTLOriginMake(0, 0, 0);
  [vector encodeToCommandBuffer:commands inputMatrix:a inputVector:x resultVector:x];
  MPSMatrixSum* sum = [[MPSMatrixSum alloc] initWithDevice:device count:2 rows:2 columns:2 transpose:NO];
  [sum encodeToCommandBuffer:commands
              sourceMatrices:[NSArray arrayWithObjects:a, a, nil]
                resultMatrix:a
                 scaleVector:nil
                offsetVector:nil
                  biasVector:x
                  startIndex:0];
  MPSMatrixCopy* copy = [[MPSMatrixCopy alloc] initWithDevice:device
                                                     copyRows:2
                                                  copyColumns:2
                                         sourcesAreTransposed:NO
                                    destinationsAreTransposed:NO];
  const MPSMatrixCopyOffsets offsets = {0, 0, 0, 0};
  [copy
      encodeToCommandBuffer:commands
             copyDescriptor:[MPSMatrixCopyDescriptor descriptorWithSourceMatrix:a destinationMatrix:a offsets:offsets]];
  MPSMatrixCopyDescriptor* several = [[MPSMatrixCopyDescriptor alloc] initWithDevice:device count:1];
  [several setCopyOperationAtIndex:0 sourceMatrix:a destinationMatrix:a offsets:offsets];
  for (NSObject* each in @[ product, vector, sum, copy, several ]) [each release];
}

bool factor(id<MTLDevice> device, id<MTLCommandBuffer> commands, MPSMatrix* a, id<MTLBuffer> status) {
  MPSMatrixDecompositionCholesky* cholesky =
      [[MPSMatrixDecompositionCholesky alloc] initWithDevice:device lower:YES order:2];
  cholesky.sourceMatrixOrigin = cholesky.resultMatrixOrigin = MTLOriginMake(0, 0, 0);
  [cholesky encodeToCommandBuffer:commands sourceMatrix:a resultMatrix:a status:status];
  MPSKernel* kernel = [[MPSKernel alloc] initWithDevice:device];
  const bool isHere = kernel.device == device;
  for (NSObject* each in @[ cholesky, kernel ]) [each release];
  switch (*static_cast<const MPSMatrixDecompositionStatus*>(status.contents)) {
    case MPSMatrixDecompositionStatusSuccess:
      return isHere;
    case MPSMatrixDecompositionStatusFailure:
    case MPSMatrixDecompositionStatusSingular:
    case MPSMatrixDecompositionStatusNonPositiveDefinite:
      return false;
  }
  return false;
}

bool capture(id<MTLDevice> device, NSString* path) {
  NSAutoreleasePool* pool = [[NSAutoreleasePool alloc] init];
  MTLCaptureManager* manager = [MTLCaptureManager sharedCaptureManager];
  MTLCaptureDescriptor* descriptor = [[[MTLCaptureDescriptor alloc] init] autorelease];
  descriptor.captureObject = device;
  descriptor.destination = MTLCaptureDestinationGPUTraceDocument;
  descriptor.outputURL = [NSURL fileURLWithPath:path];
  NSError* error = nil;
  const bool started = [manager supportsDestination:MTLCaptureDestinationGPUTraceDocument] && !manager.isCapturing &&
                       [manager startCaptureWithDescriptor:descriptor error:&error];
  if (started) [manager stopCapture];
  [pool drain];
  return started;
}
