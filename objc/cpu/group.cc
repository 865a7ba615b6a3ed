#include "group.h"

#include <algorithm>
#include <cstring>

namespace covarium::cpu {

namespace {
thread_local Group* runningGroup = nullptr;
}

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
  exchanges_.assign(lanes, 0);
  for (int half = 0; half < 2; ++half) {
    given_[half].assign(lanes, 0);
    activeMasks_[half].assign(lanes / simdWidth + 1, 0);
  }
}

void Group::wait(State state, CodePlace place) {
  states_[current_] = state;
  places_[current_] = place;
  fibers_[current_]->leave();
}

void Group::barrier(CodePlace place) { wait(State::atBarrier, place); }

SimdLanes Group::exchange(uint64_t bits, CodePlace place) {
  const unsigned lane = current_, width = simdWidth_, first = lane / width * width;
  const unsigned half = ++exchanges_[lane] % 2;
  given_[half][lane] = bits;
  wait(State::atSimdExchange, place);
  return {&given_[half][first], activeMasks_[half][first / width], std::min(width, lanes_ - first)};
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

bool Group::releaseSimdgroups() {
  bool released = false;
  for (unsigned first = 0; first < lanes_; first += simdWidth_) {
    const unsigned last = std::min(first + simdWidth_, lanes_);
    if (!gathered(first, last, State::atSimdExchange)) continue;
    uint64_t active = 0;
    unsigned half = 0;
    for (unsigned lane = first; lane < last; ++lane) {
      if (states_[lane] != State::atSimdExchange) continue;
      active |= uint64_t{1} << (lane - first);
      half = exchanges_[lane] % 2;
      states_[lane] = State::ready;
    }
    activeMasks_[half][first / simdWidth_] = active;
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
  return true;
}

void Group::runReady() {
  for (current_ = 0; current_ < lanes_; ++current_) {
    if (states_[current_] != State::ready) continue;
    fibers_[current_]->resume();
    if (fibers_[current_]->finished()) states_[current_] = State::done;
  }
}

bool Group::run(unsigned lanes, unsigned simdWidth, const Body& body, bool strict) {
  resize(lanes, simdWidth);
  strict_ = strict;
  for (unsigned lane = 0; lane < lanes; ++lane) fibers_[lane]->start([&body, lane] { body(lane); });
  runningGroup = this;
  while (true) {
    runReady();
    const bool simd = releaseSimdgroups(), barrier = releaseBarrier();
    if (!simd && !barrier) break;
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
