// Off Apple's systems clang takes every @available for true. In objc/metal, for which alone this is included, it asks
// for the setting `system`. The selector is there because an @ stands in front; the compiler of a Mac refuses
// @available anywhere but in the condition of an if.
#pragma once

// Whether the pretended system, such as macOS 15, is that of `version` ("macOS 15.0") or a newer one.
extern "C" bool softmetal_hasSystem(const char* version);
#define available(version, ...) selector(self) && softmetal_hasSystem(#version)
