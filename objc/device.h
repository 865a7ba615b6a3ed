// The contract of a device, in plain C++17: no Objective-C, no Node-API. objc/cpu, objc/metal and objc/cuda implement
// it; lib/backend.ts says what each command does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "buffer.h"
#include "failure.h"
#include "kernel.h"

namespace covarium {

// The processor that makes, or made, a Cholesky factor; mps: the GPU, by Metal Performance Shaders.
enum class FactorOn : uint8_t { automatic, cpu, gpu, mps };

struct Timings {
  double encodeMs, deviceMs, wallMs;
  FactorOn factor = FactorOn::automatic;  // where the commit's last factor was made; automatic if it made none
  bool onGpu = false, onCpu = false;      // the kinds of parts that a GPU's commit has; both false on other devices
  std::string library = {};               // libraries of the GPU's maker that the commit used; '' if none
};

// Where a range of the normal stream starts (msl/normal.h).
struct NormalCounter {
  uint64_t seed, stream, first;
};

struct ProductShape {
  size_t m, n, k;
  bool transposeA, transposeB;
  double alpha, beta;
};

// The bytes of a column's entries in a block of multiplyColumns: two cache lines. lib/backend.ts has the same number.
constexpr size_t columnBytes = 128;

// Commands, recorded by one thread and then committed. Operands of a command have one dtype; shapes were checked above.
class CommandBuffer {
 public:
  // Called once, on a thread of the device, when the commands have run; `failure` is null if they succeeded.
  using Completion = std::function<void(const Timings&, std::exception_ptr failure)>;

  virtual ~CommandBuffer() = default;
  virtual void fillNormal(Operand out, NormalCounter counter) = 0;
  virtual void requireFinite(Operand a, size_t columns) = 0;
  virtual void requireSymmetric(Operand a, size_t n, double tolerance) = 0;
  // Throws ERR_UNSUPPORTED if the device cannot make the factor there.
  virtual void cholesky(Operand a, size_t n, FactorOn where) = 0;
  virtual void zeroUpper(Operand a, size_t n) = 0;
  virtual void antitranspose(Operand a, size_t n) = 0;
  virtual void copy(Operand from, Operand to) = 0;
  virtual void sum(Operand a, Operand b, Operand out) = 0;
  virtual void addRow(Operand rows, Operand row, double scale) = 0;
  virtual void scaleColumns(Operand rows, Operand row) = 0;
  virtual void product(Operand a, Operand b, Operand c, ProductShape shape) = 0;
  virtual void triangularProduct(Operand factor, Operand rows, size_t n, bool transposed) = 0;
  // `start` may be empty; see lib/backend.ts.
  virtual void multiplyColumns(Operand columns, Operand start, Operand z, Operand out, size_t n) = 0;
  virtual void triangularSolve(Operand factor, Operand rows, size_t n, bool transposed) = 0;
  virtual void choleskySolve(Operand factor, Operand rows, size_t n) = 0;
  // Batches of `means.length / n` models; lib/backend.ts says what they do.
  virtual void choleskyBatch(Operand a, size_t n, double tolerance) = 0;
  virtual void sampleBatch(Operand factors, Operand means, Operand out, size_t n, NormalCounter counter) = 0;
  virtual void stretchBatch(Operand rows, Operand locations, size_t n, double degreesOfFreedom,
                            NormalCounter counter) = 0;
  virtual void logDensityBatch(Operand factors, Operand means, Operand rows, Operand out, size_t n,
                               Operand constants) = 0;
  // Decompositions of finite entries. All but LU throw ERR_UNSUPPORTED if Device::lacksDecompositions() gives a reason.
  virtual void transpose(Operand from, Operand to, size_t rows, size_t columns) = 0;
  virtual void symmetricEigen(Operand a, Operand values, size_t n, bool vectors) = 0;
  virtual void echelon(Operand rows, Operand pivots, size_t n, double tolerance) = 0;
  virtual void lq(Operand a, Operand q, size_t m, size_t n) = 0;
  virtual void svd(Operand a, Operand u, Operand values, Operand v, size_t m, size_t n, bool graded) = 0;
  virtual void pivotedCholesky(Operand a, Operand order, size_t n, double tolerance) = 0;
  virtual void lu(Operand a, Operand pivots, size_t n) = 0;
  virtual void luSolve(Operand lu, Operand pivots, Operand rows, size_t n) = 0;
  virtual void squaredNorms(Operand rows, Operand out, size_t n) = 0;
  virtual void distances(Operand values) = 0;
  // Found is uint32.
  virtual void findBeyond(Operand values, double least, double most, Operand found) = 0;
  // The values are float64.
  virtual void normalQuantiles(Operand values) = 0;
  virtual void sample(Operand factor, Operand mean, Operand out, bool inverse, NormalCounter counter) = 0;
  virtual void stretchRows(Operand rows, Operand location, size_t n, double degreesOfFreedom,
                           NormalCounter counter) = 0;
  virtual void logDensity(Operand factor, Operand mean, Operand rows, Operand out, bool inverse, double constant) = 0;
  virtual void meanAndCovariance(Operand rows, Operand mean, Operand covariance, double ddof) = 0;
  // All operands but the rows are float64; weights and products may be empty.
  virtual void addMoments(Operand rows, Operand weights, Operand centre, Operand sums, Operand products) = 0;
  virtual void addPowers(Operand rows, Operand weights, Operand centre, Operand sums) = 0;
  // Counts are uint32.
  virtual void countBetween(Operand rows, Operand limits, Operand kept, Operand counts, size_t n) = 0;
  virtual void selectRanks(Operand kept, Operand lengths, Operand ranks, Operand out) = 0;
  virtual void launch(const std::string& kernel, std::vector<Operand> operands, Size3 grid, Size3 threadgroup) = 0;
  // Launches a kernel of this device's compile() over `grid` threads. There is one operand for each parameter; the
  // caller has checked them, except for the lengths that only the kernel knows.
  virtual void launch(const std::shared_ptr<const Kernel>& kernel, std::vector<KernelOperand> operands, Size3 grid,
                      Size3 threadgroup) = 0;

