#pragma once

#include <array>
#include <chrono>

#include "host-copies.h"
#include "host-part.h"
#include "queue.h"

namespace covarium::gpu {

// Records parts: commands for the GPU, which the derived class of a GPU adds, and between them commands for the CPU
// beside it, over the same bytes. This class records all commands for the CPU.
class Recorder : public CommandBuffer {
 public:
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
  void launch(const std::shared_ptr<const Kernel>& kernel, std::vector<KernelOperand> operands, Size3 grid,
              Size3 threadgroup) override;

  void commit(Completion done) override;
  Timings commitAndWait() override;
  void cancel() override { queue_.cancel(*commit_); }

 protected:
  // `engine` owns the queue and the CPU device; it lives as long as what is recorded.
  Recorder(std::shared_ptr<void> engine, Queue& queue, Device& cpu)
      : engine_(std::move(engine)), queue_(queue), cpu_(cpu) {}
  // The last part, if it is one of the CPU's, or a new one.
  CommandBuffer& onCpu();
  // The last part, if it is one of the GPU's; else null.
  Part* gpuPart() { return isGpuLast_ ? commit_->parts.back().get() : nullptr; }
  void append(std::unique_ptr<Part> part, bool isGpu);
  Commit& recorded() { return *commit_; }
  // The part of class P to record into: the last one, or a new one if that is of the other kind or can't take an
  // operand.
  template <typename P, typename Gpu>
  P& partFor(const std::vector<Operand>& operands, Gpu& gpu) {
    auto* last = static_cast<P*>(gpuPart());
    bool fits = last != nullptr;
    for (const Operand& operand : operands) fits = fits && last->takes(operand);
    if (fits) return *last;
    auto part = std::make_unique<P>(gpu, recorded());
    P& made = *part;
    append(std::move(part), true);
    return made;
  }
  struct Use {
    Operand operand;
    Access access;
  };
  // Records a command over views of its operands into such a part. A recorded command holds only the views.
  template <typename P, typename Gpu, typename Command>
  P& recordFor(std::initializer_list<Use> uses, Gpu& gpu, const Command& command) {
    std::vector<Operand> operands;
    for (const Use& use : uses) operands.push_back(use.operand);
    P& part = partFor<P>(operands, gpu);
    std::array<decltype(part.view({}, {})), 4> views;
    size_t count = 0;
    for (const Use& use : uses) views[count++] = part.view(use.operand, use.access);
    part.add([views, command](auto& device) { command(device, views); });
    return part;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double endRecording();  // milliseconds since the first command

  std::shared_ptr<void> engine_;
  Queue& queue_;
  Device& cpu_;
  std::shared_ptr<Commit> commit_ = std::make_shared<Commit>();
  HostPart* hostPart_ = nullptr;  // the last part, if it is one of the CPU's
  bool isGpuLast_ = false;
  Clock::time_point begun_;
};

}  // namespace covarium::gpu
