#pragma once

#import <Foundation/Foundation.h>

#include <string>

namespace covarium::metal {

// The NSString is autoreleased.
inline NSString* textOf(const std::string& text) { return [NSString stringWithUTF8String:text.c_str()]; }
inline std::string textOf(NSString* text) { return text == nil ? "" : [text UTF8String]; }
inline std::string reasonOf(NSError* error) {
  return error == nil ? "no reason is given" : textOf([error localizedDescription]);
}

}  // namespace covarium::metal
