/** Milliseconds of this thread's own computing: the same however busy the machine is. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
