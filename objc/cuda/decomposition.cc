#include "decomposition.h"

#include <algorithm>
#include <cmath>

namespace covarium::cuda {

namespace {

Cusolver::Scratch scratchOf(Run& run, Dtype dtype) {
  return [&run, floats = bytesOf(dtype) / sizeof(float)](size_t numbers) {
    return run.scratch(std::max<size_t>(numbers, 1) * floats);
  };
}

// Runs a kernel with a thread for each of the numbers (rows x columns); returns `to`.
DevicePointer turn(Run& run, const char* kernel, DevicePointer from, DevicePointer to, size_t rows, size_t columns) {
  run.launchThreads(kernel, {from, to}, gpu::matrixParams(rows, columns), rows * columns);
  return to;
}

// True if a row's largest number is so small or so large that the library, which does not scale, loses its digits.
// If `isWidened`, it computes in float64, which holds the squares of all float32 numbers.
template <typename T>
bool hasExtremeRow(const Operand& a, size_t n, bool isWidened) {
  constexpr bool isNarrow = sizeof(T) == sizeof(float);
  if (isNarrow && isWidened) return false;
  constexpr T least = static_cast<T>(isNarrow ? 1e-25 : 1e-200), most = static_cast<T>(isNarrow ? 1e25 : 1e200);
  const T* values = a.as<T>();
  for (size_t row = 0; row < a.length; row += n) {
    T largest = 0;
    for (size_t i = row; i < row + n; ++i) largest = std::max(largest, std::fabs(values[i]));
    if (largest > most || (largest < least && largest != 0)) return true;
  }
  return false;
}

void require(Run& run, bool isStarted, DevicePointer info) {
  run.requireStarted(isStarted, "A decomposition");
  run.afterwards(info, [](uint32_t word) {
    const auto wrong = static_cast<int32_t>(word);
    if (wrong < 0) throw Failure("ERR_INTERNAL", "cuSOLVER refuses argument (" + std::to_string(-wrong) + ").");
    if (wrong > 0)
      throw Failure("ERR_OUT_OF_RANGE",
                    "cuSOLVER does not converge (info " + std::to_string(wrong) + "): entries may be NaN.");
  });
}

}  // namespace

void DecompositionPart::symmetricEigen(const Operand& a, const Operand& values, size_t n, bool vectors) {
  const View matrix = onGpu_.view(a, Access::readAndWrite), own = onGpu_.view(values, Access::write);
  measured_ = {a, a.length, false};
  onGpu_.add([=, dtype = a.dtype](Run& run) {
    const size_t length = n * bytesOf(dtype) / sizeof(float);
    const DevicePointer info = run.scratch(1), made = run.slice(own, 0, length);
    require(run,
            run.cusolver()->symmetricEigen(run.address(matrix), made, n, vectors, scratchOf(run, dtype), info, dtype),
            info);
    run.made(own, 0, length);
  });
}

void DecompositionPart::lq(const Operand& a, const Operand& q, size_t m, size_t n) {
  const View matrix = onGpu_.view(a, Access::readAndWrite);
  measured_ = {a, n, false};
  const bool hasQ = q.length != 0;
  const View rows = hasQ ? onGpu_.view(q, Access::write) : matrix;
  onGpu_.add([=, dtype = a.dtype](Run& run) {
    const Cusolver& library = *run.cusolver();
    const Cusolver::Scratch scratch = scratchOf(run, dtype);
    const size_t rank = std::min(m, n), length = rank * n * bytesOf(dtype) / sizeof(float);
    const DevicePointer at = run.address(matrix), own = hasQ ? run.slice(rows, 0, length) : at,
                        reflections = scratch(rank), info = run.scratch(1);
    require(run, library.rowFactor(at, reflections, m, n, scratch, info, dtype), info);
    if (hasQ) {
      const DevicePointer next = run.scratch(1);
      run.copy(own, at, rank * n * bytesOf(dtype));
      require(run, library.orthonormalRows(own, reflections, rank, n, scratch, next, dtype), next);
    }
    const gpu::LqParams params = {static_cast<uint>(m), static_cast<uint>(n), hasQ ? 1u : 0u};
    constexpr size_t lanes = 256;
    run.launch(kernelFor("finish_lq", dtype), {at, own}, params, n, lanes);
    if (hasQ) run.made(rows, 0, length);
  });
}

// Computed in float64: in float32 the library's values are a hundred times as far from the true ones as LAPACK's, and
// hardly faster.
void DecompositionPart::svd(const Operand& a, const Operand& u, const Operand& values, const Operand& v, size_t m,
                            size_t n) {
  const View matrix = onGpu_.view(a, Access::readAndWrite), own = onGpu_.view(values, Access::write);
  const bool hasVectors = u.length != 0;
  const View left = hasVectors ? onGpu_.view(u, Access::write) : matrix;
  const View right = hasVectors ? onGpu_.view(v, Access::write) : matrix;
  measured_ = {a, a.length, true};
  onGpu_.add([=, dtype = a.dtype](Run& run) {
    const Cusolver::Scratch scratch = scratchOf(run, Dtype::float64);
    const size_t rank = std::min(m, n), length = std::max(m, n), floats = bytesOf(dtype) / sizeof(float);
    const bool isNarrow = dtype == Dtype::float32, isHigh = m > n;
    DevicePointer taken = run.address(matrix);
    if (isNarrow) taken = turn(run, "widened", taken, scratch(m * n), m, n);
    // The library needs no more of our rows than columns, so a high matrix is transposed first: v' diag(values) u'.
    if (isHigh) taken = turn(run, "transposed_float64", taken, scratch(m * n), m, n);
    const DevicePointer info = run.scratch(1), singular = scratch(rank);
    const DevicePointer rows = hasVectors ? scratch(rank * rank) : 0;
    const DevicePointer columns = hasVectors ? scratch(rank * length) : 0;
    require(run, run.cusolver()->svd(taken, rows, singular, columns, rank, length, scratch, info), info);
    const auto give = [&](View view, DevicePointer from, size_t high, size_t wide, bool isTurned) {
      if (isTurned) from = turn(run, "transposed_float64", from, scratch(high * wide), high, wide);
      const DevicePointer to = run.slice(view, 0, high * wide * floats);
      if (isNarrow)
        turn(run, "narrowed", from, to, high, wide);
      else
        run.copy(to, from, high * wide * sizeof(double));
      run.made(view, 0, high * wide * floats);
    };
    if (hasVectors) {
      give(left, isHigh ? columns : rows, rank, m, isHigh);
      give(right, isHigh ? rows : columns, rank, n, isHigh);
    }
    give(own, singular, 1, rank, false);
  });
}

double DecompositionPart::run() {
  gpu_->requireAlive();
  const bool hasLibrary = [&] {
    const Current current(*gpu_);
    return gpu_->cusolver() != nullptr;
  }();
  if (!hasLibrary && onCpu_ == nullptr)
    throw Failure("ERR_UNSUPPORTED", "Neither the GPU nor the CPU beside it has a library for eigenvalues.");
  const auto& [a, n, isWidened] = measured_;
  const bool isExtreme = onCpu_ != nullptr && (a.dtype == Dtype::float32 ? hasExtremeRow<float>(a, n, isWidened)
                                                                         : hasExtremeRow<double>(a, n, isWidened));
  const bool onGpu = hasLibrary && !isExtreme;
  (onGpu ? commit_.onGpu : commit_.onCpu) = true;
  return onGpu ? onGpu_.run() : onCpu_->run();
}

}  // namespace covarium::cuda
