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
export { CovariumError, type ErrorCode, type ErrorFields } from './covarium-error.ts';
export { Device } from './device.ts';
export type { RealDtype, RowList, RowsInput } from './distribution-input.ts';
export type { SampleOptions, SampleSyncOptions } from './draw.ts';
export type { Dtype, Real, Values } from './dtype.ts';
export { type DeviceReport, listDevices } from './list-devices.ts';
export { Matrix, type MatrixInput, type MatrixOptions } from './matrix.ts';
export { MultivariateNormal } from './multivariate-normal.ts';
export type { Word64 } from './normal-counter.ts';
export type {
  CholeskyOptions,
  CovarianceOptions,
  FitOptions,
  NormalOptions,
  PrecisionOptions,
  TransformOptions,
} from './normal-options.ts';
export { type OpenOptions, openDevice } from './open-device.ts';
export type { BlockOptions } from './sample-blocks.ts';
export type { SampleOut } from './sample-out.ts';
export { Vector, type VectorInput } from './vector.ts';
