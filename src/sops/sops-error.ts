// src/sops: SOPS files with age recipients: values are read in memory, and written encrypted. See docs/secrets.md.

/** What is wrong with a SOPS file, its key or what was asked of it. */
export type SopsFault =
  /** It has no `sops` member: it is not a SOPS file. */
  | "not-sops"
  /** It cannot be parsed, or its `sops` member has another form. */
  | "malformed"
  | "too-large"
  /** It uses a part of the format that is not read here. */
  | "unsupported"
  /** No identity was given, or the given one is none. */
  | "no-identity"
  /** It was encrypted for other recipients. */
  | "wrong-identity"
  /** A value or the data key was changed, moved or cut off. */
  | "damaged"
  /** Its values are not those that it was written with. */
  | "mac"
  /** The named key is absent, or names no value. */
  | "no-value"
  /** The named value stands in clear text. */
  | "not-encrypted"
  /** Where a new value goes cannot be told, or it cannot be written there. */
  | "not-writable";

/** A SOPS file that cannot be used as it is. Neither the message nor the hint has a value or a key of it. */
export class SopsError extends Error {
  override readonly name = "SopsError";
  readonly fault: SopsFault;
  /** The next step, in a sentence. */
  readonly hint: string;

  // It has no cause: the message of a library may quote what it was given.
  constructor(fault: SopsFault, message: string, hint: string) {
    super(message);
    this.fault = fault;
    this.hint = hint;
  }
}
