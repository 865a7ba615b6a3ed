#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "../device.h"
#include "execution.h"
#include "queue.h"

namespace covarium::cpu {

// How many command buffers and devices are cancelled and not gone yet. A kernel's loops read it, and ask further only
// if it is not 0.
inline std::atomic<uint32_t> kernelCancellations{0};

// What the command buffers of a device share; it lives until the last of them is gone.
struct Engine {
  Engine(unsigned threads, const KernelTable& kernels, const Blas& blas)
      : pool(threads), kernels(kernels), blas(blas), queue(threads >= 4) {}
  Pool pool;
  const KernelTable& kernels;
  const Blas& blas;
  ~Engine() {
    if (closing) --kernelCancellations;
  }
  // Cancels all commits.
  void close() {
    if (!closing.exchange(true)) ++kernelCancellations;
  }
  std::atomic<bool> closing{false};
  Queue queue;  // last: its thread ends before the rest goes
};

class CpuCommandBuffer : public CommandBuffer, public std::enable_shared_from_this<CpuCommandBuffer> {
 public:
  explicit CpuCommandBuffer(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}
  ~CpuCommandBuffer() override {
    if (cancelled_) --kernelCancellations;
  }

  bool isNext() const override { return engine_->queue.isIdle(); }

  void fillNormal(Operand out, NormalCounter counter) override;
  void requireFinite(Operand a, size_t columns) override;
  void requireSymmetric(Operand a, size_t n, double tolerance) override;
  void cholesky(Operand a, size_t n, FactorOn where) override;
  void zeroUpper(Operand a, size_t n) override;
  void antitranspose(Operand a, size_t n) override;
  void copy(Operand from, Operand to) override;
  void sum(Operand a, Operand b, Operand out) override;
  void addRow(Operand rows, Operand row, double scale) override;
  void scaleColumns(Operand rows, Operand row) override;
  void product(Operand a, Operand b, Operand c, ProductShape shape) override;
  void triangularProduct(Operand factor, Operand rows, size_t n, bool transposed) override;
  void multiplyColumns(Operand columns, Operand start, Operand z, Operand out, size_t n) override;
  void triangularSolve(Operand factor, Operand rows, size_t n, bool transposed) override;
  void choleskySolve(Operand factor, Operand rows, size_t n) override;
  void choleskyBatch(Operand a, size_t n, double tolerance) override;
  void sampleBatch(Operand factors, Operand means, Operand out, size_t n, NormalCounter counter) override;
  void stretchBatch(Operand rows, Operand locations, size_t n, double degreesOfFreedom, NormalCounter counter) override;
  void logDensityBatch(Operand factors, Operand means, Operand rows, Operand out, size_t n, Operand constants) override;
  void transpose(Operand from, Operand to, size_t rows, size_t columns) override;
  void symmetricEigen(Operand a, Operand values, size_t n, bool vectors) override;
  void echelon(Operand rows, Operand pivots, size_t n, double tolerance) override;
  void lq(Operand a, Operand q, size_t m, size_t n) override;
  void svd(Operand a, Operand u, Operand values, Operand v, size_t m, size_t n, bool graded) override;
  void pivotedCholesky(Operand a, Operand order, size_t n, double tolerance) override;
  void lu(Operand a, Operand pivots, size_t n) override;
  void luSolve(Operand lu, Operand pivots, Operand rows, size_t n) override;
  void squaredNorms(Operand rows, Operand out, size_t n) override;
  void distances(Operand values) override;
  void findBeyond(Operand values, double least, double most, Operand found) override;
  void normalQuantiles(Operand values) override;
  void sample(Operand factor, Operand mean, Operand out, bool inverse, NormalCounter counter) override;
  void stretchRows(Operand rows, Operand location, size_t n, double degreesOfFreedom, NormalCounter counter) override;
  void logDensity(Operand factor, Operand mean, Operand rows, Operand out, bool inverse, double constant) override;
  void meanAndCovariance(Operand rows, Operand mean, Operand covariance, double ddof) override;
  void addMoments(Operand rows, Operand weights, Operand centre, Operand sums, Operand products) override;
  void addPowers(Operand rows, Operand weights, Operand centre, Operand sums) override;
  void countBetween(Operand rows, Operand limits, Operand kept, Operand counts, size_t n) override;
  void selectRanks(Operand kept, Operand lengths, Operand ranks, Operand out) override;
  void launch(const std::string& kernel, std::vector<Operand> operands, Size3 grid, Size3 threadgroup) override;
  void launch(const std::shared_ptr<const covarium::Kernel>& kernel, std::vector<KernelOperand> operands, Size3 grid,
              Size3 threadgroup) override;

  void commit(Completion done) override;
  Timings commitAndWait() override;
  void cancel() override;

 private:
  using Clock = std::chrono::steady_clock;
  void record(std::function<void(const Execution&)> command);
  // Records a decomposition of LAPACK; throws ERR_UNSUPPORTED if the library lacks a routine.
  void recordDecomposition(std::function<void(const Execution&)> command);
  Timings taken();  // the timings known at the commit; later commands are of another commit
  double run();     // milliseconds

  std::shared_ptr<Engine> engine_;
  std::vector<std::function<void(const Execution&)>> commands_;
  FactorOn factor_ = FactorOn::automatic;
  std::atomic<bool> cancelled_{false};
  Clock::time_point begun_;
};

}  // namespace covarium::cpu
