/** Runs a function at the next scheduled time, with a single timer. */
export class RecurringTask {
  readonly #work: () => Promise<number | null>;
  readonly #now: () => number;
  readonly #failed: (error: unknown) => void;
  #timer: NodeJS.Timeout | null = null;
  #next: number | null = null;
  #working: Promise<void> | null = null;
  #closed = false;

  /** `work` returns its next time in epoch milliseconds, or null when there is none. */
  constructor(work: () => Promise<number | null>, now: () => number, failed: (error: unknown) => void) {
    this.#work = work;
    this.#now = now;
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
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#working;
  }

  #arm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#next === null || this.#working !== null || this.#closed) return;
    // A timer is limited to 31 bits; when it ends early, the work finds nothing and returns the next time.
    const wait = Math.min(Math.max(this.#next - this.#now(), 0), 2 ** 31 - 1);
    this.#timer = setTimeout(() => {
      this.#working = this.#turn();
    }, wait);
    this.#timer.unref();
  }

  async #turn(): Promise<void> {
    this.#next = null;
    const next = await this.#work().catch((error: unknown) => {
      this.#failed(error);
      return this.#now() + 1000;
    });
    this.#working = null;
    if (next !== null) this.at(next);
    this.#arm();
  }
}