  virtual void commit(Completion done) = 0;
  // Afterwards the command buffer is empty and can be recorded again, even if the commit failed.
  virtual Timings commitAndWait() = 0;
  // True if commitAndWait would not have to wait for earlier commits.
  virtual bool isNext() const { return false; }
  // Any thread may call it, at any time.
  virtual void cancel() = 0;
};

// What Device::explain() is asked: `sample` and `logPdf` of rows x columns, `factor` of columns, `multiply` of
// rows x inner by inner x columns.
struct Question {
  enum class Command { sample, logPdf, factor, multiply } command;
  size_t rows, inner, columns;
  Dtype dtype;
  bool keep;  // the result stays on the device
};

struct Explanation {
  bool onGpu = false;
  double cpuSeconds = -1, gpuSeconds = -1;  // -1: not what decides
  std::string because = "This device has no GPU.";
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  virtual unsigned threads() const = 0;
  virtual std::vector<Dtype> dtypes() const = 0;
  // Why there are no decompositions here (a LAPACK without one of the routines); '' if there are.
  virtual std::string lacksDecompositions() const = 0;
  // True if symmetricEigen() may run nevertheless, by a library for the GPU that the commit loads.
  virtual bool triesEigenvalues() const { return false; }
  virtual std::shared_ptr<Buffer> allocate(size_t sizeBytes) = 0;
  // Memory whose numbers stay on a GPU that has its own memory until the host calls fetch().
  virtual std::shared_ptr<Buffer> allocateOnGpu(size_t sizeBytes) { return allocate(sizeBytes); }
  virtual bool hasOwnMemory() const { return false; }
  // Brings the numbers to the host once earlier commits have ended.
  virtual void fetch(const std::shared_ptr<Buffer>&) {}
  // Arrays of fewer bytes cost less in ordinary memory of the host; 0 if commands need all arrays in the device's
  // memory.
  virtual size_t deviceMemoryFromBytes() const = 0;
  // Wraps memory of the host, which must stay valid until the commands that use it have ended.
  virtual std::shared_ptr<Buffer> borrow(void* contents, size_t sizeBytes) = 0;
  virtual std::shared_ptr<CommandBuffer> commandBuffer() = 0;
  // Any thread may call it. Throws ERR_KERNEL_COMPILE with the compiler's message.
  virtual std::shared_ptr<const Kernel> compile(const KernelSource& source) = 0;
  // Name and version of the GPU maker's compiler that this process has, and the GPU; '' if there is none. Any thread
  // may call it and translate().
  virtual std::string translator() const { return ""; }
  // Compiles a text in that compiler's language to a text for the GPU (PTX), which the library of a KernelSource then
  // holds; `folders` hold the files that it includes. Throws ERR_KERNEL_COMPILE with the compiler's message.
  virtual std::string translate(const std::string&, const std::vector<std::string>&) const {
    throw Failure("ERR_NO_COMPILER", "This device has no compiler of a GPU's maker.");
  }
  // Which processor would run a command, and why.
  virtual Explanation explain(const Question&) const { return {}; }
  virtual std::pair<size_t, size_t> liveAndPooledBytes() const = 0;
  // If the buffers that are not closed yet hold more bytes, new results use V8's own memory.
  virtual size_t mostOpenBytes() const = 0;
  // Cancels what is in flight and waits until it has stopped. Idempotent.
  virtual void close() = 0;
};

// A GPU that an earlier process has tested and measured.
struct KnownGpu {
  std::vector<double> rates;
  bool isOld = false;  // it is time to measure again
};

struct OpenOptions {
  unsigned threads = 0;  // 0: one for each processor that this process may use
  std::string gpu;       // a name, or another identifier that this kind knows; '': the system's first choice
  // As NativeOpenOptions of lib/addon/native.ts. If they are null, the GPU is tested and measured, and the result is
  // not reported. Called by open().
  std::function<const KnownGpu*(const std::string& gpu)> known;
  std::function<void(const std::string& gpu, const std::vector<double>& rates)> learned;
  // The text of the CUDA device's kernels. Its open() calls it, on its thread, once there is a GPU.
  std::function<std::string()> kernels;
};

// What listDevices() reports of a device, available or not.
struct Candidate {
  bool available = false;
  std::string name, reason;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> warnings;
};

namespace metal {
Candidate candidate();
// Throws ERR_DEVICE_UNAVAILABLE with the reason.
std::shared_ptr<Device> open(const OpenOptions& options);
}  // namespace metal

namespace cuda {
// candidate() and open() need `kernels`.
Candidate candidate(OpenOptions options);
// Throws ERR_DEVICE_UNAVAILABLE with the reason.
std::shared_ptr<Device> open(const OpenOptions& options);
}  // namespace cuda

namespace cpu {
Candidate candidate();
// Threads as in OpenOptions.
std::shared_ptr<Device> open(unsigned threads);
}  // namespace cpu

}  // namespace covarium
