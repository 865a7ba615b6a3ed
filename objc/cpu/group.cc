#include "group.h"

#include <algorithm>
#include <cstring>

namespace covarium::cpu {

namespace {
thread_local Group* runningGroup = nullptr;

// Below 0 if a lane at `a` has less behind it than one at `b`. The outermost frame that differs decides, or the line
// if all frames are the same. 0 at the same place.
int order(const CodePlace& a, const CodePlace& b) {
  const KernelFrame *p = a.path, *q = b.path;
  int found = (p == nullptr ? 0 : static_cast<int>(p->depth) + 1) - (q == nullptr ? 0 : static_cast<int>(q->depth) + 1);
  if (a.line != b.line) found = a.line < b.line ? -1 : 1;
  while (p != nullptr && (q == nullptr || p->depth > q->depth)) p = p->outer;
  while (q != nullptr && (p == nullptr || q->depth > p->depth)) q = q->outer;
  for (; p != nullptr; p = p->outer, q = q->outer) {
    if (p->place != q->place)
      found = p->place < q->place ? -1 : 1;
    else if (p->pass != q->pass)
      found = p->pass < q->pass ? -1 : 1;
  }
  return found;
}
}  // namespace

Group& Group::ofThisThread() {
  thread_local Group own;
  return own;
}

Group* Group::running() { return runningGroup; }

void Group::resize(unsigned lanes, unsigned simdWidth) {
  lanes_ = lanes;
  simdWidth_ = simdWidth;
  while (fibers_.size() < lanes) fibers_.push_back(std::make_unique<Fiber>());
  states_.assign(lanes, State::ready);
  places_.assign(lanes, {});
  paths_.assign(lanes, nullptr);
  offered_.assign(lanes, 0);
  given_.assign(lanes, 0);
  activeMasks_.assign(lanes / simdWidth + 1, 0);
  exchanges_.assign(lanes / simdWidth + 1, 0);
  barriers_ = 0;
}

void Group::wait(State state, CodePlace place) {
  states_[current_] = state;
  places_[current_] = place;
  fibers_[current_]->leave();
}

void Group::barrier(CodePlace place) { wait(State::atBarrier, place); }

void Group::leave() { wait(State::done, {}); }

// What was given stays until the simdgroup exchanges again, which it does when no lane runs: all have read it then.
SimdLanes Group::exchange(uint64_t bits, CodePlace place) {
  const unsigned lane = current_, width = simdWidth_, first = lane / width * width;
  offered_[lane] = bits;
  place.path = paths_[lane];
  wait(State::atSimdExchange, place);
  return {&given_[first], activeMasks_[first / width], std::min(width, lanes_ - first)};
}

// Whether lanes [first, last) all wait at `state` or are done, and some wait.
bool Group::gathered(unsigned first, unsigned last, State state) const {
  bool any = false;
  for (unsigned lane = first; lane < last; ++lane) {
    if (states_[lane] != state && states_[lane] != State::done) return false;
    any |= states_[lane] == state;
  }
  return any;
}

// Finds the first place where lanes of [first, last) wait for their simdgroup. False if none waits.
bool Group::firstPlace(unsigned first, unsigned last, CodePlace& place) const {
  bool any = false;
  for (unsigned lane = first; lane < last; ++lane) {
    if (states_[lane] != State::atSimdExchange || (any && order(places_[lane], place) >= 0)) continue;
    place = places_[lane];
    any = true;
  }
  return any;
}

// Gives each lane of [first, last) that waits at a place what all of them offered there.
void Group::exchangeAt(unsigned first, unsigned last, CodePlace place) {
  uint64_t active = 0;
  for (unsigned lane = first; lane < last; ++lane) {
    if (states_[lane] != State::atSimdExchange || order(places_[lane], place) != 0) continue;
    active |= uint64_t{1} << (lane - first);
    given_[lane] = offered_[lane];
    states_[lane] = State::ready;
  }
  activeMasks_[first / simdWidth_] = active;
  ++exchanges_[first / simdWidth_];
}

// Releases simdgroups whose living lanes all wait for their simdgroup.
bool Group::releaseSimdgroups() {
  bool released = false;
  for (unsigned first = 0; first < lanes_; first += simdWidth_) {
    const unsigned last = std::min(first + simdWidth_, lanes_);
    CodePlace place;
    if (!gathered(first, last, State::atSimdExchange) || !firstPlace(first, last, place)) continue;
    exchangeAt(first, last, place);
    released = true;
  }
  return released;
}

// Releases in each simdgroup the lanes that wait at one place while others wait elsewhere.
bool Group::releaseDivergent() {
  bool released = false;
  for (unsigned first = 0; first < lanes_; first += simdWidth_) {
    const unsigned last = std::min(first + simdWidth_, lanes_);
    CodePlace place;
    if (!firstPlace(first, last, place)) continue;
    exchangeAt(first, last, place);
    released = true;
  }
  return released;
}

bool Group::releaseBarrier() {
  if (!gathered(0, lanes_, State::atBarrier)) return false;
  if (strict_) {
    for (unsigned lane = 0; lane < lanes_; ++lane)
      if (states_[lane] == State::done || places_[lane].line != places_[0].line) return false;
  }
  for (auto& state : states_)
    if (state == State::atBarrier) state = State::ready;
  ++barriers_;
  return true;
}

void Group::runReady() {
  for (current_ = 0; current_ < lanes_; ++current_) {
    if (states_[current_] != State::ready) continue;
    fibers_[current_]->resume();
    // A lane that left has that state already, and is not resumed again.
    if (fibers_[current_]->finished()) states_[current_] = State::done;
  }
}

bool Group::run(unsigned lanes, unsigned simdWidth, const Body& body, bool strict,
                const std::function<bool()>& isCancelled) {
  resize(lanes, simdWidth);
  strict_ = strict;
  for (unsigned lane = 0; lane < lanes; ++lane) fibers_[lane]->start([&body, lane] { body(lane); });
  runningGroup = this;
  while (true) {
    runReady();
    if (isCancelled && isCancelled()) break;
    const bool simd = releaseSimdgroups(), barrier = releaseBarrier();
    if (!simd && !barrier && !releaseDivergent()) break;
  }
  runningGroup = nullptr;
  return std::all_of(states_.begin(), states_.end(), [](State state) { return state == State::done; });
}

Divergence Group::divergence() const {
  const auto waiting =
      static_cast<unsigned>(std::find(states_.begin(), states_.end(), State::atBarrier) - states_.begin());
  Divergence found = {waiting % lanes_, 0, places_[waiting % lanes_], false, {}};
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    const bool together = states_[lane] == State::atBarrier && places_[lane].line == found.barrier.line;
    if (together) continue;
    found.other = lane;
    found.returned = states_[lane] == State::done;
    found.otherPlace = places_[lane];
    break;
  }
  return found;
}

}  // namespace covarium::cpu

namespace covarium {

void threadgroup_barrier() {
  if (auto* group = cpu::Group::running()) group->barrier({});
}

unsigned simd_lane() {
  const auto* group = cpu::Group::running();
  return group == nullptr ? 0 : group->laneInSimdgroup();
}

SimdLanes simd_exchange_bits(uint64_t bits) {
  if (auto* group = cpu::Group::running()) return group->exchange(bits, {});
  thread_local uint64_t own;
  own = bits;
  return {&own, 1, 1};
}

}  // namespace covarium
