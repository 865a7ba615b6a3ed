import type { Backend, Encoder, Timings } from '../../lib/backend.ts';
import { Device } from '../../lib/index.ts';
import { openReference } from '../../lib/reference/device.ts';

/**
 * A device that wants every operand in its own memory and makes factors on a GPU, as Metal does, over the reference
 * device.
 */
interface PretendGpu {
  readonly device: Device;
  /** The commands of every commit, in order: `product, sum`. */
  readonly commits: string[];
  /** The commands that had an operand outside the device's own memory. */
  readonly strangers: string[];
}

export function openPretendGpu(): PretendGpu {
  const backend = openReference();
  const [commits, strangers]: [string[], string[]] = [[], []];
  const own = new WeakSet<ArrayBufferLike>();
  const pretend: Backend = {
    kind: 'metal',
    name: 'A GPU that is none',
    threads: 1,
    dtypes: ['float32'],
    lacksDecompositions: '',
    triesEigenvalues: false,
    hasOwnMemory: false,
    deviceMemoryFromBytes: 0,
    allocate(sizeBytes) {
      const memory = backend.allocate(sizeBytes);
      own.add(memory);
      return memory;
    },
    release: (memory) => backend.release(memory),
    settle: (values) => backend.settle(values),
    fetch: (memory) => backend.fetch(memory),
    encoder: () =>
      encoderOver(backend.encoder(), commits, (verb, operand) => {
        if (operand.byteLength > 0 && !own.has(operand.buffer)) strangers.push(verb);
      }),
    compile: (source) => backend.compile(source),
    translator: () => backend.translator(),
    translate: (text, folders) => backend.translate(text, folders),
    explain: (...asked) => backend.explain(...asked),
    memory: () => backend.memory(),
    close: () => backend.close(),
  };
  return { device: new Device(pretend), commits, strangers };
}

function encoderOver(
  encoder: Encoder,
  commits: string[],
  see: (verb: string, operand: ArrayBufferView) => void,
): Encoder {
  let verbs: string[] = [];
  let factor: Timings['factor'];
  const told = (timings: Timings): Timings => ({ ...timings, factor });
  const end = () => commits.push(verbs.join(', '));
  const others: Partial<Encoder> = {
    commit() {
      end();
      return encoder.commit().then(told);
    },
    commitSync() {
      end();
      return told(encoder.commitSync());
    },
    reset() {
      verbs = [];
      factor = undefined;
      encoder.reset();
    },
    cancel: () => encoder.cancel(),
    isBrief: () => false,
  };
  return new Proxy(encoder, {
    get: (_, verb: keyof Encoder) =>
      others[verb] ??
      ((...operands: unknown[]) => {
        verbs.push(verb);
        // Counters are passed by value.
        for (const operand of operands)
          if (ArrayBuffer.isView(operand) && !(operand instanceof Uint32Array)) see(verb, operand);
        if (verb === 'cholesky') factor = operands[2] === 'gpu' ? 'gpu' : 'cpu';
        const given = operands.map((operand) => (operand === 'gpu' ? 'cpu' : operand));
        (encoder[verb] as (...operands: unknown[]) => void)(...given);
      }),
  });
}
