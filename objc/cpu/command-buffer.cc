#include "command-buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "batch.h"
#include "between.h"
#include "cholesky.h"
#include "float-mode.h"
#include "launch.h"
#include "log-density.h"
#include "moments.h"
#include "pieces.h"
#include "product.h"
#include "sample.h"
#include "symmetry.h"
#include "triangular.h"

namespace covarium::cpu {

namespace {

double millisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double* orNone(const Operand& some) { return some.length == 0 ? nullptr : some.as<double>(); }

}  // namespace

void CpuCommandBuffer::record(std::function<void(const Execution&)> command) {
  if (commands_.empty()) begun_ = Clock::now();
  commands_.push_back(std::move(command));
}

Timings CpuCommandBuffer::taken() {
  const double encodeMs = commands_.empty() ? 0 : millisecondsSince(begun_);
  return {encodeMs, 0, 0, std::exchange(factor_, FactorOn::automatic)};
}

double CpuCommandBuffer::run() {
  const auto begin = Clock::now();
  const Execution execution = {engine_->pool, engine_->kernels, engine_->blas, cancelled_, engine_->closing};
  execution.stopIfCancelled();
  const FloatModeScope mode = FloatModeScope::flushing();
  for (const auto& command : commands_) command(execution);
  return millisecondsSince(begin);
}

void CpuCommandBuffer::commit(Completion done) {
  const Timings known = taken();
  const auto committed = Clock::now();
  engine_->queue.submit(this, [self = shared_from_this(), known, committed, done = std::move(done)] {
    Timings timings = known;
    std::exception_ptr failure;
    try {
      timings.deviceMs = self->run();
    } catch (...) {
      failure = std::current_exception();
    }
    self->commands_.clear();  // the buffers are released before anyone is told of the end
    timings.wallMs = millisecondsSince(committed);
    done(timings, failure);
  });
}

void CpuCommandBuffer::cancel() {
  if (cancelled_.exchange(true)) return;
  ++kernelCancellations;
  // A commit that has not begun does not wait for those before it: run here, it only tells of its end.
  if (const auto work = engine_->queue.withdraw(this)) work();
}

Timings CpuCommandBuffer::commitAndWait() {
  Timings timings = taken();
  const auto committed = Clock::now();
  std::exception_ptr failure;
  engine_->queue.runHere([&] {
    try {
      timings.deviceMs = run();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  commands_.clear();
  if (failure) std::rethrow_exception(failure);
  timings.wallMs = millisecondsSince(committed);
  return timings;
}

void CpuCommandBuffer::fillNormal(Operand out, NormalCounter counter) {
  record([=](const Execution& execution) {
    withReal(out, [&](auto real) {
      using T = decltype(real);
      forPieces(execution, out.length, [&](size_t first, size_t count) {
        execution.kernels.of<T>().fillNormal(out.as<T>() + first, count,
                                             {counter.seed, counter.stream, counter.first + first});
      });
    });
  });
}

void CpuCommandBuffer::requireFinite(Operand a, size_t columns) {
  record([=](const Execution& execution) {
    withReal(a, [&](auto real) { cpu::requireFinite(execution, a.as<decltype(real)>(), a.length, columns); });
  });
}

void CpuCommandBuffer::requireSymmetric(Operand a, size_t n, double tolerance) {
  record([=](const Execution& execution) {
    withReal(a, [&](auto real) {
      using T = decltype(real);
      cpu::requireSymmetric(execution, a.as<T>(), n, static_cast<T>(tolerance));
    });
  });
}

void CpuCommandBuffer::cholesky(Operand a, size_t n, FactorOn where) {
  if (where == FactorOn::gpu || where == FactorOn::mps)
    throw Failure("ERR_UNSUPPORTED", std::string("Device (cpu) has no GPU to make a factor on (factor: '") +
                                         (where == FactorOn::gpu ? "gpu" : "mps") + "').");
  factor_ = FactorOn::cpu;
  record([=](const Execution& execution) {
    withReal(a, [&](auto real) { cpu::cholesky(execution, a.as<decltype(real)>(), n); });
  });
}

void CpuCommandBuffer::zeroUpper(Operand a, size_t n) {
  record([=](const Execution& execution) {
    withReal(a, [&](auto real) { cpu::zeroUpper(execution, a.as<decltype(real)>(), n); });
  });
}

void CpuCommandBuffer::antitranspose(Operand a, size_t n) {
  record([=](const Execution& execution) {
    withReal(a, [&](auto real) { execution.kernels.of<decltype(real)>().antitranspose(a.as<decltype(real)>(), n); });
  });
}

void CpuCommandBuffer::copy(Operand from, Operand to) {
  record([=](const Execution& execution) {
    withReal(from, [&](auto real) {
      using T = decltype(real);
      forPieces(execution, from.length, [&](size_t first, size_t count) {
        memmove(to.as<T>() + first, from.as<T>() + first, count * sizeof(T));
      });
    });
  });
}

void CpuCommandBuffer::sum(Operand a, Operand b, Operand out) {
  record([=](const Execution& execution) {
    withReal(a, [&](auto real) {
      using T = decltype(real);
      forPieces(execution, a.length, [&](size_t first, size_t count) {
        const T *x = a.as<T>(), *y = b.as<T>();
        T* z = out.as<T>();
        for (size_t i = first; i < first + count; ++i) z[i] = x[i] + y[i];
      });
    });
  });
}

void CpuCommandBuffer::addRow(Operand rows, Operand row, double scale) {
  record([=](const Execution& execution) {
    withRowBlocks(execution, rows, row, [&](const auto& kernels, auto* block, const auto* added, size_t count) {
      kernels.addRow(block, added, static_cast<std::decay_t<decltype(*block)>>(scale), count, row.length);
    });
  });
}

void CpuCommandBuffer::scaleColumns(Operand rows, Operand row) {
  record([=](const Execution& execution) {
    withRowBlocks(execution, rows, row, [&](const auto& kernels, auto* block, const auto* scales, size_t count) {
      kernels.scaleColumns(block, scales, count, row.length);
    });
  });
}

void CpuCommandBuffer::product(Operand a, Operand b, Operand c, ProductShape shape) {
  record([=](const Execution& execution) {
    withReal(a, [&](auto real) {
      using T = decltype(real);
      multiply(execution, a.as<T>(), b.as<T>(), c.as<T>(), shape);
    });
  });
}

void CpuCommandBuffer::choleskyBatch(Operand a, size_t n, double tolerance) {
  factor_ = FactorOn::cpu;
  record([=](const Execution& execution) {
    withReal(a, [&](auto real) {
      using T = decltype(real);
      cpu::choleskyBatch(execution, a.as<T>(), a.length / (n * n), n, static_cast<T>(tolerance));
    });
  });
}

void CpuCommandBuffer::sampleBatch(Operand factors, Operand means, Operand out, size_t n, NormalCounter counter) {
  record([=](const Execution& execution) {
    withReal(out, [&](auto real) {
      using T = decltype(real);
      const size_t count = means.length / n;
      if (count == 0) return;
      cpu::sampleBatch(execution, factors.as<T>(), means.as<T>(), out.as<T>(), count, n, out.length / means.length,
                       counter);
    });
  });
}

void CpuCommandBuffer::stretchBatch(Operand rows, Operand locations, size_t n, double degreesOfFreedom,
                                    NormalCounter counter) {
  record([=](const Execution& execution) {
    const FloatModeScope mode = FloatModeScope::keeping();
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      if (rows.length == 0) return;
      const size_t each = rows.length / locations.length;
      forRowBlocks(execution, locations.length / n, std::max<size_t>(1, pieceElements / (each * (n + 16))),
                   [&](size_t first, size_t count, unsigned) {
                     for (size_t b = first; b < first + count; ++b)
                       execution.kernels.of<T>().stretchRows(
                           rows.as<T>() + b * each * n, locations.as<double>() + b * n, 0, each, n, degreesOfFreedom,
                           {counter.seed, counter.stream + b, counter.first});
                   });
    });
  });
}

void CpuCommandBuffer::logDensityBatch(Operand factors, Operand means, Operand rows, Operand out, size_t n,
                                       Operand constants) {
  record([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      const size_t count = means.length / n;
      if (out.length == 0) return;
      const size_t each = out.length / count, stride = rows.length == out.length * n ? each * n : 0;
      cpu::logDensityBatch(execution, factors.as<T>(), means.as<T>(), rows.as<T>(), stride, out.as<T>(), count, n, each,
                           constants.as<double>());
    });
  });
}

