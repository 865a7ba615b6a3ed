#include "operations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#pragma clang diagnostic ignored "-Wpass-failed"

namespace ptx {
namespace {

using Table = std::map<std::string, Operation>;

// Copies the values of some threads.
template <size_t sizeBytes>
[[gnu::noinline]] void copy(char* to, const char* from, Mask mask) {
  forEach(mask, [&](unsigned lane) { memcpy(to + lane * sizeBytes, from + lane * sizeBytes, sizeBytes); });
}

template <typename D, typename... S, typename F, size_t... I>
void apply(F compute, char* const* operands, Mask mask, std::index_sequence<I...>) {
  // Every operation is defined for all values, so it may run for inactive threads, too.
  alignas(32) char ofAll[lanes * sizeof(D)];
  char* to = mask == all ? operands[0] : ofAll;
  const char* from[] = {operands[I + 1]...};
  // An operand that is also written lies at the same place. An operation that calls a function stays a loop, and
  // clang warns about it. A loop that is unrolled first is not vectorized.
#pragma clang loop vectorize(assume_safety) unroll(disable)
  for (unsigned lane = 0; lane < lanes; ++lane) set<D>(to, lane, compute(get<S>(from[I], lane)...));
  if (mask != all) copy<sizeof(D)>(operands[0], ofAll, mask);
}

// What fills the table is not optimized, which would take as long as the operations do.
template <typename D, typename... S, typename F>
[[clang::optnone]] Operation each(F compute) {
  return {[compute](char* const* operands, Mask mask) {
            apply<D, S...>(compute, operands, mask, std::index_sequence_for<S...>());
          },
          {sizeof(D), sizeof(S)...}};
}

using Truth = uint8_t;  // a predicate

template <typename T>
[[clang::optnone]] void addComparisons(Table& table, const std::string& type) {
  const auto add = [&](const char* name, auto compare) {
    table[std::string("setp.") + name + "." + type] =
        each<Truth, T, T>([compare](T a, T b) -> Truth { return compare(a, b); });
  };
  add("eq", [](T a, T b) { return a == b; });
  add("lt", [](T a, T b) { return a < b; });
  add("le", [](T a, T b) { return a <= b; });
  add("gt", [](T a, T b) { return a > b; });
  add("ge", [](T a, T b) { return a >= b; });
  if constexpr (std::is_floating_point_v<T>) {
    add("ne", [](T a, T b) { return a < b || a > b; });
    add("neu", [](T a, T b) { return !(a == b); });
    add("equ", [](T a, T b) { return !(a < b || a > b); });
    add("ltu", [](T a, T b) { return !(a >= b); });
    add("leu", [](T a, T b) { return !(a > b); });
    add("gtu", [](T a, T b) { return !(a <= b); });
    add("geu", [](T a, T b) { return !(a < b); });
    add("nan", [](T a, T b) { return std::isunordered(a, b); });
    add("num", [](T a, T b) { return !std::isunordered(a, b); });
  } else {
    add("ne", [](T a, T b) { return a != b; });
  }
}

template <typename T>
[[clang::optnone]] void addChoices(Table& table, const std::string& type) {
  table["mov." + type] = each<T, T>([](T a) { return a; });
  table["selp." + type] = each<T, T, T, Truth>([](T a, T b, Truth chosen) { return chosen != 0 ? a : b; });
}

// As on a GPU: a division by zero gives a number with every bit set.
template <typename T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  return std::is_signed_v<T> && b == static_cast<T>(-1) ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a))
                                                        : static_cast<T>(a / b);
}

template <typename T>
T remainder(T a, T b) {
  if (b == 0) return a;
  return std::is_signed_v<T> && b == static_cast<T>(-1) ? T{0} : static_cast<T>(a % b);
}

template <typename T>
[[clang::optnone]] void addIntegers(Table& table, const std::string& type) {
  using U = std::make_unsigned_t<T>;
  static constexpr unsigned bits = 8 * sizeof(T);
  const auto unsignedly = [](auto compute) {
    return each<T, T, T>([compute](T a, T b) { return static_cast<T>(compute(static_cast<U>(a), static_cast<U>(b))); });
  };
  addComparisons<T>(table, type);
  addChoices<T>(table, type);
  table["add." + type] = unsignedly([](U a, U b) { return a + b; });
  table["sub." + type] = unsignedly([](U a, U b) { return a - b; });
  table["mul.lo." + type] = unsignedly([](U a, U b) { return uint64_t{a} * b; });
  table["mad.lo." + type] =
      each<T, T, T, T>([](T a, T b, T c) { return static_cast<T>(uint64_t(U(a)) * U(b) + U(c)); });
  table["div." + type] = each<T, T, T>(quotient<T>);
  table["rem." + type] = each<T, T, T>(remainder<T>);
  table["min." + type] = each<T, T, T>([](T a, T b) { return b < a ? b : a; });
  table["max." + type] = each<T, T, T>([](T a, T b) { return a < b ? b : a; });
  table["neg." + type] = each<T, T>([](T a) { return static_cast<T>(U{0} - static_cast<U>(a)); });
  table["abs." + type] = each<T, T>([](T a) { return a < 0 ? static_cast<T>(U{0} - static_cast<U>(a)) : a; });
  table["shr." + type] = each<T, T, uint32_t>([](T a, uint32_t by) {
    if (by < bits) return static_cast<T>(a >> by);
    return static_cast<T>(a < 0 ? -1 : 0);
  });
  if constexpr (sizeof(T) >= 4) {
    table["bfe." + type] = each<T, T, uint32_t, uint32_t>([](T a, uint32_t from, uint32_t length) {
      from &= 255;
      length &= 255;
      if (length == 0) return T{0};
      if (from >= bits) return static_cast<T>(a < 0 ? -1 : 0);
      const unsigned above = bits - std::min(from + length, bits);
      return static_cast<T>(static_cast<T>(static_cast<U>(a) << above) >> (above + from));
    });
  }
}

