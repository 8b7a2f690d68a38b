// biome-ignore-all lint/plugin: the clock of the browser, which all other code of the page is handed through these functions

import { signal } from "@preact/signals";

/** How far the daemon's clock is ahead of the browser's, in milliseconds: ages are those that the daemon would tell. */
const ahead = signal(0);

/** The daemon's time, which goes on every ten seconds, so that ages grow. */
export const now = signal(Date.now());

const TICK_MS = 10_000;

/** Takes over the time at which the daemon read a reply. */
export function setDaemonTime(at: string): void {
  ahead.value = Date.parse(at) - Date.now();
  now.value = Date.now() + ahead.value;
}

/** Lets ages grow from now on. */
export function startClock(): void {
  setInterval(() => {
    now.value = Date.now() + ahead.value;
  }, TICK_MS);
}

/** Calls once after that time; returns how to call it off. */
export function after(milliseconds: number, call: () => void): () => void {
  const timer = setTimeout(call, milliseconds);
  return () => clearTimeout(timer);
}
