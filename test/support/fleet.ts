import { team } from "./manifests.ts";
import type { Server } from "./server.ts";
import { operatorOf, upstreamOf } from "./upstream.ts";

/** The key that seals the state of a fleet. */
export const keyText = "11".repeat(32);
/** The targets of a fleet, each with a team of its name. */
export const targets = ["a", "b", "c", "d", "e", "f"];

/** A repository with one folder for each target, and machines that share their passes by a database. */
export async function fleetOf(postgres: { readonly url: string }, server: Server, keys: object = {}) {
  const upstream = await upstreamOf(Object.fromEntries(targets.map((name) => [`t/${name}/team.yaml`, team(name)])));
  const config = {
    sources: [{ name: "platform", url: upstream.folder }],
    targets: [{ name: "{dir}", each: "t/*" }],
    ...keys,
  };
  const env = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText, HOLDFAST_CACHE: "on" };
  const machine = async (flags: readonly string[] = [], more: { readonly [name: string]: string } = {}) => {
    const operator = await operatorOf(config, server);
    const watch = operator.start(["watch", "--workers", "4", "--interval", "2", "--sink", "file", ...flags], {
      ...env,
      ...more,
    });
    const status = async (): Promise<readonly Status[]> =>
      JSON.parse((await operator.runHere(["status", "-o", "json"], env)).stdout).targets;
    return { operator, watch, status, env };
  };
  /** A machine with the configuration, on which no daemon runs. */
  const visitor = () => operatorOf(config, server);
  return { upstream, machine, visitor, env };
}

/** What the status of a target says, as far as these tests read it. */
type Status = {
  readonly target: string;
  readonly sync: string;
  readonly appliedRevision: string | null;
  readonly held: readonly string[];
  readonly condition: string;
  readonly counts: { readonly [result: string]: number };
  readonly lastPass: { readonly machine?: string; readonly result: string } | null;
};

/** A change of every target's team. */
export const changed = (member: string) =>
  Object.fromEntries(targets.map((name) => [`t/${name}/team.yaml`, team(name, member)]));

/** For a wait that asks for a status: that is a whole command, and takes the processor from the passes it waits for. */
export const statusPolls = { interval: 500 } as const;

/** Whether all targets have been made equal to a commit. */
export const isAt = (commit: string) => (all: readonly Status[]) =>
  all.length === targets.length &&
  all.every(({ sync, appliedRevision }) => sync === "Synced" && appliedRevision === commit);
