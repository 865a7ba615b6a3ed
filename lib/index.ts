// What the declarations need of TypeScript beyond its defaults: Symbol.dispose.
/// <reference lib="esnext.disposable" preserve="true" />

export type { DeviceKind, FactorOn, MemoryUsage, Timings } from './backend.ts';
export { CommandBuffer } from './command-buffer.ts';
export type {
  DensityOptions,
  FactorOptions,
  NormalElements,
  ProductOptions,
  RowElements,
  TriangleOptions,
} from './command-options.ts';
export { CovariumError, type Diagnostic, type ErrorCode, type ErrorFields } from './covarium-error.ts';
export { Device } from './device.ts';
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
} from './distance.ts';
export { Distribution } from './distribution.ts';
export type { RealDtype, RowList, RowsInput } from './distribution-input.ts';
export type { RunOptions, SampleOptions, SampleSyncOptions } from './draw.ts';
export type { AroundOptions, AroundSyncOptions } from './draw-around.ts';
export type { Dtype, Real, Values } from './dtype.ts';
export type { MomentsJson } from './fit/moments-json.ts';
export type { AddOptions, AddSyncOptions } from './fit/rows.ts';
export type { Shrinkage } from './fit/shrinkage.ts';
export type { KernelArgument, KernelArguments, KernelNumber, ThreadgroupMemory } from './kernel/arguments.ts';
export type { KernelOptions } from './kernel/compile.ts';
export type { ConstantValues } from './kernel/constants.ts';
export type { GivenLayouts } from './kernel/given-layouts.ts';
export type { GridSize } from './kernel/grid.ts';
export { Kernel, type Launch } from './kernel/kernel.ts';
export { type DeviceReport, listDevices } from './list-devices.ts';
export { Matrix, type MatrixInput, type MatrixOptions } from './matrix.ts';
export { type EstimateOptions, Moments, type MomentsOptions } from './moments.ts';
export { MultivariateNormal } from './multivariate-normal.ts';
export { type BatchOptions, type BatchSampleOptions, MultivariateNormalBatch } from './multivariate-normal-batch.ts';
export { MultivariateStudentT } from './multivariate-student-t.ts';
export type { Candidate } from './native.ts';
export type { AffineOptions } from './normal/affine.ts';
export type { ConditionalMeansOptions, ConditionalOptions } from './normal/conditional.ts';
export type { Ellipsoid, EllipsoidOptions } from './normal/ellipsoid.ts';
export type { EmpiricalOptions, EmpiricalSyncOptions } from './normal/empirical.ts';
export type { Word64 } from './normal-counter.ts';
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
  TransformOptions,
} from './normal-options.ts';
export type {
  BoxOptions,
  BoxSyncOptions,
  ProbabilityOptions,
  ProbabilitySyncOptions,
} from './normal-probability.ts';
export { type OpenOptions, openDevice } from './open-device.ts';
export type { Operand } from './operand.ts';
export type { BoxProbability } from './probability/box-probability.ts';
export type { BlockOptions } from './sample-blocks.ts';
export type { SampleOut } from './sample-out.ts';
export type { LocationsOptions, LocationsSyncOptions } from './student/student-around.ts';
export type { StudentAffineOptions } from './student/student-image.ts';
export type {
  ScaleCholeskyOptions,
  ScaleCorrelationOptions,
  ScaleDiagonalOptions,
  ScaleEigenOptions,
  ScaleLowRankOptions,
  ScaleOptions,
  ScalePrecisionOptions,
  StudentOptions,
} from './student/student-options.ts';
export type { Missing } from './table/complete-rows.ts';
export type { TableFormat } from './table/format.ts';
export { type NumberTable, readTable, type TableOptions } from './table/read-table.ts';
export { type WriteTableOptions, writeTable } from './table/write-table.ts';
export { Vector, type VectorInput } from './vector.ts';
export { Volume, type VolumeSize } from './volume.ts';
export { type Correlation, correlationOf } from './ways-in/correlation.ts';
export { type NearestOptions, nearestPositiveDefinite } from './ways-in/nearest-positive-definite.ts';
