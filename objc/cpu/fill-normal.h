// The normal stream into memory: the text of msl/normal.h over vectors of blocks. Part of kernels.cc.

static inline uint low(uint64_t value) { return static_cast<uint>(value); }
static inline uint high(uint64_t value) { return static_cast<uint>(value >> 32); }

static inline PhiloxBlock<uint> wordsOf(uint64_t block, const NormalCounter& counter) {
  const PhiloxBlock<uint> place = {low(block), high(block), low(counter.stream), high(counter.stream)};
  return philox4x32_10(place, low(counter.seed), high(counter.seed));
}

// Vectors in step: a round of Philox waits for its own last, and the other vectors fill the gap.
constexpr int chains = 4;
struct Words {
  Word v[chains];
  Words() = default;
  explicit Words(uint every) {
    for (auto& word : v) word = Word(every);
  }
};
template <typename Each>
static inline Words forEach(const Each& each) {
  Words words;
  for (int c = 0; c < chains; ++c) words.v[c] = each(c);
  return words;
}
static inline Words operator^(const Words& x, const Words& y) {
  return forEach([&](int c) { return x.v[c] ^ y.v[c]; });
}
static inline Words operator*(const Words& x, const Words& y) {
  return forEach([&](int c) { return x.v[c] * y.v[c]; });
}
static inline Words mulhi(const Words& x, const Words& y) {
  return forEach([&](int c) { return mulhi(x.v[c], y.v[c]); });
}

static inline void counterOf(uint64_t block, Word& w0, Word& w1) {
  w0 = Word(low(block)) + Word(blockOfLane());
  const WordVector carry = (WordVector)(w0.v < low(block));  // all ones where the low word has wrapped
  w1 = Word(high(block)) - Word(carry);
}

// The normals of chains laneCount blocks.
static inline void storeNormals(float* out, uint64_t block, const NormalCounter& counter) {
  PhiloxBlock<Words> place;
  for (int c = 0; c < chains; ++c) counterOf(block + c * laneCount, place.w0.v[c], place.w1.v[c]);
  place.w2 = Words(low(counter.stream));
  place.w3 = Words(high(counter.stream));
  const PhiloxBlock<Words> w = philox4x32_10(place, low(counter.seed), high(counter.seed));
  for (int c = 0; c < chains; ++c) {
    const PhiloxBlock<Word> words = {w.w0.v[c], w.w1.v[c], w.w2.v[c], w.w3.v[c]};
    const NormalBlock<Float> z = normal_block<Float, Int, Word>(words);
    storeBlocks(out + c * 4 * laneCount, z.z0, z.z1, z.z2, z.z3);
  }
}

static void fillNormal(float* out, size_t count, NormalCounter counter) {
  uint64_t block = counter.first / 4;
  const size_t skipped = counter.first % 4;
  if (skipped != 0 && count != 0) {
    const NormalBlock<float> z = normal_block<float, int, uint>(wordsOf(block++, counter));
    const size_t head = count < 4 - skipped ? count : 4 - skipped;
    memcpy(out, &z.z0 + skipped, head * sizeof *out);
    out += head;
    count -= head;
  }
  constexpr size_t step = chains * 4 * laneCount;
  for (; count >= step; count -= step, out += step, block += chains * laneCount) storeNormals(out, block, counter);
  if (count != 0) {
    float last[step];
    storeNormals(last, block, counter);
    memcpy(out, last, count * sizeof *out);
  }
}

static void fillNormal(double* out, size_t count, NormalCounter counter) {
  for (size_t i = 0; i < count;) {
    const uint64_t element = counter.first + i;
    const PhiloxBlock<uint> block = wordsOf(element / 2, counter);
    const uint32_t words[4] = {block.w0, block.w1, block.w2, block.w3};
    double z[2];
    normal_float64::block(words, z);
    if (element % 2 == 0 && i + 1 < count) {
      memcpy(out + i, z, sizeof z);
      i += 2;
    } else {
      out[i++] = z[element % 2];
    }
  }
}
