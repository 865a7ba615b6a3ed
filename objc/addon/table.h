// Tables, on threads of libuv's pool where a promise is returned: functions of `Addon` in lib/addon/native.ts.
#pragma once

#include <napi.h>

namespace covarium::addon {

// (bytes: Uint8Array, places: Int32Array, columns, delimiter, comment, drop, values: Float64Array) => Promise<CsvRows>
Napi::Value readCsv(const Napi::CallbackInfo& info);
// (values: Float32Array | Float64Array, columns, bytes: Uint8Array) => Promise<number of bytes>
Napi::Value writeCsv(const Napi::CallbackInfo& info);

// (columns: Real[], rows, out: Real, at) => Promise<boolean>: whether all numbers are finite
Napi::Value interleave(const Napi::CallbackInfo& info);
// (values: Real, columns, out: Real, stride, at) => void: rows as columns, from number `at` of each column on
Napi::Value deinterleave(const Napi::CallbackInfo& info);
// (descriptor, positions, rows, out: Real, at) => Promise<boolean>: columns of a file as rows; whether
// all numbers are finite
Napi::Value readColumns(const Napi::CallbackInfo& info);

// (memory: ArrayBuffer) => void: asks for large pages, where a page fault costs a 512th of that of 4 KiB pages. Does
// nothing where the system has none.
Napi::Value useLargePages(const Napi::CallbackInfo& info);
// (bytes: number) => void: tells V8 of so many bytes more, or fewer, outside of its heap.
Napi::Value adjustExternalMemory(const Napi::CallbackInfo& info);

}  // namespace covarium::addon
