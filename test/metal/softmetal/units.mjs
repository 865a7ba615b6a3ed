// The units of the build: sources with their flags, and the products that are linked from them. The flags of the
// addon and of the kernels are those of binding.gyp.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';

const require = createRequire(import.meta.url);
const words = (text) => text.split(' ');

const napi = [
  ...words('-DNAPI_VERSION=8 -DNAPI_CPP_EXCEPTIONS -DNODE_ADDON_API_DISABLE_DEPRECATED'),
  ...words('-DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS'),
  `-DCOVARIUM_VERSION="${require('../../../package.json').version}"`,
  ...['node-addon-api', 'node-api-headers'].flatMap((name) => ['-isystem', require(name).include_dir]),
];
const kernelFlags = [
  ...words('-O3 -ffp-contract=off -Imsl -Imsl/cpu -Wno-attributes -Wno-uninitialized'),
  ...words('-Wno-unknown-attributes -Wno-ignored-attributes -Wno-ignored-pragmas -Wno-psabi'),
];
const avx2 = words('-mavx2 -mfma');
const avx512 = [...words('-mavx512f -mavx512bw -mavx512dq -mavx512vl'), ...avx2];
// The stand-in for a GPU is built for this processor, because it takes a fifth of the tests' time.
const own =
  existsSync('/proc/cpuinfo') && /^flags\b.*\bavx2\b/m.test(readFileSync('/proc/cpuinfo', 'utf8')) ? avx2 : [];
const instructionSets = { Baseline: [], ...(process.arch === 'x64' && { Avx512: avx512, Avx2: avx2 }) };

/**
 * The products: `target`, the `objects` to link, the `flags` of linking, and whether it is a driver. An object is a
 * `source`, its `flags` and its `target`; `instead` maps a source to the file that is compiled in its place, and the
 * objects of other sources lie in the folder `plainOut`.
 */
export function productsOf({ root, out, plainOut, toolchain, generated, instead }) {
  const list = (room, pattern) =>
    existsSync(join(root, room))
      ? readdirSync(join(root, room))
          .filter((name) => pattern.test(name))
          .sort()
          .map((name) => join(room, name))
      : [];
  const object = (source, flags, name = source.replaceAll('/', '-')) => {
    const edited = instead.get(source);
    return edited === undefined
      ? { source, flags, target: join(plainOut, `${name}.o`) }
      : { source: edited, flags: [...flags, '-iquote', dirname(source)], target: join(out, `${name}.o`) };
  };
  const objects = (room, pattern, flags) => list(room, pattern).map((source) => object(source, flags));

  const plain = words('-O2 -Imsl -Imsl/cpu');
  const includes = ['-Itest/metal/softmetal/include', `-I${generated}`];
  const objc = [...toolchain.objc, ...words('-O1 -Imsl -Imsl/cpu -DCOVARIUM_SLICE_SECONDS=0.005'), ...includes];
  const addon = objects('objc/addon', /\.cc$/, [...plain, ...napi]);
  // Files that catch exceptions are plain C++: in Objective-C++ a catch would end the process.
  const metal = [
    ...objects('objc/metal', /\.mm$/, [...objc, ...words('-include test/metal/softmetal/available.h')]),
    ...objects('objc/metal', /(?<!^none)\.cc$/, plain),
    ...objects('objc/gpu', /\.cc$/, plain),
    object('objc/cuda/none.cc', plain),
  ];
  const kernels = Object.entries(instructionSets).map(([set, flags]) =>
    object(
      'objc/cpu/simd/kernels.cc',
      [...kernelFlags, ...flags, '-DCOVARIUM_GPU_KERNELS', `-DCOVARIUM_TABLE=kernels${set}`],
      `kernels-${set}`,
    ),
  );
  const cpu = [...objects('objc/cpu', /(?<!^blas-accelerate)\.cc$/, plain), ...kernels];
  const table = objects('objc/table', /\.cc$/, plain);
  const soft = [
    ...objects('test/metal/softmetal', /(?<!^hooks)\.cc$/, plain),
    ...objects('test/metal/softmetal', /\.mm$/, objc),
  ];
  const fixture = object('test/metal/softmetal/drivers/fixture.mm', objc);

  return [
    {
      target: join(out, 'covarium.node'),
      objects: [...addon, ...metal, ...cpu, ...table, ...soft],
      flags: words('-shared -Wl,-z,nodelete'),
    },
    {
      target: join(out, 'softmetal.node'),
      objects: [object('test/metal/softmetal/hooks.cc', [...plain, ...napi])],
      flags: ['-shared'],
    },
    {
      // The stand-in for NVIDIA's driver, in its own folder for LD_LIBRARY_PATH.
      target: join(out, 'softcuda/libcuda.so.1'),
      objects: [...objects('test/cuda/softcuda', /\.cc$/, [...plain, ...words('-O3 -ffp-contract=off'), ...own])],
      flags: words('-shared -Wl,-z,nodelete -Wl,--as-needed'),
    },
    ...list('test/metal/softmetal/drivers', /(?<!^fixture)\.(cc|mm)$/).map((source) => ({
      target: join(out, basename(source, extname(source))),
      objects: [object(source, source.endsWith('.mm') ? objc : plain), fixture, ...metal, ...cpu, ...soft],
      flags: [],
      isDriver: true,
    })),
  ];
}
