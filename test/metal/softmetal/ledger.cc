#include "ledger.h"

#include <algorithm>
#include <mutex>

namespace softmetal {

namespace {

struct Book {
  std::mutex mutex;
  std::map<std::string, int64_t> living, counters;
};

// Never destroyed: objects may be released while the process ends.
Book& book() {
  static Book* one = new Book;
  return *one;
}

}  // namespace

void born(const char* className) {
  std::lock_guard<std::mutex> lock(book().mutex);
  const int64_t living = ++book().living[className];
  int64_t& most = book().counters[std::string("most living ") + className];
  most = std::max(most, living);
}

void died(const char* className) {
  std::lock_guard<std::mutex> lock(book().mutex);
  auto& living = book().living;
  const auto entry = living.find(className);
  if (--entry->second == 0) living.erase(entry);
}

std::map<std::string, int64_t> living() {
  std::lock_guard<std::mutex> lock(book().mutex);
  return book().living;
}

void count(const std::string& name, int64_t by) {
  std::lock_guard<std::mutex> lock(book().mutex);
  book().counters[name] += by;
}

void countLargest(const std::string& name, int64_t value) {
  std::lock_guard<std::mutex> lock(book().mutex);
  int64_t& largest = book().counters[name];
  largest = std::max(largest, value);
}

std::map<std::string, int64_t> counters() {
  std::lock_guard<std::mutex> lock(book().mutex);
  return book().counters;
}

void resetCounters() {
  std::lock_guard<std::mutex> lock(book().mutex);
  book().counters.clear();
}

}  // namespace softmetal
