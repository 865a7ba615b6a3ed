#include "command-buffer.h"

#include <array>

#include "batch.h"
#include "cholesky.h"
#include "../gpu/params.h"
#include "product.h"
#include "rows.h"
#include "sample.h"
#include "triangle.h"

namespace covarium::metal {

namespace {

void requireFloat32(const Operand& operand) {
  if (operand.dtype != Dtype::float32)
    throw Failure("ERR_UNSUPPORTED_DTYPE", "Apple GPUs compute with float32 (an operand is of another type).");
}

}  // namespace

// Small matrices stay on the CPU even if COVARIUM_METAL_FROM sends all to the GPU.
bool isFactorForGpu(const Gpu& gpu, size_t n) {
  return makesByTiles(gpu, n) &&
         gpu.routing.isForGpu(Routing::workOf({Question::Command::factor, 0, 0, n, Dtype::float32, false}));
}

// If the commit's last commands are on the GPU already, sending the next one there costs nothing more.
bool MetalCommandBuffer::isSmall(const Operand& out, double multiplyAdds) {
  return out.dtype == Dtype::float32 && gpuPart() == nullptr &&
         !engine_.gpu.routing.isForGpu({static_cast<double>(out.length), multiplyAdds});
}

template <typename Encode>
void MetalCommandBuffer::record(std::initializer_list<Use> uses, double seconds, const Encode& encode) {
  const AutoreleasePool pool;
  for (const Use& use : uses) requireFloat32(use.operand);
  recordFor<GpuPart>(uses, engine_.gpu, encode).takesSeconds(seconds);
}

using Views = std::array<View, 4>;

void MetalCommandBuffer::commit(Completion done) {
  const AutoreleasePool pool;
  Recorder::commit(std::move(done));
}

Timings MetalCommandBuffer::commitAndWait() {
  const AutoreleasePool pool;
  return Recorder::commitAndWait();
}

void MetalCommandBuffer::fillNormal(Operand out, NormalCounter counter) {
  if (out.length == 0) return;
  if (isSmall(out)) return onCpu().fillNormal(out, counter);
  record({{out, Access::write}}, normalSeconds(out.length),
         [=, length = out.length](Encoding& encoding, const Views& v) {
           metal::fillNormal(encoding, v[0], length, counter);
         });
}

// By MPS only if the user asks for it: it is slower at every size that others have measured (ml-explore/mlx #1216: 7.67
// ms against 0.99 at n = 1000).
void MetalCommandBuffer::cholesky(Operand a, size_t n, FactorOn where) {
  if (where == FactorOn::cpu || (where == FactorOn::automatic && !isFactorForGpu(engine_.gpu, n)))
    return Recorder::cholesky(a, n, FactorOn::cpu);
  const std::string lacking = lacksCholesky(engine_.gpu, where, n);
  if (!lacking.empty()) throw Failure("ERR_UNSUPPORTED", lacking + ".");
  const auto make = where == FactorOn::mps ? choleskyByMps : metal::cholesky;
  record({{a, Access::readAndWrite}}, factorSeconds(n),
         [make, n](Encoding& encoding, const Views& v) { make(encoding, v[0], n); });
  recorded().factor = FactorOn::gpu;
}

void MetalCommandBuffer::zeroUpper(Operand a, size_t n) {
  if (isSmall(a) || !works({"zero_upper"})) return onCpu().zeroUpper(a, n);
  record({{a, Access::readAndWrite}}, passSeconds(1, a.length), [n](Encoding& encoding, const Views& v) {
    encoding.dispatch("zero_upper", {v[0]}, matrixParams(n, n), n, n);
  });
}

void MetalCommandBuffer::antitranspose(Operand a, size_t n) {
  if (isSmall(a) || !works({"antitranspose"})) return onCpu().antitranspose(a, n);
  record({{a, Access::readAndWrite}}, passSeconds(2, a.length), [n](Encoding& encoding, const Views& v) {
    encoding.dispatch("antitranspose", {v[0]}, matrixParams(n, n), n, n);
  });
}

void MetalCommandBuffer::copy(Operand from, Operand to) {
  if (from.length == 0) return;
  if (isSmall(from)) return onCpu().copy(from, to);
  record({{from, Access::read}, {to, Access::write}}, passSeconds(2, from.length),
         [length = from.length](Encoding& encoding, const Views& v) { encoding.copy(v[0], v[1], length); });
}

// MPS doesn't say that the sum may be one of its terms, so the sum is made in scratch if they share a buffer.
void MetalCommandBuffer::sum(Operand a, Operand b, Operand out) {
  if (a.length == 0) return;
  if (isSmall(out) || !works({"MPSMatrixSum"})) return onCpu().sum(a, b, out);
  record({{a, Access::read}, {b, Access::read}, {out, Access::write}}, passSeconds(5, a.length),
         [length = a.length](Encoding& encoding, const Views& v) {
           constexpr size_t width = 1 << 12;
           const bool apart = v[2].buffer != v[0].buffer && v[2].buffer != v[1].buffer;
           const View result = apart ? v[2] : encoding.scratch(length);
           const auto add = [&](size_t first, size_t rows, size_t columns) {
             if (rows == 0 || columns == 0) return;
             const auto matrix = [&](const View& view) { return MatrixView{view.from(first), rows, columns, columns}; };
             encoding.gpu().mps().sum(encoding, matrix(v[0]), matrix(v[1]), matrix(result));
           };
           const size_t whole = length / width * width;
           add(0, length / width, width);
           add(whole, 1, length - whole);
           if (!apart) encoding.copy(result, v[2], length);
           encoding.worked(passSeconds(5, length));
         });
}

void MetalCommandBuffer::addRow(Operand rows, Operand row, double scale) {
  if (rows.length == 0) return;
  if (isSmall(rows) || !works({"add_row"})) return onCpu().addRow(rows, row, scale);
  record({{rows, Access::readAndWrite}, {row, Access::read}}, passSeconds(2, rows.length),
         [count = rows.length / row.length, n = row.length, scale](Encoding& encoding, const Views& v) {
           metal::addRow(encoding, v[0], v[1], static_cast<float>(scale), count, n);
         });
}

void MetalCommandBuffer::scaleColumns(Operand rows, Operand row) {
  if (rows.length == 0) return;
  if (isSmall(rows) || !works({"scale_columns"})) return onCpu().scaleColumns(rows, row);
  record({{rows, Access::readAndWrite}, {row, Access::read}}, passSeconds(2, rows.length),
         [count = rows.length / row.length, n = row.length](Encoding& encoding, const Views& v) {
           metal::scaleColumns(encoding, v[0], v[1], count, n);
         });
}

void MetalCommandBuffer::product(Operand a, Operand b, Operand c, ProductShape shape) {
  const bool vector = shape.m == 1 || shape.n == 1;
  if (shape.k == 0 || shape.alpha == 0 || isSmall(c, 1.0 * shape.m * shape.n * shape.k) ||
      !works({vector ? "MPSMatrixVectorMultiplication" : "MPSMatrixMultiplication"}))
    return onCpu().product(a, b, c, shape);
  record({{a, Access::read}, {b, Access::read}, {c, shape.beta == 0 ? Access::write : Access::readAndWrite}},
         secondsFor(2.0 * shape.m * shape.n * shape.k, 4.0 * (a.length + b.length + c.length)),
         [shape](Encoding& encoding, const Views& v) { metal::product(encoding, v[0], v[1], v[2], shape); });
}

void MetalCommandBuffer::triangularProduct(Operand factor, Operand rows, size_t n, bool transposed) {
  if (rows.length == 0) return;
  const bool hasKernels = transposed ? works({"copy_lower", "MPSMatrixMultiplication", "MPSMatrixVectorMultiplication"})
                                     : works({rows.length <= fewRows * n ? "multiply_lower" : "sample_tiles"});
  if (isSmall(rows, 0.5 * n * rows.length) || !hasKernels)
    return onCpu().triangularProduct(factor, rows, n, transposed);
  record({{factor, Access::read}, {rows, Access::readAndWrite}},
         secondsFor(2.0 * n * rows.length, 16.0 * rows.length + 12.0 * n * n),
         [count = rows.length / n, n, transposed](Encoding& encoding, const Views& v) {
           metal::triangularProduct(encoding, v[0], v[1], count, n, transposed);
         });
}

void MetalCommandBuffer::triangularSolve(Operand factor, Operand rows, size_t n, bool transposed) {
  if (rows.length == 0) return;
  if (isSmall(rows, 0.5 * n * rows.length) || !works({"solve_tiles"}) || (transposed && !works({"antitranspose"})))
    return onCpu().triangularSolve(factor, rows, n, transposed);
  const size_t count = rows.length / n;
  record({{factor, Access::read}, {rows, Access::readAndWrite}}, solveSeconds(count, n) + passSeconds(4, n * n),
         [count, n, transposed](Encoding& encoding, const Views& v) {
           metal::triangularSolve(encoding, v[0], v[1], count, n, transposed);
         });
}

void MetalCommandBuffer::choleskySolve(Operand factor, Operand rows, size_t n) {
  if (rows.length == 0) return;
  if (isSmall(rows, 1.0 * n * rows.length) || !works({"solve_tiles", "antitranspose"}))
    return onCpu().choleskySolve(factor, rows, n);
  const size_t count = rows.length / n;
  record({{factor, Access::read}, {rows, Access::readAndWrite}}, 2 * solveSeconds(count, n) + passSeconds(4, n * n),
         [count, n](Encoding& encoding, const Views& v) { metal::choleskySolve(encoding, v[0], v[1], count, n); });
}

void MetalCommandBuffer::squaredNorms(Operand rows, Operand out, size_t n) {
  if (out.length == 0) return;
  if (isSmall(rows) || !works({"squared_norms"})) return onCpu().squaredNorms(rows, out, n);
  record({{rows, Access::read}, {out, Access::write}}, passSeconds(1, rows.length),
         [count = out.length, n](Encoding& encoding, const Views& v) {
           metal::squaredNorms(encoding, v[0], v[1], count, n);
         });
}

void MetalCommandBuffer::sample(Operand factor, Operand mean, Operand out, bool inverse, NormalCounter counter) {
  if (out.length == 0) return;
  const size_t n = mean.length, count = out.length / n;
  const bool fused = (n <= fusedColumns && works({"sample_rows"})) || drawsNarrow(engine_.gpu, n, inverse);
  if (isSmall(out, 0.5 * n * out.length) || !canSample(engine_.gpu, count, n, inverse))
    return onCpu().sample(factor, mean, out, inverse, counter);
  const double moved = inverse && !fused ? solveSeconds(count, n) : secondsFor(2.0 * n * out.length, 8.0 * out.length);
  record({{factor, Access::read}, {mean, Access::read}, {out, Access::write}},
         normalSeconds(out.length) + moved + passSeconds(1, out.length) + passSeconds(3, n * n),
         [=](Encoding& encoding, const Views& v) {
           metal::sample(encoding, v[0], v[1], v[2], count, n, inverse, counter);
         });
}

void MetalCommandBuffer::logDensity(Operand factor, Operand mean, Operand rows, Operand out, bool inverse,
                                    double constant) {
  if (out.length == 0) return;
  const size_t n = mean.length, count = out.length;
  const bool fused = makesDensities(engine_.gpu, n);
  if (isSmall(rows, 0.5 * n * rows.length) || !canLogDensity(engine_.gpu, count, n, inverse))
    return onCpu().logDensity(factor, mean, rows, out, inverse, constant);
  const double white = inverse || fused ? secondsFor(4.0 * n * rows.length, 8.0 * rows.length) : solveSeconds(count, n);
  record({{factor, Access::read}, {mean, Access::read}, {rows, Access::read}, {out, Access::write}},
         white + passSeconds(4, rows.length) + passSeconds(3, n * n),
         [n, count, inverse, constant](Encoding& encoding, const Views& v) {
           metal::logDensity(encoding, v[0], v[1], v[2], v[3], count, n, inverse, constant);
         });
}

// Beyond 32 columns the CPU factors by a library, whose bits our kernels do not reproduce.
void MetalCommandBuffer::choleskyBatch(Operand a, size_t n, double tolerance) {
  if (a.length == 0) return;
  const size_t count = a.length / (n * n);
  if (isSmall(a, 0.2 * n * a.length) || n > batchFactorColumns || count > mostBatchModels ||
      !works({"cholesky_batch", "keep_first_failed"})) {
    Recorder::choleskyBatch(a, n, tolerance);
    return;
  }
  record({{a, Access::readAndWrite}}, batchFactorSeconds(count, n),
         [=](Encoding& encoding, const Views& v) { metal::choleskyBatch(encoding, v[0], count, n, tolerance); });
  recorded().factor = FactorOn::gpu;
}

// If sample_rows is off, the CPU draws from one model, and so it draws from a batch too.
void MetalCommandBuffer::sampleBatch(Operand factors, Operand means, Operand out, size_t n, NormalCounter counter) {
  if (out.length == 0) return;
  if (isSmall(out, 0.5 * n * out.length) || n > fusedColumns || !works({"sample_batch", "sample_rows"}))
    return onCpu().sampleBatch(factors, means, out, n, counter);
  const size_t count = means.length / n, rows = out.length / means.length;
  record({{factors, Access::read}, {means, Access::read}, {out, Access::write}},
         normalSeconds(out.length) + secondsFor(1.0 * n * out.length, 4.0 * (out.length + factors.length)),
         [=](Encoding& encoding, const Views& v) {
           metal::sampleBatch(encoding, v[0], v[1], v[2], count, n, rows, counter);
         });
}

void MetalCommandBuffer::logDensityBatch(Operand factors, Operand means, Operand rows, Operand out, size_t n,
                                         Operand constants) {
  if (out.length == 0) return;
  if (isSmall(out, 0.5 * n * n * out.length) || !makesDensities(engine_.gpu, n))
    return onCpu().logDensityBatch(factors, means, rows, out, n, constants);
  const size_t count = means.length / n, each = out.length / count;
  const bool shared = rows.length != out.length * n;
  record({{factors, Access::read}, {means, Access::read}, {rows, Access::read}, {out, Access::write}},
         secondsFor(1.0 * n * n * out.length, 4.0 * (n * out.length + factors.length)),
         [=](Encoding& encoding, const Views& v) {
           metal::densities(encoding, v[0], v[1], v[2], v[3], {count, n, each, shared, false}, constants.as<double>());
         });
}

Explanation explain(const Gpu& gpu, const Question& question) {
  const auto onCpu = [](std::string because) { return Explanation{false, -1, -1, std::move(because)}; };
  if (question.dtype != Dtype::float32) return onCpu("Apple GPUs do not compute with float64.");
  const size_t rows = question.rows, n = question.columns;
  bool works = false;
  switch (question.command) {
    case Question::Command::sample:
      works = canSample(gpu, rows, n, false);
      break;
    case Question::Command::logPdf:
      works = canLogDensity(gpu, rows, n, false);
      break;
    case Question::Command::factor:
      if (!makesByTiles(gpu)) break;
      if (!makesByTiles(gpu, n)) return onCpu("Our own kernels make factors from 512 columns on.");
      works = true;
      break;
    case Question::Command::multiply:
      works = gpu.works({rows == 1 || n == 1 ? "MPSMatrixVectorMultiplication" : "MPSMatrixMultiplication"});
  }
  if (!works) return onCpu("A kernel for it is off on this GPU; `covarium devices` says why.");
  return gpu.routing.explain(Routing::workOf(question));
}

}  // namespace covarium::metal
