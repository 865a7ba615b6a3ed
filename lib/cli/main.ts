#!/usr/bin/env node
import { keepCompiled } from './compile-cache.ts';

keepCompiled();
// Imported only now: what is loaded before is not kept.
const { command, interruptible } = await import('./commands.ts');
interruptible();
await command(process.argv.slice(2));
