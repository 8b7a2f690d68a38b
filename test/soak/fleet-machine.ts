import { subscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

// Loaded by the processes of a fleet, before their own code. Their requests tell which process they come from, and on SIGUSR2 the
// system clock is what the file says, in milliseconds from the real one.
const { SOAK_MACHINE: machine, SOAK_SKEW_FILE: file } = process.env;
if (isMainThread && machine !== undefined && file !== undefined) {
  subscribe("undici:request:create", (message) => {
    (message as { readonly request: Request }).request.addHeader("x-machine", machine);
  });
  const { now } = Date;
  let skewMs = 0;
  Date.now = () => now() + skewMs;
  process.on("SIGUSR2", () => {
    skewMs = Number(readFileSync(file, "utf8"));
  });
}

type Request = { readonly addHeader: (name: string, value: string) => void };
