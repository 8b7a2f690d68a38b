import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { collect } from "../client/collect.ts";
import { boundYoungGeneration } from "./young-generation.ts";

// Where little was read, V8 would not have let the heap grow far.
const MUCH = 32 * 1024 * 1024;

/** By how many per cent the heap may grow before it is collected again. */
const GROWTH = 100;

// Both halves together: a hundred writes and more are under way at a time, and what belongs to one is gone before there
// is reason to look for it among what is old.
const YOUNG = 24 * 1024 * 1024;

/**
 * Collects what reading has left behind, and lets the heap grow to twice what is kept from here on: V8 would wait until it
 * is nearly three times as much, and what requests leave behind would fill it.
 */
export function stayLean(): void {
  if (getHeapStatistics().used_heap_size < MUCH) return;
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
  boundYoungGeneration(YOUNG);
  collect("major");
}

// What V8 would come round to by itself only while as much again is read.
const VERY_MUCH = 128 * 1024 * 1024;

/** Collects what reading a large source has left behind, before live is read. */
export function startLean(): void {
  if (getHeapStatistics().used_heap_size >= VERY_MUCH) collect("major");
}