template <typename T, typename Wide>
[[clang::optnone]] void addProducts(Table& table, const std::string& type) {
  table["mul.wide." + type] = each<Wide, T, T>([](T a, T b) { return static_cast<Wide>(Wide{a} * Wide{b}); });
  table["mul.hi." + type] =
      each<T, T, T>([](T a, T b) { return static_cast<T>(static_cast<Wide>(Wide{a} * Wide{b}) >> (8 * sizeof(T))); });
  table["mad.wide." + type] = each<Wide, T, T, Wide>([](T a, T b, Wide c) {
    return static_cast<Wide>(static_cast<std::make_unsigned_t<Wide>>(Wide{a} * Wide{b}) + c);
  });
}

template <typename T>
[[clang::optnone]] void addBits(Table& table, const std::string& type) {
  addChoices<T>(table, type);
  table["and." + type] = each<T, T, T>([](T a, T b) { return static_cast<T>(a & b); });
  table["or." + type] = each<T, T, T>([](T a, T b) { return static_cast<T>(a | b); });
  table["xor." + type] = each<T, T, T>([](T a, T b) { return static_cast<T>(a ^ b); });
  table["not." + type] = each<T, T>([](T a) { return static_cast<T>(~a); });
  table["shl." + type] =
      each<T, T, uint32_t>([](T a, uint32_t by) { return by < 8 * sizeof(T) ? static_cast<T>(a << by) : T{0}; });
  table["shr." + type] =
      each<T, T, uint32_t>([](T a, uint32_t by) { return by < 8 * sizeof(T) ? static_cast<T>(a >> by) : T{0}; });
  table["setp.eq." + type] = each<Truth, T, T>([](T a, T b) -> Truth { return a == b; });
  table["setp.ne." + type] = each<Truth, T, T>([](T a, T b) -> Truth { return a != b; });
}

template <typename T>
[[clang::optnone]] void addReals(Table& table, const std::string& type) {
  addComparisons<T>(table, type);
  addChoices<T>(table, type);
  const std::string rounded = "rn." + type;
  table["add." + rounded] = each<T, T, T>([](T a, T b) { return a + b; });
  table["sub." + rounded] = each<T, T, T>([](T a, T b) { return a - b; });
  table["mul." + rounded] = each<T, T, T>([](T a, T b) { return a * b; });
  table["div." + rounded] = each<T, T, T>([](T a, T b) { return a / b; });
  table["fma." + rounded] = each<T, T, T, T>([](T a, T b, T c) { return std::fma(a, b, c); });
  table["sqrt." + rounded] = each<T, T>([](T a) { return std::sqrt(a); });
  table["rcp." + rounded] = each<T, T>([](T a) { return 1 / a; });
  table["neg." + type] = each<T, T>([](T a) { return -a; });
  table["abs." + type] = each<T, T>([](T a) { return std::fabs(a); });
  table["min." + type] = each<T, T, T>([](T a, T b) { return std::fmin(a, b); });
  table["max." + type] = each<T, T, T>([](T a, T b) { return std::fmax(a, b); });
}

