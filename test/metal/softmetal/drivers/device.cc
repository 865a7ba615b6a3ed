// Drives the Metal device by its contract alone, without Node, which does not run under the thread sanitizer. One
// thread makes commits of every kind and cancels some; the device is closed in the middle or at the end. Each commit
// must be reported exactly once. Ends with a line: (commits) commits, (aborted) aborted.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../../../objc/device.h"

using namespace covarium;

namespace {

constexpr size_t n = 40, rows = 50;

[[noreturn]] void fail(const std::string& why) {
  fprintf(stderr, "%s\n", why.c_str());
  exit(1);
}

struct Outcome {
  std::atomic<int> told{0};
  std::atomic<bool> aborted{false};
};

// A commit must succeed or be aborted.
void note(Outcome& outcome, std::exception_ptr failure) {
  if (outcome.told++ != 0) fail("A commit is told of twice.");
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const Failure& failed) {
    if (std::string(failed.code) != "ERR_ABORTED") fail(failed.what());
    outcome.aborted = true;
  }
}

struct Arrays {
  Operand factor, mean, out, square;
  std::vector<float> host = std::vector<float>(rows * n);

  explicit Arrays(Device& device)
      : factor(array(device, n * n)),
        mean(array(device, n)),
        out(array(device, rows * n)),
        square(array(device, n * n)) {
    for (size_t i = 0; i < n * n; ++i) factor.as<float>()[i] = square.as<float>()[i] = i % (n + 1) == 0 ? 2 : 0;
    for (size_t i = 0; i < n; ++i) mean.as<float>()[i] = 1;
  }
  static Operand array(Device& device, size_t length) {
    return {device.allocate(length * sizeof(float)), 0, length, Dtype::float32};
  }
};

void record(CommandBuffer& commands, Device& device, Arrays& arrays, size_t kind) {
  const NormalCounter counter = {kind, 0, 0};
  switch (kind % 6) {
    case 0:  // short work for the GPU
      commands.fillNormal(arrays.out, counter);
      return;
    case 1:  // for the CPU
      commands.requireSymmetric(arrays.factor, n, 0);
      return;
    case 2:  // both, and both again
      commands.sample(arrays.factor, arrays.mean, arrays.out, false, counter);
      commands.requireFinite(arrays.out, n);
      commands.zeroUpper(arrays.square, n);
      return;
    case 3:  // memory of the host
      commands.sample(
          arrays.factor, arrays.mean,
          {device.borrow(arrays.host.data(), arrays.host.size() * sizeof(float)), 0, rows * n, Dtype::float32}, false,
          counter);
      return;
    case 4:  // with a check on the host when it has run
      commands.copy(arrays.factor, arrays.square);
      commands.cholesky(arrays.square, n, FactorOn::gpu);
      return;
    default:
      commands.product(arrays.factor, arrays.factor, arrays.square, {n, n, n, false, true, 1, 0});
      commands.triangularSolve(arrays.factor, arrays.out, n, false);
  }
}

void round(size_t seed, bool closesInTheMiddle, size_t& commits, size_t& aborted) {
  constexpr size_t count = 240;
  std::vector<Outcome> outcomes(count);
  {
    const auto device = metal::open({});
    Arrays arrays(*device);
    for (size_t i = 0; i < count; ++i) {
      const auto commands = device->commandBuffer();
      record(*commands, *device, arrays, i * 7 + seed);
      if (i % 40 == 39) {
        commands->commitAndWait();
        note(outcomes[i], nullptr);
        continue;
      }
      commands->commit(
          [&outcome = outcomes[i]](const Timings&, std::exception_ptr failure) { note(outcome, failure); });
      if (i % 11 == 10) commands->cancel();
    }
    if (!closesInTheMiddle) {
      device->commandBuffer()->commitAndWait();
      const auto last = device->commandBuffer();
      last->fillNormal(arrays.mean, {1, 2, 3});
      last->commitAndWait();
      if (!std::isfinite(arrays.mean.as<float>()[0])) fail("The last commit gives no normals.");
    }
    device->close();
    for (const Outcome& outcome : outcomes)
      if (outcome.told != 1) fail("A commit is not told of by the end of close().");
  }
  for (const Outcome& outcome : outcomes) {
    ++commits;
    aborted += outcome.aborted;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const size_t rounds = argc > 1 ? strtoul(argv[1], nullptr, 10) : 6;
  size_t commits = 0, aborted = 0;
  for (size_t i = 0; i < rounds; ++i) round(i, i % 2 == 0, commits, aborted);
  printf("%zu commits, %zu aborted\n", commits, aborted);
}
