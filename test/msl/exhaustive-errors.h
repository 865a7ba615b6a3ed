// The exact values of the functions of a word, and the errors of ours. Part of exhaustive.cc.

// u = (word + 1/2) / 2^bits; above 1/2, its complement is exact.
template <typename Exact>
Exact exactRadius(uint64_t word, int bits) {
  const uint64_t last = ~uint64_t{0} >> (64 - bits);
  const bool upper = word >> (bits - 1);
  const Exact part = std::scalbn(static_cast<Exact>(upper ? last - word : word) + Exact(0.5), -bits);
  return std::sqrt(-2 * (upper ? std::log1p(-part) : std::log(part)));
}

// a pi/4 about the positive x axis, with the coordinates swapped if the word's second bit is set.
template <typename Exact>
void exactDirection(Exact a, bool swapped, Exact& x, Exact& y) {
  const Exact angle = a * Exact(0.785398163397448309615660845819875721L);
  x = swapped ? std::sin(angle) : std::cos(angle);
  y = swapped ? std::cos(angle) : std::sin(angle);
}

struct Worst {
  long double error = 0;
  uint64_t word = 0;
  void see(long double found, uint64_t at) {
    if (found > error) {
      error = found;
      word = at;
    }
  }
  void operator+=(const Worst& other) { see(other.error, other.word); }
};

// Errors of one function; `digits` is the number of bits of its type's significand.
struct Errors {
  Worst absolute, relative, ulps;
  double least = INFINITY, most = 0;  // of the magnitude
  uint64_t broken = 0;                // values that are NaN, infinite or 0

  template <typename Exact>
  void see(double value, Exact exact, int digits, uint64_t word) {
    const Exact error = std::fabs(value - exact), magnitude = std::fabs(exact);
    absolute.see(error, word);
    relative.see(error / magnitude, word);
    ulps.see(std::scalbn(error, digits - 1 - std::ilogb(magnitude)), word);
    least = std::min(least, std::fabs(value));
    most = std::max(most, std::fabs(value));
    broken += !(std::isfinite(value) && value != 0);
  }
  void operator+=(const Errors& other) {
    absolute += other.absolute;
    relative += other.relative;
    ulps += other.ulps;
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    broken += other.broken;
  }
};

struct AllErrors {
  Errors of[functionCount];
  void operator+=(const AllErrors& other) {
    for (int f = 0; f < functionCount; ++f) of[f] += other.of[f];
  }
  void print(const char* title) const {
    printf("%s\n%-10s %23s %32s %32s %25s %7s\n", title, "function", "absolute error (word)", "relative error (word)",
           "ulps (word)", "range of magnitude", "broken");
    for (int f = 0; f < functionCount; ++f) {
      const Errors& errors = of[f];
      printf("%-10s", functionNames[f]);
      for (const Worst& worst : {errors.absolute, errors.relative, errors.ulps})
        printf(" %12.3Le (%016llx)", worst.error, static_cast<unsigned long long>(worst.word));
      printf(" %.6g to %.9g %7llu\n", errors.least, errors.most, static_cast<unsigned long long>(errors.broken));
    }
  }
};
