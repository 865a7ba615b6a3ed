// On other systems than Apple's, clang takes every @available as true. In objc/metal, the only place that includes
// this file, it reads the setting `system`. The macro expands to a selector because it follows an @. A Mac's compiler
// refuses @available anywhere but in the condition of an if.
#pragma once

// Whether the pretended system, such as macOS 15, is that of `version` ("macOS 15.0") or a newer one.
extern "C" bool softmetal_hasSystem(const char* version);
#define available(version, ...) selector(self) && softmetal_hasSystem(#version)
