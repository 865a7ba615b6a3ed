#include "eigen.h"

namespace covarium::cuda {

namespace {

void symmetricEigen(Run& run, View a, View values, size_t n, Dtype dtype) {
  const Cusolver& library = *run.cusolver();
  const size_t floats = bytesOf(dtype) / sizeof(float);
  const DevicePointer matrix = run.address(a), own = run.slice(values, 0, n * floats);
  const size_t length = library.eigenWorkspace(matrix, own, n, dtype);
  run.requireStarted(length != 0, "A decomposition");
  const DevicePointer work = run.scratch(length * floats), info = run.scratch(1);
  run.requireStarted(library.symmetricEigen(matrix, own, n, work, length, info, dtype), "A decomposition");
  run.afterwards(info, [](uint32_t word) {
    const auto wrong = static_cast<int32_t>(word);
    if (wrong < 0) throw Failure("ERR_INTERNAL", "cuSOLVER refuses argument (" + std::to_string(-wrong) + ").");
    if (wrong > 0)
      throw Failure("ERR_OUT_OF_RANGE",
                    "cuSOLVER does not converge (info " + std::to_string(wrong) + "): entries may be NaN.");
  });
  run.made(values, 0, n * floats);
}

}  // namespace

EigenPart::EigenPart(std::shared_ptr<Gpu> gpu, gpu::Commit& commit, Operand a, Operand values, size_t n,
                     std::unique_ptr<gpu::Part> onCpu)
    : gpu_(gpu), commit_(commit), onGpu_(std::move(gpu), commit), onCpu_(std::move(onCpu)) {
  const View matrix = onGpu_.view(a, gpu::Access::readAndWrite), own = onGpu_.view(values, gpu::Access::write);
  onGpu_.add([=, dtype = a.dtype](Run& run) { symmetricEigen(run, matrix, own, n, dtype); });
}

void EigenPart::start(std::function<void(const Outcome&)>) {
  throw Failure("ERR_INTERNAL", "A decomposition is run, not started.");
}

double EigenPart::run() {
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
