#include "part.h"

#include "mirror.h"

namespace covarium::cuda {

namespace {

// Without CU_EVENT_BLOCKING_SYNC (1). The driver's default wait keeps a processor busy, but on an H200 it ended after
// 8 us where the blocking wait took 28 us, and after 248 us where that took 310 us (medians of 200 and of 20).
constexpr unsigned timed = 0, untimed = 2;
constexpr size_t slicesInFlight = 4;
constexpr size_t alignment = 16;  // the kernels read this many bytes at once

// The whole buffer if it is kept on the GPU, else the operand.
Operand wholeOf(const Operand& operand) {
  if (keptOf(operand.buffer) == nullptr) return operand;
  return {operand.buffer, 0, operand.buffer->sizeBytes(), Dtype::uint8};
}

// The buffer, if this is a copy of all of it; else null.
Mirror* wholeMirrorOf(const gpu::HostCopy& copy) {
  auto* mirror = dynamic_cast<Mirror*>(copy.host.get());
  const bool isWhole = mirror != nullptr && mirror->contents() == copy.data && mirror->sizeBytes() == copy.sizeBytes;
  return isWhole ? mirror : nullptr;
}

}  // namespace

bool Part::takes(const Operand& operand) const { return copies_.takes(wholeOf(operand)); }

View Part::view(const Operand& operand, Access access) {
  const Operand whole = wholeOf(operand);
  const bool isPart = whole.sizeBytes() != operand.sizeBytes();
  const gpu::HostCopies::Place place =
      copies_.place(whole, isPart && access == Access::write ? Access::readAndWrite : access);
  if (place.isNew) uses_.push_back({commands_.size(), 0});
  uses_[place.copy].last = commands_.size();
  return {place.copy, place.offsetBytes + static_cast<size_t>(operand.address() - whole.address())};
}

bool Part::holds(const Operand& operand) const { return copies_.holds(wholeOf(operand)); }

void Part::add(std::function<void(Run&)> command) {
  draws = nullptr;
  commands_.push_back(std::move(command));
}

double Part::run() {
  gpu_->requireAlive();
  return Run(*this).all();
}

Run::Run(Part& part) : part_(part), gpu_(*part.gpu_), driver_(gpu_.driver()), current_(gpu_) {}

Run::~Run() {
  if (!isOver_) {
    driver_.streamSynchronize(gpu_.compute());
    driver_.streamSynchronize(gpu_.download());
  }
  for (const Event event : events_) driver_.eventDestroy(event);
}

double Run::all() {
  const Event begun = newEvent(timed), ended = newEvent(timed);
  record(begun, gpu_.compute());
  fetch();
  for (command_ = 0; command_ < part_.commands_.size(); ++command_) part_.commands_[command_](*this);
  const auto& copies = part_.copies_.all();
  for (size_t i = 0; i < copies.size(); ++i)
    if (copies[i].written && !staysOnGpu({i, 0}) && delivered_[i] < copies[i].sizeBytes)
      deliver(i, delivered_[i], copies[i].sizeBytes - delivered_[i], copied_[i]->address() + delivered_[i]);
  // The end: the last command has run and everything has been copied to the host. A stream that waits for the other
  // takes the GPU some microseconds.
  if (isDownloading_) {
    const Event made = newEvent(untimed);
    record(made, gpu_.compute());
    wait(gpu_.download(), made);
  }
  record(ended, isDownloading_ ? gpu_.download() : gpu_.compute());
  gpu_.require(driver_.eventSynchronize(ended), "A commit on the GPU");
  isOver_ = true;
  float milliseconds = 0;
  gpu_.require(driver_.eventElapsedTime(&milliseconds, begun, ended), "Asking for a time");
  for (const Check& each : checks_) each.check(*each.word);
  return milliseconds;
}

bool Run::staysOnGpu(View view) const { return keptOf(part_.copies_.all()[view.copy].host) != nullptr; }

bool Run::isShared(const gpu::HostCopy& copy) const {
  const auto* mirror = dynamic_cast<const Mirror*>(copy.host.get());
  return gpu_.isIntegrated() && mirror != nullptr && mirror->isPinned() && !mirror->isKept() &&
         reinterpret_cast<uintptr_t>(copy.data) % alignment == 0;
}

bool Run::isPassing(View view) const {
  const Part::Uses& uses = part_.uses_[view.copy];
  return !staysOnGpu(view) && !isShared(part_.copies_.all()[view.copy]) && !part_.copies_.all()[view.copy].read &&
         uses.first == uses.last;
}

// The GPU's own memory of settled bytes, or of a whole buffer that is kept there, which outlives this part; else null.
std::shared_ptr<Block> Run::lasting(const gpu::HostCopy& copy) {
  auto* mirror = dynamic_cast<Mirror*>(copy.host.get());
  if (mirror == nullptr) return nullptr;
  const bool isKept = mirror->isKept() && wholeMirrorOf(copy) != nullptr;
  char* contents = static_cast<char*>(mirror->contents());
  const auto offset = static_cast<size_t>(copy.data - contents);
  Mirror::Settled* settled =
      copy.written || offset % alignment != 0 ? nullptr : mirror->settledAround(copy.data, copy.sizeBytes);
  if (!isKept && settled == nullptr) return nullptr;
  if (mirror->copy == nullptr) {
    mirror->takeCopy(gpu_.allocate(mirror->sizeBytes()));
    if (!isKept) mirror->copy->becomesCopy();
    if (isKept && copy.read) upload(mirror->copy->address(), copy.data, copy.sizeBytes);
  }
  if (isKept) return mirror->copy;
  if (!mirror->isWhole && !settled->isThere) {
    upload(mirror->copy->address() + settled->offsetBytes, contents + settled->offsetBytes, settled->sizeBytes);
    settled->isThere = true;
  }
  return std::make_shared<Block>(mirror->copy, offset);
}

// The copy may become out of date: within the commit if the CPU has later commands, and after it unless the caller
// settles the buffer.
void Run::keep(View view) {
  const gpu::HostCopy& copy = part_.copies_.all()[view.copy];
  Mirror* mirror = wholeMirrorOf(copy);
  if (mirror == nullptr || isShared(copy) || part_.commit_.parts.back().get() != &part_) return;
  forgetUnsettled();
  mirror->copy = copied_[view.copy];
  mirror->copy->becomesCopy();
  mirror->isWhole = true;
  gpu_.unsettled = copy.host;
}

void Run::forgetUnsettled() {
  const auto last = std::dynamic_pointer_cast<Mirror>(gpu_.unsettled.lock());
  if (last != nullptr && !last->isKept() && !last->isSettled()) last->copy = nullptr;
  gpu_.unsettled.reset();
}

void Run::fetch() {
  forgetUnsettled();
  const auto& copies = part_.copies_.all();
  delivered_.resize(copies.size());
  copied_.resize(copies.size());
  for (size_t i = 0; i < copies.size(); ++i) {
    if (isPassing({i, 0})) continue;
    if (isShared(copies[i])) {
      copied_[i] = std::make_shared<Block>(copies[i].data);
      continue;
    }
    copied_[i] = lasting(copies[i]);
    if (copied_[i] != nullptr) continue;
    copied_[i] = gpu_.allocate(copies[i].sizeBytes);
    if (copies[i].read) upload(copied_[i]->address(), copies[i].data, copies[i].sizeBytes);
  }
}

void Run::deliver(size_t copy, size_t firstByte, size_t bytes, DevicePointer from) {
  delivered_[copy] = firstByte + bytes;
  if (isShared(part_.copies_.all()[copy])) return;
  isDownloading_ = true;
  const Event made = newEvent(untimed);
  record(made, gpu_.compute());
  wait(gpu_.download(), made);
  gpu_.require(driver_.copyToHost(part_.copies_.all()[copy].data + firstByte, from, bytes, gpu_.download()),
               "Copying from the GPU");
}

DevicePointer Run::slice(View view, size_t first, size_t count) {
  if (!isPassing(view)) return address(view, first);
  Slice& slice = passing_[turn_];
  const size_t sizeBytes = count * sizeof(float);
  if (slice.sizeBytes < sizeBytes) {
    if (slice.block != nullptr) scratch_.push_back(std::move(slice.block));  // the GPU may still work on it
    slice = {gpu_.allocate(sizeBytes), sizeBytes, nullptr};
  }
  if (slice.delivered != nullptr) wait(gpu_.compute(), slice.delivered);
  return slice.block->address();
}

void Run::made(View view, size_t first, size_t count) {
  const size_t begin = view.offsetBytes + first * sizeof(float), bytes = count * sizeof(float);
  if (isPassing(view)) {
    Slice& slice = passing_[turn_];
    turn_ = (turn_ + 1) % (sizeof passing_ / sizeof *passing_);
    deliver(view.copy, begin, bytes, slice.block->address());
    slice.delivered = newEvent(untimed);
    record(slice.delivered, gpu_.download());
  } else if (!staysOnGpu(view) && part_.uses_[view.copy].last == command_ && delivered_[view.copy] == begin) {
    deliver(view.copy, begin, bytes, address(view, first));
  }
  waitForEarlier();
}

void Run::waitForEarlier() {
  slices_.push_back(newEvent(untimed));
  record(slices_.back(), gpu_.compute());
  if (slices_.size() > slicesInFlight)
    gpu_.require(driver_.eventSynchronize(slices_[slices_.size() - 1 - slicesInFlight]), "A commit on the GPU");
  part_.commit_.stopIfCancelled();
}

void Run::afterwards(DevicePointer word, std::function<void(uint32_t)> check) {
  checks_.push_back({std::make_unique<uint32_t>(), std::move(check)});
  gpu_.require(driver_.copyToHost(checks_.back().word.get(), word, sizeof(uint32_t), gpu_.compute()),
               "Copying from the GPU");
}

const Cublas* Run::cublas() {
  const Cublas* found = gpu_.cublas();
  if (found != nullptr) name(found->name());
  return found;
}

const Cusolver* Run::cusolver() {
  const Cusolver* found = gpu_.cusolver();
  if (found != nullptr) name(found->name());
  return found;
}

void Run::name(const std::string& library) {
  std::string& all = part_.commit_.library;
  if (all.find(library) == std::string::npos) all += (all.empty() ? "" : ", ") + library;
}

void Run::requireStarted(bool isStarted, const char* what) const {
  if (isStarted) return;
  throw Failure("ERR_DEVICE_FAILED",
                std::string(what) + " by " + part_.commit_.library + " does not start on the GPU.");
}

DevicePointer Run::scratch(size_t elements) {
  scratch_.push_back(gpu_.allocate(elements * sizeof(float)));
  return scratch_.back()->address();
}

void Run::launchGroups(const std::string& kernel, std::initializer_list<DevicePointer> buffers, void* params,
                       size_t groups, size_t lanes, size_t memoryBytes) {
  std::vector<DevicePointer> addresses(buffers);
  std::vector<void*> arguments;
  for (DevicePointer& address : addresses) arguments.push_back(&address);
  arguments.push_back(params);
  launch(gpu_.kernel(kernel), arguments.data(), {static_cast<unsigned>(groups), 1, 1}, lanes, memoryBytes);
}

void Run::launch(Function function, void** arguments, Size3 groups, size_t lanes, size_t memoryBytes) {
  constexpr size_t withoutAsking = 49152;
  constexpr int mostGroupMemory = 8;
  if (memoryBytes > withoutAsking)
    gpu_.require(driver_.functionSetAttribute(function, mostGroupMemory, static_cast<int>(memoryBytes)),
                 "Giving a kernel's groups more memory");
  gpu_.require(driver_.launchKernel(function, groups[0], groups[1], groups[2], static_cast<unsigned>(lanes), 1, 1,
                                    static_cast<unsigned>(memoryBytes), gpu_.compute(), arguments, nullptr),
               "Starting a kernel");
}

void Run::copy(DevicePointer to, DevicePointer from, size_t sizeBytes) {
  gpu_.require(driver_.copyOnDevice(to, from, sizeBytes, gpu_.compute()), "Copying on the GPU");
}

void Run::upload(DevicePointer to, std::vector<char> bytes) {
  uploads_.push_back(std::move(bytes));
  upload(to, uploads_.back().data(), uploads_.back().size());
}

void Run::upload(DevicePointer to, const void* from, size_t sizeBytes) {
  gpu_.require(driver_.copyToDevice(to, from, sizeBytes, gpu_.compute()), "Copying to the GPU");
}

void Run::record(Event event, Stream stream) { gpu_.require(driver_.eventRecord(event, stream), "Recording an event"); }

void Run::wait(Stream stream, Event event) {
  gpu_.require(driver_.streamWaitEvent(stream, event, 0), "Waiting for an event");
}

Event Run::newEvent(unsigned flags) {
  Event event;
  gpu_.require(driver_.eventCreate(&event, flags), "Making an event");
  events_.push_back(event);
  return event;
}

}  // namespace covarium::cuda
