// What a source for a Mac includes from Apple's system and Linux's headers lack. The rest of the C library is declared
// by the headers of Linux, and the frameworks by stub-headers.ts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CType, readMetadata } from './metadata.ts';

// As on a Mac, uint64_t is another type than size_t: a call that is ambiguous there is ambiguous here.
const integers = (sign: 'signed' | 'unsigned') => {
  const prefix = sign === 'signed' ? 'int' : 'uint';
  const types = ['char', 'short', 'int', 'long long'];
  return types.map((type, index) => `typedef ${sign} ${type} ${prefix}${8 << index}_t;\n`).join('');
};

const texts: Readonly<Record<string, string>> = {
  'bits/stdint-intn.h': `#pragma once\n#define _BITS_STDINT_INTN_H 1\n${integers('signed')}`,
  'bits/stdint-uintn.h': `#pragma once\n#define _BITS_STDINT_UINTN_H 1\n${integers('unsigned')}`,
  'sys/sysctl.h':
    '#pragma once\n#include <stddef.h>\nextern "C" int sysctlbyname(const char *, void *, size_t *, void *, size_t);\n',
  'xlocale.h': '#pragma once\n#include <locale.h>\n#include <stdlib.h>\n',
};

const scalars: Readonly<Record<string, string>> = { cstring: 'const char *', int64: 'long' };
const spell = (type: CType): string => {
  if (type.kind === 'pointer') return `const ${spell(type.of!)} *`;
  return /^(?:int|float|double|void)$/.test(type.kind) ? type.kind : (scalars[type.kind] ?? 'void *');
};

/** Accelerate's BLAS and LAPACK of real matrices. The metadata do not have the numbers of BLAS's enumerations. */
function accelerate(): string {
  const wanted = [...readMetadata().functions].filter(([name]) => /^(?:cblas_[sd]|[sd][a-z]\w+_$)/.test(name));
  return [
    '#pragma once',
    'enum CBLAS_ORDER : long { CblasRowMajor = 101, CblasColMajor };',
    'enum CBLAS_TRANSPOSE : long { CblasNoTrans = 111, CblasTrans };',
    'enum CBLAS_UPLO : long { CblasUpper = 121, CblasLower };',
    'enum CBLAS_DIAG : long { CblasNonUnit = 131, CblasUnit };',
    'enum CBLAS_SIDE : long { CblasLeft = 141, CblasRight };',
    ...wanted.map(
      ([name, { result, parameters }]) =>
        `extern "C" ${spell(result)} ${name}(${parameters.map((each) => spell(each)).join(', ')});`,
    ),
    '',
  ].join('\n');
}

export function writeSystemHeaders(folder: string): void {
  for (const [name, text] of Object.entries({ ...texts, 'Accelerate/Accelerate.h': accelerate() })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}
