type Waiting = { readonly isAlone: boolean; readonly begin: () => void };

/** Lets many do something at once, or one of them while nobody else does; all in the order in which they came. */
export class ReadWriteLock {
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #isAlone = false;

  /** Does it when it is its turn. */
  async take<Result>(work: () => Promise<Result>, { alone }: { readonly alone: boolean }): Promise<Result> {
    await this.#turn(alone);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#isAlone = false;
      this.#next();
    }
  }

  #turn(isAlone: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ isAlone, begin: resolve });
    this.#next();
    return promise;
  }

  #next(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (this.#isAlone || (first.isAlone && this.#running > 0)) return;
      this.#waiting.shift();
      this.#running += 1;
      this.#isAlone = first.isAlone;
      first.begin();
    }
  }
}
