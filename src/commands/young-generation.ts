import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

// Both halves together. A page of 1,000 rows fits, so that it is gone before anything of it counts as old; left alone,
// V8 would take 128 MB, of which most is never looked at twice.
const ENOUGH = 32 * 1024 * 1024;

// Both halves together are twice that. A run keeps most of what it reads, so that more would be filled and not used.
const FOR_READING = 6;

/** Lets the young generation of the heap grow once, from the megabyte that each half of it has: while the program loads. */
export function growOnce(): void {
  setFlagsFromString(`--semi-space-growth-factor=${FOR_READING}`);
}

/** Leaves the young generation as it is. */
export function growNoMore(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** Lets the young generation of the heap grow as far as requests need it, and no further than to twice what is enough. */
export function boundYoungGeneration(enough: number = ENOUGH): void {
  setFlagsFromString("--semi-space-growth-factor=2");
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    if (young === undefined || young.space_size < enough) return;
    // V8 reads it whenever it is about to enlarge; its greatest size could only be given before the heap is made.
    growNoMore();
    observer.disconnect();
  });
  observer.observe({ entryTypes: ["gc"] });
}
