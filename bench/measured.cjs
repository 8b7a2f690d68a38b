// Loaded into every measured process: it leaves where the bench finds it how much memory that took, and how long it sent.
const { subscribe } = require("node:diagnostics_channel");
const { appendFileSync } = require("node:fs");

let first = null;
let last = null;

// The pool tells so of each request, whoever uses it: ours and the floor are timed by the same moments.
subscribe("undici:client:sendHeaders", ({ request }) => {
  if (isManifest(request)) first ??= performance.now();
});
subscribe("undici:request:trailers", ({ request }) => {
  if (isManifest(request)) last = performance.now();
});
process.on("exit", () => {
  const sending = first === null || last === null ? null : last - first;
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const measured = { peakKilobytes: maxRSS, busyMicroseconds: userCPUTime + systemCPUTime, sending };
  appendFileSync(process.env.BENCH_MEASURED, `${JSON.stringify(measured)}\n`);
});

// A lease is renewed by a PUT too.
function isManifest({ method, path }) {
  return method === "PUT" && !path.includes("/leases/");
}
