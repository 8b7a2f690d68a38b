import { inspect } from "node:util";

const MASK = "[secret]";

/** A value that must not appear in any output. Every way to print it gives `[secret]`; only `open` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself, for the one place that must send or store it. */
  open(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
