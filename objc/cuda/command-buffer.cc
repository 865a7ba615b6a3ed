#include "command-buffer.h"

#include "cholesky.h"
#include "decomposition.h"
#include "density.h"
#include "mirror.h"
#include "moments.h"
#include "product.h"
#include "sample.h"

namespace covarium::cuda {

using gpu::Routing;
using gpu::Work;

namespace {

// How many times as long memory that the driver has not pinned takes over the bus.
constexpr double pageableTimes = 6;

// Whether the numbers are on the GPU when a commit begins, and the bytes of pinned memory that take as long to get
// there.
bool isThere(const Operand& operand) {
  auto* mirror = dynamic_cast<Mirror*>(operand.buffer.get());
  return mirror != nullptr &&
         (mirror->isKept() || mirror->settledAround(operand.address(), operand.sizeBytes()) != nullptr);
}
double bytesToGpu(const Operand& operand) {
  if (isThere(operand)) return 0;
  auto* mirror = dynamic_cast<Mirror*>(operand.buffer.get());
  const bool isPinned = mirror != nullptr && mirror->isPinned();
  return static_cast<double>(operand.sizeBytes()) * (isPinned ? 1 : pageableTimes);
}

// How many times as long as a product a core takes to solve rows.
constexpr double slowerSolve = 3;

double unitOf(Dtype dtype) { return dtype == Dtype::float64 ? 2 : 1; }

// The work of a command, whose operands have to be where it runs.
Work withBytes(Work work, std::initializer_list<const Operand*> operands) {
  for (const Operand* each : operands) {
    work.bytesIfGpu += bytesToGpu(*each);
    if (keptOf(each->buffer) != nullptr) work.bytesIfCpu += static_cast<double>(each->sizeBytes());
  }
  return work;
}

Work productWork(Dtype dtype, const ProductShape& shape) {
  return {0,
          unitOf(dtype) * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k)};
}

// Of rows of n that are solved with a factor, or whose densities are computed from it.
Work solveWork(Dtype dtype, size_t count, size_t n) {
  Work work = productWork(dtype, {count, n, (n + 1) / 2, false, false, 1, 0});
  work.timesOnCpu = slowerSolve;
  return work;
}

Work factorWork(Dtype dtype, size_t n) { return Routing::workOf({Question::Command::factor, 0, 0, n, dtype, false}); }

// Of numbers that the GPU writes into its own memory, from where those that are not kept go to the host.
Work drawWork(Dtype dtype, double numbers, double multiplyAdds, bool isKept) {
  const double unit = unitOf(dtype), bytes = numbers * static_cast<double>(bytesOf(dtype));
  return {unit * numbers, unit * multiplyAdds, 1, 0, isKept ? 0 : bytes, isKept ? bytes : 0};
}

}  // namespace

bool CudaCommandBuffer::isForGpu(Dtype dtype) const {
  return dtype == Dtype::float32 || (dtype == Dtype::float64 && engine_.gpu->isGoodAtFloat64());
}

bool CudaCommandBuffer::isForGpu(const Operand& out, double multiplyAdds) const {
  if (!isForGpu(out.dtype) || out.length == 0) return false;
  const auto numbers = static_cast<double>(out.length);
  return routing().isForGpu(drawWork(out.dtype, numbers, multiplyAdds, keptOf(out.buffer) != nullptr));
}

using Views = std::array<View, 4>;

void CudaCommandBuffer::fillNormal(Operand out, NormalCounter counter) {
  if (!isForGpu(out, 0)) return Recorder::fillNormal(out, counter);
  record({{out, Access::write}}, [=, count = out.length, dtype = out.dtype](Run& run, const Views& v) {
    cuda::fillNormal(run, v[0], count, counter, dtype);
  });
}

bool CudaCommandBuffer::isProductForGpu(const Operand& a, const Operand& b, const Operand& c,
                                        const ProductShape& shape) const {
  // If alpha is 0, nothing may be summed: 0 times a sum that overflows would be NaN.
  if (!isForGpu(c.dtype) || !isCountable(shape) || shape.alpha == 0) return false;
  return routing().isForGpu(withBytes(productWork(c.dtype, shape), {&a, &b, &c}));
}

