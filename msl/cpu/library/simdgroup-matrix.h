// Matrices of 8 by 8 that the lanes of a simdgroup hold together, two elements each, as Apple's GPUs lay them out. Part
// of words.h, in namespace metal.

template <typename T, int rows, int columns>
struct simdgroup_matrix {
  static_assert(rows == 8 && columns == 8, "a simdgroup_matrix has 8 rows and 8 columns");
  using storage_type = covarium::ShortVector<T, 2>;
  storage_type own;
  simdgroup_matrix() = default;
  // A number on the diagonal.
  explicit simdgroup_matrix(T diagonal) {
    const auto [row, column] = place();
    own[0] = row == column ? diagonal : T(0);
    own[1] = row == column + 1 ? diagonal : T(0);
  }
  storage_type& thread_elements() { return own; }
  const storage_type& thread_elements() const { return own; }

  struct Place {
    unsigned row, column;
  };
  // The place of this lane's first element; the second is to its right.
  static Place place() { return placeOf(covarium::kernelHost->lane()); }
  static Place placeOf(unsigned lane) {
    const unsigned quad = lane / 4;
    return {(quad & 4) + lane / 2 % 4, (quad & 2) * 2 + lane % 2 * 2};
  }
};
template <typename T>
using simdgroup_8x8 = simdgroup_matrix<T, 8, 8>;
using simdgroup_float8x8 = simdgroup_8x8<float>;
using simdgroup_half8x8 = simdgroup_8x8<half>;
using simdgroup_bfloat8x8 = simdgroup_8x8<bfloat>;

template <typename T, int rows = 8, int columns = rows, typename V>
static inline simdgroup_matrix<T, rows, columns> make_filled_simdgroup_matrix(V value) {
  simdgroup_matrix<T, rows, columns> filled;
  filled.own = covarium::ShortVector<T, 2>(static_cast<T>(value), static_cast<T>(value));
  return filled;
}

// Where element (row, column) lies in memory.
template <typename P, typename Origin>
static inline auto* simdgroupElement(P memory, ulong perRow, const Origin& origin, bool transposed, unsigned row,
                                     unsigned column) {
  const covarium::ShortVector<ulong, 2> from(origin);
  const ulong x = from[0] + (transposed ? row : column);
  const ulong y = from[1] + (transposed ? column : row);
  return &memory[y * perRow + x];
}
template <typename T, typename U, typename Origin = covarium::ShortVector<ulong, 2>>
static inline void simdgroup_load(simdgroup_8x8<T>& a, const U* memory, ulong perRow = 8, Origin origin = Origin(0),
                                  bool transposed = false, COVARIUM_CALLER) {
  const auto [row, column] = a.place();
  for (unsigned i = 0; i < 2; ++i)
    a.own[i] = static_cast<T>(*simdgroupElement(memory, perRow, origin, transposed, row, column + i));
  covarium::kernelHost->exchange(0, file, line);
}
template <typename T, typename U, typename Origin = covarium::ShortVector<ulong, 2>>
static inline void simdgroup_store(const simdgroup_8x8<T>& a, U* memory, ulong perRow = 8, Origin origin = Origin(0),
                                   bool transposed = false, COVARIUM_CALLER) {
  const auto [row, column] = a.place();
  for (unsigned i = 0; i < 2; ++i)
    *simdgroupElement(memory, perRow, origin, transposed, row, column + i) = static_cast<U>(a.own[i]);
  covarium::kernelHost->exchange(0, file, line);
}

// Gathers all 64 elements from what each lane gives.
template <typename T>
static inline void simdgroupGather(const simdgroup_8x8<T>& a, T (&all)[8][8], const char* file, uint line) {
  const auto given = exchanged(a.own, file, line);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto [row, column] = a.placeOf(lane);
    if (lane >= given.lanes) break;
    const auto both = given[lane];
    all[row][column] = both[0];
    all[row][column + 1] = both[1];
  }
}
// d = a b + c, each element summed in float, columns of a ascending.
template <typename D, typename A, typename B, typename C>
static inline void simdgroup_multiply_accumulate(simdgroup_8x8<D>& d, const simdgroup_8x8<A>& a,
                                                 const simdgroup_8x8<B>& b, const simdgroup_8x8<C>& c,
                                                 COVARIUM_CALLER) {
  A left[8][8] = {};
  B right[8][8] = {};
  simdgroupGather(a, left, file, line);
  simdgroupGather(b, right, file, line);
  const auto [row, column] = d.place();
  for (unsigned i = 0; i < 2; ++i) {
    float sum = static_cast<float>(c.own[i]);
    for (unsigned k = 0; k < 8; ++k)
      sum = __builtin_fmaf(static_cast<float>(left[row][k]), static_cast<float>(right[k][column + i]), sum);
    d.own[i] = static_cast<D>(sum);
  }
}
template <typename D, typename A, typename B>
static inline void simdgroup_multiply(simdgroup_8x8<D>& d, const simdgroup_8x8<A>& a, const simdgroup_8x8<B>& b,
                                      COVARIUM_CALLER) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>(D(0)), file, line);
}
template <typename T>
static inline simdgroup_8x8<T> operator*(const simdgroup_8x8<T>& a, const simdgroup_8x8<T>& b) {
  simdgroup_8x8<T> product;
  simdgroup_multiply(product, a, b);
  return product;
}
