// Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
// It is a template over the type of a word, so that one text serves a GPU thread (Word = uint) and a CPU vector of
// lanes.
#pragma once

#include "dialect.h"

template <typename Word>
struct PhiloxBlock {
  Word w0, w1, w2, w3;
};

// The two halves of a product are computed separately, because NVIDIA's assembler makes one IMAD.WIDE of them.
// Written as one product of 64 bits they become mul.hi and mul.wide in clang's PTX, and stay two instructions.
template <typename Word>
inline PhiloxBlock<Word> philox4x32_10(PhiloxBlock<Word> counter, uint keyLow, uint keyHigh) {
  for (int round = 0; round < 10; ++round) {
    const Word high0 = mulhi(counter.w0, Word(0xD2511F53u));
    const Word low0 = counter.w0 * Word(0xD2511F53u);
    const Word high1 = mulhi(counter.w2, Word(0xCD9E8D57u));
    const Word low1 = counter.w2 * Word(0xCD9E8D57u);
    counter.w0 = high1 ^ counter.w1 ^ Word(keyLow);
    counter.w1 = low1;
    counter.w2 = high0 ^ counter.w3 ^ Word(keyHigh);
    counter.w3 = low0;
    keyLow += 0x9E3779B9u;
    keyHigh += 0xBB67AE85u;
  }
  return counter;
}
