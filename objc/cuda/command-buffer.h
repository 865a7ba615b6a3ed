#pragma once

#include <functional>

#include "../gpu/recorder.h"
#include "../gpu/routing.h"
#include "part.h"
#include "sample.h"
#include "solve.h"

namespace covarium::cuda {

class DecompositionPart;

// What the command buffers of a device share; it lives until the last of them is gone.
struct Engine {
  Engine(std::shared_ptr<Gpu> gpu, std::shared_ptr<Device> cpu) : gpu(std::move(gpu)), cpu(std::move(cpu)) {}
  std::shared_ptr<Gpu> gpu;
  std::shared_ptr<Device> cpu;
  gpu::Routing routing{"COVARIUM_CUDA_FROM"};
  gpu::Queue queue;  // last: its thread ends before the rest goes
};

// The GPU makes normals and draws, with the bits of the CPU, if there are enough of them to outweigh a commit and the
// bus. It makes products, factors and densities if it is faster. The CPU does the rest, and what is too small.
class CudaCommandBuffer : public gpu::Recorder {
 public:
  explicit CudaCommandBuffer(const std::shared_ptr<Engine>& engine)
      : Recorder(engine, engine->queue, *engine->cpu), engine_(*engine) {}

  void fillNormal(Operand out, NormalCounter counter) override;
  void requireFinite(Operand a, size_t columns) override;
  void product(Operand a, Operand b, Operand c, ProductShape shape) override;
  void cholesky(Operand a, size_t n, FactorOn where) override;
  void triangularSolve(Operand factor, Operand rows, size_t n, bool transposed) override;
  void choleskySolve(Operand factor, Operand rows, size_t n) override;
  void sample(Operand factor, Operand mean, Operand out, bool inverse, NormalCounter counter) override;
  void symmetricEigen(Operand a, Operand values, size_t n, bool vectors) override;
  void lq(Operand a, Operand q, size_t m, size_t n) override;
  void svd(Operand a, Operand u, Operand values, Operand v, size_t m, size_t n, bool graded) override;
  void addMoments(Operand rows, Operand weights, Operand centre, Operand sums, Operand products) override;
  void countBetween(Operand rows, Operand limits, Operand kept, Operand counts, size_t n) override;
  void selectRanks(Operand kept, Operand lengths, Operand ranks, Operand out) override;
  void logDensity(Operand factor, Operand mean, Operand rows, Operand out, bool inverse, double constant) override;
  void logDensityBatch(Operand factors, Operand means, Operand rows, Operand out, size_t n, Operand constants) override;
  using Recorder::launch;
  void launch(const std::shared_ptr<const Kernel>& kernel, std::vector<KernelOperand> operands, Size3 grid,
              Size3 threadgroup) override;
  void sampleBatch(Operand factors, Operand means, Operand out, size_t n, NormalCounter counter) override;
  void stretchRows(Operand rows, Operand location, size_t n, double degreesOfFreedom, NormalCounter counter) override;
  void stretchBatch(Operand rows, Operand locations, size_t n, double degreesOfFreedom, NormalCounter counter) override;

 private:
  bool isForGpu(Dtype dtype) const;
  // Whether the GPU makes `out`, which takes so many multiply-adds.
  bool isForGpu(const Operand& out, double multiplyAdds) const;
  const gpu::Routing& routing() const { return engine_.routing; }
  // True if the rows are on the GPU, and so are reduced there.
  bool isReducedOnGpu(const Operand& rows) const;
  bool isFactorForGpu(const Operand& a, size_t n) const;
  bool areSolvedOnGpu(const Operand& factor, const Operand& rows, size_t n) const;
  bool isProductForGpu(const Operand& a, const Operand& b, const Operand& c, const ProductShape& shape) const;
  // Returns whether the GPU stretches the rows; if so, the command is recorded.
  bool stretch(const Operand& rows, const Operand& locations, size_t n, Stretch how);
  void solve(const Operand& factor, const Operand& rows, size_t n, Solve which);
  Part& onGpu(const std::vector<Operand>& operands) { return partFor<Part>(operands, engine_.gpu); }
  template <typename Command>
  Part& record(std::initializer_list<Use> uses, const Command& command) {
    return recordFor<Part>(uses, engine_.gpu, command);
  }
  bool isDecomposedOnGpu(Dtype dtype, size_t m, size_t n, size_t leastOrder) const;
  void decompose(const std::function<void(DecompositionPart&)>& onGpu,
                 const std::function<void(CommandBuffer&)>& onCpu);

  Engine& engine_;
};

// Device::explain().
Explanation explain(const Gpu& gpu, const gpu::Routing& routing, const Question& question);

}  // namespace covarium::cuda
