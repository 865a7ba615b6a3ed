// test/metal/softmetal declares only what Apple's API has, with the same types: every class, protocol, selector,
// property, function, constant (with its number) and struct of its headers is looked up in headers made from Apple's
// metadata.
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reason, syntaxTree } from './apple-api/compile.ts';
import { type Declarations, declarationsOf } from './apple-api/declarations.ts';
import { differences } from './apple-api/differences.ts';
import { planted } from './apple-api/planted.ts';
import { writeStubs } from './apple-api/stub-headers.ts';

const headers = fileURLToPath(new URL('softmetal/include', import.meta.url));
const text = '#import <MetalPerformanceShaders/MetalPerformanceShaders.h>\n';
const why = reason();
const whereItRuns = (sentence: string, check: () => void): void => {
  if (why === undefined) test(sentence, check);
  else test.skip(sentence);
};
if (why !== undefined) console.log(`skipped  the comparison of the stand-in with Apple's API: ${why}`);

let folder = '';
let stubs = '';
let apple: Declarations;
test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'covarium-stand-in-'));
  stubs = join(folder, 'stubs');
  if (why !== undefined) return;
  writeStubs(stubs);
  apple = declarationsOf(syntaxTree(text, [stubs]));
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** Compares a folder's headers of Metal and MPS with Apple's; Foundation is Apple's in both. */
function compared(include: string): ReturnType<typeof differences> {
  return differences(declarationsOf(syntaxTree(text, [include, stubs])), apple);
}

whereItRuns("Everything that the stand-in declares is in Apple's API, with the same types and numbers.", () => {
  assert.ok(existsSync(headers), 'the folder (test/metal/softmetal/include) is there');
  const { lines, checked } = compared(headers);
  console.log(
    `checked: ${Object.entries(checked)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', ')}`,
  );
  assert.equal(lines, []);
  // Without these counts, a reader that finds nothing would pass.
  const least = {
    class: 15,
    protocol: 10,
    ancestor: 30,
    selector: 180,
    property: 90,
    function: 3,
    variable: 3,
    struct: 3,
    enumeration: 18,
    constant: 90,
  };
  for (const [kind, count] of Object.entries(least))
    assert.ok((checked[kind] ?? 0) >= count, `${kind}: (${checked[kind] ?? 0}) of (${count}) or more`);
});

whereItRuns("Apple's own headers do not differ from themselves.", () => {
  const { lines, checked } = differences(apple, apple);
  assert.equal(lines, []);
  const { selector = 0, constant = 0 } = checked;
  assert.ok(selector > 1500 && constant > 800, `(${selector}) selectors, (${constant}) constants`);
});

