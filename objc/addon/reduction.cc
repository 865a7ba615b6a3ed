// Commands of an encoder that reduce rows.
#include "arguments.h"
#include "device.h"
#include "encoder.h"
#include "environment.h"

namespace covarium::addon {

void EncoderObject::squaredNorms(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand rows = operandAt(info, 0), out = operandAt(info, 1);
    const size_t n = sizeAt(info, 2);
    requireSameType({&rows, &out});
    requireLength(rows, out.length, n);
    commands().squaredNorms(rows, out, n);
  });
}

void EncoderObject::distances(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] { commands().distances(operandAt(info, 0)); });
}

void EncoderObject::findBeyond(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand values = operandAt(info, 0), found = operandAt(info, 3);
    if (found.dtype != Dtype::uint32) throw Failure("ERR_UNSUPPORTED_DTYPE", "What is found is not of uint32.");
    requireLength(found, 1);
    commands().findBeyond(values, numberAt(info, 1), numberAt(info, 2), found);
  });
}

void EncoderObject::meanAndCovariance(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand rows = operandAt(info, 0), mean = operandAt(info, 1), covariance = operandAt(info, 2);
    requireSameType({&rows, &mean, &covariance});
    requireRows(rows, mean.length);
    requireSquare(covariance, mean.length);
    if (rows.length == 0) throw Failure("ERR_SHAPE", "Moments of (0) rows do not exist.");
    commands().meanAndCovariance(rows, mean, covariance, numberAt(info, 3));
  });
}

void EncoderObject::addMoments(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand rows = operandAt(info, 0), weights = operandAt(info, 1), centre = operandAt(info, 2),
                  sums = operandAt(info, 3), products = operandAt(info, 4);
    requireSameType({&weights, &centre, &sums, &products});
    if (sums.dtype != Dtype::float64) throw Failure("ERR_UNSUPPORTED_DTYPE", "Sums are not of float64.");
    requireRows(rows, centre.length);
    requireLength(sums, centre.length);
    if (weights.length != 0) requireLength(weights, rows.length / centre.length);
    if (products.length != 0) requireSquare(products, centre.length);
    commands().addMoments(rows, weights, centre, sums, products);
  });
}

void EncoderObject::addPowers(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand rows = operandAt(info, 0), weights = operandAt(info, 1), centre = operandAt(info, 2),
                  sums = operandAt(info, 3);
    requireSameType({&weights, &centre, &sums});
    if (sums.dtype != Dtype::float64) throw Failure("ERR_UNSUPPORTED_DTYPE", "Sums are not of float64.");
    requireRows(rows, centre.length);
    requireLength(sums, centre.length + 1);
    if (weights.length != 0) requireLength(weights, rows.length / centre.length);
    commands().addPowers(rows, weights, centre, sums);
  });
}

void EncoderObject::countBetween(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand rows = operandAt(info, 0), limits = operandAt(info, 1), kept = operandAt(info, 2),
                  counts = operandAt(info, 3);
    const size_t n = sizeAt(info, 4);
    requireSameType({&rows, &limits, &kept});
    if (counts.dtype != Dtype::uint32) throw Failure("ERR_UNSUPPORTED_DTYPE", "Counts are not of uint32.");
    requireRows(rows, n);
    requireRows(limits, 2 * n);
    requireLength(counts, limits.length);
    if (rows.length / n > 0x7fffffffu) throw Failure("ERR_TOO_LARGE", "Rows are 2^31 or more.");
    if (limits.length == 0) return requireLength(kept, 0);
    requireRows(kept, limits.length / 2);
    commands().countBetween(rows, limits, kept, counts, n);
  });
}

void EncoderObject::selectRanks(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand kept = operandAt(info, 0), lengths = operandAt(info, 1), ranks = operandAt(info, 2),
                  out = operandAt(info, 3);
    requireSameType({&kept, &out});
    requireSameType({&lengths, &ranks});
    if (ranks.dtype != Dtype::uint32) throw Failure("ERR_UNSUPPORTED_DTYPE", "Ranks are not of uint32.");
    requireLength(lengths, out.length);
    requireLength(ranks, out.length);
    if (out.length == 0) return requireLength(kept, 0);
    requireRows(kept, out.length);
    commands().selectRanks(kept, lengths, ranks, out);
  });
}

}  // namespace covarium::addon
