// The matrices of the Metal Shading Language, float2x2 to float4x4: the count of columns comes first, and each column
// is a vector with its padding and alignment. Part of wrapper.h, in namespace covarium.

template <int>
struct NoColumn {
  explicit NoColumn(const NoColumn*) = delete;
};
template <typename T, int columnCount, int rowCount>
struct ColumnMatrix {
  using Column = ShortVector<T, rowCount>;
  // The column if there are `count`; else a type that nothing becomes.
  template <int count>
  using ColumnOf = std::conditional_t<count == columnCount, Column, NoColumn<count>>;
  Column columns[columnCount];
  ColumnMatrix() = default;
  // From a matrix of another element type.
  template <typename U>
  explicit ColumnMatrix(const ColumnMatrix<U, columnCount, rowCount>& other) {
    for (int i = 0; i < columnCount; ++i) columns[i] = Column(other[i]);
  }
  // A number on the diagonal, zeros elsewhere.
  explicit ColumnMatrix(T diagonal) {
    for (int i = 0; i < columnCount; ++i)
      for (int k = 0; k < rowCount; ++k) columns[i][k] = i == k ? diagonal : T(0);
  }
  // From its columns, or from its numbers column by column.
  template <typename A, typename B, typename... More>
  ColumnMatrix(const A& a, const B& b, const More&... more) {
    constexpr int given = 2 + sizeof...(More);
    if constexpr (given == columnCount) {
      const Column each[] = {Column(a), Column(b), Column(more)...};
      for (int i = 0; i < columnCount; ++i) columns[i] = each[i];
    } else {
      static_assert(given == columnCount * rowCount, "a matrix is made of its columns, or of all of its numbers");
      const T each[] = {static_cast<T>(a), static_cast<T>(b), static_cast<T>(more)...};
      for (int i = 0; i < columnCount * rowCount; ++i) columns[i / rowCount][i % rowCount] = each[i];
    }
  }
  // From columns in braces, whose types no template deduces: float2x2 m = {{1, 2}, {3, 4}}.
  ColumnMatrix(const ColumnOf<2>& a, const ColumnOf<2>& b) : columns{a, b} {}
  ColumnMatrix(const ColumnOf<3>& a, const ColumnOf<3>& b, const ColumnOf<3>& c) : columns{a, b, c} {}
  ColumnMatrix(const ColumnOf<4>& a, const ColumnOf<4>& b, const ColumnOf<4>& c, const ColumnOf<4>& d)
      : columns{a, b, c, d} {}
  Column& operator[](int i) { return columns[indexOf(i, columnCount)]; }
  const Column& operator[](int i) const { return columns[indexOf(i, columnCount)]; }

  friend ColumnMatrix operator+(ColumnMatrix a, const ColumnMatrix& b) {
    for (int i = 0; i < columnCount; ++i) a[i] = a[i] + b[i];
    return a;
  }
  friend ColumnMatrix operator-(ColumnMatrix a, const ColumnMatrix& b) {
    for (int i = 0; i < columnCount; ++i) a[i] = a[i] - b[i];
    return a;
  }
  friend ColumnMatrix operator-(const ColumnMatrix& a) { return a * T(-1); }
  friend ColumnMatrix operator*(ColumnMatrix a, T by) {
    for (int i = 0; i < columnCount; ++i) a[i] = a[i] * by;
    return a;
  }
  friend ColumnMatrix operator*(T by, const ColumnMatrix& a) { return a * by; }
  friend Column operator*(const ColumnMatrix& a, const ShortVector<T, columnCount>& x) {
    Column sum = a[0] * x[0];
    for (int i = 1; i < columnCount; ++i) sum = sum + a[i] * x[i];
    return sum;
  }
  friend ShortVector<T, columnCount> operator*(const Column& x, const ColumnMatrix& a) {
    ShortVector<T, columnCount> result;
    for (int i = 0; i < columnCount; ++i) {
      const Column products = x * a[i];
      T sum = products[0];
      for (int k = 1; k < rowCount; ++k) sum += products[k];
      result[i] = sum;
    }
    return result;
  }
  template <int n>
  friend ColumnMatrix<T, n, rowCount> operator*(const ColumnMatrix& a, const ColumnMatrix<T, n, columnCount>& b) {
    ColumnMatrix<T, n, rowCount> product;
    for (int i = 0; i < n; ++i) product[i] = a * b[i];
    return product;
  }
  ColumnMatrix& operator+=(const ColumnMatrix& b) { return *this = *this + b; }
  ColumnMatrix& operator-=(const ColumnMatrix& b) { return *this = *this - b; }
  template <typename B>
  ColumnMatrix& operator*=(const B& b) {
    return *this = *this * b;
  }
  friend bool operator==(const ColumnMatrix& a, const ColumnMatrix& b) {
    for (int i = 0; i < columnCount; ++i)
      for (int k = 0; k < rowCount; ++k)
        if (a[i][k] != b[i][k]) return false;
    return true;
  }
  friend bool operator!=(const ColumnMatrix& a, const ColumnMatrix& b) { return !(a == b); }
};

template <typename T, int columnCount, int rowCount>
static inline ColumnMatrix<T, rowCount, columnCount> transpose(const ColumnMatrix<T, columnCount, rowCount>& a) {
  ColumnMatrix<T, rowCount, columnCount> turned;
  for (int i = 0; i < columnCount; ++i)
    for (int k = 0; k < rowCount; ++k) turned[k][i] = a[i][k];
  return turned;
}

template <typename T>
static inline T determinant(const ColumnMatrix<T, 2, 2>& a) {
  return a[0][0] * a[1][1] - a[1][0] * a[0][1];
}
// By expansion along the first column.
template <typename T, int n>
static inline T determinant(const ColumnMatrix<T, n, n>& a) {
  T sum = T(0);
  for (int row = 0; row < n; ++row) {
    ColumnMatrix<T, n - 1, n - 1> minor;
    for (int i = 0; i < n - 1; ++i)
      for (int k = 0; k < n - 1; ++k) minor[i][k] = a[i + 1][k < row ? k : k + 1];
    const T product = a[0][row] * determinant(minor);
    sum = row % 2 == 0 ? sum + product : sum - product;
  }
  return sum;
}