bool CudaCommandBuffer::isFactorForGpu(const Operand& a, size_t n) const {
  if (!isForGpu(a.dtype) || n > largestOrder || n == 0) return false;
  Work work = withBytes(factorWork(a.dtype, n), {&a});
  work.bytesIfGpu *= 2;  // to the GPU and back
  return routing().isForGpu(work);
}

// Whether the GPU solves these rows with a factor, or computes their densities from it.
bool CudaCommandBuffer::areSolvedOnGpu(const Operand& factor, const Operand& rows, size_t n) const {
  constexpr size_t most = size_t{1} << 31;
  const size_t count = n == 0 ? 0 : rows.length / n;
  if (!isForGpu(rows.dtype) || n > largestOrder || count == 0 || count >= most) return false;
  return routing().isForGpu(withBytes(solveWork(rows.dtype, count, n), {&factor, &rows}));
}

void CudaCommandBuffer::triangularSolve(Operand factor, Operand rows, size_t n, bool transposed) {
  if (!areSolvedOnGpu(factor, rows, n)) return Recorder::triangularSolve(factor, rows, n, transposed);
  solve(factor, rows, n, transposed ? Solve::transposed : Solve::forwards);
}

void CudaCommandBuffer::choleskySolve(Operand factor, Operand rows, size_t n) {
  if (!areSolvedOnGpu(factor, rows, n)) return Recorder::choleskySolve(factor, rows, n);
  solve(factor, rows, n, Solve::both);
}

void CudaCommandBuffer::solve(const Operand& factor, const Operand& rows, size_t n, Solve which) {
  record({{factor, Access::read}, {rows, Access::readAndWrite}},
         [=, count = rows.length / n, dtype = rows.dtype](Run& run, const Views& v) {
           cuda::solve(run, v[0], v[1], count, n, which, dtype);
         });
}

// The host reads its own memory sooner than it copies it to the GPU.
void CudaCommandBuffer::requireFinite(Operand a, size_t columns) {
  if (keptOf(a.buffer) == nullptr || !isForGpu(a.dtype)) return Recorder::requireFinite(a, columns);
  record({{a, Access::read}}, [=, cpu = engine_.cpu](Run& run, const Views& v) {
    cuda::requireFinite(run, v[0], a.length, a.dtype, [=] {
      // The CPU finds the entry, unless a later command has overwritten it.
      const auto commands = cpu->commandBuffer();
      commands->requireFinite(a, columns);
      commands->commitAndWait();
      throw Failure("ERR_NOT_FINITE", "An entry is NaN or infinite.");
    });
  });
}

void CudaCommandBuffer::logDensity(Operand factor, Operand mean, Operand rows, Operand out, bool inverse,
                                   double constant) {
  const size_t n = mean.length;
  if (!areSolvedOnGpu(factor, rows, n)) return Recorder::logDensity(factor, mean, rows, out, inverse, constant);
  record({{factor, Access::read}, {mean, Access::read}, {rows, Access::read}, {out, Access::write}},
         [=, count = out.length, dtype = out.dtype](Run& run, const Views& v) {
           if (n <= batchColumns)
             cuda::densities(run, v[0], v[1], v[2], v[3], {1, n, count, false, inverse}, {constant}, dtype);
           else
             cuda::wideDensities(run, v[0], v[1], v[2], v[3], count, n, inverse, constant, dtype);
         });
}

void CudaCommandBuffer::logDensityBatch(Operand factors, Operand means, Operand rows, Operand out, size_t n,
                                        Operand constants) {
  if (out.length == 0 || out.length >= size_t{1} << 31 || !areSolvedOnGpu(factors, rows, n))
    return Recorder::logDensityBatch(factors, means, rows, out, n, constants);
  const size_t count = means.length / n, each = out.length / count;
  const bool shared = rows.length != out.length * n;
  const auto command = [=, dtype = out.dtype](Run& run, const Views& v) {
    const auto [f, m, r, o] = v;
    const auto* first = constants.as<double>();
    if (n <= batchColumns)
      return cuda::densities(run, f, m, r, o, {count, n, each, shared, false},
                             std::vector<double>(first, first + count), dtype);
    const size_t floats = bytesOf(dtype) / sizeof(float);
    for (size_t b = 0; b < count; ++b)
      cuda::wideDensities(run, f.from(b * n * n * floats), m.from(b * n * floats),
                          r.from(shared ? 0 : b * each * n * floats), o.from(b * each * floats), each, n, false,
                          first[b], dtype);
  };
  record({{factors, Access::read}, {means, Access::read}, {rows, Access::read}, {out, Access::write}}, command);
}

