/** How long a peer is waited for, in seconds. */
export interface PeerLimits {
  /** Until it has started: PyTorch alone loads for seconds. */
  readonly start: number;
  /** One run of a case; what takes longer is left out. */
  readonly run: number;
}

export const peerLimits: PeerLimits = { start: 60, run: 30 };

/** Limits of a quick run, which ends within a minute even if a peer hangs. */
export const quickPeerLimits: PeerLimits = { start: 15, run: 3 };
