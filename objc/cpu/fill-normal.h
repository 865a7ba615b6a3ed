// The normal stream into memory: the text of msl/normal.h over vectors of blocks. Part of kernels.cc.

static inline uint low(uint64_t value) { return static_cast<uint>(value); }
static inline uint high(uint64_t value) { return static_cast<uint>(value >> 32); }

static inline PhiloxBlock<uint> wordsOf(uint64_t block, const NormalCounter& counter) {
  const PhiloxBlock<uint> place = {low(block), high(block), low(counter.stream), high(counter.stream)};
  return philox4x32_10(place, low(counter.seed), high(counter.seed));
}

// Two vectors in step: a round of Philox waits for its own last, and the other vector fills the gap.
struct WordPair {
  Word a, b;
  WordPair() = default;
  WordPair(Word a, Word b) : a(a), b(b) {}
  explicit WordPair(uint every) : a(every), b(every) {}
};
static inline WordPair operator^(WordPair x, WordPair y) { return {x.a ^ y.a, x.b ^ y.b}; }
static inline WordPair operator*(WordPair x, WordPair y) { return {x.a * y.a, x.b * y.b}; }
static inline WordPair mulhi(WordPair x, WordPair y) { return {mulhi(x.a, y.a), mulhi(x.b, y.b)}; }

static inline void counterOf(uint64_t block, Word& w0, Word& w1) {
  w0 = Word(low(block)) + Word(blockOfLane());
  const WordVector carry = (WordVector)(w0.v < low(block));  // all ones where the low word has wrapped
  w1 = Word(high(block)) - Word(carry);
}

// The normals of 2 laneCount blocks: 8 laneCount elements.
static inline void storeNormals(float* out, uint64_t block, const NormalCounter& counter) {
  PhiloxBlock<WordPair> place;
  counterOf(block, place.w0.a, place.w1.a);
  counterOf(block + laneCount, place.w0.b, place.w1.b);
  place.w2 = WordPair(low(counter.stream));
  place.w3 = WordPair(high(counter.stream));
  const PhiloxBlock<WordPair> w = philox4x32_10(place, low(counter.seed), high(counter.seed));
  const NormalBlock<Float> a = normal_block<Float, Int, Word>(PhiloxBlock<Word>{w.w0.a, w.w1.a, w.w2.a, w.w3.a});
  storeBlocks(out, a.z0, a.z1, a.z2, a.z3);
  const NormalBlock<Float> b = normal_block<Float, Int, Word>(PhiloxBlock<Word>{w.w0.b, w.w1.b, w.w2.b, w.w3.b});
  storeBlocks(out + 4 * laneCount, b.z0, b.z1, b.z2, b.z3);
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
  constexpr size_t step = 8 * laneCount;
  for (; count >= step; count -= step, out += step, block += 2 * laneCount) storeNormals(out, block, counter);
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
