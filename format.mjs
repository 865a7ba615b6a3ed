// Formats the C++, Objective-C++ and MSL sources in place by .clang-format; --check only says which are not.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from '@wasm-fmt/clang-format';

const folder = fileURLToPath(new URL('.', import.meta.url));
const style = readFileSync(join(folder, '.clang-format'), 'utf8');
const check = process.argv.includes('--check');
let unformatted = 0;
for (const room of ['objc', 'msl', 'test', 'bench', 'examples']) {
  for (const name of readdirSync(join(folder, room), { recursive: true, encoding: 'utf8' })) {
    if (!/\.(cc|cu|h|inc|mm|metal)$|metal_stdlib$/.test(name)) continue;
    const path = join(folder, room, name);
    const text = readFileSync(path, 'utf8');
    const formatted = format(text, 'source.cc', style);
    if (formatted === text) continue;
    unformatted += 1;
    console.log(`${check ? 'Not formatted' : 'Formatted'}: ${join(room, name)}`);
    if (!check) writeFileSync(path, formatted);
  }
}
process.exitCode = check && unformatted > 0 ? 1 : 0;
