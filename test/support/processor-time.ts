/** Milliseconds of this thread's own computing: the same however busy the machine is. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds that the work of `processorSlowness` takes on the processor that the limits of tests are stated for. */
const REFERENCE_MS = 35;

/** How many times as long this processor computes as the one that limits are stated for; at least 1. */
export function processorSlowness(): number {
  const times = Array.from({ length: 5 }, () => {
    const started = processorMs();
    const texts = Array.from({ length: 60_000 }, (_, nth) => String((nth * 7919) % 65_537));
    JSON.parse(JSON.stringify(texts.sort()));
    return processorMs() - started;
  });
  return Math.max(1, Math.min(...times) / REFERENCE_MS);
}