bool CudaCommandBuffer::isReducedOnGpu(const Operand& rows) const {
  return isForGpu(rows.dtype) && rows.length != 0 && (routing().takesAll() || keptOf(rows.buffer) != nullptr);
}

void CudaCommandBuffer::addMoments(Operand rows, Operand weights, Operand centre, Operand sums, Operand products) {
  const size_t n = centre.length, count = rows.length / n;
  if (!isReducedOnGpu(rows) || weights.length != 0 || n > mostMomentColumns || count >= size_t{1} << 31)
    return Recorder::addMoments(rows, weights, centre, sums, products);
  const bool hasProducts = products.length != 0;
  const Operand written = hasProducts ? products : sums;
  record({{rows, Access::read}, {centre, Access::read}, {sums, Access::readAndWrite}, {written, Access::readAndWrite}},
         [=, dtype = rows.dtype](Run& run, const Views& v) {
           cuda::addMoments(run, v[0], v[1], v[2], v[3], count, n, hasProducts, dtype);
         });
}

void CudaCommandBuffer::countBetween(Operand rows, Operand limits, Operand kept, Operand counts, size_t n) {
  if (!isReducedOnGpu(rows) || n > mostMomentColumns) return Recorder::countBetween(rows, limits, kept, counts, n);
  const size_t slots = limits.length / 2, capacity = kept.length / slots;
  // A buffer that stays on the GPU has its numbers there already, if it has any.
  const Access adds = keptOf(kept.buffer) != nullptr ? Access::write : Access::readAndWrite;
  const Use holder = capacity == 0 ? Use{limits, Access::read} : Use{kept, adds};  // nothing is kept in the limits
  record({{rows, Access::read}, {limits, Access::read}, holder, {counts, Access::readAndWrite}},
         [=, count = rows.length / n, dtype = rows.dtype](Run& run, const Views& v) {
           cuda::countBetween(run, v[0], v[1], v[2], v[3], count, {slots / n, n, capacity}, dtype);
         });
}

void CudaCommandBuffer::selectRanks(Operand kept, Operand lengths, Operand ranks, Operand out) {
  if (!isReducedOnGpu(kept) || kept.length / out.length >= size_t{1} << 31)
    return Recorder::selectRanks(kept, lengths, ranks, out);
  record({{kept, Access::read}, {lengths, Access::read}, {ranks, Access::read}, {out, Access::readAndWrite}},
         [slots = out.length, capacity = kept.length / out.length, dtype = out.dtype](Run& run, const Views& v) {
           cuda::selectRanks(run, v[0], v[1], v[2], v[3], slots, capacity, dtype);
         });
}

void CudaCommandBuffer::product(Operand a, Operand b, Operand c, ProductShape shape) {
  if (!isProductForGpu(a, b, c, shape)) return Recorder::product(a, b, c, shape);
  record({{a, Access::read}, {b, Access::read}, {c, shape.beta == 0 ? Access::write : Access::readAndWrite}},
         [=, dtype = c.dtype](Run& run, const Views& v) { cuda::product(run, v[0], v[1], v[2], shape, dtype); });
}

void CudaCommandBuffer::cholesky(Operand a, size_t n, FactorOn where) {
  if (where == FactorOn::mps)
    throw Failure("ERR_UNSUPPORTED", "Device (cuda) does not have Metal Performance Shaders (factor: 'mps').");
  if (where == FactorOn::gpu && (!isForGpu(a.dtype) || n > largestOrder))
    throw Failure("ERR_UNSUPPORTED", "Device (cuda) makes a factor of dimension (" + std::to_string(n) + ") in " +
                                         (a.dtype == Dtype::float32 ? "float32" : "float64") +
                                         " on the CPU beside the GPU (factor: 'gpu').");
  if (where == FactorOn::cpu || (where == FactorOn::automatic && !isFactorForGpu(a, n)))
    return Recorder::cholesky(a, n, FactorOn::cpu);
  record({{a, Access::readAndWrite}}, [=, dtype = a.dtype](Run& run, const Views& v) {
    cuda::cholesky(run, v[0], n, dtype);
    run.keep(v[0]);
  });
  recorded().factor = FactorOn::gpu;
}

