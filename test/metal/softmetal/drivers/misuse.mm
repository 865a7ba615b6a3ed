// Each case is one misuse, named on the command line; without a name, the cases are listed. Every case must end with
// the stand-in's sentence. A case that returns was not noticed, and says so. Seven have a twin, with `twin` as the
// second argument: the same work without the mistake, which must be accepted.
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "../exports.h"
#include "fixture.h"

namespace {

struct Scene {
  Fixture fixture;
  id<MTLBuffer> floats = fixture.newFloats(std::vector<float>(64));
  id<MTLCommandBuffer> buffer = [fixture.queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder() { return fixture.encoderOver(buffer, floats, 4); }
  MPSMatrix* matrix(NSUInteger rows, NSUInteger columns) { return newMatrix(floats, rows, columns); }
  // A queue's work that takes a second.
  void commitSlowly(id<MTLCommandBuffer> slow) {
    softmetal_set("delayMs", "1000");
    [slow commit];
  }
};

const MTLSize one = {1, 1, 1};

void dispatch(id<MTLComputeCommandEncoder> encoder) { [encoder dispatchThreads:one threadsPerThreadgroup:one]; }

MPSMatrix* described(Scene& scene, NSUInteger rows, NSUInteger columns, NSUInteger rowBytes, NSUInteger offset,
                     MPSDataType type) {
  return [[MPSMatrix alloc] initWithBuffer:scene.floats
                                    offset:offset
                                descriptor:[MPSMatrixDescriptor matrixDescriptorWithRows:rows
                                                                                 columns:columns
                                                                                rowBytes:rowBytes
                                                                                dataType:type]];
}

MPSMatrixMultiplication* product(Scene& scene, NSUInteger m, NSUInteger n, NSUInteger k) {
  return [[MPSMatrixMultiplication alloc] initWithDevice:scene.fixture.device
                                           transposeLeft:NO
                                          transposeRight:NO
                                              resultRows:m
                                           resultColumns:n
                                         interiorColumns:k
                                                   alpha:1
                                                    beta:0];
}

MPSMatrixDecompositionCholesky* cholesky(Scene& scene, NSUInteger n) {
  return [[MPSMatrixDecompositionCholesky alloc] initWithDevice:scene.fixture.device lower:YES order:n];
}

void decompose(Scene& scene, MPSMatrix* from, MPSMatrix* to, id<MTLBuffer> status) {
  [cholesky(scene, 4) encodeToCommandBuffer:scene.buffer sourceMatrix:from resultMatrix:to status:status];
}

id<MTLDevice> secondDevice() {
  softmetal_set("secondDevice", "1");
  return [MTLCopyAllDevices() objectAtIndex:1];
}

id<MTLTexture> texture(Scene& scene, MTLTextureType type, NSUInteger format, NSUInteger width, NSUInteger height) {
  MTLTextureDescriptor* descriptor = [[MTLTextureDescriptor alloc] init];
  [descriptor setTextureType:type];
  [descriptor setPixelFormat:static_cast<MTLPixelFormat>(format)];
  [descriptor setWidth:width];
  [descriptor setHeight:height];
  [descriptor setStorageMode:MTLStorageModePrivate];
  return [scene.fixture.device newTextureWithDescriptor:descriptor];
}

// A texture of 4 x 4 floats from a buffer of 64.
void fill(Scene& scene, NSUInteger offset, NSUInteger rowBytes, MTLSize size, NSUInteger slice) {
  [[scene.buffer blitCommandEncoder] copyFromBuffer:scene.floats
                                       sourceOffset:offset
                                  sourceBytesPerRow:rowBytes
                                sourceBytesPerImage:rowBytes * 4
                                         sourceSize:size
                                          toTexture:texture(scene, MTLTextureType2D, MTLPixelFormatR32Float, 4, 4)
                                   destinationSlice:slice
                                   destinationLevel:0
                                  destinationOrigin:MTLOriginMake(0, 0, 0)];
}

void blit(Scene& scene, NSUInteger from, NSUInteger to, NSUInteger size) {
  [[scene.buffer blitCommandEncoder] copyFromBuffer:scene.floats
                                       sourceOffset:from
                                           toBuffer:scene.fixture.newFloats({1, 2, 3, 4})
                                  destinationOffset:to
                                               size:size];
}

void squaredNorms(Scene& scene, NSUInteger memory, NSUInteger lanes) {
  id<MTLComputeCommandEncoder> encoder = scene.encoder();
  [encoder setComputePipelineState:scene.fixture.squaredNorms];
  [encoder setBuffer:scene.floats offset:128 atIndex:1];
  const uint32_t shape[] = {2, 2};
  [encoder setBytes:shape length:sizeof shape atIndex:2];
  if (memory != 0) [encoder setThreadgroupMemoryLength:memory atIndex:0];
  const MTLSize group = {lanes, 1, 1};
  [encoder dispatchThreads:group threadsPerThreadgroup:group];
  [encoder endEncoding];
}

void run(id<MTLCommandBuffer> buffer) {
  [buffer commit];
  [buffer waitUntilCompleted];
  if ([buffer status] != MTLCommandBufferStatusCompleted) printf("it fails\n");
}

// Two dispatches that write to the same buffer.
void concurrently(Scene& s, bool hasBarrier) {
  id<MTLComputeCommandEncoder> encoder = [s.buffer computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
  [encoder setComputePipelineState:s.fixture.fillNormal];
  [encoder setBuffer:s.floats offset:0 atIndex:0];
  [encoder setBytes:normalParams(4).data() length:28 atIndex:1];
  dispatch(encoder);
  if (hasBarrier) [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
  dispatch(encoder);
  [encoder endEncoding];
  run(s.buffer);
}

// Lengths at two indices, which together are more than a threadgroup has, before a kernel that needs none.
void afterThreadgroupMemory(Scene& s, bool inAnotherEncoder) {
  id<MTLComputeCommandEncoder> encoder = s.encoder();
  for (const NSUInteger index : {1, 2}) [encoder setThreadgroupMemoryLength:20480 atIndex:index];
  if (inAnotherEncoder) {
    [encoder endEncoding];
    encoder = s.encoder();
  }
  dispatch(encoder);
  [encoder endEncoding];
  run(s.buffer);
}

// 64 lanes on a GPU whose simdgroups are narrower than its driver says, so that they leave eight values, not two.
void onNarrowSimdgroups(Scene& s, NSUInteger memory) {
  softmetal_set("simdgroupWidth", "8");
  squaredNorms(s, memory, 64);
  run(s.buffer);
}

void releaseInFlight(Scene& s, id<MTLCommandBuffer> buffer) {
  id<MTLComputeCommandEncoder> encoder = s.fixture.encoderOver(buffer, s.floats, 4);
  dispatch(encoder);
  [encoder endEncoding];
  s.commitSlowly(buffer);
  [s.floats release];
  [buffer waitUntilCompleted];
}

void newBuffer(Scene& s, MTLResourceOptions options) {
  [s.fixture.device newBufferWithLength:64 options:MTLResourceStorageModeShared | options];
}

void newLibrary(Scene& s, MTLLanguageVersion version) {
  MTLCompileOptions* options = [[MTLCompileOptions alloc] init];
  softmetal_set("system", "13");
  [options setLanguageVersion:version];
  if ([s.fixture.device newLibraryWithSource:kernelText() options:options error:nullptr] == nil) printf("it fails\n");
}

const std::map<std::string, std::function<void(Scene&)>> cases = {
    {"encode-after-end",
     [](Scene& s) {
       id<MTLComputeCommandEncoder> encoder = s.encoder();
       [encoder endEncoding];
       dispatch(encoder);
     }},
    {"bind-after-end",
     [](Scene& s) {
       id<MTLComputeCommandEncoder> encoder = s.encoder();
       [encoder endEncoding];
       [encoder setBuffer:s.floats offset:0 atIndex:0];
     }},
    {"end-twice",
     [](Scene& s) {
       id<MTLComputeCommandEncoder> encoder = s.encoder();
       [encoder endEncoding];
       [encoder endEncoding];
     }},
    {"encoder-after-commit",
     [](Scene& s) {
       [s.buffer commit];
       [s.buffer computeCommandEncoder];
     }},
    {"mps-after-commit",
     [](Scene& s) {
       [s.buffer commit];
       decompose(s, s.matrix(4, 4), s.matrix(4, 4), nil);
     }},
    {"second-encoder",
     [](Scene& s) {
       s.encoder();
       [s.buffer blitCommandEncoder];
     }},
    {"mps-in-encoder",
     [](Scene& s) {
       s.encoder();
       decompose(s, s.matrix(4, 4), s.matrix(4, 4), nil);
     }},
    {"encoder-released-open",
     [](Scene& s) {
       @autoreleasepool {
         s.encoder();
       }
     }},
    {"no-pipeline", [](Scene& s) { dispatch([s.buffer computeCommandEncoder]); }},
    {"unbound-buffer",
     [](Scene& s) {
       id<MTLComputeCommandEncoder> encoder = s.encoder();
       [encoder setBuffer:nil offset:0 atIndex:0];
       dispatch(encoder);
     }},
    {"unbound-params",
     [](Scene& s) {
       id<MTLComputeCommandEncoder> encoder = s.encoder();
       [encoder setComputePipelineState:s.fixture.addRow];
       dispatch(encoder);
     }},
    {"short-params",
     [](Scene& s) {
       id<MTLComputeCommandEncoder> encoder = s.encoder();
       [encoder setBytes:"12345678" length:8 atIndex:1];
       dispatch(encoder);
     }},
    {"bytes-written",
     [](Scene& s) {
       id<MTLComputeCommandEncoder> encoder = s.encoder();
       [encoder setBytes:"12345678" length:8 atIndex:0];
       dispatch(encoder);
     }},
    {"bytes-beyond-4096",
     [](Scene& s) {
       const std::vector<char> bytes(4100);
       [s.encoder() setBytes:bytes.data() length:bytes.size() atIndex:1];
     }},
    {"offset-beyond", [](Scene& s) { [s.encoder() setBuffer:s.floats offset:256 atIndex:0]; }},
    {"offset-unaligned", [](Scene& s) { [s.encoder() setBuffer:s.floats offset:2 atIndex:0]; }},
    {"offset-of-nothing", [](Scene& s) { [s.encoder() setBufferOffset:0 atIndex:5]; }},
    {"index-beyond", [](Scene& s) { [s.encoder() setBuffer:s.floats offset:0 atIndex:31]; }},
    {"group-too-large",
     [](Scene& s) { [s.encoder() dispatchThreads:one threadsPerThreadgroup:MTLSizeMake(1025, 1, 1)]; }},
    {"group-too-large-in-all",
     [](Scene& s) { [s.encoder() dispatchThreads:one threadsPerThreadgroup:MTLSizeMake(33, 32, 1)]; }},
    {"group-of-zero", [](Scene& s) { [s.encoder() dispatchThreads:one threadsPerThreadgroup:MTLSizeMake(1, 0, 1)]; }},
    {"grid-of-zero",
     [](Scene& s) { [s.encoder() dispatchThreadgroups:MTLSizeMake(0, 1, 1) threadsPerThreadgroup:one]; }},
    {"commit-twice",
     [](Scene& s) {
       [s.buffer commit];
       [s.buffer commit];
     }},
    {"commit-open-encoder",
     [](Scene& s) {
       s.encoder();
       [s.buffer commit];
     }},
    {"wait-before-commit", [](Scene& s) { [s.buffer waitUntilCompleted]; }},
    {"handler-after-commit",
     [](Scene& s) {
       [s.buffer commit];
       [s.buffer addCompletedHandler:^(id<MTLCommandBuffer>){
       }];
     }},
    {"threadgroup-memory-unset", [](Scene& s) { squaredNorms(s, 0, 1); }},
    {"threadgroup-memory-unaligned", [](Scene& s) { squaredNorms(s, 8, 1); }},
    {"threadgroup-memory-too-large", [](Scene& s) { squaredNorms(s, 32784, 1); }},
    {"threadgroup-memory-short", [](Scene& s) { onNarrowSimdgroups(s, 16); }},
    {"threadgroup-memory-left", [](Scene& s) { afterThreadgroupMemory(s, false); }},
    {"concurrent-without-barrier", [](Scene& s) { concurrently(s, false); }},
    {"released-in-flight",
     [](Scene& s) { releaseInFlight(s, [s.fixture.queue commandBufferWithUnretainedReferences]); }},
    {"buffer-write-combined", [](Scene& s) { newBuffer(s, MTLResourceCPUCacheModeWriteCombined); }},
    {"buffer-untracked", [](Scene& s) { newBuffer(s, MTLResourceHazardTrackingModeUntracked); }},
    {"language-too-new", [](Scene& s) { newLibrary(s, MTLLanguageVersion3_1); }},
    {"contents-in-flight",
     [](Scene& s) {
       id<MTLComputeCommandEncoder> encoder = s.encoder();
       dispatch(encoder);
       [encoder endEncoding];
       s.commitSlowly(s.buffer);
       [s.floats contents];
     }},
    {"buffer-of-another-device",
     [](Scene& s) {
       id<MTLBuffer> theirs = [secondDevice() newBufferWithLength:64 options:MTLResourceStorageModeShared];
       [s.encoder() setBuffer:theirs offset:0 atIndex:0];
     }},
    {"kernel-of-another-device",
     [](Scene& s) {
       MPSMatrixDecompositionCholesky* theirs =
           [[MPSMatrixDecompositionCholesky alloc] initWithDevice:secondDevice() lower:YES order:4];
       [theirs encodeToCommandBuffer:s.buffer sourceMatrix:s.matrix(4, 4) resultMatrix:s.matrix(4, 4) status:nil];
     }},
    {"buffer-of-nothing",
     [](Scene& s) { [s.fixture.device newBufferWithLength:0 options:MTLResourceStorageModeShared]; }},
    {"buffer-too-large",
     [](Scene& s) {
       softmetal_set("maxBufferLength", "4096");
       [s.fixture.device newBufferWithLength:4097 options:MTLResourceStorageModeShared];
     }},
    {"math-mode-too-new",
     [](Scene&) {
       MTLCompileOptions* options = [[MTLCompileOptions alloc] init];
       softmetal_set("system", "14");
       [options setMathMode:MTLMathModeSafe];
     }},
    {"buffer-private",
     [](Scene& s) { [s.fixture.device newBufferWithLength:64 options:MTLResourceStorageModePrivate]; }},
    {"borrowed-unaligned",
     [](Scene& s) {
       [s.fixture.device newBufferWithBytesNoCopy:static_cast<char*>([s.floats contents]) + 4
                                           length:4096
                                          options:MTLResourceStorageModeShared
                                      deallocator:nil];
     }},
    {"borrowed-odd-length",
     [](Scene& s) {
       [s.fixture.device newBufferWithBytesNoCopy:[s.floats contents]
                                           length:100
                                          options:MTLResourceStorageModeShared
                                      deallocator:nil];
     }},
    {"texture-nil-descriptor", [](Scene& s) { [s.fixture.device newTextureWithDescriptor:nil]; }},
    {"texture-format", [](Scene& s) { texture(s, MTLTextureType2D, 11, 4, 4); }},
    {"texture-too-wide", [](Scene& s) { texture(s, MTLTextureType2D, MTLPixelFormatR32Float, 16385, 1); }},
    {"texture-rows-of-one", [](Scene& s) { texture(s, MTLTextureType1D, MTLPixelFormatR32Float, 4, 4); }},
    {"texture-shared",
     [](Scene& s) {
       MTLTextureDescriptor* descriptor = [[MTLTextureDescriptor alloc] init];
       [descriptor setPixelFormat:MTLPixelFormatR32Float];
       [s.fixture.device newTextureWithDescriptor:descriptor];
     }},
    {"texture-nil", [](Scene& s) { [s.encoder() setTexture:nil atIndex:0]; }},
    {"texture-index",
     [](Scene& s) { [s.encoder() setTexture:texture(s, MTLTextureType2D, MTLPixelFormatR32Float, 4, 4) atIndex:128]; }},
    {"texture-part", [](Scene& s) { fill(s, 0, 16, MTLSizeMake(2, 4, 1), 0); }},
    {"texture-slice", [](Scene& s) { fill(s, 0, 16, MTLSizeMake(4, 4, 1), 1); }},
    {"texture-offset", [](Scene& s) { fill(s, 2, 16, MTLSizeMake(4, 4, 1), 0); }},
    {"texture-row-bytes", [](Scene& s) { fill(s, 0, 20, MTLSizeMake(4, 4, 1), 0); }},
    {"texture-beyond-buffer", [](Scene& s) { fill(s, 224, 16, MTLSizeMake(4, 4, 1), 0); }},
    {"sampler-pixel-repeat",
     [](Scene& s) {
       MTLSamplerDescriptor* descriptor = [[MTLSamplerDescriptor alloc] init];
       [descriptor setNormalizedCoordinates:NO];
       [descriptor setSAddressMode:MTLSamplerAddressModeRepeat];
       [s.fixture.device newSamplerStateWithDescriptor:descriptor];
     }},
    {"sampler-nil", [](Scene& s) { [s.encoder() setSamplerState:nil atIndex:0]; }},
    {"blit-unaligned", [](Scene& s) { blit(s, 2, 0, 4); }},
    {"blit-odd-size", [](Scene& s) { blit(s, 0, 0, 6); }},
    {"blit-beyond", [](Scene& s) { blit(s, 0, 8, 12); }},
    {"fill-beyond",
     [](Scene& s) { [[s.buffer blitCommandEncoder] fillBuffer:s.floats range:NSMakeRange(0, 260) value:0]; }},
    {"matrix-type", [](Scene& s) { described(s, 4, 4, 16, 0, MPSDataTypeInvalid); }},
    {"matrix-of-integers",
     [](Scene& s) { decompose(s, described(s, 4, 4, 16, 0, MPSDataTypeUInt32), s.matrix(4, 4), nil); }},
    {"matrix-row-bytes", [](Scene& s) { described(s, 4, 4, 12, 0, MPSDataTypeFloat32); }},
    {"matrix-row-bytes-odd", [](Scene& s) { described(s, 4, 4, 18, 0, MPSDataTypeFloat32); }},
    {"matrix-beyond", [](Scene& s) { described(s, 8, 8, 32, 4, MPSDataTypeFloat32); }},
    {"matrix-of-nothing", [](Scene& s) { described(s, 0, 4, 16, 0, MPSDataTypeFloat32); }},
    {"kernel-too-large", [](Scene& s) { decompose(s, s.matrix(3, 4), s.matrix(4, 4), nil); }},
    {"status-too-short",
     [](Scene& s) {
       id<MTLBuffer> byte = [s.fixture.device newBufferWithLength:1 options:MTLResourceStorageModeShared];
       decompose(s, s.matrix(4, 4), s.matrix(4, 4), byte);
     }},
    {"product-over-itself",
     [](Scene& s) {
       MPSMatrix* square = s.matrix(4, 4);
       [product(s, 4, 4, 4) encodeToCommandBuffer:s.buffer leftMatrix:square rightMatrix:square resultMatrix:square];
     }},
    {"product-of-nothing", [](Scene& s) { product(s, 4, 0, 4); }},
    {"kernel-without-shape",
     [](Scene& s) { [static_cast<MPSKernel*>([MPSMatrixMultiplication alloc]) initWithDevice:s.fixture.device]; }},
    {"sum-of-too-few",
     [](Scene& s) {
       MPSMatrixSum* sum = [[MPSMatrixSum alloc] initWithDevice:s.fixture.device count:2 rows:4 columns:4 transpose:NO];
       [sum encodeToCommandBuffer:s.buffer
                   sourceMatrices:[NSArray arrayWithObject:s.matrix(4, 4)]
                     resultMatrix:s.matrix(4, 4)
                      scaleVector:nil
                     offsetVector:nil
                       biasVector:nil
                       startIndex:0];
     }},
    {"use-after-release",
     [](Scene& s) {
       [s.floats release];
       [s.floats contents];
     }},
    {"bind-after-release",
     [](Scene& s) {
       [s.floats release];
       [s.encoder() setBuffer:s.floats offset:0 atIndex:0];
     }},
    {"release-twice",
     [](Scene& s) {
       [s.fixture.fillNormal release];
       [s.fixture.fillNormal release];
     }},
    {"use-kernel-after-release",
     [](Scene& s) {
       MPSMatrixDecompositionCholesky* kernel = cholesky(s, 4);
       [kernel release];
       [kernel encodeToCommandBuffer:s.buffer sourceMatrix:s.matrix(4, 4) resultMatrix:s.matrix(4, 4) status:nil];
     }},
    {"command-buffers-exhausted",
     [](Scene& s) {
       id<MTLCommandQueue> small = [s.fixture.device newCommandQueueWithMaxCommandBufferCount:2];
       for (int i = 0; i < 3; ++i) [[small commandBuffer] retain];
     }},
};

const std::map<std::string, std::function<void(Scene&)>> twins = {
    {"threadgroup-memory-short", [](Scene& s) { onNarrowSimdgroups(s, 32); }},
    {"threadgroup-memory-left", [](Scene& s) { afterThreadgroupMemory(s, true); }},
    {"concurrent-without-barrier", [](Scene& s) { concurrently(s, true); }},
    {"released-in-flight", [](Scene& s) { releaseInFlight(s, s.buffer); }},
    {"buffer-write-combined", [](Scene& s) { newBuffer(s, MTLResourceCPUCacheModeDefaultCache); }},
    {"buffer-untracked", [](Scene& s) { newBuffer(s, MTLResourceHazardTrackingModeTracked); }},
    {"language-too-new", [](Scene& s) { newLibrary(s, MTLLanguageVersion3_0); }},
};

}  // namespace

int main(int count, char** arguments) {
  @autoreleasepool {
    if (count < 2) {
      for (const auto& [name, misuse] : cases) printf("%s\n", name.c_str());
      return 0;
    }
    Scene scene;
    if (count > 2) {
      twins.at(arguments[1])(scene);
      fflush(stdout);
      _Exit(0);
    }
    cases.at(arguments[1])(scene);
    printf("overlooked: %s\n", arguments[1]);
    fflush(stdout);
    _Exit(1);
  }
}
