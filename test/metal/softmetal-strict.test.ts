// What software Metal refuses: each misuse runs in its own process, which must print one sentence that names the
// call, then abort. Seven mistakes, which the stand-in did not notice once, have a correct twin that must run.
import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { softAddon } from './softmetal/addon.ts';

const compute = '-[MTLComputeCommandEncoder ';
const threads = `${compute}dispatchThreads:threadsPerThreadgroup:] `;
const bind = `${compute}setBuffer:offset:atIndex:] `;
const device = '-[MTLDevice newBufferWith';
const matrix = '-[MPSMatrix initWithBuffer:offset:descriptor:] ';
const cholesky = '-[MPSMatrixDecompositionCholesky encodeToCommandBuffer:sourceMatrix:resultMatrix:status:] ';
const blit = '-[MTLBlitCommandEncoder copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:] ';
const noCopy = `${device}BytesNoCopy:length:options:deallocator:] `;
const shared = `${device}Length:options:] `;
const released = 'is sent to an object that has been released.';

const texture = '-[MTLDevice newTextureWithDescriptor:] ';
const fill =
  '-[MTLBlitCommandEncoder copyFromBuffer:sourceOffset:sourceBytesPerRow:sourceBytesPerImage:sourceSize:toTexture:destinationSlice:destinationLevel:destinationOrigin:] ';

