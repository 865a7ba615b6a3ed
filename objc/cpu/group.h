#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fiber.h"
#include "kernel-abi.h"
#include "threadgroup.h"

namespace covarium::cpu {

// The place in the kernel's text where a thread waits; null if unknown.
struct CodePlace {
  const char* file = nullptr;
  uint32_t line = 0;                  // and its column, as KernelHost has them
  const KernelFrame* path = nullptr;  // the calls that led there, and the loops around it
};

// Why a threadgroup can't go on: `waiting` waits at a barrier that `other` does not reach.
struct Divergence {
  unsigned waiting, other;
  CodePlace barrier;
  bool returned;  // whether `other` has; otherwise it waits elsewhere
  CodePlace otherPlace;
};

// One threadgroup while it runs on one processor thread. Lanes are resumed in order, each until it waits or returns;
// those that wait go on when all living lanes of their simdgroup, or of the group, have come to the same place. Where
// no lane can go on, the lanes of a simdgroup that wait at the first place exchange among themselves, as in a divergent
// branch, so that they come to where the others wait: behind the branch, or in a later pass of a loop.
class Group {
 public:
  // The group of this processor thread; its stacks are made once.
  static Group& ofThisThread();
  // The group that runs on this processor thread; null inside a group of one.
  static Group* running();

  // Calls body(lane) for each lane; false if they do not all end. If `strict`, a lane that has returned keeps the
  // others waiting at a barrier, and all must wait at the same one.
  using Body = std::function<void(unsigned lane)>;
  bool run(unsigned lanes, unsigned simdWidth, const Body& body, bool strict = false,
           const std::function<bool()>& isCancelled = {});
  // Call it only after run() has returned false.
  Divergence divergence() const;

  unsigned lane() const { return current_; }
  unsigned simdgroup() const { return current_ / simdWidth_; }
  // How many barriers the group has passed, and how many exchanges the simdgroup of the running lane.
  unsigned barriers() const { return barriers_; }
  unsigned exchanges() const { return exchanges_[simdgroup()]; }
  // The innermost call or loop that the lane is in, for the lane to set.
  const KernelFrame** path() { return &paths_[current_]; }
  unsigned laneInSimdgroup() const { return current_ % simdWidth_; }
  void barrier(CodePlace place);
  // Ends the running lane; does not return.
  void leave();
  SimdLanes exchange(uint64_t bits, CodePlace place);

 private:
  enum class State { ready, atSimdExchange, atBarrier, done };

  void resize(unsigned lanes, unsigned simdWidth);
  void wait(State state, CodePlace place);
  bool gathered(unsigned first, unsigned last, State state) const;
  bool releaseSimdgroups();
  bool releaseDivergent();
  bool firstPlace(unsigned first, unsigned last, CodePlace& place) const;
  void exchangeAt(unsigned first, unsigned last, CodePlace place);
  bool releaseBarrier();
  void runReady();

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<State> states_;
  std::vector<CodePlace> places_;          // where each lane waits
  std::vector<const KernelFrame*> paths_;  // the innermost of each lane
  std::vector<uint64_t> offered_;          // by each lane that waits
  std::vector<uint64_t> given_;            // to each simdgroup by its last exchange
  std::vector<uint64_t> activeMasks_;      // of each simdgroup
  std::vector<unsigned> exchanges_;        // of each simdgroup, how many
  unsigned lanes_ = 0, simdWidth_ = 1, current_ = 0, barriers_ = 0;
  bool strict_ = false;
};

}  // namespace covarium::cpu
