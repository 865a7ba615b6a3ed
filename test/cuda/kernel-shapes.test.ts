// Kernels that only the CUDA device has, or runs with more columns, with any shape and compared with plain float64
// loops, over the stand-in for NVIDIA's driver.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { moduleUrl } from '../harness/child.ts';
import { onSoftCuda, printedBesideCuda } from './on-cuda.ts';

onSoftCuda(
  'Products of any shape are right, and so are draws of as many columns as sample_narrow makes, and of batches.',
  async () => {
    const out = await printedBesideCuda(`await import('${moduleUrl('test/cuda/kernel-shapes.ts')}');`);
    assert.is(out, 'all are right');
  },
);

test.run();
