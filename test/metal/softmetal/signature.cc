#include "signature.h"

#include <algorithm>
#include <cctype>

namespace softmetal {

namespace {

using Tokens = std::vector<std::string>;

bool isOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The words of a text without its comments; each other character is a token of its own.
Tokens tokensOf(const std::string& text) {
  Tokens tokens;
  for (size_t at = 0, end = 0; at < text.size(); at = end) {
    if (text.compare(at, 2, "//") == 0) {
      end = std::min(text.find('\n', at), text.size());
    } else if (text.compare(at, 2, "/*") == 0) {
      end = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    } else {
      end = at;
      while (end < text.size() && isOfWord(text[end])) ++end;
      end = std::max(end, at + 1);
      if (std::isspace(static_cast<unsigned char>(text[at])) == 0) tokens.push_back(text.substr(at, end - at));
    }
  }
  return tokens;
}

// The parts between the parenthesis at `open`, the commas after it, and the parenthesis that closes it.
std::vector<Tokens> split(const Tokens& tokens, size_t open) {
  std::vector<Tokens> parts(1);
  int depth = 0;
  for (size_t at = open + 1; at < tokens.size(); ++at) {
    const std::string& token = tokens[at];
    if (token == "(" || token == "<") ++depth;
    if (token == ")" || token == ">") --depth;
    if (depth < 0) break;
    if (token == "," && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back().push_back(token);
    }
  }
  return parts;
}

Argument argumentOf(const Tokens& tokens) {
  const auto at = [&](size_t i) { return i < tokens.size() ? tokens[i] : std::string(); };
  const auto has = [&](const char* word) { return std::find(tokens.begin(), tokens.end(), word) != tokens.end(); };
  Argument argument{Argument::Kind::place, "", -1, true};
  for (size_t i = 0; i < tokens.size(); ++i) {
    // msl/dialect.h writes [[threadgroup(n)]] as THREADGROUP_MEMORY(n).
    const bool isLast = i + 1 == tokens.size() || (at(i + 1) == "[" && at(i + 2) == "[");
    if (argument.name.empty() && isOfWord(tokens[i][0]) && (isLast || at(i + 1) == "THREADGROUP_MEMORY"))
      argument.name = tokens[i];
    const bool isBuffer = tokens[i] == "buffer";
    if (!isBuffer && tokens[i] != "threadgroup" && tokens[i] != "THREADGROUP_MEMORY") continue;
    if (at(i + 1) != "(" || at(i + 3) != ")" || std::isdigit(static_cast<unsigned char>(at(i + 2)[0])) == 0) continue;
    argument.index = std::stoi(at(i + 2));
    argument.kind = !isBuffer         ? Argument::Kind::threadgroup
                    : has("constant") ? Argument::Kind::constant
                                      : Argument::Kind::buffer;
    argument.readOnly = has("constant") || has("const");
    break;
  }
  return argument;
}

}  // namespace

std::vector<Signature> signaturesOf(const std::string& source) {
  const Tokens tokens = tokensOf(source);
  std::vector<Signature> signatures;
  for (size_t at = 0; at + 3 < tokens.size(); ++at) {
    if (tokens[at] != "kernel" || tokens[at + 1] != "void" || tokens[at + 3] != "(") continue;
    Signature signature{tokens[at + 2], {}};
    for (const Tokens& part : split(tokens, at + 3)) signature.arguments.push_back(argumentOf(part));
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

}  // namespace softmetal
