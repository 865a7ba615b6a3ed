#include "registers.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "../failure.h"

namespace covarium::cuda {

namespace {

// The registers of one kind, such as %rd, in a kernel.
struct Kind {
  size_t declared = 0;
  std::vector<size_t> used;  // each once; the last one was used last
};

bool isLetter(char c) { return c >= 'a' && c <= 'z'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

void require(bool isSound, size_t at) {
  if (!isSound)
    throw Failure("ERR_INTERNAL", "The text of the kernels is malformed at byte (" + std::to_string(at) + ").");
}

// Reads the number at `at`, and moves `at` behind it.
size_t numberAt(const std::string& text, size_t& at) {
  size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + at, end, number);
  require(error == std::errc(), at);
  at = static_cast<size_t>(rest - text.data());
  return number;
}

}  // namespace

std::string withRegisters(const std::string& coded) {
  std::map<std::string, Kind> kinds;
  std::string text;
  text.reserve(coded.size() + coded.size() / 2);
  for (size_t at = 0; at < coded.size();) {
    const size_t name = std::min(coded.find('%', at), coded.size() - 1) + 1;
    size_t end = name;
    while (end < coded.size() && isLetter(coded[end])) ++end;
    text.append(coded, at, end - at);
    at = end;
    const char next = at < coded.size() ? coded[at] : '\0';
    if (end == name || (next != '<' && next != '+' && !isDigit(next))) continue;
    const std::string letters = coded.substr(name, end - name);
    if (next == '<') {  // a declaration: those of the kernel before are forgotten
      size_t count = at + 1;
      kinds[letters] = {numberAt(coded, count), {}};
      continue;
    }
    const auto kind = kinds.find(letters);
    require(kind != kinds.end(), at);
    auto& [declared, used] = kind->second;
    if (next == '+') {
      require(used.size() < declared, at++);
      used.push_back(used.size());
    } else {
      const size_t begin = at, place = numberAt(coded, at);
      require(place < used.size(), begin);
      std::rotate(used.end() - static_cast<std::ptrdiff_t>(place) - 1, used.end() - static_cast<std::ptrdiff_t>(place),
                  used.end());
    }
    text += std::to_string(used.back());
  }
  return text;
}

}  // namespace covarium::cuda