void CpuCommandBuffer::squaredNorms(Operand rows, Operand out, size_t n) {
  record([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      forRowBlocks(execution, out.length, std::max<size_t>(1, pieceElements / n),
                   [&](size_t first, size_t count, unsigned) {
                     execution.kernels.of<T>().squaredNorms(rows.as<T>() + first * n, out.as<T>() + first, count, n);
                   });
    });
  });
}

void CpuCommandBuffer::distances(Operand values) {
  record([=](const Execution& execution) {
    withReal(values, [&](auto real) {
      using T = decltype(real);
      forPieces(execution, values.length, [&](size_t first, size_t count) {
        execution.kernels.of<T>().distances(values.as<T>() + first, count);
      });
    });
  });
}

void CpuCommandBuffer::findBeyond(Operand values, double least, double most, Operand found) {
  record([=](const Execution& execution) {
    withReal(values, [&](auto real) {
      using T = decltype(real);
      if (!areBetween(execution, values.as<T>(), values.length, static_cast<T>(least), static_cast<T>(most)))
        *found.as<uint32_t>() = 1;
    });
  });
}

void CpuCommandBuffer::normalQuantiles(Operand values) {
  record([=](const Execution& execution) {
    const FloatModeScope mode = FloatModeScope::keeping();  // a probability may be subnormal
    forPieces(execution, values.length, [&](size_t first, size_t count) {
      execution.kernels.normalQuantiles(values.as<double>() + first, count);
    });
  });
}

