// build.mjs compiles this once for each set of flags, because most of a file's compile time goes into system headers.
// The addon's sources must not rely on it: node-gyp compiles them without it.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef NAPI_VERSION
#include <napi.h>
#endif
#ifdef __OBJC__
#import <Foundation/Foundation.h>
#endif
