#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "code.h"
#include "ptx.h"

namespace ptx {
namespace {

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (const char c : text) {
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == by && depth == 0) {
      parts.push_back(part);
      part.clear();
    } else if (c != ' ' && c != '\t') {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

bool startsWith(const std::string& text, const char* begin) { return text.rfind(begin, 0) == 0; }

unsigned bytesOf(const std::string& type) {
  if (type == "pred") return 1;
  const int bits = atoi(type.c_str() + 1);
  if (bits < 8 || bits > 64) refuse("type " + type);
  return static_cast<unsigned>(bits) / 8;
}

class Parser {
 public:
  explicit Parser(const std::string& text) : text(text) {}

  Kernel kernel(const std::string& name);

 private:
  struct Register {
    unsigned at, sizeBytes;
  };
  struct Variable {
    Space space;
    size_t offset;
  };

  std::string line();
  Kernel body(std::string header);
  void statement(std::string text);
  void declare(const std::string& text, size_t& sharedBytes);
  void declareRegisters(const std::string& text);
  void instruction(const std::string& text, Instruction& made);
  void memory(const std::vector<std::string>& words, const std::vector<std::string>& operands, Instruction& made);
  const Register& registerNamed(const std::string& name);
  unsigned operand(const std::string& text, unsigned sizeBytes);
  unsigned source(const std::string& text, unsigned sizeBytes);
  unsigned constant(uint64_t value, unsigned sizeBytes);
  unsigned place(unsigned sizeBytes);

  const std::string& text;
  size_t at = 0;
  std::map<std::string, Variable> moduleVariables, variables;
  size_t moduleSharedBytes = 0;
  std::shared_ptr<Code> code;
  std::map<std::string, Register> registers;
  std::map<std::string, size_t> labels;
  std::vector<std::pair<size_t, std::string>> branches;
  std::map<std::pair<uint64_t, unsigned>, unsigned> known;  // constants
};

std::string Parser::line() {
  const size_t end = std::min(text.find('\n', at), text.size());
  std::string found = text.substr(at, end - at);
  at = end + 1;
  const size_t comment = found.find("//");
  if (comment != std::string::npos) found.resize(comment);
  const size_t first = found.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return found.substr(first, found.find_last_not_of(" \t\r") - first + 1);
}

Kernel Parser::kernel(const std::string& name) {
  while (at < text.size()) {
    const std::string found = line();
    const bool isKernel = found.find(".entry ") != std::string::npos;
    if (isKernel && found.find(".entry " + name + "(") != std::string::npos) return body(found);
    if (isKernel || found.find(".func ") != std::string::npos)
      at = std::min(text.find("\n}", at), text.size() - 2) + 2;
    else if (found.find(".shared ") != std::string::npos)
      declare(found, moduleSharedBytes);
    // A function or a constant that this can't parse is refused when the kernel uses it.
  }
  refuse("no kernel " + name);
}

// .shared .align 16 .b8 name[96], whose size is omitted if the launch gives it.
void Parser::declare(const std::string& text, size_t& sharedBytes) {
  const size_t open = text.find('['), name = text.rfind(' ', open) + 1;
  const size_t align = text.find(".align ");
  const size_t alignment = align == std::string::npos ? 8 : strtoul(text.c_str() + align + 7, nullptr, 10);
  const bool isLocal = text.find(".local ") != std::string::npos;
  size_t& used = isLocal ? code->localBytes : sharedBytes;
  used = (used + alignment - 1) / alignment * alignment;
  const std::string own = text.substr(name, std::min(open, text.find(';')) - name);
  auto& scope = &sharedBytes == &moduleSharedBytes && !isLocal ? moduleVariables : variables;
  scope[own] = {isLocal ? Space::local : Space::shared, used};
  if (text.find(".b8 ") == std::string::npos) refuse("variable " + text);
  if (open != std::string::npos) used += strtoul(text.c_str() + open + 1, nullptr, 10);
}

Kernel Parser::body(std::string header) {
  while (header.find(')') == std::string::npos) header += line();
  code = std::make_shared<Code>();
  variables = moduleVariables;
  code->staticSharedBytes = moduleSharedBytes;
  Kernel kernel;
  const size_t begin = header.find(".entry ") + 7, open = header.find('(');
  kernel.name = header.substr(begin, open - begin);
  std::string parameters = header.substr(open + 1, header.find(')') - open - 1);
  std::stringstream each(parameters);
  for (std::string parameter; std::getline(each, parameter, ',');) {
    const size_t last = parameter.find_last_of(' '), bracket = parameter.find('[');
    const bool isBlock = bracket != std::string::npos;
    const std::string name = parameter.substr(last + 1, bracket - last - 1);
    const size_t type = parameter.find('.', parameter.find(isBlock ? ".b8" : ".param ") + (isBlock ? 0 : 1));
    const size_t sizeBytes = isBlock ? strtoul(parameter.c_str() + bracket + 1, nullptr, 10)
                                     : bytesOf(parameter.substr(type + 1, parameter.find(' ', type) - type - 1));
    const size_t offset = (kernel.parameterBytes + 15) / 16 * 16;
    variables[name] = {Space::param, offset};
    kernel.parameters.push_back({offset, sizeBytes});
    kernel.parameterBytes = offset + sizeBytes;
  }
  while (line() != "{") continue;
  int depth = 1;
  while (depth > 0) {
    std::string found = line();
    if (at > text.size()) refuse(kernel.name + " has no end");
    // Inline assembly has braces and several statements in a line.
    std::string one;
    int inside = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      const char c = found[i];
      const bool isOperand = c == '{' ? i > 0 && one.find(' ') != std::string::npos : inside > 0;
      if (c == '{' && !isOperand) {
        ++depth;
        one.clear();
      } else if (c == '}' && !isOperand) {
        --depth;
        one.clear();
      } else if (c == ';') {
        statement(one);
        one.clear();
      } else if (c == ':' && one.find_first_of(" %") == std::string::npos) {
        labels[one] = code->instructions.size();
        one.clear();
      } else {
        if (c == '{') ++inside;
        if (c == '}') --inside;
        if (!one.empty() || c != ' ') one += c;
      }
    }
    if (!one.empty()) refuse(kernel.name + ": " + one);
  }
  for (const auto& [index, label] : branches) {
    if (labels.count(label) == 0) refuse("label " + label);
    code->instructions[index].target = labels[label];
  }
  Instruction last;
  last.kind = Kind::exit;
  code->instructions.push_back(last);
  kernel.code = code;
  return kernel;
}

void Parser::statement(std::string text) {
  if (startsWith(text, ".reg ")) return declareRegisters(text);
  if (startsWith(text, ".shared ") || startsWith(text, ".local ")) return declare(text, code->staticSharedBytes);
  if (startsWith(text, ".pragma") || text.empty()) return;
  if (text[0] == '.') refuse(text);
  Instruction instruction;
  if (text[0] == '@') {
    const size_t space = text.find(' ');
    instruction.isGuarded = true;
    instruction.isNegated = text[1] == '!';
    instruction.guard =
        registerNamed(text.substr(instruction.isNegated ? 2 : 1, space - (instruction.isNegated ? 2 : 1))).at;
    text = text.substr(text.find_first_not_of(' ', space));
  }
  instruction.name = text;
  this->instruction(text, instruction);
  code->instructions.push_back(std::move(instruction));
}

unsigned Parser::place(unsigned sizeBytes) {
  const size_t at = code->registerBytes;
  code->registerBytes += sizeBytes * lanes;
  return static_cast<unsigned>(at);
}

// .reg .b32 %r<165>, or names.
void Parser::declareRegisters(const std::string& text) {
  const std::string both = text.substr(5);
  const size_t space = both.find(' ');
  const unsigned sizeBytes = bytesOf(both.substr(1, space - 1));
  for (std::string name : split(both.substr(space + 1), ',')) {
    const size_t open = name.find('<');
    if (open == std::string::npos) {
      registers[name] = {place(sizeBytes), sizeBytes};
      continue;
    }
    const unsigned count = static_cast<unsigned>(atoi(name.c_str() + open + 1));
    for (unsigned i = 0; i < count; ++i)
      registers[name.substr(0, open) + std::to_string(i)] = {place(sizeBytes), sizeBytes};
  }
}

const Parser::Register& Parser::registerNamed(const std::string& name) {
  const auto found = registers.find(name);
  if (found != registers.end()) return found->second;
  static const char* const special[] = {"%tid.x", "%ntid.x", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x"};
  for (const char* each : special)
    if (name == each) {
      code->special[name] = place(4);
      return registers[name] = {code->special[name], 4};
    }
  if (name == "%tid.y" || name == "%tid.z") return registers[name] = {constant(0, 4), 4};
  refuse("operand " + name);
}

// The source of a conversion may be in a wider register.
unsigned Parser::source(const std::string& text, unsigned sizeBytes) {
  const unsigned held = text[0] == '%' ? registerNamed(text).sizeBytes : sizeBytes;
  if (held <= sizeBytes) return operand(text, sizeBytes);
  const auto type = [](unsigned bytes) { return ".u" + std::to_string(8 * bytes); };
  Instruction narrow;
  narrow.name = "cvt" + type(sizeBytes) + type(held);
  narrow.operation = operationNamed(narrow.name);
  narrow.operands = {place(sizeBytes), operand(text, held)};
  code->instructions.push_back(narrow);
  return narrow.operands[0];
}

unsigned Parser::constant(uint64_t value, unsigned sizeBytes) {
  const auto found = known.find({value, sizeBytes});
  if (found != known.end()) return found->second;
  const unsigned at = place(sizeBytes);
  code->constants.push_back({at, sizeBytes, value});
  return known[{value, sizeBytes}] = at;
}

unsigned Parser::operand(const std::string& text, unsigned sizeBytes) {
  if (text[0] == '%' || registers.count(text) != 0) {
    const Register& found = registerNamed(text);
    if (found.sizeBytes != sizeBytes)
      refuse("operand " + text + " has " + std::to_string(found.sizeBytes) + " bytes, not " +
             std::to_string(sizeBytes));
    return found.at;
  }
  const auto variable = variables.find(text);
  if (variable != variables.end()) return constant(variable->second.offset, sizeBytes);
  if (startsWith(text, "0f") || startsWith(text, "0d"))
    return constant(strtoull(text.c_str() + 2, nullptr, 16), sizeBytes);
  char* end = nullptr;
  const uint64_t value =
      text[0] == '-' ? static_cast<uint64_t>(strtoll(text.c_str(), &end, 0)) : strtoull(text.c_str(), &end, 0);
  if (*end != 0 && strcmp(end, "U") != 0) refuse("operand " + text);
  return constant(value, sizeBytes);
}

std::vector<std::string> pieces(const std::string& text) {
  return text[0] == '{' ? split(text.substr(1, text.size() - 2), ',') : std::vector<std::string>{text};
}

void Parser::instruction(const std::string& text, Instruction& made) {
  const size_t space = text.find(' ');
  const std::string name = text.substr(0, space);
  const std::vector<std::string> operands =
      space == std::string::npos ? std::vector<std::string>() : split(text.substr(space + 1), ',');
  const std::vector<std::string> words = split(name, '.');
  const std::string& word = words[0];
  if (word == "bra") {
    made.kind = Kind::branch;
    branches.push_back({code->instructions.size(), operands.at(0)});
  } else if (word == "ret" || word == "exit") {
    made.kind = Kind::exit;
  } else if (name == "bar.sync" || name == "barrier.sync") {
    if (operands.size() != 1 || operands[0] != "0") refuse(text);
    made.kind = Kind::barrier;
  } else if (name == "bar.warp.sync") {
    made.kind = Kind::warpBarrier;
    made.operands = {operand(operands.at(0), 4)};
  } else if (name == "activemask.b32") {
    made.kind = Kind::activeMask;
    made.operands = {operand(operands.at(0), 4)};
  } else if (name == "shfl.sync.idx.b32") {
    if (operands.at(3) != "31" && operands[3] != "0x1f") refuse(text);
    made.kind = Kind::shuffle;
    made.operands = {operand(operands[0], 4), operand(operands[1], 4), operand(operands[2], 4),
                     operand(operands.at(4), 4)};
  } else if (name == "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64") {
    made.kind = Kind::matrix;
    for (const std::string& each : operands)
      for (const std::string& part : pieces(each)) made.operands.push_back(operand(part, 8));
    if (made.operands.size() != 11) refuse(text);
  } else if (name == "vote.sync.ballot.b32") {
    made.kind = Kind::ballot;
    made.operands = {operand(operands.at(0), 4), operand(operands.at(1), 1), operand(operands.at(2), 4)};
  } else if (word == "ld" || word == "st" || word == "atom" || word == "red") {
    memory(words, operands, made);
  } else if (word == "cvta") {
    // To and from generic addresses.
    const bool isTo = words.at(1) == "to";
    const std::string& from = words.at(isTo ? 2 : 1);
    const uint64_t mark = from == "shared" ? sharedMark : from == "local" ? localMark : 0;
    made.operation = operationNamed(isTo ? "xor.b64" : "or.b64");
    made.operands = {operand(operands.at(0), 8), operand(operands.at(1), 8), constant(mark, 8)};
  } else if (word == "mov" && (operands.at(0)[0] == '{' || operands.at(1)[0] == '{')) {
    // A register and its parts, the lower one first.
    made.kind = operands[0][0] == '{' ? Kind::unpack : Kind::pack;
    made.sizeBytes = bytesOf(words.at(1));
    const std::vector<std::string> to = pieces(operands[0]), from = pieces(operands[1]);
    if (to.size() + from.size() != 3) refuse(text);
    for (const auto* part : {&to, &from})
      for (const std::string& each : *part)
        made.operands.push_back(operand(each, part->size() == 2 ? made.sizeBytes / 2 : made.sizeBytes));
  } else {
    made.operation = operationNamed(name);
    if (made.operation == nullptr) refuse("operation " + name);
    if (operands.size() != made.operation->sizes.size()) refuse(text);
    for (size_t i = 0; i < operands.size(); ++i)
      made.operands.push_back(i > 0 && word == "cvt" ? source(operands[i], made.operation->sizes[i])
                                                     : operand(operands[i], made.operation->sizes[i]));
  }
}

// ld.global.v2.f32 {%f1, %f2}, [%rd1+8]
void Parser::memory(const std::vector<std::string>& words, const std::vector<std::string>& operands,
                    Instruction& made) {
  const bool isAtomic = words[0] == "atom" || words[0] == "red", isStore = words[0] == "st";
  made.kind = isAtomic ? Kind::atomic : isStore ? Kind::store : Kind::load;
  made.space = Space::generic;
  size_t count = 1;
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "global" || word == "shared" || word == "local" || word == "param")
      made.space = word == "global"   ? Space::global
                   : word == "shared" ? Space::shared
                   : word == "local"  ? Space::local
                                      : Space::param;
    else if (word == "v2" || word == "v4")
      count = word == "v2" ? 2 : 4;
    else if (isAtomic && (word == "add" || word == "min" || word == "max" || word == "and" || word == "or" ||
                          word == "xor" || word == "exch" || word == "cas"))
      made.name = word + "." + words.back();
    else if (word != "volatile" && word != "relaxed" && word != "gpu" && word != "nc")
      refuse(made.name);
  }
  made.sizeBytes = bytesOf(words.back());
  made.isSigned = words.back()[0] == 's';
  const bool isReduction = words[0] == "red";
  const std::string& address = operands.at(isStore || isReduction ? 0 : 1);
  const std::vector<std::string> values =
      isAtomic ? std::vector<std::string>(operands.begin() + (isReduction ? 1 : 2), operands.end())
               : pieces(operands.at(isStore ? 1 : 0));
  if (!isAtomic && values.size() != count) refuse("values of " + made.name);
  // A byte is held in a register of 16 bits or more.
  const auto registerBytes = [&](const std::string& value) {
    return value[0] == '%' ? registerNamed(value).sizeBytes : std::max(made.sizeBytes, 2u);
  };
  made.registerBytes = isAtomic ? made.sizeBytes : registerBytes(values.at(0));
  if (made.registerBytes < made.sizeBytes) refuse("register of " + made.name);
  if (isAtomic) made.operands.push_back(isReduction ? place(made.sizeBytes) : operand(operands[0], made.sizeBytes));
  for (const std::string& value : values) made.operands.push_back(operand(value, made.registerBytes));
  const std::string inside = address.substr(1, address.size() - 2);
  const size_t sign = inside.find_first_of("+-", 1);
  if (sign != std::string::npos)
    made.offset = static_cast<uint64_t>(strtoll(inside.c_str() + sign + (inside[sign] == '+' ? 1 : 0), nullptr, 10));
  made.operands.push_back(operand(inside.substr(0, sign), 8));
}

}  // namespace

Kernel parse(const std::string& text, const std::string& name) { return Parser(text).kernel(name); }

}  // namespace ptx