// Whether NVIDIA's library, if there is one, decomposes a matrix (m x n). Below `leastOrder` the CPU is about as
// fast, if it has a LAPACK.
bool CudaCommandBuffer::isDecomposedOnGpu(Dtype dtype, size_t m, size_t n, size_t leastOrder) const {
  return isForGpu(dtype) && std::min(m, n) > 0 && std::max(m, n) <= largestDecomposition &&
         (std::min(m, n) >= leastOrder || routing().takesAll());
}

void CudaCommandBuffer::decompose(const std::function<void(DecompositionPart&)>& onGpu,
                                  const std::function<void(CommandBuffer&)>& onCpu) {
  std::unique_ptr<gpu::HostPart> cpu;
  if (engine_.cpu->lacksDecompositions().empty()) {
    cpu = std::make_unique<gpu::HostPart>(engine_.cpu->commandBuffer());
    onCpu(cpu->commands());
  }
  // onCpu stays as it is: where the part runs is known only when it runs.
  const bool before = recorded().onCpu;
  auto part = std::make_unique<DecompositionPart>(engine_.gpu, recorded(), std::move(cpu));
  onGpu(*part);
  append(std::move(part), false);
  recorded().onCpu = before;
}

void CudaCommandBuffer::symmetricEigen(Operand a, Operand values, size_t n, bool vectors) {
  // cuSOLVER 12.0 has an algorithm of its own below 256 columns, whose eigenvectors of singular matrices are far from
  // orthogonal: by up to 0.06 for matrices of ones in float64 on an H200.
  constexpr size_t leastOrder = 256;
  if (!vectors || n < leastOrder || !isDecomposedOnGpu(a.dtype, n, n, leastOrder))
    return Recorder::symmetricEigen(a, values, n, vectors);
  decompose([&](DecompositionPart& part) { part.symmetricEigen(a, values, n, vectors); },
            [&](CommandBuffer& cpu) { cpu.symmetricEigen(a, values, n, vectors); });
}

// Without a LAPACK, lib/ decomposes in TypeScript and does not record these commands.
void CudaCommandBuffer::lq(Operand a, Operand q, size_t m, size_t n) {
  if (!engine_.cpu->lacksDecompositions().empty() || !isDecomposedOnGpu(a.dtype, m, n, 256))
    return Recorder::lq(a, q, m, n);
  decompose([&](DecompositionPart& part) { part.lq(a, q, m, n); }, [&](CommandBuffer& cpu) { cpu.lq(a, q, m, n); });
}

void CudaCommandBuffer::svd(Operand a, Operand u, Operand values, Operand v, size_t m, size_t n, bool graded) {
  if (graded || !engine_.cpu->lacksDecompositions().empty() || !isDecomposedOnGpu(a.dtype, m, n, 768))
    return Recorder::svd(a, u, values, v, m, n, graded);
  decompose([&](DecompositionPart& part) { part.svd(a, u, values, v, m, n); },
            [&](CommandBuffer& cpu) { cpu.svd(a, u, values, v, m, n, false); });
}

void CudaCommandBuffer::sample(Operand factor, Operand mean, Operand out, bool inverse, NormalCounter counter) {
  const size_t n = mean.length;
  // The CPU solves a few columns sooner than the GPU does by tiles of 128.
  const bool isTooNarrow = inverse && n < 16 && !routing().takesAll();
  if (isTooNarrow || n > largestOrder || !isForGpu(out, 0.5 * n * out.length))
    return Recorder::sample(factor, mean, out, inverse, counter);
  const auto draws = std::make_shared<Draws>(Draws{out, n, {}});
  record({{factor, Access::read}, {mean, Access::read}, {out, Access::write}}, [=, count = out.length / n,
                                                                                dtype = out.dtype](Run& run,
                                                                                                   const Views& v) {
    cuda::sample(run, v[0], v[1], v[2], count, n, inverse, counter, dtype, draws->stretch);
  }).draws = draws;
}

