import type { Clock } from "../../clock/clock.ts";

/** Runs a function at the next scheduled time, with a single timer. */
export class RecurringTask {
  readonly #work: () => Promise<number | null>;
  readonly #clock: Clock;
  readonly #failed: (error: unknown) => void;
  #timer: Disposable | null = null;
  #next: number | null = null;
  #working: Promise<void> | null = null;
  #closed = false;

  /** `work` returns its next time in epoch milliseconds, or null when there is none. */
  constructor(work: () => Promise<number | null>, clock: Clock, failed: (error: unknown) => void) {
    this.#work = work;
    this.#clock = clock;
    this.#failed = failed;
  }

  /** Schedules the work at that time, unless it is scheduled earlier. */
  at(moment: number): void {
    if (this.#closed || (this.#next !== null && this.#next <= moment)) return;
    this.#next = moment;
    this.#arm();
  }

  /** Stops, and waits for the running work. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
    await this.#working;
  }

  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    if (this.#next === null || this.#working !== null || this.#closed) return;
    // A timer is limited to 31 bits; when it ends early, the work finds nothing and returns the next time.
    const wait = Math.min(Math.max(this.#next - this.#clock.now(), 0), 2 ** 31 - 1);
    const work = (): void => {
      this.#working = this.#turn();
    };
    this.#timer = this.#clock.after(wait, work, { ref: false });
  }

  async #turn(): Promise<void> {
    this.#next = null;
    const next = await this.#work().catch((error: unknown) => {
      this.#failed(error);
      return this.#clock.now() + 1000;
    });
    this.#working = null;
    if (next !== null) this.at(next);
    this.#arm();
  }
}