void CpuCommandBuffer::sample(Operand factor, Operand mean, Operand out, bool inverse, NormalCounter counter) {
  record([=](const Execution& execution) {
    withReal(out, [&](auto real) {
      using T = decltype(real);
      const size_t n = mean.length;
      cpu::sample(execution, factor.as<T>(), mean.as<T>(), out.as<T>(), out.length / n, n, inverse, counter);
    });
  });
}

void CpuCommandBuffer::stretchRows(Operand rows, Operand location, size_t n, double degreesOfFreedom,
                                   NormalCounter counter) {
  record([=](const Execution& execution) {
    // Its bits are promised on every device, and a scale of few degrees of freedom may be subnormal.
    const FloatModeScope mode = FloatModeScope::keeping();
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      const size_t stride = location.length == n ? 0 : n;
      forRowBlocks(execution, rows.length / n, std::max<size_t>(1, pieceElements / (n + 16)),
                   [&](size_t first, size_t count, unsigned) {
                     execution.kernels.of<T>().stretchRows(
                         rows.as<T>() + first * n, location.as<double>() + first * stride, stride, count, n,
                         degreesOfFreedom, {counter.seed, counter.stream, counter.first + first});
                   });
    });
  });
}

void CpuCommandBuffer::logDensity(Operand factor, Operand mean, Operand rows, Operand out, bool inverse,
                                  double constant) {
  record([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      cpu::logDensity(execution, factor.as<T>(), mean.as<T>(), rows.as<T>(), out.as<T>(), out.length, mean.length,
                      inverse, static_cast<T>(constant));
    });
  });
}

void CpuCommandBuffer::meanAndCovariance(Operand rows, Operand mean, Operand covariance, double ddof) {
  record([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      const size_t n = mean.length;
      cpu::meanAndCovariance(execution, rows.as<T>(), mean.as<T>(), covariance.as<T>(), rows.length / n, n, ddof);
    });
  });
}

void CpuCommandBuffer::addMoments(Operand rows, Operand weights, Operand centre, Operand sums, Operand products) {
  record([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      const size_t n = centre.length;
      if (rows.length == 0) return;
      cpu::addMoments(execution, rows.as<decltype(real)>(), orNone(weights), centre.as<double>(), sums.as<double>(),
                      orNone(products), rows.length / n, n);
    });
  });
}

void CpuCommandBuffer::addPowers(Operand rows, Operand weights, Operand centre, Operand sums) {
  record([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      cpu::addPowers(execution, rows.as<decltype(real)>(), orNone(weights), centre.as<double>(), sums.as<double>(),
                     rows.length / centre.length, centre.length);
    });
  });
}

void CpuCommandBuffer::countBetween(Operand rows, Operand limits, Operand kept, Operand counts, size_t n) {
  record([=](const Execution& execution) {
    const FloatModeScope mode = FloatModeScope::keeping();  // a limit may be the smallest number there is
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      const size_t slots = limits.length / 2;
      if (slots == 0) return;
      cpu::countBetween(execution, rows.as<T>(),
                        {limits.as<T>(), kept.as<T>(), counts.as<uint32_t>(), slots / n, n, kept.length / slots},
                        rows.length / n);
    });
  });
}

void CpuCommandBuffer::selectRanks(Operand kept, Operand lengths, Operand ranks, Operand out) {
  record([=](const Execution& execution) {
    const FloatModeScope mode = FloatModeScope::keeping();
    withReal(out, [&](auto real) {
      using T = decltype(real);
      cpu::selectRanks(execution, kept.as<T>(), kept.length / out.length, lengths.as<uint32_t>(), ranks.as<uint32_t>(),
                       out.as<T>(), out.length);
    });
  });
}

void CpuCommandBuffer::launch(const std::string& name, std::vector<Operand> operands, Size3 grid, Size3 threadgroup) {
  const Kernel& kernel = kernelNamed(engine_->kernels, name);
  checkLaunch(kernel, operands, grid, threadgroup);
  record([&kernel, operands = std::move(operands), grid, threadgroup](const Execution& execution) {
    std::vector<void*> slots;
    for (const Operand& operand : operands) slots.push_back(operand.data());
    cpu::launch(execution, kernel, slots, grid, threadgroupFor(kernel, slots, threadgroup));
  });
}

}  // namespace covarium::cpu
