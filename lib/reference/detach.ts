interface Transferable {
  transfer?(length: number): ArrayBuffer;
}

/**
 * Detaches `memory`: views of it become empty. Node 20 has no ArrayBuffer.prototype.transfer; a message to nobody does it
 * there, save for memory that is marked untransferable, which stays as it is until it is collected.
 */
export function detach(memory: ArrayBuffer & Transferable): void {
  if (memory.transfer === undefined) structuredClone(null, { transfer: [memory] });
  else memory.transfer(0);
}
