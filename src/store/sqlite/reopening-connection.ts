import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../clock/clock.ts";

/** A connection to a SQLite file, as statements use it. */
export type SqliteUse = Disposable & {
  /** The open connection; a statement is prepared anew when it is another one. */
  readonly database: () => DatabaseSync;
  /** Keeps the connection open until it is disposed, while rows are read one by one. */
  readonly hold: () => Disposable;
};

/** How long a connection stays open after its last use. */
const IDLE_MS = 5000;

const NOT_HELD: Disposable = { [Symbol.dispose]: () => undefined };

/** A connection that stays open until it is disposed. */
export function stayingOpen(database: DatabaseSync): SqliteUse {
  const close = (): void => {
    if (database.isOpen) database.close();
  };
  return { database: () => database, hold: () => NOT_HELD, [Symbol.dispose]: close };
}

/** A connection that is closed while nothing uses it, so that hundreds of files cost no open ones, and opened again when needed. */
export function reopening(first: DatabaseSync, open: () => DatabaseSync, { after }: Pick<Clock, "after">): SqliteUse {
  let opened: DatabaseSync | null = first;
  let isUsed = false;
  let holders = 0;
  let isDisposed = false;
  let timer: Disposable | null = null;
  const wait = (): void => {
    timer = after(IDLE_MS, closeIfIdle, { ref: false });
  };
  const closeIfIdle = (): void => {
    const isIdle = !isUsed && holders === 0 && !opened?.isTransaction;
    isUsed = false;
    if (isIdle) {
      opened?.close();
      opened = null;
    } else wait();
  };
  wait();
  return {
    database: () => {
      if (isDisposed) throw new Error("the database is closed");
      isUsed = true;
      if (opened === null) {
        opened = open();
        wait();
      }
      return opened;
    },
    hold: () => {
      holders += 1;
      return {
        [Symbol.dispose]: () => {
          holders -= 1;
        },
      };
    },
    [Symbol.dispose]: () => {
      isDisposed = true;
      timer?.[Symbol.dispose]();
      opened?.close();
      opened = null;
    },
  };
}
