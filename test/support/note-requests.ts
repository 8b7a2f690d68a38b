import type { Fault } from "./fault-proxy.ts";

/** A fault of a proxy that notes when each request arrives and how many there are at once, and answers after so many milliseconds. */
export function noteRequests() {
  const arrivals: number[] = [];
  const seen = { inFlight: 0, most: 0, delayMs: 0 };
  const fault: Fault = async ({ reply, forward }) => {
    arrivals.push(performance.now());
    seen.inFlight += 1;
    seen.most = Math.max(seen.most, seen.inFlight);
    let isOver = false;
    const end = () => {
      if (!isOver) seen.inFlight -= 1;
      isOver = true;
    };
    reply.once("close", end);
    const { status, headers, body } = await forward();
    setTimeout(() => {
      end();
      reply.writeHead(status, headers).end(body);
    }, seen.delayMs);
  };
  const busiestSecond = (): number => {
    const counts = arrivals.map((from) => arrivals.filter((at) => at >= from && at < from + 1000).length);
    return Math.max(...counts);
  };
  return { arrivals, seen, fault, busiestSecond };
}
