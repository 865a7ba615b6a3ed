import type { Dtype, Real, RealDtype, Values } from './dtype.ts';

// The contract between the public classes and a device. It has two implementations: the addon (objc/addon, for metal,
// cuda and cpu) and lib/reference. The public classes have checked every shape, type and number before they call; an
// implementation checks only values.

/**
 * The kinds of device: `metal`, an Apple GPU; `cuda`, an NVIDIA GPU; `cpu`, our kernels and a BLAS; `reference`, plain
 * TypeScript.
 */
export type DeviceKind = 'metal' | 'cuda' | 'cpu' | 'reference';

/** The bytes of a column's entries in a block of {@link Encoder.multiplyColumns}: two cache lines. */
export const columnBytes = 128;

/**
 * The processor that makes a Cholesky factor: the faster one for the device, the CPU, the GPU, or, on `metal` only, the
 * GPU by Apple's Metal Performance Shaders.
 */
export type FactorOn = 'auto' | 'cpu' | 'gpu' | 'mps';

/** How long a commit took, in milliseconds, and where its factor was made. */
export interface Timings {
  /** Recording on the host, from the first command to the commit. */
  readonly encodeMs: number;
  /** Execution on the device, first command to last. */
  readonly deviceMs: number;
  /** From the commit until the host knows the result, including the wait for earlier commits. */
  readonly wallMs: number;
  /** The processor that made the last Cholesky factor of the commit; undefined if there was none. */
  readonly factor?: 'cpu' | 'gpu' | undefined;
  /**
   * Where the commands of a `metal` or `cuda` device ran. Small commands, and those that the GPU does not have, run on
   * the CPU beside it; {@link Device.explain} says why. Undefined on other devices.
   */
  readonly ranOn?: 'cpu' | 'gpu' | 'both' | undefined;
  /**
   * The library of the GPU's maker that computed a product of the commit, by name and version (`cuBLAS 13.0`);
   * undefined if our own kernels did all, and on devices other than `cuda`.
   */
  readonly library?: string | undefined;
}

/** A command that {@link Device.explain} knows. */
export type ExplainedCommand = 'sample' | 'factor' | 'logPdf' | 'multiply';

/** The processor that would run a command, and why. */
export interface Explanation {
  /** The CPU beside a GPU is a `cpu`, too. */
  readonly runsOn: 'cpu' | 'gpu';
  /** A sentence. */
  readonly because: string;
  /** About how many milliseconds the CPU would take, where that decides. */
  readonly cpuMs?: number | undefined;
  /** The milliseconds of the GPU, with the way over the bus. */
  readonly gpuMs?: number | undefined;
}

/** Bytes that a device holds. */
export interface MemoryUsage {
  /** In buffers that are open, or closed while work is in flight. */
  readonly liveBytes: number;
  /** Kept for reuse, or as the GPU's copies of memory of the host. */
  readonly pooledBytes: number;
}

/** Memory that a kernel sees as a texture, with what is said of its texels (lib/kernel/texture.ts). */
interface TextureOperand {
  readonly header: ArrayBuffer;
  readonly values: Values;
}

/** One operand of a launch: memory, bytes that are copied at once, a number of bytes, or a texture. */
export type LaunchOperand = Values | ArrayBuffer | number | TextureOperand;

/** A parameter of a kernel, in the order of its arguments; the built-in thread positions are not counted. */
export interface KernelParameter {
  /**
   * A device buffer that is only read, or also written; a buffer in constant memory; threadgroup memory; a texture that
   * is only read, or also written; a sampler.
   */
  readonly kind: 'read' | 'written' | 'constant' | 'threadgroup' | 'texture' | 'writtenTexture' | 'sampler';
  readonly name: string;
  /** The index in Metal's buffer table, or among the threadgroup memories. */
  readonly index: number;
  /** Size of one element, or of the struct; 0 if unknown. */
  readonly sizeBytes: number;
  /** Members of a struct. */
  readonly members: readonly KernelMember[];
}

/** The offset of a member of a struct. */
export interface KernelMember {
  readonly name: string;
  readonly offsetBytes: number;
}

