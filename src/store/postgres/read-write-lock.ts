type Waiting = { readonly isExclusive: boolean; readonly begin: () => void };

/** A read-write lock: many shared holders or one exclusive holder, in order of arrival. */
export class ReadWriteLock {
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #isExclusive = false;

  /** Runs the work while holding the lock. */
  async run<Result>(work: () => Promise<Result>, { exclusive }: { readonly exclusive: boolean }): Promise<Result> {
    await this.#acquire(exclusive);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#isExclusive = false;
      this.#next();
    }
  }

  #acquire(isExclusive: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ isExclusive, begin: resolve });
    this.#next();
    return promise;
  }

  #next(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (this.#isExclusive || (first.isExclusive && this.#running > 0)) return;
      this.#waiting.shift();
      this.#running += 1;
      this.#isExclusive = first.isExclusive;
      first.begin();
    }
  }
}
