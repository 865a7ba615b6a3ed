#pragma once

#include <napi.h>

#include <memory>
#include <vector>

#include "../device.h"
#include "environment.h"

namespace covarium::addon {

class DeviceObject;

// Encoder of lib/backend.ts: arguments in, one command recorded. The face has checked shapes; lengths are checked again
// where a wrong one would touch memory that is not the operand's.
class EncoderObject : public Napi::ObjectWrap<EncoderObject> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit EncoderObject(const Napi::CallbackInfo& info);
  ~EncoderObject() override;

 private:
  void fillNormal(const Napi::CallbackInfo& info);
  void requireFinite(const Napi::CallbackInfo& info);
  void requireSymmetric(const Napi::CallbackInfo& info);
  void cholesky(const Napi::CallbackInfo& info);
  void zeroUpper(const Napi::CallbackInfo& info);
  void antitranspose(const Napi::CallbackInfo& info);
  void copy(const Napi::CallbackInfo& info);
  void sum(const Napi::CallbackInfo& info);
  void addRow(const Napi::CallbackInfo& info);
  void scaleColumns(const Napi::CallbackInfo& info);
  void product(const Napi::CallbackInfo& info);
  void triangularProduct(const Napi::CallbackInfo& info);
  void multiplyColumns(const Napi::CallbackInfo& info);
  void triangularSolve(const Napi::CallbackInfo& info);
  void choleskySolve(const Napi::CallbackInfo& info);
  void choleskyBatch(const Napi::CallbackInfo& info);
  void sampleBatch(const Napi::CallbackInfo& info);
  void stretchBatch(const Napi::CallbackInfo& info);
  void logDensityBatch(const Napi::CallbackInfo& info);
  void transpose(const Napi::CallbackInfo& info);
  void symmetricEigen(const Napi::CallbackInfo& info);
  void echelon(const Napi::CallbackInfo& info);
  void lq(const Napi::CallbackInfo& info);
  void svd(const Napi::CallbackInfo& info);
  void pivotedCholesky(const Napi::CallbackInfo& info);
  void lu(const Napi::CallbackInfo& info);
  void luSolve(const Napi::CallbackInfo& info);
  void squaredNorms(const Napi::CallbackInfo& info);
  void distances(const Napi::CallbackInfo& info);
  void findBeyond(const Napi::CallbackInfo& info);
  void normalQuantiles(const Napi::CallbackInfo& info);
  void sample(const Napi::CallbackInfo& info);
  void stretchRows(const Napi::CallbackInfo& info);
  void logDensity(const Napi::CallbackInfo& info);
  void meanAndCovariance(const Napi::CallbackInfo& info);
  void addMoments(const Napi::CallbackInfo& info);
  void addPowers(const Napi::CallbackInfo& info);
  void countBetween(const Napi::CallbackInfo& info);
  void selectRanks(const Napi::CallbackInfo& info);
  void launch(const Napi::CallbackInfo& info);
  void launchKernel(const Napi::CallbackInfo& info);
  Napi::Value isBrief(const Napi::CallbackInfo& info);
  Napi::Value commit(const Napi::CallbackInfo& info);
  Napi::Value commitSync(const Napi::CallbackInfo& info);
  void reset(const Napi::CallbackInfo& info);
  void cancel(const Napi::CallbackInfo&) { commands_->cancel(); }

  struct FactorAndRows {
    Operand factor, rows;
    size_t n;
  };
  // Arguments 0 to 2 of a verb that applies a factor to rows.
  FactorAndRows factorAndRowsAt(const Napi::CallbackInfo& info);
  Operand operandAt(const Napi::CallbackInfo& info, size_t index);
  Operand operandOf(Napi::Env env, napi_value value);
  CommandBuffer& commands();    // throws ERR_CLOSED after a commit
  CommandBuffer& iterations();  // the same, for decompositions that iterate, which take long
  void dropReferences(Napi::Env env);
  // Throws ERR_CLOSED where the host's memory has been transferred away between record and commit. From then on the
  // face keeps it in place (worker_threads.markAsUntransferable).
  void requireBorrowed(Napi::Env env);

  Napi::ObjectReference deviceReference_;
  DeviceObject* device_;
  std::shared_ptr<CommandBuffer> commands_;
  std::vector<Borrowed> borrowed_;
  size_t elements_ = 0;  // of all operands since the last commit
  bool iterates_ = false, launches_ = false;
  enum class State { recording, inFlight, ran } state_ = State::recording;
};

}  // namespace covarium::addon