/** A kernel to compile. */
export interface KernelSource {
  /** The complete text: included files are pasted into it, with #line. */
  readonly text: string;
  /** Name of the function. */
  readonly name: string;
  /** For a device that does not compile (cpu, cuda): the path of the compiled library; '' for others. */
  readonly library: string;
  /** True if the library is for the GPU: PTX. False if it is for the CPU, or none. */
  readonly isForGpu: boolean;
  /** Values of function constants, as bytes of a Metal type (`bool`, `int`, `float` ...). */
  readonly constants: readonly { readonly index: number; readonly type: string; readonly value: Uint8Array }[];
  readonly parameters: readonly KernelParameter[];
  /** True if the library checks every access. */
  readonly check: boolean;
}

/** A kernel of {@link Backend.compile}, with sizes and members as the compiler reports them. */
export interface CompiledKernel {
  /** Threads of a simdgroup. */
  readonly threadExecutionWidth: number;
  readonly maxTotalThreadsPerThreadgroup: number;
  readonly staticThreadgroupMemoryBytes: number;
  readonly maxThreadgroupMemoryBytes: number;
  readonly parameters: readonly { readonly sizeBytes: number; readonly members: readonly KernelMember[] }[];
  /** Of a kernel for the reference device: checks a launch, and returns a function that starts its work. */
  readonly begin?: (
    operands: readonly LaunchOperand[],
    grid: readonly number[],
    threadgroup: readonly number[],
  ) => () => Generator<void, void, void>;
}

/** A device: memory, and encoders whose commits run in order. */
export interface Backend {
  readonly kind: DeviceKind;
  /** The name of the GPU or the BLAS library that computes, for people. */
  readonly name: string;
  /** Threads that share the work of one command; 1 if the device has no such notion. */
  readonly threads: number;
  /** Element types of sampling and linear algebra, `float32` first. */
  readonly dtypes: readonly Dtype[];
  /**
   * Why {@link Encoder} throws `ERR_UNSUPPORTED` for decompositions other than {@link Encoder.lu} (a LAPACK without one
   * of the routines); '' if it does not.
   */
  readonly lacksDecompositions: string;
  /**
   * Whether {@link Encoder.symmetricEigen} may run though decompositions are lacking: a GPU may have a library of its
   * own for it, which is loaded, or found to be missing (`ERR_UNSUPPORTED`), when the commit runs.
   */
  readonly triesEigenvalues: boolean;
  /** Below this size, ordinary memory is cheaper; 0 if commands need all data in the device's memory. */
  readonly deviceMemoryFromBytes: number;
  /** Whether a GPU has memory of its own, of which the host sees copies (cuda). */
  readonly hasOwnMemory: boolean;
  /**
   * Memory of the device, uninitialised; {@link release} detaches it. With `onDevice`, a device with memory of its own
   * leaves there what commands write, until {@link fetch}. Throws `ERR_OUT_OF_MEMORY`.
   */
  allocate(sizeBytes: number, onDevice?: boolean): ArrayBuffer;
  /** Detaches `memory` and recycles it once no commit in flight uses it. Ignores memory that is not the device's. */
  release(memory: ArrayBuffer): void;
  /**
   * Says that neither the host nor a command writes to `values` from now on, so that a GPU with memory of its own may
   * keep a copy. Ignores memory that is not the device's.
   */
  settle(values: Values): void;
  /** Waits for earlier commits, then brings to the host what only the device's own memory has of `memory`. */
  fetch(memory: ArrayBuffer): void;
  encoder(): Encoder;
  /**
   * Compiles a kernel without blocking the thread. Rejects with `ERR_KERNEL_COMPILE`, whose message is the compiler's
   * output, or with `ERR_UNSUPPORTED` on a device without kernels.
   */
  compile(source: KernelSource): Promise<CompiledKernel>;
  /**
   * The compiler of the GPU's maker that this process has: its name, its version and the GPU that it compiles for; ''
   * if there is none. Only NVIDIA GPUs have one (NVRTC).
   */
  translator(): Promise<string>;
  /**
   * PTX of a text in that compiler's language, which includes files of `folders`. Rejects with `ERR_KERNEL_COMPILE`,
   * whose message is the compiler's output, or `ERR_NO_COMPILER`.
   */
  translate(text: string, folders: readonly string[]): Promise<string>;
  /**
   * See `explain` of lib/device.ts: `sample` and `logPdf` of rows x columns, `factor` of columns, `multiply` of
   * rows x inner by inner x columns.
   */
  explain(
    command: ExplainedCommand,
    rows: number,
    inner: number,
    columns: number,
    dtype: RealDtype,
    onDevice: boolean,
  ): Explanation;
  memory(): MemoryUsage;
  /** Cancels the commits in flight and frees all memory. Idempotent. */
  close(): void;
}