// [the mistake, the text in the headers, its replacement, what is reported]
const mistakes: readonly (readonly [string, RegExp, string, RegExp])[] = [
  ['A class that Apple lacks', /\bMPSMatrixSum\b/g, 'MPSMatrixAddition', /^class MPSMatrixAddition: Apple has none/],
  [
    'A protocol that Apple lacks',
    /\bMTLBlitCommandEncoder\b/g,
    'MTLCopyCommandEncoder',
    /^protocol <MTLCopyCommandEncoder>: Apple has none/,
  ],
  [
    'Another superclass',
    /MPSMatrixMultiplication\s*:\s*MPSKernel/,
    'MPSMatrixMultiplication : MPSMatrixUnaryKernel',
    /^ancestor MPSMatrixMultiplication MPSMatrixUnaryKernel: Apple has none/,
  ],
  [
    'A selector that Apple lacks',
    /\browBytesForColumns:/,
    'rowBytesOfColumns:',
    /^selector \+\[MPSMatrixDescriptor rowBytesOfColumns:dataType:\]: Apple has none/,
  ],
  [
    'A class method instead of an instance method',
    /- \(void\)waitUntilCompleted/,
    '+ (void)waitUntilCompleted',
    /^selector \+\[<MTLCommandBuffer> waitUntilCompleted\]: Apple has none/,
  ],
  [
    'Another type of an argument',
    /supportsFamily:\(MTLGPUFamily\)/,
    'supportsFamily:(NSUInteger)',
    /^selector -\[<MTLDevice> supportsFamily:\]: \(bool \(unsigned long\)\), but Apple has \(bool \(MTLGPUFamily\)\)/,
  ],
  [
    'Another result',
    /- \(BOOL\)supportsFamily/,
    '- (NSUInteger)supportsFamily',
    /^selector -\[<MTLDevice> supportsFamily:\]: /,
  ],
  [
    'A property that Apple lacks',
    /\bGPUEndTime\b/,
    'GPUStopTime',
    /^property <MTLCommandBuffer>\.GPUStopTime: Apple has none/,
  ],
  [
    'Another type of a property',
    /CFTimeInterval GPUEndTime/,
    'float GPUEndTime',
    /^property <MTLCommandBuffer>\.GPUEndTime: /,
  ],
  [
    'A property that can be set',
    /@property\(readonly\) NSError\s*\* ?error/,
    '@property(readwrite, assign) NSError* error',
    /^property <MTLCommandBuffer>\.error: /,
  ],
  ['Another getter', /getter=isLowPower/, 'getter=lowPower', /^property <MTLDevice>\.lowPower: /],
  [
    'A function that Apple lacks',
    /\bMTLCopyAllDevices\b/,
    'MTLCopyEveryDevice',
    /^function MTLCopyEveryDevice: Apple has none/,
  ],
  [
    'A constant with another number',
    /MTLCommandBufferErrorPageFault = 3/,
    'MTLCommandBufferErrorPageFault = 5',
    /^constant MTLCommandBufferErrorPageFault: \(5\), but Apple has \(3\)/,
  ],
  [
    'A constant that Apple lacks',
    /\bMTLMathModeSafe\b/,
    'MTLMathModeExact',
    /^constant MTLMathModeExact: Apple has none/,
  ],
  [
    'Another underlying type',
    /NS_ENUM\(uint32_t, MPSDataType\)/,
    'NS_ENUM(NSUInteger, MPSDataType)',
    /^enumeration MPSDataType: /,
  ],
  [
    'Flags that are an enumeration',
    /NS_OPTIONS\(NSUInteger, MTLBarrierScope\)/,
    'NS_ENUM(NSUInteger, MTLBarrierScope)',
    /^selector .*memoryBarrierWithScope:/,
  ],
  ['A field of another type', /uint32_t sourceRowOffset/, 'uint64_t sourceRowOffset', /^struct MPSMatrixCopyOffsets: /],
  [
    'A variable of another type',
    /NSErrorDomain const MTLLibraryErrorDomain/,
    'NSUInteger const MTLLibraryErrorDomain',
    /^variable MTLLibraryErrorDomain: /,
  ],
];
// Read together: each is reported by its own name.
const rounds = existsSync(headers)
  ? planted(
      headerTexts(),
      mistakes.map(([, right, wrong]) => ({ right, wrong })),
    )
  : [];
const found = new Map<number, readonly string[]>();

function headerTexts(): Map<string, string> {
  const names = readdirSync(headers, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.h'));
  return new Map(names.map((name) => [name, readFileSync(join(headers, name), 'utf8')]));
}

/** What is reported about the headers with the mistakes of a round. */
function linesOf(round: number): readonly string[] {
  const copy = join(folder, `include-${round}`);
  cpSync(headers, copy, { recursive: true });
  for (const [name, changed] of rounds[round]!.texts) writeFileSync(join(copy, name), changed);
  return compared(copy).lines;
}

for (const [index, [what, , , expected]] of mistakes.entries())
  whereItRuns(`${what} is found.`, () => {
    const round = rounds.findIndex(({ places }) => places.has(index));
    assert.ok(round >= 0, 'the mistake is planted');
    const lines = found.get(round) ?? linesOf(round);
    found.set(round, lines);
    assert.ok(
      lines.some((line) => expected.test(line)),
      lines.join('\n') || 'nothing is found',
    );
  });

test.run();
