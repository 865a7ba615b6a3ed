// The declarations use Symbol.dispose, which is not among TypeScript's defaults.
/// <reference lib="esnext.disposable" preserve="true" />

export type { Candidate } from './addon/native.ts';
export type { DtypeOf, ElementType, MadeOf, NumberOption, Only } from './array/element-type.ts';
export type { ArrayContents, ArrayJson, JsonNumber } from './array/face.ts';
export type {
  ArqueroTable,
  ArrowTable,
  ColumnObject,
  DeclaredRow,
  ForeignTable,
  RowObject,
  StridedArray,
} from './array/foreign.ts';
export type { RowList, RowsInput, Transformed } from './array/inputs.ts';
export type {
  Eigen,
  LeastSquares,
  LeastSquaresOptions,
  LinearAlgebra,
  LinearAlgebraOptions,
  Qr,
  SampleCovarianceOptions,
  SignAndLogarithm,
  SingularValues,
} from './array/linear-algebra.ts';
export { Matrix, type MatrixInput, type MatrixOptions } from './array/matrix.ts';
export type { Operand } from './array/operand.ts';
export { Vector, type VectorInput } from './array/vector.ts';
export { Volume, type VolumeSize } from './array/volume.ts';
export type { DeviceKind, ExplainedCommand, Explanation, FactorOn, MemoryUsage, Timings } from './backend.ts';
export type { OpenBackend } from './backend-handle.ts';
export type { AbortOptions } from './check.ts';
export { CommandBuffer } from './command/command-buffer.ts';
export type {
  DensityOptions,
  FactorOptions,
  NormalElements,
  ProductOptions,
  RowElements,
  TriangleOptions,
} from './command/options.ts';
export type { ComputeKernel, ComputeLaunch } from './compute/compute-kernel.ts';
export type { ComputeFunction, ComputeOptions, Uses } from './compute/compute-options.ts';
export {
  type Descriptor,
  type DtypeOfScalar,
  type DtypesOfScalars,
  f32,
  f64,
  type Given,
  type GivenTo,
  type Holder,
  i32,
  input,
  type Numbers,
  output,
  type ReadNumbers,
  type Scalar,
  type ScalarName,
  type Seen,
  type SeenBy,
  u8,
  u32,
  type WrittenNumbers,
} from './compute/descriptor.ts';
export type { Elementwise, ElementwiseOptions, ReductionOfTexts, ReductionTexts } from './compute/elementwise.ts';
export type { ReduceOptions, Reduction } from './compute/reduction.ts';
export type { Scan, ScanOptions } from './compute/scan.ts';
export type { Shaped } from './compute/shapes.ts';
export type { Thread } from './compute/thread.ts';
export type { Result, ResultOf, Vectorized, VectorizedOptions, VectorizeOptions } from './compute/vectorized.ts';
export { CovariumError, type Diagnostic, type ErrorCode, type ErrorFields } from './covarium-error.ts';
export {
  type NearestOptions,
  nearestPositiveDefinite,
  nearestPositiveDefiniteSync,
} from './decomposition/nearest-positive-definite.ts';
export { Device, type DtypeOption, type ExplainedSize } from './device.ts';
export type { BlockOptions } from './distribution/blocks.ts';
export { Distribution } from './distribution/distribution.ts';
export type { RunOptions, SampleOptions, SampleOut, SampleSyncOptions } from './distribution/sample-options.ts';
export type { AskedFor, Summary, SummaryOf, SummaryOptions, SummarySyncOptions } from './distribution/summarize.ts';
export type { Dtype, Missing, Real, RealDtype, Values } from './dtype.ts';
export type { InputSource } from './file/input.ts';
export type { KernelArgument, KernelArguments, KernelNumber, ThreadgroupMemory } from './kernel/arguments.ts';
export type { KernelOptions, LibraryOptions } from './kernel/compile.ts';
export type { ConstantValues } from './kernel/constants.ts';
export type { GivenLayouts } from './kernel/given-layouts.ts';
export type { GridSize } from './kernel/grid.ts';
export { Kernel, type KernelArgumentInfo, type Launch } from './kernel/kernel.ts';
export {
  type SamplerAddress,
  type SamplerBorder,
  type SamplerComparison,
  type SamplerOptions,
  Texture,
  type TextureFormat,
  type TextureOptions,
} from './kernel/texture.ts';
export { type DeviceReport, listDevices } from './list-devices.ts';
export type { MomentsJson } from './moments/json.ts';
export { type EstimateOptions, Moments, type MomentsOptions } from './moments/moments.ts';
export type { Shrinkage } from './moments/shrinkage.ts';
export type { AddOptions, AddSyncOptions } from './moments/weighted-rows.ts';
export type { AffineOptions } from './normal/affine.ts';
export type { VolumeSyncOptions } from './normal/batch-tasks.ts';
export type { ConditionalMeansOptions, ConditionalOptions } from './normal/conditional.ts';
export {
  bhattacharyya,
  bhattacharyyaSync,
  crossEntropy,
  crossEntropySync,
  hellinger,
  hellingerSync,
  klDivergence,
  klDivergenceSync,
  renyiDivergence,
  renyiDivergenceSync,
  wasserstein,
  wassersteinSync,
} from './normal/divergences.ts';
export type { MeansOptions, MeansSyncOptions } from './normal/draw.ts';
export type { Ellipsoid, EllipsoidOptions } from './normal/ellipsoid.ts';
export type { EmpiricalOptions, EmpiricalSyncOptions } from './normal/empirical.ts';
export type { FitGroupsOptions } from './normal/fit-groups.ts';
export { type Correlation, correlationOf } from './normal/from-correlation.ts';
export type { DtypeOfJson, JsonOptions, NormalJson } from './normal/json.ts';
export type { MixtureFitOptions, MixtureReport } from './normal/mixture.ts';
export { MultivariateNormal } from './normal/multivariate-normal.ts';
export {
  type BatchJson,
  type BatchOptions,
  type BatchSampleOptions,
  type BatchVolumeOptions,
  MultivariateNormalBatch,
} from './normal/multivariate-normal-batch.ts';
export {
  type MixtureJson,
  type MixtureOptions,
  MultivariateNormalMixture,
} from './normal/multivariate-normal-mixture.ts';
export type {
  CholeskyOptions,
  CorrelationOptions,
  CovarianceOptions,
  DiagonalOptions,
  EigenOptions,
  FitOptions,
  FromMomentsOptions,
  JitterReport,
  LowRankOptions,
  NormalOptions,
  PrecisionOptions,
  SingularCovariance,
  SingularFitOptions,
  TransformOptions,
} from './normal/options.ts';
export type { BoxOptions, BoxSyncOptions, ProbabilityOptions, ProbabilitySyncOptions } from './normal/probability.ts';
export { type OpenOptions, openDevice, openDeviceAsync } from './open-device.ts';
export type { BoxProbability } from './probability/box-probability.ts';
export type { Word64 } from './stream/counter.ts';
export type { StudentAffineOptions } from './student-t/affine.ts';
export type { LocationsOptions, LocationsSyncOptions } from './student-t/draw.ts';
export type { StudentJson } from './student-t/json.ts';
export { MultivariateStudentT } from './student-t/multivariate-student-t.ts';
export {
  MultivariateStudentTBatch,
  type StudentBatchJson,
  type StudentBatchOptions,
  type StudentVolumeOptions,
} from './student-t/multivariate-student-t-batch.ts';
export type {
  ScaleCholeskyOptions,
  ScaleCorrelationOptions,
  ScaleDiagonalOptions,
  ScaleEigenOptions,
  ScaleLowRankOptions,
  ScaleOptions,
  ScalePrecisionOptions,
  StudentOptions,
} from './student-t/options.ts';
export type { TableFormat } from './table/format.ts';
export { type NumberTable, readTable, type TableOptions } from './table/read-table.ts';
export { type TableInput, type WriteTableOptions, writeTable } from './table/write-table.ts';
