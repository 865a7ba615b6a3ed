import { isDetached } from '../array/host-memory.ts';
import { anyValuesIn, type NamedOperands, type Operand, valuesIn } from '../array/operand.ts';
import type { Encoder, Timings } from '../backend.ts';
import { backendOf, commit, commitSync, type OpenBackend, withBackend } from '../backend-handle.ts';
import { describe } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Real, Values } from '../dtype.ts';

/** An encoder until its commit, with references to what its commands read and write. */
export class Recording {
  readonly #device: OpenBackend;
  readonly #encoder: Encoder;
  readonly #operands: Values[] = [];
  #committed = false;

  constructor(device: OpenBackend) {
    this.#device = device;
    this.#encoder = withBackend(device, (backend) => backend.encoder());
  }

  /**
   * The numbers of the operands of one command of linear algebra: all on this device, all of the first operand's type.
   */
  values(operands: NamedOperands): Real[] {
    const values = valuesIn(operands, this.#device);
    this.#operands.push(...values);
    return values;
  }

  /** The numbers of operands of any type. */
  anyValues(operands: readonly (Operand | Values)[]): Values[] {
    const values = operands.map((operand, i) => anyValuesIn(`\`operands[${i}]\``, operand, this.#device));
    this.#operands.push(...values);
    return values;
  }

  /** Keeps references to what a command reads or writes until the commit. */
  hold(values: readonly Values[]): void {
    this.#operands.push(...values);
  }

  /** Records a command; throws `ERR_CLOSED` after the commit. */
  record(command: (encoder: Encoder) => void): void {
    this.#refuseCommitted();
    withBackend(this.#device, () => command(this.#encoder));
  }

  commit(signal: AbortSignal | undefined): Promise<Timings> {
    this.#end();
    return commit(this.#encoder, this.#operands, signal);
  }

  commitSync(): Timings {
    this.#end();
    return commitSync(this.#encoder);
  }

  #end(): void {
    backendOf(this.#device);
    this.#refuseCommitted();
    const gone = this.#operands.find(({ buffer }) => isDetached(buffer));
    if (gone !== undefined)
      throw new CovariumError('ERR_CLOSED', `Memory of an operand is detached or closed (${describe(gone)}).`);
    this.#committed = true;
  }

  #refuseCommitted(): void {
    if (this.#committed)
      throw new CovariumError(
        'ERR_CLOSED',
        'Command buffer is committed already; make another by device.commandBuffer().',
      );
  }
}
