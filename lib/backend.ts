import type { Dtype, Real, Values } from './dtype.ts';

// The contract between the face and a device. Two bodies: the addon (objc/addon, for metal and cpu) and lib/reference.
// The face has checked every shape, type and number before it calls one of these; a body checks values only.

/** The kinds of device: `metal`, an Apple GPU; `cpu`, our kernels and a BLAS; `reference`, plain TypeScript. */
export type DeviceKind = 'metal' | 'cpu' | 'reference';

/** Where a Cholesky factor is to be made: where the device does it best, on the CPU, or on the GPU. */
export type FactorOn = 'auto' | 'cpu' | 'gpu';

/** How long a commit took, in milliseconds, and where its factor was made. */
export interface Timings {
  /** Recording on the host, from the first command to the commit. */
  readonly encodeMs: number;
  /** Execution on the device, first command to last. */
  readonly deviceMs: number;
  /** From the commit until its result was known to the host: waiting for earlier commits included. */
  readonly wallMs: number;
  /** Where the last Cholesky factor of the commit was made; undefined where there was none. */
  readonly factor?: 'cpu' | 'gpu' | undefined;
}

/** Bytes that a device holds. */
export interface MemoryUsage {
  /** In buffers that are open, or closed with work in flight. */
  readonly liveBytes: number;
  /** Kept for reuse. */
  readonly pooledBytes: number;
}

/** What a kernel takes at a launch, in the order of its arguments (a thread's place is none of it). */
export interface KernelParameter {
  /** A buffer of the device that is read, or also written; one in constant memory; memory of a threadgroup. */
  readonly kind: 'read' | 'written' | 'constant' | 'threadgroup';
  readonly name: string;
  /** Of Metal's table of buffers, or of threadgroup memory. */
  readonly index: number;
  /** Of one element, or of the struct; 0 where it is not known. */
  readonly sizeBytes: number;
  /** Of a struct. */
  readonly members: readonly KernelMember[];
}

/** Where a member of a struct begins. */
export interface KernelMember {
  readonly name: string;
  readonly offsetBytes: number;
}

/** A kernel to compile. */
export interface KernelSource {
  /** All of it: what it includes is written into it, with #line. */
  readonly text: string;
  /** Of the function. */
  readonly name: string;
  /** For a device that compiles nothing itself (cpu): the path of what was compiled of the text; '' for others. */
  readonly library: string;
  /** Values of function constants, as bytes of a Metal type (`bool`, `int`, `float` ...). */
  readonly constants: readonly { readonly index: number; readonly type: string; readonly value: Uint8Array }[];
  readonly parameters: readonly KernelParameter[];
  /** The library looks at every access. */
  readonly check: boolean;
}

/** A kernel of {@link Backend.compile}: sizes and members as the compiler has them. */
export interface CompiledKernel {
  /** Threads of a simdgroup. */
  readonly threadExecutionWidth: number;
  readonly maxTotalThreadsPerThreadgroup: number;
  readonly staticThreadgroupMemoryBytes: number;
  readonly maxThreadgroupMemoryBytes: number;
  readonly parameters: readonly { readonly sizeBytes: number; readonly members: readonly KernelMember[] }[];
}

/** A device that computes: memory, and encoders whose commits run in order. */
export interface Backend {
  readonly kind: DeviceKind;
  /** What computes, for people: a GPU's or a BLAS library's name. */
  readonly name: string;
  /** Threads that share the work of one command; 1 where the notion has no meaning. */
  readonly threads: number;
  /** Element types of sampling and linear algebra, `float32` first. */
  readonly dtypes: readonly Dtype[];
  /**
   * Why {@link Encoder} throws `ERR_UNSUPPORTED` for decompositions here (a LAPACK without one of the routines); ''
   * where it has them.
   */
  readonly lacksDecompositions: string;
  /** What has fewer bytes costs less in ordinary memory; 0 where commands want everything in the device's own. */
  readonly deviceMemoryFromBytes: number;
  /**
   * Memory of the device's own, contents unspecified; it is detached by {@link release}. Throws `ERR_OUT_OF_MEMORY`.
   */
  allocate(sizeBytes: number): ArrayBuffer;
  /**
   * Detaches `memory` and recycles it once no commit in flight uses it. Memory that is not the device's own is left
   * alone.
   */
  release(memory: ArrayBuffer): void;
  encoder(): Encoder;
  /**
   * Compiles a kernel without blocking the thread. Rejects with `ERR_KERNEL_COMPILE` and what the compiler says, in its
   * own words, as the message; with `ERR_UNSUPPORTED` on a device without kernels.
   */
  compile(source: KernelSource): Promise<CompiledKernel>;
  memory(): MemoryUsage;
  /** Cancels what is in flight and frees everything. Idempotent. */
  close(): void;
}