void CudaCommandBuffer::sampleBatch(Operand factors, Operand means, Operand out, size_t n, NormalCounter counter) {
  if (n > batchColumns || !isForGpu(out, 0)) return Recorder::sampleBatch(factors, means, out, n, counter);
  const size_t count = means.length / n, rows = out.length / means.length;
  const auto draws = std::make_shared<Draws>(Draws{out, n, {}});
  record({{factors, Access::read}, {means, Access::read}, {out, Access::write}}, [=, dtype = out.dtype](
                                                                                     Run& run, const Views& v) {
    cuda::sampleBatch(run, v[0], v[1], v[2], count, n, rows, counter, dtype, draws->stretch);
  }).draws = draws;
}

bool CudaCommandBuffer::stretch(const Operand& rows, const Operand& locations, size_t n, Stretch how) {
  if (!isForGpu(rows.dtype) || rows.length == 0 || n >= size_t{1} << 31) return false;
  auto* last = static_cast<Part*>(gpuPart());
  const bool isThere = keptOf(rows.buffer) != nullptr || (last != nullptr && last->holds(rows));
  // The host stretches rows in its own memory sooner than it copies them to the GPU.
  if (!isThere && !routing().takesAll()) return false;
  Part& part = onGpu({rows, locations});
  const std::shared_ptr<Draws> draws = part.draws;
  how.locations = part.view(locations, Access::read);
  const bool isDrawn = draws != nullptr && !draws->stretch && draws->n == n && draws->out.address() == rows.address() &&
                       draws->out.length == rows.length;
  if (isDrawn) {
    draws->stretch = how;  // slice by slice, as they are made
    return true;
  }
  const View r = part.view(rows, Access::readAndWrite);
  part.add(
      [=, count = rows.length / n, dtype = rows.dtype](Run& run) { cuda::stretchRows(run, r, count, n, how, dtype); });
  return true;
}

void CudaCommandBuffer::stretchRows(Operand rows, Operand location, size_t n, double degreesOfFreedom,
                                    NormalCounter counter) {
  const size_t count = rows.length / n, locationRows = location.length == n ? count : 1;
  if (!stretch(rows, location, n, {{}, count, locationRows, degreesOfFreedom, counter}))
    Recorder::stretchRows(rows, location, n, degreesOfFreedom, counter);
}

void CudaCommandBuffer::stretchBatch(Operand rows, Operand locations, size_t n, double degreesOfFreedom,
                                     NormalCounter counter) {
  const size_t each = rows.length / locations.length;
  if (!stretch(rows, locations, n, {{}, each, each, degreesOfFreedom, counter}))
    Recorder::stretchBatch(rows, locations, n, degreesOfFreedom, counter);
}

Explanation explain(const Gpu& gpu, const gpu::Routing& routing, const Question& question) {
  if (question.dtype == Dtype::float64 && !gpu.isGoodAtFloat64())
    return {false, -1, -1, "This GPU is more than four times as slow in float64 as in float32."};
  if (question.columns > largestOrder || question.columns == 0)
    return {false, -1, -1, "The GPU takes up to " + std::to_string(largestOrder) + " columns."};
  const auto [command, rows, inner, columns, dtype, keep] = question;
  // As they are without any work of the caller: in the memory that allocate() gives.
  const auto toGpu = [size = bytesOf(dtype)](size_t high, size_t wide) {
    const size_t bytes = high * wide * size;
    return static_cast<double>(bytes) * (bytes < leastPinnedBytes ? pageableTimes : 1);
  };
  Work work;
  switch (command) {
    case Question::Command::sample: {
      const double numbers = static_cast<double>(rows) * static_cast<double>(columns);
      return routing.explain(drawWork(dtype, numbers, 0.5 * static_cast<double>(columns) * numbers, keep));
    }
    case Question::Command::logPdf:
      work = solveWork(dtype, rows, columns);
      work.bytesIfGpu = toGpu(rows, columns);
      break;
    case Question::Command::factor:
      work = factorWork(dtype, columns);
      work.bytesIfGpu = 2 * toGpu(columns, columns);
      break;
    case Question::Command::multiply:
      work = productWork(dtype, {rows, columns, inner, false, false, 1, 0});
      work.bytesIfGpu = toGpu(rows, inner) + toGpu(inner, columns) + toGpu(rows, columns);
  }
  return routing.explain(work);
}

}  // namespace covarium::cuda