/** By case of test/metal/softmetal/drivers/misuse.mm. */
const sentences: Readonly<Record<string, string>> = {
  'encode-after-end': `${threads}is called after endEncoding.`,
  'bind-after-end': `${bind}is called after endEncoding.`,
  'end-twice': `${compute}endEncoding] is called twice.`,
  'encoder-after-commit': '-[MTLCommandBuffer computeCommandEncoder] records into a command buffer that is committed.',
  'mps-after-commit': `${cholesky}records into a command buffer that is committed.`,
  'second-encoder': '-[MTLCommandBuffer blitCommandEncoder] is called while an MTLComputeCommandEncoder is open.',
  'mps-in-encoder': `${cholesky}is called while an MTLComputeCommandEncoder is open.`,
  'encoder-released-open': `${compute}release] is sent before endEncoding.`,
  'no-pipeline': `${threads}is called without a pipeline state.`,
  'unbound-buffer': `${threads}finds nothing bound at buffer index (0), argument (out) of (fill_normal).`,
  'unbound-params': `${threads}finds nothing bound at buffer index (2), argument (params) of (add_row).`,
  'short-params': `${threads}finds (8) bytes bound at buffer index (1), argument (params) of (fill_normal), which takes (28).`,
  'bytes-written': `${threads}finds bytes of setBytes at buffer index (0), argument (out) of (fill_normal), which is written.`,
  'bytes-beyond-4096': `${compute}setBytes:length:atIndex:] is given (4100) bytes, more than (4096).`,
  'offset-beyond': `${bind}is given offset (256) of a buffer of (256) bytes.`,
  'offset-unaligned': `${bind}is given offset (2), not a multiple of (4).`,
  'offset-of-nothing': `${compute}setBufferOffset:atIndex:] finds no buffer at index (5).`,
  'index-beyond': `${bind}is given index (31), but there are (31).`,
  'group-too-large': `${threads}is given threadgroups of (1025) threads, more than maxTotalThreadsPerThreadgroup (1024) of (fill_normal).`,
  'group-too-large-in-all': `${threads}is given threadgroups of (1056) threads, more than maxTotalThreadsPerThreadgroup (1024) of (fill_normal).`,
  'group-of-zero': `${threads}is given threadgroups of (1, 0, 1) threads.`,
  'grid-of-zero': `${compute}dispatchThreadgroups:threadsPerThreadgroup:] is given a grid of (0, 1, 1).`,
  'commit-twice': '-[MTLCommandBuffer commit] is called twice.',
  'commit-open-encoder': '-[MTLCommandBuffer commit] is called while an MTLComputeCommandEncoder is open.',
  'wait-before-commit': '-[MTLCommandBuffer waitUntilCompleted] is called before commit.',
  'handler-after-commit': '-[MTLCommandBuffer addCompletedHandler:] is called after commit.',
  'threadgroup-memory-unset': `${threads}finds no threadgroup memory at index (0), argument (partial) of (squared_norms).`,
  'threadgroup-memory-short':
    "kernel (squared_norms) can't run: its simdgroups of 8 take (32) bytes of threadgroup memory, not (16).",
  'threadgroup-memory-unaligned': `${compute}setThreadgroupMemoryLength:atIndex:] is given length (8), not a multiple of (16).`,
  'threadgroup-memory-too-large': `${compute}setThreadgroupMemoryLength:atIndex:] is given length (32784), more than maxThreadgroupMemoryLength (32768).`,
  'contents-in-flight':
    '-[MTLBuffer contents] is called while (1) committed command buffers that use the buffer are unfinished.',
  'released-in-flight':
    '-[MTLBuffer release] is sent while (1) unfinished command buffers use the buffer without retaining it.',
  'buffer-of-another-device': `${bind}is given a buffer of device (1), but belongs to device (0).`,
  'kernel-of-another-device': `${cholesky}is given a kernel of device (1), but belongs to device (0).`,
  'buffer-of-nothing': `${shared}is asked for a buffer of (0) bytes.`,
  'buffer-too-large': `${shared}is asked for (4097) bytes, more than maxBufferLength (4096).`,
  'buffer-write-combined': `${shared}is asked for write-combined memory, which the host would read at a crawl.`,
  'buffer-untracked': `${shared}is asked for memory whose hazards nobody tracks; covarium has no fences.`,
  'language-too-new':
    '-[MTLDevice newLibraryWithSource:options:error:] is asked for version (3.1) of the language, but macOS (13) has (3.0).',
  'math-mode-too-new': '-[MTLCompileOptions setMathMode:] is unknown to macOS (14); macOS (15) brought it.',
  'concurrent-without-barrier': `${threads}may run beside an earlier dispatch that shares the buffer of argument (out) of (fill_normal), with no barrier.`,
  'threadgroup-memory-left': `${threads}finds (40960) bytes of threadgroup memory for (fill_normal), more than maxThreadgroupMemoryLength (32768).`,
  'buffer-private': `${shared}is asked for storage mode (2); the stand-in has shared storage (0) only.`,
  'borrowed-unaligned': `${noCopy}is given an address (`,
  'borrowed-odd-length': `${noCopy}is given a length (100) that is not a multiple of the page size (`,
  'sampler-nil': '-[MTLComputeCommandEncoder setSamplerState:atIndex:] is given a nil sampler.',
  'sampler-pixel-repeat':
    '-[MTLDevice newSamplerStateWithDescriptor:] is asked for address mode (2) with pixel coordinates.',
  'texture-beyond-buffer': `${fill}is given (64) bytes from offset (224) of a buffer of (256).`,
  'texture-format': `${texture}is asked for pixel format (11), which the stand-in does not have.`,
  'texture-index': '-[MTLComputeCommandEncoder setTexture:atIndex:] is given index (128), but there are (128).',
  'texture-nil-descriptor': `${texture}is given a nil descriptor.`,
  'texture-offset': `${fill}is given offset (2) and rows of (16) bytes, not multiples of (4).`,
  'texture-part': `${fill}is given (2, 4, 1) texels of slice (0) of a texture of (4, 4, 1) and (1) slices.`,
  'texture-nil': '-[MTLComputeCommandEncoder setTexture:atIndex:] is given a nil texture.',
  'texture-row-bytes': `${fill}is given rows of (20) and images of (80) bytes; the stand-in copies whole ones only.`,
  'texture-rows-of-one': `${texture}is asked for sizes (4, 4, 1, 1) that texture type (0) does not have.`,
  'texture-shared': `${texture}is asked for storage mode (0); textures are the GPU's own here (2).`,
  'texture-slice': `${fill}is given (4, 4, 1) texels of slice (1) of a texture of (4, 4, 1) and (1) slices.`,
  'texture-too-wide': `${texture}is asked for a texture of (16385, 1, 1) texels and (1) layers.`,
  'blit-unaligned': `${blit}is given source offset (2) and size (4), not both multiples of (4).`,
  'blit-odd-size': `${blit}is given source offset (0) and size (6), not both multiples of (4).`,
  'blit-beyond': `${blit}is given (12) bytes from destination offset (8) of a buffer of (16).`,
  'fill-beyond':
    '-[MTLBlitCommandEncoder fillBuffer:range:value:] is given (260) bytes from range offset (0) of a buffer of (256).',
  'matrix-type': `${matrix}is given data type (0x0).`,
  'matrix-of-integers': `${cholesky}is given the source matrix of data type (0x20), not float32.`,
  'matrix-row-bytes': `${matrix}is given rowBytes (12) for (4) columns of (4) bytes.`,
  'matrix-row-bytes-odd': `${matrix}is given rowBytes (18) for (4) columns of (4) bytes.`,
  'matrix-beyond': `${matrix}needs (260) bytes of a buffer of (256).`,
  'matrix-of-nothing': `${matrix}is given (1) matrices of (0 x 4).`,
  'kernel-too-large': `${cholesky}takes (4 x 4) from (0, 0) of matrix (0) of the source matrix, which has (1) of (3 x 4).`,
  'status-too-short': `${cholesky}is given a status buffer of (1) bytes for (1) matrices.`,
  'product-over-itself':
    '-[MPSMatrixMultiplication encodeToCommandBuffer:leftMatrix:rightMatrix:resultMatrix:] has a result that overlaps a source.',
  'product-of-nothing':
    '-[MPSMatrixMultiplication initWithDevice:transposeLeft:transposeRight:resultRows:resultColumns:interiorColumns:alpha:beta:] is given the sizes (4, 0, 4).',
  'kernel-without-shape': '-[MPSKernel initWithDevice:] is not for a subclass, which has an initializer of its own.',
  'sum-of-too-few':
    '-[MPSMatrixSum encodeToCommandBuffer:sourceMatrices:resultMatrix:scaleVector:offsetVector:biasVector:startIndex:] is given (1) matrices, not (2).',
  'use-after-release': `-[MTLBuffer contents] ${released}`,
  'bind-after-release': `${bind}is given a buffer that has been released.`,
  'release-twice': `-[MTLComputePipelineState release] ${released}`,
  'use-kernel-after-release': `${cholesky}${released}`,
  'command-buffers-exhausted':
    '-[MTLCommandQueue commandBuffer] waits for one of (2) command buffers, none of which is committed.',
};