/**
 * Records commands, then commits them once, in order. All matrices are dense and row-major; all operands of one command
 * have one type. n is a dimension, `count` a number of rows.
 *
 * A "factor" is lower triangular, n x n; its upper triangle is never read.
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
   * Lower Cholesky factor in place, reading the lower triangle; the upper becomes 0. Fails with
   * `ERR_NOT_POSITIVE_DEFINITE`. Throws `ERR_UNSUPPORTED` for a place that the device hasn't; the timings say which
   * place it was.
   */
  cholesky(a: Real, n: number, where: FactorOn): void;
  /** Entries above the diagonal become 0. */
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
  /** Each row x of `rows` becomes the solution of factor y = x (or factor' y = x, transposed). */
  triangularSolve(factor: Real, rows: Real, n: number, transposed: boolean): void;
  /** Each row x of `rows` becomes the solution of factor factor' y = x. */
  choleskySolve(factor: Real, rows: Real, n: number): void;
  /** to (columns x rows) = the transpose of from (rows x columns). */
  transpose(from: Real, to: Real, rows: number, columns: number): void;
  /**
   * The symmetric a (only its lower triangle is read) becomes V', a = V diag(values) V': row i is the eigenvector of
   * values[i], of length 1 and either sign; values rise. Entries are finite, here and in the other decompositions.
   */
  symmetricEigen(a: Real, values: Real, n: number): void;
  /**
   * Rows A (m x n) become a lower echelon L with L L' = A A'. pivots (m) gets the column of each row's positive pivot,
   * in rising order; -1 for a row that the rows before it determine: its rest is at most `tolerance` of its norm. Each
   * row is met to rounding of its own norm.
   */
  echelon(rows: Real, pivots: Real, n: number, tolerance: number): void;
  /**
   * a (m x n) = L q, k = min(m, n): a becomes L, of which k columns are lower triangular and the others 0, with a
   * diagonal that is not negative; q (k x n) gets orthonormal rows. q may be empty: then only L is wanted.
   */
  lq(a: Real, q: Real, m: number, n: number): void;
  /**
   * a (m x n) = u diag(values) v, k = min(m, n): values (k) fall, u (m x k) has orthonormal columns and v (k x n)
   * orthonormal rows; a is lost. u and v may both be empty: then only values are wanted. `graded`, for m <= n: small
   * values beside large ones are as exact as these where the rows differ in length and in little else, which takes
   * several times as long.
   */
  svd(a: Real, u: Real, values: Real, v: Real, m: number, n: number, graded: boolean): void;
  /**
   * The symmetric a (n x n, only its lower triangle is read) becomes a root A: A A' is a but for what is left of it.
   * The variable of which most is left is taken next, until at most `tolerance` is left of any. Column k of A is that
   * of variable order[k]; from the rank on columns are 0, and `order` (n) is -1.
   */
  pivotedCholesky(a: Real, order: Real, n: number, tolerance: number): void;
  /**
   * a (n x n) becomes triangles for {@link luSolve}; the product of their diagonal is the determinant, once for each i
   * with pivots[i] != i its sign is changed. A singular matrix has a 0 on the diagonal.
   */
  lu(a: Real, pivots: Real, n: number): void;
  /** Each row x of `rows` becomes the solution y of a y = x. Fails the commit with `ERR_SINGULAR`. */
  luSolve(triangles: Real, pivots: Real, rows: Real, n: number): void;
  /** out[r] = sum of squares of row r. */
  squaredNorms(rows: Real, out: Real, n: number): void;
  /**
   * Fused sampling into `out` (count x n): row r = mean + factor z, or with `inverse` mean + factor^-1 z, where z is
   * elements [first + r n, first + (r + 1) n) of the normal stream. n divides out.length.
   */
  sample(factor: Real, mean: Real, out: Real, inverse: boolean, counter: Uint32Array): void;
  /**
   * Row r of `rows` (count x n) becomes location + scale * row by the radial scale of row first + r of a Student-t;
   * `counter` is that of {@link fillNormal}, with the first row in place of the first element. `location` is one row of
   * n, or a row for each, in float64. Computed in float64: what is so far out that the rows' type can't tell is
   * infinite; a coordinate that is 0 stays at its location.
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
   * Runs a kernel of msl/ by name over `grid` threads (x, y, z) in threadgroups of `threadgroup`; buffers and the
   * params struct's bytes in index order. Throws `ERR_UNSUPPORTED` on a device without kernels.
   *
   * Or a compiled kernel: operands in the order of its parameters. Those are typed arrays; ArrayBuffers with the bytes
   * of what is only read, copied at once; numbers of bytes for threadgroup memory. Groups at the far edges of the grid
   * may then have fewer threads.
   */
  launch(
    kernel: string | CompiledKernel,
    operands: readonly (Values | ArrayBuffer | number)[],
    grid: readonly number[],
    threadgroup: readonly number[],
  ): void;
  /** Starts the commands; settles when they have run. Never blocks the thread, nor libuv's pool. */
  commit(): Promise<Timings>;
  /** Runs the commands, after all earlier commits, before it returns. */
  commitSync(): Timings;
  /**
   * Forgets what was recorded, or run by {@link commitSync}: the encoder is as good as new, so that what is done ten
   * thousand times a second needs no new object. Throws `ERR_CLOSED` in flight.
   */
  reset(): void;
  /** Stops a commit in flight soon; it fails with `ERR_ABORTED`. */
  cancel(): void;
}
