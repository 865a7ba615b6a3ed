// The part of Apple's Metal that objc/metal uses, with Apple's names, types and numbers, for a system without Metal.
// Apple's documentation says what each call does there; test/metal/softmetal/*.mm what it does here.
#pragma once

#import <Metal/MTLCaptureManager.h>
#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLComputePipeline.h>
#import <Metal/MTLDevice.h>
#import <Metal/MTLLibrary.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLSampler.h>
#import <Metal/MTLTexture.h>
#import <Metal/MTLTypes.h>
