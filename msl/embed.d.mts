export function flatten(folder?: string): string;
export function header(text: string): string;
export function embed(out: string, folder?: string): boolean;
