#include "routing.h"

#include <cmath>
#include <cstdlib>

namespace covarium::gpu {

namespace {

constexpr size_t onCpu = 0, onGpu = 1;

std::string inWords(double value, const char* unit) {
  char text[64];
  snprintf(text, sizeof text, value < 100 ? "%.3g %s" : "%.0f %s", value, unit);
  return text;
}

std::string milliseconds(double seconds) { return inWords(seconds * 1e3, "ms"); }

}  // namespace

std::vector<double> Rates::all() const {
  return {commit,       number[onCpu], number[onGpu], multiplyAdd[onCpu], multiplyAdd[onGpu],
          block[onCpu], block[onGpu],  byte};
}

std::optional<Rates> Rates::from(const std::vector<double>& all) {
  if (all.size() != count) return {};
  for (const double rate : all)
    if (!std::isfinite(rate) || rate < 0) return {};
  return Rates{all[0], {all[1], all[2]}, {all[3], all[4]}, {all[5], all[6]}, all[7]};
}

// Whatever else the machine does while it is measured makes it seem slower.
Rates Rates::correctedBy(const Rates& later) const {
  constexpr double much = 1.5, little = 1.25;
  const std::vector<double> before = all(), now = later.all();
  std::vector<double> rates = before;
  const std::vector<size_t> sides[] = {{1, 3, 5}, {0, 2, 4, 6, 7}};
  for (const auto& side : sides) {
    bool isFaster = false, isSlower = false;
    for (const size_t i : side) {
      // A difference of two times that nothing was left of tells nothing.
      if (now[i] == 0) continue;
      isFaster |= before[i] == 0 || before[i] > much * now[i];
      isSlower |= before[i] != 0 && now[i] > little * before[i];
    }
    if (!isFaster || isSlower) continue;
    for (const size_t i : side) rates[i] = now[i];
  }
  return *from(rates);
}

Routing::Routing(const char* variable) : variable_(variable) {
  const char* asked = getenv(variable);
  if (asked == nullptr || *asked == '\0') return;
  char* end;
  least_ = static_cast<double>(strtoull(asked, &end, 10));
  if (*end != '\0')
    throw Failure("ERR_OUT_OF_RANGE", std::string(variable) + " (" + std::string(asked) + ") is not a whole number.");
}

void Routing::learn(Device& gpu, Device& cpu, const Learning& learning, const OpenOptions& options) {
  const KnownGpu* known = options.known ? options.known(learning.gpu) : nullptr;
  std::optional<Rates> rates = known == nullptr ? std::nullopt : Rates::from(known->rates);
  const bool isDue = !least_.has_value() && (!rates.has_value() || known->isOld);
  if (isDue) {
    const Rates measured = measure(gpu, cpu, learning.makesFactors);
    rates = rates.has_value() ? rates->correctedBy(measured) : measured;
  }
  if (rates.has_value()) rates_ = *rates;
  isOpen_ = true;
  const bool isNewlyPassed = known == nullptr && learning.skipsTests;
  if (options.learned && learning.isPassed && (isDue || isNewlyPassed))
    options.learned(learning.gpu, rates.has_value() ? rates->all() : std::vector<double>());
}

double Routing::secondsOnCpu(const Work& work) const {
  return work.numbers * rates_.number[onCpu] + work.timesOnCpu * work.multiplyAdds * rates_.multiplyAdd[onCpu] +
         work.blocks * rates_.block[onCpu] + work.bytesIfCpu * rates_.byte;
}

double Routing::secondsOnGpu(const Work& work) const {
  return rates_.commit + work.numbers * rates_.number[onGpu] + work.multiplyAdds * rates_.multiplyAdd[onGpu] +
         work.blocks * rates_.block[onGpu] + work.bytesIfGpu * rates_.byte;
}

bool Routing::isForGpu(const Work& work) const {
  constexpr double ofANumber = 100;  // multiply-adds that take as long as making and copying one number
  if (takesAll()) return true;
  if (least_.has_value()) return work.numbers + work.multiplyAdds / ofANumber >= *least_;
  return secondsOnGpu(work) < secondsOnCpu(work);
}

Explanation Routing::explain(const Work& work) const {
  Explanation explanation;
  explanation.onGpu = isForGpu(work);
  if (least_.has_value()) {
    explanation.because = std::string(variable_) + " (" + inWords(*least_, "numbers") + ") decides.";
    return explanation;
  }
  explanation.cpuSeconds = secondsOnCpu(work);
  explanation.gpuSeconds = secondsOnGpu(work);
  explanation.because = "By rates measured on this machine, it takes about " + milliseconds(explanation.gpuSeconds) +
                        " on the GPU and " + milliseconds(explanation.cpuSeconds) + " on the CPU beside it.";
  return explanation;
}

Work Routing::workOf(const Question& question) {
  const double unit = question.dtype == Dtype::float64 ? 2 : 1;
  const auto rows = static_cast<double>(question.rows), inner = static_cast<double>(question.inner),
             columns = static_cast<double>(question.columns);
  switch (question.command) {
    case Question::Command::factor:
      return {0, unit * columns * columns * columns / 6, 1, columns / 128};
    case Question::Command::multiply:
      return {unit * rows * columns, unit * rows * inner * columns};
    default:
      return {unit * rows * columns, unit * 0.5 * rows * columns * columns};
  }
}

std::string Routing::words() const {
  if (least_.has_value()) return "";
  const auto nanoseconds = [](double seconds) { return inWords(seconds * 1e9, "ns"); };
  std::string words = "a commit " + inWords(rates_.commit * 1e6, "us") + "; a normal " +
                      nanoseconds(rates_.number[onGpu]) + ", on the CPU " + nanoseconds(rates_.number[onCpu]) +
                      "; a thousand multiply-adds " + nanoseconds(1e3 * rates_.multiplyAdd[onGpu]) + ", on the CPU " +
                      nanoseconds(1e3 * rates_.multiplyAdd[onCpu]);
  if (rates_.byte > 0) words += "; the bus " + inWords(1e-9 / rates_.byte, "GB/s");
  return words;
}

}  // namespace covarium::gpu
