/** What a suite's cases compute, in a sentence for a reader who has only the report; n is the dimension. */
const words: Readonly<Record<string, string>> = {
  'transform-normal':
    'mean + L z for one vector z of n normals; the Cholesky factor L of the n x n covariance is made anew each time.',
  'transform-normal-factored': 'mean + L z for one vector z of n normals, with a Cholesky factor L that is kept.',
  'matrix-product': 'The product of two n x n matrices.',
  'matrix-vector': 'The product of an n x n matrix and a vector.',
  sampling:
    'So many draws (the count) from a multivariate normal of dimension n, with the factor kept or made anew each time.',
  normals: 'Standard normal random numbers alone: n times the count of them.',
  cholesky: 'The Cholesky factor of an n x n covariance.',
  transfer: "n x n numbers from the host's memory into the device's (upload), and back (download).",
  launch: 'What it costs to start a kernel that does next to nothing.',
  kernels:
    'Kernels whose threads wait for each other, beside the same as a loop of each thread, over n x n numbers: products, sums of 256, and softmax of rows.',
  batches:
    'As many multivariate normals of dimension n as the count, each with a mean and a covariance of its own: made at once, one draw of each, and the log density of each at a point of its own.',
  tables:
    'Files of float64 numbers, n columns and as many rows as the count, read to rows in memory and written from rows; covarium also waits until the disk has what it writes.',
  functions:
    'The public functions of distributions and matrices, beside NumPy and SciPy. Those that take rows take as many as the count; cdf is of the first dimensions alone. Those that are called harsh have a covariance with a condition number of 10^8.',
  calls:
    'What a call of each public function costs at three dimensions and one row, synchronous and awaited; longest hold is how long the event loop stands still while it is awaited.',
  subnormal:
    'Draws as in the suite sampling, of a Gaussian process whose covariance has entries that the dtype holds only as subnormal numbers, and with 0 in their place.',
  triangular:
    'n rows of n numbers and a lower triangular factor: solves with it (forward) and with its transpose (backward), and the product.',
  call: 'What a call costs that has next to nothing to compute: the way through JavaScript, native code and the queue.',
};

/** '' for a suite of a later covarium. */
export function suiteWords(suite: string): string {
  return Object.hasOwn(words, suite) ? words[suite]! : '';
}
