import { HoldfastError } from "../../core/errors.ts";
import type { AskedValue, ExplainedValue } from "../../daemon/api/dashboard-source.ts";
import type { DesiredRead } from "../../engine/load.ts";
import { explainRead, reconcile } from "../../engine/reconcile.ts";
import type { Terminal } from "../terminal.ts";
import type { CommandTarget } from "./create-target.ts";
import { type FoundTargets, usableTarget } from "./find-targets.ts";
import { whyReport } from "./why-report.ts";

/** Where explanations take their manifests from, and when they end. */
export type ExplainerOptions = {
  /** What the last pass of a target has read; null where this process does not remember it. */
  readonly lastRead: (target: string) => DesiredRead | null;
  readonly terminal: Terminal;
};

/** Explains where a value of a target comes from, as `holdfast why` does. */
export type ResourceExplainer = (target: CommandTarget, asked: AskedValue) => Promise<ExplainedValue>;

/** The most versions that are listed. */
const MOST_VERSIONS = 20;

/** How long one explanation may take, in milliseconds. */
const MOST_MS = 15_000;

/** Creates what explains values to those who look at a dashboard: each reads that one resource, with connections of its own. */
export function resourceExplainer(
  { reader }: Pick<FoundTargets, "reader">,
  { lastRead, terminal }: ExplainerOptions,
): ResourceExplainer {
  const { clock, random, cwd } = terminal;
  return async (target, { identity, pointer }) => {
    const late = clock.timeout(MOST_MS);
    await using own = reader(usableTarget(target, { reading: true }), { signal: late });
    const stopping = AbortSignal.any([terminal.stopping, late]);
    const run = { clock, random, stopping, signal: stopping, emit: () => undefined };
    const mode = { is: "why", asked: identity + pointer, versions: MOST_VERSIONS } as const;
    // The files of a folder may have changed since the pass.
    const read = target.remote === null ? null : lastRead(target.name);
    const at = new Date(clock.now()).toISOString();
    try {
      const end = await (read === null ? reconcile(own, mode, run) : explainRead(own, mode, read, run));
      if (end.what !== "explained") throw new HoldfastError("invalid", "the source is refused", { hint: VALIDATE });
      if (end.identity !== identity) throw new HoldfastError("invalid", `the source does not declare ${identity}`);
      const report = await whyReport(end, own, { cwd, stopping });
      return { at, manifests: read === null ? "now" : "last-pass", report, versions: end.versions ?? null };
    } catch (error) {
      if (!late.aborted) throw error;
      throw new HoldfastError("timeout", `it was not read within ${MOST_MS / 1000} s`, { cause: error });
    }
  };
}

const VALIDATE = "holdfast validate says why";
