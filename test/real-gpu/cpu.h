// The CPU's side: the kernels that the cpu device runs, by its launcher, and their table.
#pragma once

#include <atomic>
#include <cstdint>

#include "launch.h"

struct Cpu {
  covarium::cpu::Pool pool{16};
  const covarium::cpu::KernelTable& table = covarium::cpu::kernelsAvx2();
  covarium::cpu::Blas blas;
  std::atomic<bool> no{false};
  covarium::cpu::Execution execution() { return {pool, table, blas, no, no}; }
};

// Each prints what it checks, and returns the number of wrong results.
int checkWords(const char* answersPath);
int checkStream(Cpu& cpu);
int checkKernels(Cpu& cpu, bool few);  // few: one size of groups
void printRates();
void printShares();
