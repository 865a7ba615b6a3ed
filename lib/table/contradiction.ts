/**
 * Bytes of a file that contradict the format, or each other. The reader that catches it adds the file's name and the
 * place.
 */
export class Contradiction extends Error {}

/** A part of a file that is right, and that no reader of ours takes: another compression, another encoding. */
export class NotTaken extends Error {}
