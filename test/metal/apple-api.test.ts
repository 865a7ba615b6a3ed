// objc/metal keeps to Apple's API: every .mm compiles against headers made from Apple's metadata, and planted mistakes
// are found. This can't check availability by version of macOS; test/metal/apple-api/real-headers.mjs does that, with
// Apple's own headers. test/metal/mach-o.test.ts compiles and links the addon for arm64; where its tools are missing,
// arm64's types are checked here.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { embed } from '../../msl/embed.mjs';
import { list, read } from '../harness/source-text.ts';
import { complaints, type Processor, reason } from './apple-api/compile.ts';
import { reason as whyNoMachO } from './apple-api/mach-o.ts';
import { readMetadata } from './apple-api/metadata.ts';
import { planted } from './apple-api/planted.ts';
import { writeStubs } from './apple-api/stub-headers.ts';

const why = reason();
const whereItRuns = (sentence: string, check: () => void): void => {
  if (why === undefined) test(sentence, check);
  else test.skip(sentence);
};
if (why !== undefined) console.log(`skipped  the type check against Apple's API: ${why}`);

let folder = '';
test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'covarium-apple-'));
  writeStubs(join(folder, 'stubs'));
  embed(join(folder, 'made', 'shader-source.h'));
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

const sample = 'test/metal/apple-api/sample.mm';
const whyNotLinked = whyNoMachO();
const check = (text: string, path: string, processor: Processor = 'arm64') =>
  complaints(`#line 1 "${path}"\n${text}`, {
    stubs: join(folder, 'stubs'),
    folders: [dirname(path), join(folder, 'made')],
    processor,
  });

test('The metadata hold the API.', () => {
  const { classes, protocols, functions, structs } = readMetadata();
  assert.ok(classes.size > 4000 && protocols.size > 800 && functions.size > 20000 && structs.size > 5000);
  const selectors = [...protocols.get('MTLDevice')!.members.keys()];
  assert.ok(selectors.includes('-newBufferWithLength:options:') && selectors.includes('-newCommandQueue'));
  assert.is(classes.get('MPSMatrixMultiplication')!.super, 'MPSKernel');
  assert.is(functions.get('MTLCreateSystemDefaultDevice')!.result.protocols![0], 'MTLDevice');
  assert.equal(
    structs.get('MTLSize')!.map(([name]) => name),
    ['width', 'height', 'depth'],
  );
});

// On Intel's processors only BOOL is another type: the sources that do not name it are checked for arm64 alone.
const processorsOf = (path: string) => {
  const isLinked = whyNotLinked === undefined && path !== sample;
  return [...(isLinked ? [] : ['arm64']), ...(/\b(?:BOOL|YES|NO)\b/.test(read(path)) ? ['x86_64'] : [])] as Processor[];
};
for (const path of [sample, ...list('objc/metal').filter((each) => each.endsWith('.mm'))])
  for (const processor of processorsOf(path))
    whereItRuns(`${path} keeps to Apple's API (${processor}).`, () => {
      assert.equal(check(read(path), path, processor), []);
    });

// [the mistake, the text in the sample, its replacement, what clang says]
const mistakes: readonly (readonly [string, string, string, RegExp])[] = [
  [
    'A wrong selector',
    'setBufferOffset:16 atIndex:0',
    'setBufferOffset:16 index:0',
    /instance method '-setBufferOffset:index:' not found/,
  ],
  [
    'A wrong selector of a class',
    'rowBytesForColumns:columns',
    'rowBytesOfColumns:columns',
    /class method .* not found/,
  ],
  [
    'A word left out',
    '[chosen supportsFamily:MTLGPUFamilyMetal3]',
    '[chosen supportsFamily]',
    /'-supportsFamily' not found/,
  ],
  ['A wrong class', '[[MPSMatrixSum alloc]', '[[MPSMatrixAdd alloc]', /MPSMatrixAdd/],
  [
    'A wrong type of an argument',
    '[encoder setComputePipelineState:pipeline]',
    '[encoder setComputePipelineState:buffer]',
    /incompatible|cannot initialize/,
  ],
  [
    'A number for an object',
    'addCompletedHandler:^(id<MTLCommandBuffer> completed)',
    'addCompletedHandler:^(NSUInteger completed)',
    /cannot initialize/,
  ],
  [
    'A number for a size',
    'dispatchThreadgroups:MTLSizeMake(1, 1, 1)',
    'dispatchThreadgroups:1',
    /no viable conversion/,
  ],
  ['A class for another', 'leftMatrix:a rightMatrix', 'leftMatrix:x rightMatrix', /cannot initialize/],
  [
    'A constant of another enumeration',
    'supportsFamily:MTLGPUFamilyMetal3',
    'supportsFamily:MTLDispatchTypeSerial',
    /cannot initialize/,
  ],
  [
    'A misspelled property',
    'device.recommendedMaxWorkingSetSize',
    'device.recommendedMaximumWorkingSetSize',
    /property '\w+' not found/,
  ],
  ['A property that is read only', '[queue release];', 'commands.error = nil;', /assignment to readonly property/],
  [
    'A missing constant',
    'MTLCommandBufferErrorStackOverflow',
    'MTLCommandBufferErrorStackTooDeep',
    /undeclared identifier/,
  ],
  ['A missing function', 'MTLCreateSystemDefaultDevice()', 'MTLCreateDefaultDevice()', /undeclared identifier/],
  ['A field that a struct lacks', 'most.depth', 'most.length', /no member named 'length'/],
  [
    'A result of another type',
    'id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder]',
    'id<MTLBlitCommandEncoder> blit = [commands computeCommandEncoder]',
    /cannot initialize|incompatible/,
  ],
];
// clang-format may have wrapped the text.
const patternOf = (right: string) =>
  new RegExp(
    right
      .split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('\\s+'),
  );
// Compiled together: clang reports each at its own line.
const rounds = planted(
  new Map([[sample, read(sample)]]),
  mistakes.map(([, right, wrong]) => ({ right: patternOf(right), wrong })),
);
const complaintsOf = new Map<string, string[]>();

for (const [index, [what, , , expected]] of mistakes.entries())
  whereItRuns(`${what} is found.`, () => {
    const { texts, places } = rounds.find((round) => round.places.has(index))!;
    const text = texts.get(sample)!;
    const found = complaintsOf.get(text) ?? check(text, sample);
    complaintsOf.set(text, found);
    const [first, last] = places.get(index)![0]!.lines;
    const isThere = (line: string) => {
      const at = Number(line.slice(`${sample}:`.length).split(':')[0]);
      return line.startsWith(`${sample}:`) && at >= first && at <= last;
    };
    assert.ok(
      found.some((line) => isThere(line) && expected.test(line)),
      `lines ${first} to ${last}:\n${found.join('\n') || 'nothing is found'}`,
    );
  });

test.run();
