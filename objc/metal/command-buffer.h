#pragma once

#include "../device.h"
#include "../gpu/recorder.h"
#include "gpu-part.h"
#include "gpu.h"

namespace covarium::metal {

// What the command buffers of a device share; it lives until the last of them is gone.
struct Engine {
  Engine(Owned<id<MTLDevice>> device, std::shared_ptr<Device> cpu) : gpu(std::move(device), std::move(cpu)) {}
  Gpu gpu;
  Queue queue;  // last: its thread ends before the rest goes
};

// Records parts: commands for the GPU, and between them commands that belong on the CPU (checks of the input, the
// factor unless the GPU is asked for, sums in float64) or whose kernel failed its self-test.
class MetalCommandBuffer : public Recorder {
 public:
  explicit MetalCommandBuffer(const std::shared_ptr<Engine>& engine)
      : Recorder(engine, engine->queue, engine->gpu.cpu()), engine_(*engine) {}

  void fillNormal(Operand out, NormalCounter counter) override;
  void cholesky(Operand a, size_t n, FactorOn where) override;
  void zeroUpper(Operand a, size_t n) override;
  void antitranspose(Operand a, size_t n) override;
  void copy(Operand from, Operand to) override;
  void sum(Operand a, Operand b, Operand out) override;
  void addRow(Operand rows, Operand row, double scale) override;
  void scaleColumns(Operand rows, Operand row) override;
  void product(Operand a, Operand b, Operand c, ProductShape shape) override;
  void triangularProduct(Operand factor, Operand rows, size_t n, bool transposed) override;
  void triangularSolve(Operand factor, Operand rows, size_t n, bool transposed) override;
  void choleskySolve(Operand factor, Operand rows, size_t n) override;
  void choleskyBatch(Operand a, size_t n, double tolerance) override;
  void sampleBatch(Operand factors, Operand means, Operand out, size_t n, NormalCounter counter) override;
  void logDensityBatch(Operand factors, Operand means, Operand rows, Operand out, size_t n, Operand constants) override;
  void squaredNorms(Operand rows, Operand out, size_t n) override;
  void sample(Operand factor, Operand mean, Operand out, bool inverse, NormalCounter counter) override;
  void logDensity(Operand factor, Operand mean, Operand rows, Operand out, bool inverse, double constant) override;
  void launch(const std::string& kernel, std::vector<Operand> operands, Size3 grid, Size3 threadgroup) override;
  void launch(const std::shared_ptr<const Kernel>& kernel, std::vector<KernelOperand> operands, Size3 grid,
              Size3 threadgroup) override;

  void commit(Completion done) override;
  Timings commitAndWait() override;

 private:
  bool works(std::initializer_list<const char*> names) const { return engine_.gpu.works(names); }
  // True if the CPU makes this result sooner than a GPU to which the commit has sent nothing yet.
  bool isSmall(const Operand& out, double multiplyAdds = 0);
  GpuPart& onGpu(const std::vector<Operand>& operands) { return partFor<GpuPart>(operands, engine_.gpu); }
  // Records a command for the GPU, which takes about `seconds` on a slow one.
  template <typename Encode>
  void record(std::initializer_list<Use> uses, double seconds, const Encode& encode);

  Engine& engine_;
};

// Device::explain().
Explanation explain(const Gpu& gpu, const Question& question);

}  // namespace covarium::metal
