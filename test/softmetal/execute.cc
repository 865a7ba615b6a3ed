#include "execute.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "../../objc/cpu/blas.h"
#include "../../objc/cpu/launch.h"
#include "../../objc/cpu/processor.h"
#include "ledger.h"
#include "settings.h"

namespace softmetal {

namespace {

using namespace covarium;

const cpu::KernelTable* table() {
  static std::string reason;
  static const cpu::KernelTable* const found = cpu::kernels(reason);
  return found;
}

// The threads that one queue's thread dispatches with.
cpu::Pool& pool() {
  thread_local std::unique_ptr<cpu::Pool> own;
  const unsigned threads = static_cast<unsigned>(number("threads"));
  if (own == nullptr || own->threads() != threads) own = std::make_unique<cpu::Pool>(threads);
  return *own;
}

void run(const Dispatch& dispatch, std::vector<uint8_t> params) {
  std::string reason;
  static const cpu::Blas none;
  static const std::atomic<bool> wanted{false};
  const cpu::Blas* blas = cpu::blas(reason);
  const cpu::Execution execution{pool(), *table(), blas == nullptr ? none : *blas, wanted, wanted};
  std::vector<void*> slots;
  for (const Bound& buffer : dispatch.buffers) slots.push_back(buffer.bytes);
  slots.push_back(params.data());
  cpu::launch(execution, cpu::kernelNamed(*table(), dispatch.kernel), slots, dispatch.threads,
              {dispatch.threadgroup, dispatch.threadgroupBytes, static_cast<unsigned>(number("executionWidth"))});
}

// A kernel that goes wrong: what it has changed becomes zero.
void runBroken(const Dispatch& dispatch) {
  std::vector<std::vector<char>> before;
  for (const Bound& buffer : dispatch.buffers) before.emplace_back(buffer.bytes, buffer.bytes + buffer.length);
  run(dispatch, dispatch.params);
  for (size_t i = 0; i < before.size(); ++i) {
    const Bound& buffer = dispatch.buffers[i];
    for (size_t at = 0; at + 4 <= buffer.length; at += 4)
      if (memcmp(buffer.bytes + at, &before[i][at], 4) != 0) memset(buffer.bytes + at, 0, 4);
  }
}

}  // namespace

const KernelFacts* kernelNamed(const std::string& name) {
  static const std::map<std::string, KernelFacts>* const facts = [] {
    auto* all = new std::map<std::string, KernelFacts>;
    if (table() == nullptr) return all;
    for (size_t i = 0; i < table()->kernelCount; ++i) {
      const cpu::Kernel& kernel = table()->kernels[i];
      (*all)[kernel.name] = {kernel.buffers, kernel.paramsBytes, kernel.threadgroupMemory};
    }
    return all;
  }();
  const auto found = facts->find(name);
  return found == facts->end() ? nullptr : &found->second;
}

void execute(const Dispatch& dispatch) {
  count("dispatches");
  count("dispatches " + dispatch.kernel);
  try {
    if (dispatch.kernel == text("brokenKernel")) {
      runBroken(dispatch);
    } else {
      run(dispatch, dispatch.params);
    }
  } catch (const std::exception& failure) {
    fprintf(stderr, "softmetal: kernel (%s) can't run: %s\n", dispatch.kernel.c_str(), failure.what());
    abort();
  }
}

}  // namespace softmetal
