export interface Ptx {
  readonly ptx: string;
  readonly tensorPtx: string;
  readonly reason: string;
}
export function makePtx(): Ptx;
export function coded(ptx: string): string;
export function fingerprint(): string;
export function packed(made: Ptx): Buffer;
