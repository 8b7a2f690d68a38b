import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What happens at a system call: the process is killed there, or the disk is full, or the call is not supported. */
export type Fault = "killed" | "full once" | "full from then on" | "unsupported from then on";

/** A call of the system: the nth of a kind in a thread, of those on the files where some are given. */
export type Point = { readonly call: string; readonly nth: number; readonly files?: readonly string[] };

/** What came of a run with a fault in it. */
export type Faulty = {
  readonly isReached: boolean;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

const injections: { readonly [fault in Fault]: (nth: number) => string } = {
  killed: (nth) => `signal=KILL:when=${nth}`,
  "full once": (nth) => `error=ENOSPC:when=${nth}`,
  "full from then on": (nth) => `error=ENOSPC:when=${nth}+`,
  "unsupported from then on": (nth) => `error=EOPNOTSUPP:when=${nth}+`,
};

/** Why strace cannot be used here; null where it can. */
export function whyNoStrace(): string | null {
  const { error, status, stderr } = spawnSync("strace", ["-qq", "-e", "trace=none", "true"], { encoding: "utf8" });
  if (error !== undefined) return "strace is not installed";
  return status === 0 ? null : `strace may not trace here: ${stderr.trim()}`;
}

/** Runs a script with Node to its end, in a folder that is its own, with a fault at a point. */
export function runWithFault(args: readonly string[], folder: string, fault: Fault, point: Point): Faulty {
  const { call, nth, files = [] } = point;
  const trace = join(folder, "trace");
  // Not with --seccomp-bpf: there strace 6.1 passes over some of the calls that it should kill at.
  const options = ["-f", "-qq", "-o", trace, "-e", `trace=${call}`, "-e", `inject=${call}:${injections[fault](nth)}`];
  const only = files.flatMap((file) => ["-P", file]);
  const ended = spawnSync("strace", [...options, ...only, process.execPath, ...args], {
    cwd: folder,
    encoding: "utf8",
    // Calls are counted in each thread: what Node hands to others, one of them does.
    env: { PATH: process.env.PATH ?? "", HOME: folder, UV_THREADPOOL_SIZE: "1" },
  });
  const isReached = /INJECTED|killed by SIGKILL/.test(readFileSync(trace, "utf8"));
  return { isReached, code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
}