/** The mistakes that have a twin. */
const twins = [
  ...['buffer-untracked', 'buffer-write-combined', 'concurrent-without-barrier', 'language-too-new'],
  ...['released-in-flight', 'threadgroup-memory-left', 'threadgroup-memory-short'],
];

const build = softAddon();
if ('reason' in build) {
  console.log(`skipped  ${build.reason}`);
  test.skip('Software Metal is not built.');
} else {
  const misuse = (...args: string[]) =>
    spawnSync(`${build.folder}/misuse`, args, {
      encoding: 'utf8',
      env: { ...process.env, SOFTMETAL_ZOMBIES: '1' },
      timeout: 60_000,
    });

  test('Every misuse has its sentence here.', () => {
    const cases = misuse().stdout.trim().split('\n');
    assert.equal(cases, Object.keys(sentences).sort());
  });

  for (const [name, sentence] of Object.entries(sentences))
    test(`Refused: ${name}.`, () => {
      const { signal, stdout, stderr } = misuse(name);
      assert.is(stdout, '', 'the misuse is noticed');
      assert.is(stderr.slice(0, `softmetal: ${sentence}`.length), `softmetal: ${sentence}`);
      assert.is(stderr.trim().split('\n').length, 1, `one line: ${stderr}`);
      assert.is(signal, 'SIGABRT');
    });

  for (const name of twins)
    test(`Accepted: the same as ${name} without the mistake.`, () => {
      const { status, stdout, stderr } = misuse(name, 'twin');
      assert.equal({ status, output: stdout + stderr }, { status: 0, output: '' });
    });
}

test.run();
