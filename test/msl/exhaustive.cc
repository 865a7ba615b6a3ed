// The functions of the normal stream over every possible word. test/msl/normal-words.test.ts builds and runs it;
// docs/numerics.md has the command for a run by hand.
//
// --hash     JSON: hashes of float32's functions over all 2^32 words
// --used     JSON: the same, but of the direction over each value of the bits that it uses
// --fround   JSON: the number of words for which plain TypeScript's fma, a double sum rounded twice, matters
// --float64  JSON: hashes of float64's functions over a sample of words, by vectors
// --single   the same, word by word
// --errors   worst errors against the C library's mathematics in double, and in long double for float64
//
// With -DHASHES_ONLY the program compiles in half the time, and has neither --fround nor --errors.
#include <immintrin.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "normal-float64.h"
#include "threadgroup.h"

namespace {

#include <metal_stdlib>

#include "simd/lanes-float64.h"
#include "lanes.h"
#include "normal.h"

#undef thread  // an address space to MSL, std::thread here

#include "exhaustive-fround.h"

constexpr int functionCount = 3;
const char* const functionNames[functionCount] = {"radius", "directionX", "directionY"};

#ifndef HASHES_ONLY
#include "exhaustive-errors.h"
#endif
#include "exhaustive-hashes.h"

constexpr uint64_t allWords = uint64_t{1} << 32;
constexpr int pieceLength = 4096;

// The values of the three functions for pieceLength words.
struct Piece {
  alignas(64) float values[functionCount][pieceLength];

  template <typename Real>
  void fillRadius(uint32_t first) {
    for (int i = 0; i < pieceLength; i += laneCount) {
      const Float radius = toFloat(normal_radius<Real, Int, Word>(wordsFrom(first + static_cast<uint32_t>(i))));
      memcpy(&values[0][i], &radius, sizeof radius);
    }
  }

  template <typename Real, typename WordOf>
  void fillDirection(const WordOf& word) {
    for (int i = 0; i < pieceLength; i += laneCount) {
      WordVector words;
      for (int lane = 0; lane < laneCount; ++lane) words[lane] = word(static_cast<uint32_t>(i + lane));
      const NormalDirection<Real> direction = normal_direction<Real, Int, Word>(words);
      const Float x = toFloat(direction.x), y = toFloat(direction.y);
      memcpy(&values[1][i], &x, sizeof x);
      memcpy(&values[2][i], &y, sizeof y);
    }
  }

  static Word wordsFrom(uint32_t first) {
    WordVector words;
    for (int lane = 0; lane < laneCount; ++lane) words[lane] = first + static_cast<uint32_t>(lane);
    return words;
  }
};

// Calls body(result, from, to) for equal shares of [0, total), one a thread, and adds up the results.
template <typename Result, typename Body>
Result onAllThreads(uint64_t total, const Body& body) {
  const uint64_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Result> results(threads);
  std::vector<std::thread> running;
  // Shares end on whole pieces.
  const auto edge = [&](uint64_t share) { return total / pieceLength * share / threads * pieceLength; };
  for (uint64_t share = 0; share < threads; ++share)
    running.emplace_back([&, share] { body(results[share], edge(share), edge(share + 1)); });
  for (auto& one : running) one.join();
  Result sum{};
  for (const Result& one : results) sum += one;
  return sum;
}

// The direction uses bits 5 to 30 of its word: those of word i of 2^26 count up, and the others vary.
uint32_t usedWord(uint32_t i) {
  return (i << 5 & 0x7fffffe0) | (static_cast<uint32_t>(mixed(uint64_t{i})) & 0x8000001f);
}

Hashes hashWords(bool used) {
  return onAllThreads<Hashes>(allWords, [used](Hashes& hashes, uint64_t from, uint64_t to) {
    Piece piece;
    for (uint64_t first = from; first < to; first += pieceLength) {
      const auto radiusWord = [first](uint32_t i) { return static_cast<uint32_t>(first) + i; };
      const auto directionWord = [&](uint32_t i) { return used ? usedWord(radiusWord(i)) : radiusWord(i); };
      const auto sum = [&](int f, const auto& word) {
        for (int i = 0; i < pieceLength; ++i) hashes.of[f] += mixed(word(static_cast<uint32_t>(i)), piece.values[f][i]);
      };
      piece.fillRadius<Float>(static_cast<uint32_t>(first));
      sum(0, radiusWord);
      if (used && first >= allWords / 64) continue;
      piece.fillDirection<Float>(directionWord);
      for (int f = 1; f < functionCount; ++f) sum(f, directionWord);
    }
  });
}

#ifndef HASHES_ONLY
// Counts words for which Fround gives other bits. The direction uses bits 5 to 30 of its word.
uint64_t differencesOfFround() {
  return onAllThreads<uint64_t>(allWords, [](uint64_t& count, uint64_t from, uint64_t to) {
    Piece once, twice;
    for (uint64_t first = from; first < to; first += pieceLength) {
      once.fillRadius<Float>(static_cast<uint32_t>(first));
      twice.fillRadius<Fround>(static_cast<uint32_t>(first));
      int functions = 1;
      if (first < allWords / 64) {
        const auto word = [first](uint32_t i) { return static_cast<uint32_t>(32 * first) + 32 * i; };
        once.fillDirection<Float>(word);
        twice.fillDirection<Fround>(word);
        functions = functionCount;
      }
      for (int f = 0; f < functions; ++f)
        for (int i = 0; i < pieceLength; ++i)
          count += as_type<uint32_t>(once.values[f][i]) != as_type<uint32_t>(twice.values[f][i]);
    }
  });
}

#endif

// The sample of 64-bit words for float64: words around each power of two and around its complement, where the
// functions switch formulas, then words from a mixed counter.
constexpr uint64_t structured = uint64_t{1} << 20;
uint64_t sampledWord(uint64_t i) {
  if (i >= structured) return mixed(i);
  const uint64_t power = uint64_t{1} << (i % 64), offset = i / 128;
  return (i / 64 % 2 == 0 ? power + offset : power - offset) ^ (i % 3 == 0 ? ~uint64_t{0} : 0);
}

// The values of the three functions for sampled words from index `first` on: by vectors, as the kernels compute them,
// or word by word.
struct Float64Values {
  uint64_t words[longsAtOnce];
  double of[functionCount][longsAtOnce];

