import { collect } from "./collect.ts";

// Little enough that nobody notices it in the memory of a run, and enough that sweeping is no work.
const MUCH = 8 * 1024 * 1024;

let passed = 0;

/**
 * Tells that so many bytes came over the wire and are done with. The pieces that they came in are let go of only when
 * the young are collected, and nothing young is made where a page is known: V8 would go through the whole heap instead,
 * each time that they have become very many.
 */
export function passedBy(bytes: number): void {
  passed += bytes;
  if (passed < MUCH) return;
  passed = 0;
  collect("minor");
}