/**
 * Records commands, then commits them once, in order. All matrices are dense and row-major; all operands of one command
 * have the same type. n is a dimension, `count` a number of rows. A "factor" is lower triangular, n x n; its upper
 * triangle is never read.
 */
export interface Encoder {
  /**
   * The normal stream, version 1: out[i] = element first + i. `counter` is six 32-bit words, low before high: seed,
   * stream, first (lib/stream/counter.ts makes it).
   */
  fillNormal(out: Real, counter: Uint32Array): void;
  /** Fails the commit with `ERR_NOT_FINITE` at the first entry (row by row) that is NaN or infinite. */
  requireFinite(a: Real, columns: number): void;
  /**
   * Fails the commit with `ERR_NOT_FINITE`, or with `ERR_NOT_SYMMETRIC` where |a_ij - a_ji| exceeds `tolerance` times
   * the larger of |a_ij| and |a_ji| and also `tolerance` times sqrt(|a_ii a_jj|); the entry named is the first in row
   * order with i > j.
   */
  requireSymmetric(a: Real, n: number, tolerance: number): void;
  /**
   * Lower Cholesky factor in place. Only the lower triangle is read; the upper one becomes 0. Fails with
   * `ERR_NOT_POSITIVE_DEFINITE`. Throws `ERR_UNSUPPORTED` if the device cannot make it at `where`; the timings say
   * where it was made.
   */
  cholesky(a: Real, n: number, where: FactorOn): void;
  /** Sets the entries above the diagonal to 0. */
  zeroUpper(a: Real, n: number): void;
  /** Transposes along the other diagonal in place: a_ij <-> a_(n-1-j)(n-1-i). */
  antitranspose(a: Real, n: number): void;
  copy(from: Real, to: Real): void;
  /** out = a + b, by element; out may be a or b. */
  sum(a: Real, b: Real, out: Real): void;
  /** Adds `scale` * row to each row of `rows`. */
  addRow(rows: Real, row: Real, scale: number): void;
  /** Multiplies each row of `rows` by `row`, element by element. */
  scaleColumns(rows: Real, row: Real): void;
  /** c = alpha op(a) op(b) + beta c; op(a) is m x k, op(b) k x n, c m x n. beta = 0 does not read c. */
  product(
    a: Real,
    b: Real,
    c: Real,
    m: number,
    n: number,
    k: number,
    transposeA: boolean,
    transposeB: boolean,
    alpha: number,
    beta: number,
  ): void;
  /** Each row x of `rows` becomes factor x (or factor' x, transposed). */
  triangularProduct(factor: Real, rows: Real, n: number, transposed: boolean): void;
  /**
   * out[r] = start + factor z[r] for few rows z (count x n), apart from `out`, by a factor that lies in columns
   * (lib/factor/columns.ts). `start` has n entries, or none, which are zeros.
   */
  multiplyColumns(columns: Real, start: Real, z: Real, out: Real, n: number): void;
  /** Each row x of `rows` becomes the solution of factor y = x (or factor' y = x, transposed). */
  triangularSolve(factor: Real, rows: Real, n: number, transposed: boolean): void;
  /** Each row x of `rows` becomes the solution of factor factor' y = x. */
  choleskySolve(factor: Real, rows: Real, n: number): void;
  /**
   * Each matrix of `a` (count x n x n) is checked as by {@link requireSymmetric} and becomes its lower Cholesky factor,
   * with the bits of {@link cholesky}. Fails as they do, for the first matrix that one of them refuses; the error's
   * `matrix` is its index. Other matrices may then be factors or not.
   */
  choleskyBatch(a: Real, n: number, tolerance: number): void;
  /**
   * {@link sample} for each of count models: factors (count x n x n), means (count x n), out (count x rows x n). Model
   * b draws from stream + b. The bits are those of {@link sample} if one processor computes both.
   */
  sampleBatch(factors: Real, means: Real, out: Real, n: number, counter: Uint32Array): void;
  /**
   * {@link stretchRows} for each of count models, each from its own location: rows are count x m x n, locations count x
   * n in float64. Model b has the radial scales of stream + b.
   */
  stretchBatch(rows: Real, locations: Float64Array, n: number, degreesOfFreedom: number, counter: Uint32Array): void;
  /**
   * {@link logDensity} for each of count models, each with its constant: out is count x m, and rows are m x n, the same
   * for all models, or count x m x n.
   */
  logDensityBatch(factors: Real, means: Real, rows: Real, out: Real, n: number, constants: Float64Array): void;
  /** to (columns x rows) = the transpose of from (rows x columns). */
  transpose(from: Real, to: Real, rows: number, columns: number): void;
  /**
   * The symmetric a (only its lower triangle is read) becomes V', with a = V diag(values) V': row i is the eigenvector
   * of values[i], of length 1 and either sign; values ascend. Without `vectors` only values are computed, which needs
   * decompositions, and a may be anything. Entries must be finite, here and in the other decompositions.
   */
  symmetricEigen(a: Real, values: Real, n: number, vectors: boolean): void;
  /**
   * Rows A (m x n) become a lower echelon L with L L' = A A'. pivots (m) gets the column of each row's positive pivot,
   * in ascending order; -1 for a row that the rows before it determine: what they leave of it is at most `tolerance` of
   * its norm. The error of each row is rounding relative to its own norm.
   */
  echelon(rows: Real, pivots: Real, n: number, tolerance: number): void;
  /**
   * a (m x n) = L q, k = min(m, n): a becomes L, whose first k columns are lower triangular, with a diagonal that is
   * not negative, and whose other columns are 0; q (k x n) gets orthonormal rows. If q is empty, only L is computed.
   */
  lq(a: Real, q: Real, m: number, n: number): void;
  /**
   * a (m x n) = u diag(values) v, k = min(m, n): values (k) descend, u (m x k) has orthonormal columns and v (k x n)
   * orthonormal rows; a is overwritten. If u and v are both empty, only values are computed. `graded`, for m <= n,
   * computes small values beside large ones to the same relative accuracy if the rows are nearly orthogonal and differ
   * mostly in length; it takes several times as long, or less if only u is empty, which is then not computed.
   */
  svd(a: Real, u: Real, values: Real, v: Real, m: number, n: number, graded: boolean): void;
  /**
   * The symmetric a (n x n, only its lower triangle is read) becomes a root A: A A' equals a except for a remainder.
   * The variable with the largest remainder is eliminated next, until none exceeds `tolerance`. Column k of A belongs
   * to variable order[k]; from the rank on, columns are 0 and `order` (n) is -1.
   */
  pivotedCholesky(a: Real, order: Real, n: number, tolerance: number): void;
  /**
   * a (n x n) becomes triangles for {@link luSolve}. The product of their diagonal, with its sign changed once for each
   * i with pivots[i] != i, is the determinant. A singular matrix has a 0 on the diagonal. Columns in units far apart
   * cost no digits.
   */
  lu(a: Real, pivots: Real, n: number): void;
  /** Each row x of `rows` becomes the solution y of a y = x. Fails the commit with `ERR_SINGULAR`. */
  luSolve(triangles: Real, pivots: Real, rows: Real, n: number): void;
  /** out[r] = sum of squares of row r. */
  squaredNorms(rows: Real, out: Real, n: number): void;
  /** Each of `values`, -d^2 / 2 of a distance d, becomes d. */
  distances(values: Real): void;
  /** found[0] becomes 1 if one of `values` is not between `least` and `most`, exclusive; NaN never is. */
  findBeyond(values: Real, least: number, most: number, found: Uint32Array): void;
  /** Each of `values`, a probability between 0 and 1, becomes its quantile of the standard normal. */
  normalQuantiles(values: Float64Array): void;
  /**
   * Fused sampling into `out` (count x n): row r = mean + factor z, or with `inverse` mean + factor^-1 z, where z is
   * elements [first + r n, first + (r + 1) n) of the normal stream. n divides out.length.
   */
  sample(factor: Real, mean: Real, out: Real, inverse: boolean, counter: Uint32Array): void;
  /**
   * Row r of `rows` (count x n) becomes location + scale * row, with the radial scale of row first + r of a Student-t;
   * `counter` is that of {@link fillNormal}, with the first row in place of the first element. `location` is one row of
   * n, or a row for each, in float64. Computed in float64: an entry too large for the rows' type becomes infinite; a
   * coordinate that is 0 stays at its location.
   */
  stretchRows(rows: Real, location: Float64Array, n: number, degreesOfFreedom: number, counter: Uint32Array): void;
  /**
   * Fused log density: out[r] = constant - |w|^2 / 2, where w solves factor w = row r - mean, or with `inverse` is
   * factor (row r - mean). `rows` is not changed.
   */
  logDensity(factor: Real, mean: Real, rows: Real, out: Real, inverse: boolean, constant: number): void;
  /** Column means and covariance (n x n, both triangles; sums accumulate in float64, divided by count - ddof). */
  meanAndCovariance(rows: Real, mean: Real, covariance: Real, ddof: number): void;
  /**
   * Adds the rows (count x n) to sums about a known centre (n), in float64: to sums (n) the differences row - centre,
   * and to the lower triangle of products (n x n) the products of two of a row's, all times the weight of the row
   * (count). Without weights, if they are empty; without products likewise.
   */
  addMoments(rows: Real, weights: Float64Array, centre: Float64Array, sums: Float64Array, products: Float64Array): void;
  /**
   * Adds to sums (n + 1), in float64, the third and fourth powers of the rows (count x n) about a centre (n): with d =
   * row - centre, |d|^2 d and then |d|^4, times the weight of the row (count; all 1, if they are empty).
   */
  addPowers(rows: Real, weights: Float64Array, centre: Float64Array, sums: Float64Array): void;
  /**
   * For each of some brackets and each column of `rows` (count x n, below 2^31 rows), counts numbers and keeps some.
   * `limits` are 2 x brackets x n: the lower ones, then the upper. To counts (2 x brackets x n) are added the numbers
   * below the lower limit, then those from the lower to the upper, which are appended, in any order, to their part of
   * `kept` (brackets x n x as many as fit), behind as many as the count says are there.
   */
  countBetween(rows: Real, limits: Real, kept: Real, counts: Uint32Array, n: number): void;
  /**
   * For each slot of `kept` (slots x as many as fit) out[slot] becomes the number of rank ranks[slot] (from 0,
   * ascending) among the first lengths[slot], whose order may change. If there is none of that rank, out[slot] is not
   * written. Lengths, ranks and out have a number for each slot.
   */
  selectRanks(kept: Real, lengths: Uint32Array, ranks: Uint32Array, out: Real): void;
  /**
   * Runs a kernel of msl/ by name over `grid` threads (x, y, z) in threadgroups of `threadgroup`, with buffers and the
   * bytes of the params struct in index order. Throws `ERR_UNSUPPORTED` on a device without kernels. For a compiled
   * kernel, pass operands in the order of its parameters: typed arrays; ArrayBuffers, copied at once, of data that is
   * only read; numbers of bytes for threadgroup memory. Groups at the grid's far edges may have fewer threads.
   */
  launch(
    kernel: string | CompiledKernel,
    operands: readonly LaunchOperand[],
    grid: readonly number[],
    threadgroup: readonly number[],
  ): void;
  /** Whether {@link commitSync} would return within microseconds: few numbers, no launch, and no commit before. */
  isBrief(): boolean;
  /** Starts the commands; settles when they have run. Blocks neither the thread nor libuv's pool. */
  commit(): Promise<Timings>;
  /** Runs the commands, after all earlier commits, before it returns. */
  commitSync(): Timings;
  /**
   * Forgets the commands that were recorded, or run by {@link commitSync}, so that the encoder can be reused. Throws
   * `ERR_CLOSED` in flight.
   */
  reset(): void;
  /** Stops a commit in flight soon; it fails with `ERR_ABORTED`. */
  cancel(): void;
}
