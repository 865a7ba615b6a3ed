#include "signature.h"

#include <regex>

namespace softmetal {

namespace {

std::string withoutComments(const std::string& source) {
  static const std::regex comment(R"(//[^\n]*|/\*[\s\S]*?\*/)");
  return std::regex_replace(source, comment, " ");
}

// The text between the parenthesis that opens at `open` and the one that closes it.
std::string inside(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return text.substr(open + 1, i - open - 1);
  }
  return "";
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    if (c == '(' || c == '<') ++depth;
    if (c == ')' || c == '>') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Argument argumentOf(const std::string& text) {
  // msl/dialect.h writes [[threadgroup(n)]] as THREADGROUP_MEMORY(n).
  static const std::regex attribute(R"((buffer|threadgroup|THREADGROUP_MEMORY)\s*\(\s*(\d+)\s*\))");
  static const std::regex word(R"((\w+)\s*(?:\[\[|THREADGROUP_MEMORY|$))");
  Argument argument{Argument::Kind::place, "", -1, true};
  std::smatch found;
  if (std::regex_search(text, found, word)) argument.name = found[1];
  if (!std::regex_search(text, found, attribute)) return argument;
  argument.index = std::stoi(found[2]);
  const bool isConstant = std::regex_search(text, std::regex(R"(\bconstant\b)"));
  argument.kind = found[1] != "buffer" ? Argument::Kind::threadgroup
                  : isConstant         ? Argument::Kind::constant
                                       : Argument::Kind::buffer;
  argument.readOnly = isConstant || std::regex_search(text, std::regex(R"(\bconst\b)"));
  return argument;
}

}  // namespace

std::vector<Signature> signaturesOf(const std::string& source) {
  static const std::regex head(R"(\bkernel\s+void\s+(\w+)\s*\()");
  const std::string text = withoutComments(source);
  std::vector<Signature> signatures;
  for (std::sregex_iterator match(text.begin(), text.end(), head), end; match != end; ++match) {
    Signature signature{(*match)[1], {}};
    for (const std::string& part : split(inside(text, static_cast<size_t>(match->position() + match->length() - 1))))
      signature.arguments.push_back(argumentOf(part));
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

}  // namespace softmetal
