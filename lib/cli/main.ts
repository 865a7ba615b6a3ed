#!/usr/bin/env node
import { command } from './commands.ts';
import { interruptible } from './interruption.ts';

interruptible();
await command(process.argv.slice(2));