  Float64Values(uint64_t first, bool single) {
    using namespace covarium::normal_float64;
    for (int i = 0; i < longsAtOnce; ++i) words[i] = sampledWord(first + static_cast<uint64_t>(i));
    if (single) {
      for (int i = 0; i < longsAtOnce; ++i) put(radius<double>(words[i]), direction<double>(words[i]), i);
    } else {
      Longs together;
      memcpy(&together, words, sizeof together);
      put(radius<Doubles>(together), direction<Doubles>(together), 0);
    }
  }

  template <typename Real>
  void put(const Real& radius, const covarium::normal_float64::Pair<Real>& direction, int i) {
    memcpy(&of[0][i], &radius, sizeof radius);
    memcpy(&of[1][i], &direction.x, sizeof direction.x);
    memcpy(&of[2][i], &direction.y, sizeof direction.y);
  }
};

// Calls see(result, values, i) for each of the first `count` sampled words: entry i of `values` belongs to it.
template <typename Result, typename See>
Result onSampledWords(uint64_t count, bool single, const See& see) {
  return onAllThreads<Result>(count, [&](Result& result, uint64_t from, uint64_t to) {
    for (uint64_t first = from; first < to; first += longsAtOnce) {
      const Float64Values values(first, single);
      for (int i = 0; i < longsAtOnce && first + static_cast<uint64_t>(i) < to; ++i) see(result, values, i);
    }
  });
}

Hashes hashFloat64(bool single) {
  return onSampledWords<Hashes>(uint64_t{1} << 25, single, [](Hashes& hashes, const Float64Values& values, int i) {
    for (int f = 0; f < functionCount; ++f) hashes.of[f] += mixed(values.words[i], values.of[f][i]);
  });
}

#ifndef HASHES_ONLY
AllErrors errorsOverAllWords() {
  return onAllThreads<AllErrors>(allWords, [](AllErrors& errors, uint64_t from, uint64_t to) {
    Piece piece;
    for (uint64_t first = from; first < to; first += pieceLength) {
      piece.fillRadius<Float>(static_cast<uint32_t>(first));
      piece.fillDirection<Float>([first](uint32_t i) { return static_cast<uint32_t>(first) + i; });
      for (int i = 0; i < pieceLength; ++i) {
        const uint32_t word = static_cast<uint32_t>(first) + uint32_t(i);
        double exact[functionCount] = {exactRadius<double>(word, 32)};
        const int32_t t = (static_cast<int32_t>(word << 2) >> 7) | 1;
        exactDirection(std::scalbn(static_cast<double>(t), -24), word >> 30 & 1, exact[1], exact[2]);
        for (int f = 0; f < functionCount; ++f) errors.of[f].see(piece.values[f][i], exact[f], 24, word);
      }
    }
  });
}

AllErrors errorsFloat64() {
  return onSampledWords<AllErrors>(uint64_t{1} << 28, false, [](AllErrors& errors, const Float64Values& values, int i) {
    const uint64_t word = values.words[i];
    long double exact[functionCount] = {exactRadius<long double>(word, 64)};
    const int64_t t = static_cast<int64_t>(word << 2) >> 2;
    const long double a = std::scalbn(static_cast<long double>(t) + 0.5L, -61);
    exactDirection(a, word >> 62 & 1, exact[1], exact[2]);
    for (int f = 0; f < functionCount; ++f) errors.of[f].see(values.of[f][i], exact[f], 53, word);
  });
}
#endif

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count == 2 ? arguments[1] : "";
  if (mode == "--hash" || mode == "--used") {
    hashWords(mode == "--used").print();
  } else if (mode == "--float64" || mode == "--single") {
    hashFloat64(mode == "--single").print();
#ifndef HASHES_ONLY
  } else if (mode == "--fround") {
    printf("{\"differences\": %llu}\n", static_cast<unsigned long long>(differencesOfFround()));
  } else if (mode == "--errors") {
    errorsOverAllWords().print("float32, all 2^32 words");
    errorsFloat64().print("float64, 2^28 words");
#endif
  } else {
    fprintf(stderr, "Mode (%s) is not one of (--hash, --used, --fround, --float64, --single, --errors).\n",
            mode.c_str());
    return 1;
  }
}
