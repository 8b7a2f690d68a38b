import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// Little enough that nobody notices it in the memory of a run, and enough that sweeping is no work.
const MUCH = 8 * 1024 * 1024;

let passed = 0;
let collectYoung: (() => void) | null = null;

/**
 * Tells that so many bytes came over the wire and are done with. The pieces that they came in are let go of only when
 * the young are collected, and nothing young is made where a page is known: V8 would go through the whole heap instead,
 * each time that they have become very many.
 */
export function passedBy(bytes: number): void {
  passed += bytes;
  if (passed < MUCH) return;
  passed = 0;
  collectYoung ??= makeCollect();
  collectYoung();
}

function makeCollect(): () => void {
  // There is no other way to ask for it in a process that runs already.
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  return () => {
    if (typeof collect === "function") collect({ type: "minor" });
  };
}
