// test/simulation: the reconciler and the control plane in one process, in virtual time. See docs/simulation.md.

import { randomFrom } from "../support/random.ts";

/** A stream of numbers of at least 0 and less than 1, the same for the same seed. */
export type Draw = () => number;

/** Numbers that follow from a seed and a name, so that one stream does not move another. */
export function drawsOf(seed: number, name: string): Draw {
  let state = seed >>> 0;
  for (const character of name) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return randomFrom(state);
}

/** The number of calls of each kind that have not ended: a step waits for them. */
const underWay = { threadPool: 0, turns: 0 };

/** Resolves when the calls to the thread pool so far have given their results. */
let delivered: Promise<void> = Promise.resolve();

/**
 * Orders the calls of Web Crypto, which are the only ones of the control plane that the thread pool carries out. They take
 * real time: each gives its result after those before it, and when everything else has come to rest.
 */
export function orderThreadPoolCalls(): void {
  const subtle = Object.getPrototypeOf(crypto.subtle) as { [name: string]: unknown };
  for (const name of ["digest", "sign", "verify", "importKey", "exportKey", "deriveBits", "generateKey"]) {
    const method = subtle[name] as (...args: unknown[]) => Promise<unknown>;
    subtle[name] = function ordered(this: unknown, ...args: unknown[]) {
      underWay.threadPool += 1;
      const called = method.apply(this, args);
      const before = delivered;
      delivered = (async () => {
        await before;
        await called.catch(() => {});
        await rest();
      })();
      return delivered
        .then(() => called)
        .finally(() => {
          underWay.threadPool -= 1;
        });
    };
  }
}

type Waiting = { readonly at: number; readonly order: number; readonly kind: string; run: (() => void) | null };

/** Where virtual time begins, in epoch milliseconds. */
export const START = Date.UTC(2030, 0, 1);

/** Delivers one event after the other, in the order of virtual time; between two of them, everything that runs comes to rest. */
export class Scheduler {
  #now = 0;
  #order = 0;
  #steps = 0;
  #trace = 0x811c9dc5;
  readonly #heap: Waiting[] = [];
  readonly #draw: Draw;
  readonly counts = new Map<string, number>();

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#now;
  }

  /** The number of events that were delivered. */
  get steps(): number {
    return this.#steps;
  }

  /** A digest of the events that were delivered, by which two runs are compared. */
  get trace(): string {
    return (this.#trace >>> 0).toString(16).padStart(8, "0");
  }

  /** Delivers an event after that time; of those of the same time any may be first. */
  after(milliseconds: number, kind: string, run: () => void): Disposable {
    const waiting: Waiting = {
      at: this.#now + Math.max(0, milliseconds),
      order: Math.floor(this.#draw() * 2 ** 20) * 2 ** 20 + this.#order++,
      kind,
      run,
    };
    push(this.#heap, waiting);
    return {
      [Symbol.dispose]: () => {
        waiting.run = null;
      },
    };
  }

  /** Resolves in the next turn of the event loop, in which everything else that runs has come to rest. */
  readonly turn = (): Promise<void> => {
    underWay.turns += 1;
    return new Promise((resolve) => {
      setImmediate(() => {
        underWay.turns -= 1;
        resolve();
      });
    });
  };

  /** Delivers the next event; false where there is none until then. */
  async step(until: number): Promise<boolean> {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > until) {
        this.#now = Math.max(this.#now, until);
        return false;
      }
      pop(this.#heap);
      const { run } = next;
      if (run === null) continue;
      this.#now = next.at;
      this.#steps += 1;
      this.counts.set(next.kind, (this.counts.get(next.kind) ?? 0) + 1);
      this.note(`${next.at} ${next.kind}`);
      next.run = null;
      run();
      await this.settle();
      return true;
    }
  }

  /** Adds to the trace. */
  note(text: string): void {
    for (let at = 0; at < text.length; at += 1) this.#trace = Math.imul(this.#trace ^ text.charCodeAt(at), 0x01000193);
  }

  /** Waits until everything that can run has run. */
  async settle(): Promise<void> {
    do await rest();
    while (underWay.threadPool > 0);
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Waits until everything that waits for no thread has run. */
async function rest(): Promise<void> {
  do await nextTurn();
  while (underWay.turns > 0);
}

function isBefore(one: Waiting, other: Waiting): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

function push(heap: Waiting[], added: Waiting): void {
  let at = heap.length;
  heap.push(added);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isBefore(added, parent)) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = added;
}

function pop(heap: Waiting[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const [one, other] = [heap[left], heap[left + 1]];
    const isRight = one !== undefined && other !== undefined && isBefore(other, one);
    const child = isRight ? other : one;
    if (child === undefined || !isBefore(child, last)) break;
    heap[at] = child;
    at = isRight ? left + 1 : left;
  }
  heap[at] = last;
}
