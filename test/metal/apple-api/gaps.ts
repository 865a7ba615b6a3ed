// What the metadata of @nativescript/macos-node-api lack, from Apple's documentation
// (developer.apple.com/documentation/metal, .../metalperformanceshaders, .../foundation, .../objectivec). Each is
// here because a source or test/metal/softmetal uses it.

/** The prefix of an enumeration's constants where it is not the enumeration's name. */
export const constantPrefixes: ReadonlyMap<string, string> = new Map([
  ['MTLBindingAccess', 'MTL'],
  ['MTLResourceOptions', 'MTLResource'],
]);

/** Underlying types other than NSUInteger: the metadata know only 64 bits. */
export const underlyingTypes: ReadonlyMap<string, string> = new Map([
  ['MTLBindingType', 'NSInteger'],
  ['MTLCaptureDestination', 'NSInteger'],
  ['MTLCaptureError', 'NSInteger'],
  ['MTLGPUFamily', 'NSInteger'],
  ['MTLLibraryOptimizationLevel', 'NSInteger'],
  ['MTLLibraryType', 'NSInteger'],
  ['MTLMathFloatingPointFunctions', 'NSInteger'],
  ['MTLMathMode', 'NSInteger'],
  ['MPSDataType', 'uint32_t'],
  ['MPSMatrixDecompositionStatus', 'int'],
]);

/** Enumerations of flags (NS_OPTIONS), which are integers in C++. */
export const flags: readonly string[] = [
  'MTLBarrierScope',
  'MTLCommandBufferErrorOption',
  'MTLPipelineOption',
  'MTLResourceOptions',
  'MTLResourceUsage',
  'MPSKernelOptions',
  'NSStringCompareOptions',
];

/**
 * Members that the metadata omit: of two selectors with one name in JavaScript they keep only one, and they have no
 * functions with a variable number of arguments.
 */
export const members: ReadonlyMap<string, readonly string[]> = new Map([
  ['MTLComputeCommandEncoder', ['- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index;']],
  ['NSArray', ['+ (instancetype)arrayWithObjects:(id)first, ...;']],
  ['NSString', ['+ (instancetype)stringWithFormat:(NSString *)format, ...;']],
  [
    'NSObjectProtocol',
    [
      '- (instancetype)retain;',
      '- (oneway void)release;',
      '- (instancetype)autorelease;',
      '- (NSUInteger)retainCount;',
    ],
  ],
]);

/** Names of types, which metadata do not have; after the frameworks' structs and forward declarations. */
export const types: Readonly<Record<string, readonly string[]>> = {
  Foundation: ['typedef NSString *NSErrorDomain;', 'typedef double CFTimeInterval;', 'typedef double NSTimeInterval;'],
  Metal: [
    'typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer>);',
    'typedef __autoreleasing MTLComputePipelineReflection *MTLAutoreleasedComputePipelineReflection;',
  ],
  MetalPerformanceShaders: [],
};

/** Inline functions. */
export const functions: Readonly<Record<string, readonly string[]>> = {
  Foundation: [
    'static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) { return {location, length}; }',
  ],
  Metal: [
    'static inline MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z) { return {x, y, z}; }',
    'static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) { return {width, height, depth}; }',
  ],
  MetalPerformanceShaders: [],
};

/** dispatch/dispatch.h, of a library that the metadata leave out. */
export const dispatch: readonly string[] = [
  '#import <Foundation/Foundation.h>',
  'typedef NSObject *dispatch_data_t;',
  'typedef NSObject *dispatch_queue_t;',
  'typedef void (^dispatch_block_t)(void);',
  '#define DISPATCH_DATA_DESTRUCTOR_DEFAULT nil',
  'extern "C" dispatch_data_t dispatch_data_create(const void *, size_t, dispatch_queue_t, dispatch_block_t);',
  'extern "C" void dispatch_release(NSObject *);',
];

/** Classes with the types of their elements. */
export const generics: Readonly<Record<string, string>> = {
  NSArray: '<__covariant Element>',
  NSMutableArray: '<Element>',
  NSDictionary: '<__covariant Key, __covariant Value>',
  NSMutableDictionary: '<Key, Value>',
  NSEnumerator: '<Element>',
  NSSet: '<__covariant Element>',
};
