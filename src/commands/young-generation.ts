import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

// Both halves together. A page of 1,000 rows fits, so that it is gone before anything of it counts as old; left alone,
// V8 would take 128 MB, of which most is never looked at twice.
const ENOUGH = 32 * 1024 * 1024;

/** Lets the young generation of the heap grow as far as requests need it, and no further. */
export function boundYoungGeneration(): void {
  // The program starts with none of it, which suits commands that keep what they read.
  setFlagsFromString("--semi-space-growth-factor=2");
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    if (young === undefined || young.space_size < ENOUGH) return;
    // V8 reads it whenever it is about to enlarge; its greatest size could only be given before the heap is made.
    setFlagsFromString("--semi-space-growth-factor=1");
    observer.disconnect();
  });
  observer.observe({ entryTypes: ["gc"] });
}