// Converts a rounded real number to a whole number: to the nearest one of the type, and NaN to 0.
template <typename D, typename S>
D whole(S value) {
  if (std::isnan(value)) return 0;
  if (value < static_cast<S>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  // One more than the largest number is exact in every type.
  if (value >= std::ldexp(S{1}, std::numeric_limits<D>::digits)) return std::numeric_limits<D>::max();
  return static_cast<D>(value);
}

template <typename S>
S rounded(S value, char mode) {
  if (mode == 'z') return std::trunc(value);
  if (mode == 'm') return std::floor(value);
  return mode == 'p' ? std::ceil(value) : std::nearbyint(value);
}

// `D` and `S` are held in registers of `RD` and `RS`, which are wider for bytes.
template <typename D, typename RD, typename S, typename RS>
[[clang::optnone]] void addConversion(Table& table, const std::string& to, const std::string& from) {
  const std::string types = to + "." + from;
  if constexpr (std::is_floating_point_v<S>) {
    if constexpr (std::is_floating_point_v<D> && !std::is_same_v<D, S>) {
      table[(sizeof(D) < sizeof(S) ? "cvt.rn." : "cvt.") + types] = each<D, S>([](S a) { return static_cast<D>(a); });
    } else {
      for (const char mode : {'n', 'z', 'm', 'p'})
        table[std::string("cvt.r") + mode + "i." + types] = each<RD, S>([mode](S a) {
          if constexpr (std::is_floating_point_v<D>)
            return rounded(a, mode);
          else
            return static_cast<RD>(whole<D>(rounded(a, mode)));
        });
    }
  } else if constexpr (std::is_floating_point_v<D>) {
    table["cvt.rn." + types] = each<D, RS>([](RS a) { return static_cast<D>(static_cast<S>(a)); });
  } else {
    table["cvt." + types] = each<RD, RS>([](RS a) { return static_cast<RD>(static_cast<D>(static_cast<S>(a))); });
  }
}

template <typename D, typename RD = D>
[[clang::optnone]] void addConversions(Table& table, const std::string& to) {
  addConversion<D, RD, uint8_t, uint16_t>(table, to, "u8");
  addConversion<D, RD, int8_t, uint16_t>(table, to, "s8");
  addConversion<D, RD, uint16_t, uint16_t>(table, to, "u16");
  addConversion<D, RD, int16_t, uint16_t>(table, to, "s16");
  addConversion<D, RD, uint32_t, uint32_t>(table, to, "u32");
  addConversion<D, RD, int32_t, uint32_t>(table, to, "s32");
  addConversion<D, RD, uint64_t, uint64_t>(table, to, "u64");
  addConversion<D, RD, int64_t, uint64_t>(table, to, "s64");
  addConversion<D, RD, float, float>(table, to, "f32");
  addConversion<D, RD, double, double>(table, to, "f64");
}

[[clang::optnone]] Table made() {
  Table table;
  addIntegers<uint16_t>(table, "u16");
  addIntegers<int16_t>(table, "s16");
  addIntegers<uint32_t>(table, "u32");
  addIntegers<int32_t>(table, "s32");
  addIntegers<uint64_t>(table, "u64");
  addIntegers<int64_t>(table, "s64");
  addProducts<uint16_t, uint32_t>(table, "u16");
  addProducts<int16_t, int32_t>(table, "s16");
  addProducts<uint32_t, uint64_t>(table, "u32");
  addProducts<int32_t, int64_t>(table, "s32");
  table["mul.hi.u64"] = each<uint64_t, uint64_t, uint64_t>(
      [](uint64_t a, uint64_t b) { return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64); });
  addBits<uint16_t>(table, "b16");
  addBits<uint32_t>(table, "b32");
  addBits<uint64_t>(table, "b64");
  table["mov.pred"] = each<Truth, Truth>([](Truth a) { return a; });
  table["and.pred"] = each<Truth, Truth, Truth>([](Truth a, Truth b) -> Truth { return a & b; });
  table["or.pred"] = each<Truth, Truth, Truth>([](Truth a, Truth b) -> Truth { return a | b; });
  table["xor.pred"] = each<Truth, Truth, Truth>([](Truth a, Truth b) -> Truth { return a ^ b; });
  table["not.pred"] = each<Truth, Truth>([](Truth a) -> Truth { return a ^ 1; });
  addReals<float>(table, "f32");
  addReals<double>(table, "f64");
  addConversions<uint8_t, uint16_t>(table, "u8");
  addConversions<int8_t, uint16_t>(table, "s8");
  addConversions<uint16_t>(table, "u16");
  addConversions<int16_t, uint16_t>(table, "s16");
  addConversions<uint32_t>(table, "u32");
  addConversions<int32_t, uint32_t>(table, "s32");
  addConversions<uint64_t>(table, "u64");
  addConversions<int64_t, uint64_t>(table, "s64");
  addConversions<float>(table, "f32");
  addConversions<double>(table, "f64");
  table["popc.b32"] = each<uint32_t, uint32_t>([](uint32_t a) { return static_cast<uint32_t>(__builtin_popcount(a)); });
  table["clz.b32"] =
      each<uint32_t, uint32_t>([](uint32_t a) { return a == 0 ? 32u : static_cast<uint32_t>(__builtin_clz(a)); });
  table["brev.b32"] = each<uint32_t, uint32_t>([](uint32_t a) { return __builtin_bitreverse32(a); });
  table["shf.l.wrap.b32"] = each<uint32_t, uint32_t, uint32_t, uint32_t>([](uint32_t low, uint32_t high, uint32_t by) {
    return static_cast<uint32_t>(((uint64_t{high} << 32 | low) << (by & 31)) >> 32);
  });
  return table;
}

}  // namespace

const Operation* operationNamed(const std::string& name) {
  static const Table& table = *new Table(made());
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace ptx
