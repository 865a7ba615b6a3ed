#include "command-buffer.h"

#include <cstdlib>

#include "mirror.h"
#include "product.h"
#include "sample.h"

namespace covarium::cuda {

size_t leastOnGpu() {
  static const size_t least = [] {
    const char* asked = getenv("COVARIUM_CUDA_FROM");
    if (asked == nullptr || *asked == '\0') return size_t{1} << 16;
    char* end;
    const auto number = static_cast<size_t>(strtoull(asked, &end, 10));
    if (*end != '\0')
      throw Failure("ERR_OUT_OF_RANGE", "COVARIUM_CUDA_FROM (" + std::string(asked) + ") is not a whole number.");
    return number;
  }();
  return least;
}

bool CudaCommandBuffer::isForGpu(Dtype dtype) const {
  return dtype == Dtype::float32 || (dtype == Dtype::float64 && engine_.gpu->isGoodAtFloat64());
}

bool CudaCommandBuffer::isForGpu(const Operand& out, double work) const {
  constexpr double workOfANumber = 100;  // what a number costs that is only made and copied
  return isForGpu(out.dtype) && out.length > 0 &&
         static_cast<double>(out.length) + work / workOfANumber >= static_cast<double>(leastOnGpu());
}

Part& CudaCommandBuffer::onGpu(const std::vector<Operand>& operands) {
  auto* last = static_cast<Part*>(gpuPart());
  bool fits = last != nullptr;
  for (const Operand& operand : operands) fits = fits && last->takes(operand);
  if (fits) return *last;
  auto part = std::make_unique<Part>(engine_.gpu, recorded());
  Part& made = *part;
  append(std::move(part), true);
  return made;
}

void CudaCommandBuffer::fillNormal(Operand out, NormalCounter counter) {
  if (!isForGpu(out, 0)) return Recorder::fillNormal(out, counter);
  Part& part = onGpu({out});
  const View view = part.view(out, gpu::Access::write);
  part.add(
      [=, count = out.length, dtype = out.dtype](Run& run) { cuda::fillNormal(run, view, count, counter, dtype); });
}

// About how long it takes here and there.
bool CudaCommandBuffer::isProductForGpu(const Operand& a, const Operand& b, const Operand& c,
                                        const ProductShape& shape) const {
  if (!isForGpu(c.dtype) || !isCountable(shape)) return false;
  if (leastOnGpu() == 0) return true;
  constexpr double busRate = 4e10, gpuRate = 2e13, coreRate = 5e10, start = 3e-5;
  const double flops = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  const double share = c.dtype == Dtype::float64 ? 0.5 : 1;
  double hostBytes = 0, gpuBytes = 0;
  for (const Operand* operand : {&a, &b, &c})
    (keptOf(operand->buffer) != nullptr ? gpuBytes : hostBytes) += static_cast<double>(operand->sizeBytes());
  const double onGpu = start + hostBytes / busRate + flops / (share * gpuRate);
  const double onCpu = gpuBytes / busRate + flops / (share * coreRate * engine_.cpu->threads());
  return onGpu < onCpu;
}

void CudaCommandBuffer::product(Operand a, Operand b, Operand c, ProductShape shape) {
  if (!isProductForGpu(a, b, c, shape)) return Recorder::product(a, b, c, shape);
  Part& part = onGpu({a, b, c});
  const View x = part.view(a, gpu::Access::read), y = part.view(b, gpu::Access::read);
  const View z = part.view(c, shape.beta == 0 ? gpu::Access::write : gpu::Access::readAndWrite);
  part.add([=, dtype = c.dtype](Run& run) { cuda::product(run, x, y, z, shape, dtype); });
}

void CudaCommandBuffer::cholesky(Operand a, size_t n, FactorOn where) {
  if (where == FactorOn::gpu)
    throw Failure("ERR_UNSUPPORTED", "Device (cuda) makes factors on the CPU beside the GPU (factor: 'gpu').");
  Recorder::cholesky(a, n, where);
}

void CudaCommandBuffer::sample(Operand factor, Operand mean, Operand out, bool inverse, NormalCounter counter) {
  const size_t n = mean.length;
  if (inverse || n > largestOrder || !isForGpu(out, 0.5 * n * out.length))
    return Recorder::sample(factor, mean, out, inverse, counter);
  Part& part = onGpu({factor, mean, out});
  const View f = part.view(factor, gpu::Access::read), m = part.view(mean, gpu::Access::read);
  const View o = part.view(out, gpu::Access::write);
  part.add([=, count = out.length / n, dtype = out.dtype](Run& run) {
    cuda::sample(run, f, m, o, count, n, counter, dtype);
  });
}

void CudaCommandBuffer::sampleBatch(Operand factors, Operand means, Operand out, size_t n, NormalCounter counter) {
  if (n > batchColumns || out.dtype != Dtype::float32 || !isForGpu(out, 0))
    return Recorder::sampleBatch(factors, means, out, n, counter);
  Part& part = onGpu({factors, means, out});
  const View f = part.view(factors, gpu::Access::read), m = part.view(means, gpu::Access::read);
  const View o = part.view(out, gpu::Access::write);
  const size_t count = means.length / n, rows = out.length / means.length;
  part.add([=](Run& run) { cuda::sampleBatch(run, f, m, o, count, n, rows, counter); });
}

}  // namespace covarium::cuda
