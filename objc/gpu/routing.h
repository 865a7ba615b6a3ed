// Which of the two, a GPU or the CPU beside it, runs a command.
#pragma once

#include <optional>
#include <string>

#include "../device.h"

namespace covarium::gpu {

// What a machine takes, in seconds.
struct Rates {
  double commit = 0;                           // one that the GPU answers, without its work
  double number[2] = {}, multiplyAdd[2] = {};  // of float32, on the CPU and on the GPU
  double block[2] = {};                        // 128 columns of a Cholesky factor, besides multiply-adds
  double byte = 0;                             // over the bus, from or to pinned memory; 0 if they share memory

  static constexpr size_t count = 8;
  std::vector<double> all() const;
  // Nothing if these are not numbers that all() gave.
  static std::optional<Rates> from(const std::vector<double>& all);
  // Those of the GPU, or of the CPU, become what was measured later if some are much faster then and none is slower.
  Rates correctedBy(const Rates& later) const;
};

// What a command takes. Numbers and multiply-adds of float64 count twice.
struct Work {
  double numbers = 0;  // that are made or read
  double multiplyAdds = 0;
  double timesOnCpu = 1;  // how many times as long as those of a product these multiply-adds take on the CPU
  double blocks = 0;      // see Rates::block
  double bytesIfGpu = 0;  // that go over the bus if the GPU runs it
  double bytesIfCpu = 0;  // and if the CPU does
};

// The choice for each command of a device: by rates that were measured on this machine, or by the size that the
// environment names.
class Routing {
 public:
  // `variable` of the environment holds the least count of numbers that goes to the GPU. Throws ERR_OUT_OF_RANGE.
  explicit Routing(const char* variable);

  struct Learning {
    std::string gpu;    // the GPU with all that may change its rates, by name
    bool isPassed;      // what is learned of it may be kept
    bool skipsTests;    // it need not pass its self-test again
    bool makesFactors;  // it has our kernels for Cholesky factors
  };
  // Takes the rates of an earlier process, corrected if that is some time ago, or measures them. Until it is called,
  // all commands go to the GPU: those that test and measure it.
  void learn(Device& gpu, Device& cpu, const Learning& learning, const OpenOptions& options);
  // The GPU runs whatever it can.
  bool takesAll() const { return !isOpen_ || (least_.has_value() && *least_ == 0); }
  bool isForGpu(const Work& work) const;
  Explanation explain(const Work& work) const;
  static Work workOf(const Question& question);
  // The rates in words; '' if the environment's variable is in force.
  std::string words() const;

 private:
  double secondsOnCpu(const Work& work) const;
  double secondsOnGpu(const Work& work) const;

  const char* variable_;
  std::optional<double> least_;
  Rates rates_;
  bool isOpen_ = false;
};

// Runs a few commands on both, for some milliseconds.
Rates measure(Device& gpu, Device& cpu, bool makesFactors);

}  // namespace covarium::gpu
