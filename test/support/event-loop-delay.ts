import { processorMs } from "./processor-time.ts";

/** The longest time for which some work computed without a turn of the event loop, in milliseconds of processor time. */
export async function longestEventLoopDelay(work: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [processorMs(), 0];
  const look = (): void => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 5);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  look();
  return longest;
}
