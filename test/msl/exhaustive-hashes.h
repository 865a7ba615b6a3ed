// A hash of a function's values over many words. Part of exhaustive.cc.

// Sums of these hashes do not depend on the order of the words, and so not on the number of threads.
inline uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 29)) * 0xd1342543de82ef95u;
  return x ^ (x >> 32);
}
inline uint64_t mixed(uint32_t word, float value) { return mixed(uint64_t{word} << 32 | as_type<uint32_t>(value)); }
inline uint64_t mixed(uint64_t word, double value) { return mixed(mixed(word) + as_type<uint64_t>(value)); }

struct Hashes {
  uint64_t of[functionCount] = {};
  void operator+=(const Hashes& other) {
    for (int f = 0; f < functionCount; ++f) of[f] += other.of[f];
  }
  void print() const {
    for (int f = 0; f < functionCount; ++f)
      printf("%s\"%s\": \"%016llx\"", f == 0 ? "{" : ", ", functionNames[f], static_cast<unsigned long long>(of[f]));
    printf("}\n");
  }
};
