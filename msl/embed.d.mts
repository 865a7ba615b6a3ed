export function flatten(folder?: string): string;
export function compileLibrary(text: string): Buffer;
export function header(text: string, library?: Uint8Array): string;
export function embed(out: string, folder?: string): boolean;
