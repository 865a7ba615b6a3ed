// Metal's logs, each a line on the process's standard error. Included after words.h for a text that logs.
#pragma once

namespace covarium_logging {

// What does not fit is cut off; snprintf keeps a byte for its end.
struct Line {
  char text[1024];
  size_t length = 0;

  void put(char letter) {
    if (length < sizeof text - 1) text[length++] = letter;
  }
  template <typename V>
  void print(const char* conversion, V value) {
    const int needed = snprintf(text + length, sizeof text - length, conversion, value);
    const size_t room = sizeof text - length - 1;
    length += needed < 0 ? 0 : static_cast<size_t>(needed) < room ? static_cast<size_t>(needed) : room;
  }
};

// A conversion such as %-8.3v4hlf: flags, width and precision; a vector's count and element are known by its type.
struct Conversion {
  char head[24] = "%";  // with room for a length, a letter and the end
  size_t length = 1;
  char letter = 0;

  const char* with(const char* size) {
    size_t end = length;
    for (; *size != 0; ++size) head[end++] = *size;
    head[end++] = letter;
    head[end] = 0;
    return head;
  }
};

static inline bool isOneOf(char letter, const char* letters) {
  for (; *letters != 0; ++letters)
    if (letter == *letters) return true;
  return false;
}

// Copies the format up to its next conversion, which it reads; false at the end.
static inline bool findConversion(Line& line, const char*& format, Conversion& found) {
  for (; *format != 0; ++format) {
    if (*format != '%') {
      line.put(*format);
    } else if (format[1] == '%') {
      line.put(*format++);
    } else {
      ++format;
      while (isOneOf(*format, "-+ #0123456789.")) {
        if (found.length < sizeof found.head - 4) found.head[found.length++] = *format;
        ++format;
      }
      if (*format == 'v' && isOneOf(format[1], "234")) format += 2;
      while (isOneOf(*format, "hljztL")) ++format;
      if (*format == 0) return false;
      found.letter = *format++;
      return true;
    }
  }
  return false;
}

template <typename T>
static inline void putNumber(Line& line, Conversion conversion, T value) {
  if (isOneOf(conversion.letter, "fFeEgGaA")) {
    if constexpr (covarium::isFloat<T>) {
      line.print(conversion.with(""), static_cast<double>(static_cast<float>(value)));
    } else {
      line.print(conversion.with(""), static_cast<double>(value));
    }
  } else if (isOneOf(conversion.letter, "uoxX")) {
    const auto all = static_cast<unsigned long long>(static_cast<long long>(value));
    const unsigned spare = 64 - 8 * static_cast<unsigned>(sizeof value);
    line.print(conversion.with("ll"), all << spare >> spare);
  } else if (conversion.letter == 'c') {
    line.print(conversion.with(""), static_cast<int>(value));
  } else {
    conversion.letter = 'd';
    line.print(conversion.with("ll"), static_cast<long long>(value));
  }
}

template <typename V>
static inline void put(Line& line, const char*& format, const V& value) {
  Conversion conversion;
  if (!findConversion(line, format, conversion)) return;
  if constexpr (covarium::ShapeOf<V>::isVector) {
    for (int k = 0; k < covarium::ShapeOf<V>::count; ++k) {
      if (k > 0) line.put(',');
      putNumber(line, conversion, static_cast<typename covarium::ShapeOf<V>::Element>(value[k]));
    }
  } else if constexpr (covarium::isNumber<V> || covarium::isEnumeration<V>) {
    putNumber(line, conversion, value);
  } else {
    line.print(conversion.with(""), static_cast<std::decay_t<const V&>>(value));
  }
}

}  // namespace covarium_logging

namespace metal {

enum os_log_type { os_log_type_default, os_log_type_debug, os_log_type_info, os_log_type_error, os_log_type_fault };

struct os_log {
  constexpr os_log(const char*, const char*) {}

  template <typename... Values>
  void log(const char* format, const Values&... values) const {
    covarium_logging::Line line;
    (covarium_logging::put(line, format, values), ...);
    covarium_logging::Conversion none;
    while (covarium_logging::findConversion(line, format, none)) none = {};
    covarium::kernelHost->log(line.text, line.length);
  }
  template <typename... Values>
  void log_debug(const char* format, const Values&... values) const {
    log(format, values...);
  }
  template <typename... Values>
  void log_info(const char* format, const Values&... values) const {
    log(format, values...);
  }
  template <typename... Values>
  void log_error(const char* format, const Values&... values) const {
    log(format, values...);
  }
  template <typename... Values>
  void log_fault(const char* format, const Values&... values) const {
    log(format, values...);
  }
  template <typename... Values>
  void log_with_type(os_log_type, const char* format, const Values&... values) const {
    log(format, values...);
  }
};
constexpr os_log os_log_default("", "");

}  // namespace metal
