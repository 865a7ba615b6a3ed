#include "recorder.h"

#include <utility>

namespace covarium::gpu {

void Recorder::append(std::unique_ptr<Part> part, bool isGpu) {
  if (commit_->parts.empty()) begun_ = Clock::now();
  hostPart_ = nullptr;
  isGpuLast_ = isGpu;
  (isGpu ? commit_->onGpu : commit_->onCpu) = true;
  commit_->parts.push_back(std::move(part));
}

CommandBuffer& Recorder::onCpu() {
  if (hostPart_ == nullptr) {
    auto part = std::make_unique<HostPart>(cpu_.commandBuffer());
    HostPart* made = part.get();
    append(std::move(part), false);
    hostPart_ = made;
  }
  commit_->onCpu = true;
  return hostPart_->commands();
}

void Recorder::cholesky(Operand a, size_t n, FactorOn where) {
  onCpu().cholesky(std::move(a), n, where);
  commit_->factor = FactorOn::cpu;
}

void Recorder::choleskyBatch(Operand a, size_t n, double tolerance) {
  onCpu().choleskyBatch(std::move(a), n, tolerance);
  commit_->factor = FactorOn::cpu;
}

void Recorder::fillNormal(Operand out, NormalCounter counter) { onCpu().fillNormal(std::move(out), counter); }

void Recorder::requireFinite(Operand a, size_t columns) { onCpu().requireFinite(std::move(a), columns); }

void Recorder::requireSymmetric(Operand a, size_t n, double tolerance) {
  onCpu().requireSymmetric(std::move(a), n, tolerance);
}

void Recorder::zeroUpper(Operand a, size_t n) { onCpu().zeroUpper(std::move(a), n); }

void Recorder::antitranspose(Operand a, size_t n) { onCpu().antitranspose(std::move(a), n); }

void Recorder::copy(Operand from, Operand to) { onCpu().copy(std::move(from), std::move(to)); }

void Recorder::sum(Operand a, Operand b, Operand out) { onCpu().sum(std::move(a), std::move(b), std::move(out)); }

void Recorder::addRow(Operand rows, Operand row, double scale) {
  onCpu().addRow(std::move(rows), std::move(row), scale);
}

void Recorder::scaleColumns(Operand rows, Operand row) { onCpu().scaleColumns(std::move(rows), std::move(row)); }

void Recorder::product(Operand a, Operand b, Operand c, ProductShape shape) {
  onCpu().product(std::move(a), std::move(b), std::move(c), shape);
}

void Recorder::triangularProduct(Operand factor, Operand rows, size_t n, bool transposed) {
  onCpu().triangularProduct(std::move(factor), std::move(rows), n, transposed);
}

void Recorder::multiplyColumns(Operand columns, Operand start, Operand z, Operand out, size_t n) {
  onCpu().multiplyColumns(std::move(columns), std::move(start), std::move(z), std::move(out), n);
}

void Recorder::triangularSolve(Operand factor, Operand rows, size_t n, bool transposed) {
  onCpu().triangularSolve(std::move(factor), std::move(rows), n, transposed);
}

void Recorder::choleskySolve(Operand factor, Operand rows, size_t n) {
  onCpu().choleskySolve(std::move(factor), std::move(rows), n);
}

void Recorder::sampleBatch(Operand factors, Operand means, Operand out, size_t n, NormalCounter counter) {
  onCpu().sampleBatch(std::move(factors), std::move(means), std::move(out), n, counter);
}

void Recorder::stretchBatch(Operand rows, Operand locations, size_t n, double degreesOfFreedom, NormalCounter counter) {
  onCpu().stretchBatch(std::move(rows), std::move(locations), n, degreesOfFreedom, counter);
}

void Recorder::logDensityBatch(Operand factors, Operand means, Operand rows, Operand out, size_t n, Operand constants) {
  onCpu().logDensityBatch(std::move(factors), std::move(means), std::move(rows), std::move(out), n,
                          std::move(constants));
}

void Recorder::transpose(Operand from, Operand to, size_t rows, size_t columns) {
  onCpu().transpose(std::move(from), std::move(to), rows, columns);
}

void Recorder::symmetricEigen(Operand a, Operand values, size_t n, bool vectors) {
  onCpu().symmetricEigen(std::move(a), std::move(values), n, vectors);
}

void Recorder::echelon(Operand rows, Operand pivots, size_t n, double tolerance) {
  onCpu().echelon(std::move(rows), std::move(pivots), n, tolerance);
}

void Recorder::lq(Operand a, Operand q, size_t m, size_t n) { onCpu().lq(std::move(a), std::move(q), m, n); }

void Recorder::svd(Operand a, Operand u, Operand values, Operand v, size_t m, size_t n, bool graded) {
  onCpu().svd(std::move(a), std::move(u), std::move(values), std::move(v), m, n, graded);
}

void Recorder::pivotedCholesky(Operand a, Operand order, size_t n, double tolerance) {
  onCpu().pivotedCholesky(std::move(a), std::move(order), n, tolerance);
}

void Recorder::lu(Operand a, Operand pivots, size_t n) { onCpu().lu(std::move(a), std::move(pivots), n); }

void Recorder::luSolve(Operand lu, Operand pivots, Operand rows, size_t n) {
  onCpu().luSolve(std::move(lu), std::move(pivots), std::move(rows), n);
}

void Recorder::squaredNorms(Operand rows, Operand out, size_t n) {
  onCpu().squaredNorms(std::move(rows), std::move(out), n);
}

void Recorder::distances(Operand values) { onCpu().distances(std::move(values)); }

// Only looks at results, so it does not count as work of the CPU (Timings).
void Recorder::findBeyond(Operand values, double least, double most, Operand found) {
  const bool before = commit_->onCpu;
  onCpu().findBeyond(std::move(values), least, most, std::move(found));
  commit_->onCpu = before;
}

void Recorder::normalQuantiles(Operand values) { onCpu().normalQuantiles(std::move(values)); }

void Recorder::sample(Operand factor, Operand mean, Operand out, bool inverse, NormalCounter counter) {
  onCpu().sample(std::move(factor), std::move(mean), std::move(out), inverse, counter);
}

void Recorder::stretchRows(Operand rows, Operand location, size_t n, double degreesOfFreedom, NormalCounter counter) {
  onCpu().stretchRows(std::move(rows), std::move(location), n, degreesOfFreedom, counter);
}

void Recorder::logDensity(Operand factor, Operand mean, Operand rows, Operand out, bool inverse, double constant) {
  onCpu().logDensity(std::move(factor), std::move(mean), std::move(rows), std::move(out), inverse, constant);
}

void Recorder::meanAndCovariance(Operand rows, Operand mean, Operand covariance, double ddof) {
  onCpu().meanAndCovariance(std::move(rows), std::move(mean), std::move(covariance), ddof);
}

void Recorder::addMoments(Operand rows, Operand weights, Operand centre, Operand sums, Operand products) {
  onCpu().addMoments(std::move(rows), std::move(weights), std::move(centre), std::move(sums), std::move(products));
}

void Recorder::addPowers(Operand rows, Operand weights, Operand centre, Operand sums) {
  onCpu().addPowers(std::move(rows), std::move(weights), std::move(centre), std::move(sums));
}

void Recorder::countBetween(Operand rows, Operand limits, Operand kept, Operand counts, size_t n) {
  onCpu().countBetween(std::move(rows), std::move(limits), std::move(kept), std::move(counts), n);
}

void Recorder::selectRanks(Operand kept, Operand lengths, Operand ranks, Operand out) {
  onCpu().selectRanks(std::move(kept), std::move(lengths), std::move(ranks), std::move(out));
}

void Recorder::launch(const std::string& kernel, std::vector<Operand> operands, Size3 grid, Size3 threadgroup) {
  onCpu().launch(kernel, std::move(operands), grid, threadgroup);
}

void Recorder::launch(const std::shared_ptr<const Kernel>& kernel, std::vector<KernelOperand> operands, Size3 grid,
                      Size3 threadgroup) {
  onCpu().launch(kernel, std::move(operands), grid, threadgroup);
}

double Recorder::endRecording() {
  hostPart_ = nullptr;
  isGpuLast_ = false;
  if (commit_->parts.empty()) return 0;
  return std::chrono::duration<double, std::milli>(Clock::now() - begun_).count();
}

void Recorder::commit(Completion done) {
  const double encodeMs = endRecording();
  queue_.submit(commit_, encodeMs, std::move(done));
}

Timings Recorder::commitAndWait() {
  const double encodeMs = endRecording();
  const auto commit = std::exchange(commit_, std::make_shared<Commit>());
  return queue_.runHere(commit, encodeMs);
}

}  // namespace covarium::gpu
