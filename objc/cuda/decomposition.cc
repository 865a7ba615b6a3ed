#include "decomposition.h"

#include <algorithm>

#include "../gpu/params.h"

namespace covarium::cuda {

namespace {

constexpr size_t lanes = 256;

Cusolver::Scratch scratchOf(Run& run, Dtype dtype) {
  return [&run, floats = bytesOf(dtype) / sizeof(float)](size_t numbers) {
    return run.scratch(std::max<size_t>(numbers, 1) * floats);
  };
}

// `to` (columns x rows), which is given back, of `from` (rows x columns).
DevicePointer transposed(Run& run, DevicePointer from, DevicePointer to, size_t rows, size_t columns, Dtype dtype) {
  const gpu::MatrixParams params = {static_cast<uint>(rows), static_cast<uint>(columns)};
  run.launch(dtype == Dtype::float32 ? "transposed" : "transposed_float64", {from, to}, params,
             (rows * columns + lanes - 1) / lanes, lanes);
  return to;
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
  const View matrix = onGpu_.view(a, gpu::Access::readAndWrite), own = onGpu_.view(values, gpu::Access::write);
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
  const View matrix = onGpu_.view(a, gpu::Access::readAndWrite);
  const bool hasQ = q.length != 0;
  const View rows = hasQ ? onGpu_.view(q, gpu::Access::write) : matrix;
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
    run.launch(dtype == Dtype::float32 ? "finish_lq" : "finish_lq_float64", {at, own}, params, n, lanes);
    if (hasQ) run.made(rows, 0, length);
  });
}

void DecompositionPart::svd(const Operand& a, const Operand& u, const Operand& values, const Operand& v, size_t m,
                            size_t n) {
  const View matrix = onGpu_.view(a, gpu::Access::readAndWrite), own = onGpu_.view(values, gpu::Access::write);
  const bool hasVectors = u.length != 0;
  const View left = hasVectors ? onGpu_.view(u, gpu::Access::write) : matrix;
  const View right = hasVectors ? onGpu_.view(v, gpu::Access::write) : matrix;
  onGpu_.add([=, dtype = a.dtype](Run& run) {
    const Cusolver::Scratch scratch = scratchOf(run, dtype);
    const size_t rank = std::min(m, n), floats = bytesOf(dtype) / sizeof(float);
    const DevicePointer info = run.scratch(1);
    // The library takes no more of our rows than columns: a high matrix is v' diag(values) u', transposed.
    const bool isHigh = m > n;
    const DevicePointer taken =
        isHigh ? transposed(run, run.address(matrix), scratch(m * n), m, n, dtype) : run.address(matrix);
    const DevicePointer singular = scratch(rank), rows = hasVectors ? scratch(rank * rank) : 0;
    const DevicePointer columns = hasVectors ? scratch(rank * std::max(m, n)) : 0;
    require(run, run.cusolver()->svd(taken, rows, singular, columns, rank, std::max(m, n), scratch, info, dtype), info);
    const auto give = [&](View view, DevicePointer from, size_t high, size_t wide, bool isTurned) {
      const DevicePointer to = run.slice(view, 0, high * wide * floats);
      if (isTurned)
        transposed(run, from, to, high, wide, dtype);
      else
        run.copy(to, from, high * wide * bytesOf(dtype));
      run.made(view, 0, high * wide * floats);
    };
    if (hasVectors) {
      give(left, isHigh ? columns : rows, rank, m, isHigh);
      give(right, isHigh ? rows : columns, rank, n, isHigh);
    }
    give(own, singular, 1, rank, false);
  });
}

void DecompositionPart::start(std::function<void(const Outcome&)>) {
  throw Failure("ERR_INTERNAL", "A decomposition is run, not started.");
}

double DecompositionPart::run() {
  gpu_->requireAlive();
  const bool hasLibrary = [&] {
    const Current current(*gpu_);
    return gpu_->cusolver() != nullptr;
  }();
  if (!hasLibrary && onCpu_ == nullptr)
    throw Failure("ERR_UNSUPPORTED", "Neither the GPU nor the CPU beside it has a library for eigenvalues.");
  (hasLibrary ? commit_.onGpu : commit_.onCpu) = true;
  return hasLibrary ? onGpu_.run() : onCpu_->run();
}

}  // namespace covarium::cuda
