import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import { afterRevision, decisionsAt, heldResources, isOfProposal, withProposalHolds } from "../../core/holds.ts";
import { runWarning } from "../../core/run-warning.ts";
import type { Holds } from "../../engine/target.ts";
import { readGivenText, whyUnreadable } from "../../files/read-given-file.ts";
import { databaseStateAt, stateAt } from "../../state/open-state.ts";
import type { DatabasePlace, OnForgotten, TargetState } from "../../state/state.ts";
import type { Invocation } from "../command.ts";
import type { Terminal } from "../terminal.ts";

/** Where the state of a target is: in a folder, or in a database with its caches in the folder. */
export type TargetStatePlace = Omit<DatabasePlace, "address"> & {
  readonly database: Secret | null;
  /** Set where nothing in it is sealed, so that processes with different keys share it. */
  readonly isUnsealed?: true;
};

/** The state of a target: its key, whether caches are used, and for which build of the program they are valid. */
export function targetState(
  { folder, target, database, isUnsealed }: TargetStatePlace,
  invocation: Invocation,
): TargetState {
  const { terminal } = invocation;
  const { clock, random, stopping } = terminal;
  const onForgotten = warnNotRemembered(terminal);
  const readKey = () => readStateKey(terminal);
  const options = {
    clock,
    random,
    onForgotten,
    readKey,
    stopping,
    notify: (notice: string) => void logNotice(notice, invocation),
  };
  return {
    ...(database === null
      ? stateAt(folder, options)
      : databaseStateAt(
          { address: database, target, folder },
          isUnsealed ? { ...options, readKey: () => null } : options,
        )),
    folder,
    readKey,
    build: () => buildDigest(terminal.program, database === null ? "times" : "contents"),
    onForgotten,
    caches: usesCaches(terminal),
  };
}

// The log is loaded here, because hardly any command has a notice.
async function logNotice(notice: string, invocation: Invocation): Promise<void> {
  const { terminalLog } = await import("../output/terminal-log.ts");
  terminalLog(invocation).warn({ event: "state-notice" }, notice);
}

const builds = new Map<string, string>();

// Identifies a build of the program by its files, because another build may parse the same source differently. A process
// runs one build, whatever its files become.
function buildDigest(program: string, by: BuildMark): string {
  const digest = builds.get(program + by) ?? digestOfFiles(program, by);
  builds.set(program + by, digest);
  return digest;
}

// The machines that share a database have installed one build at different times.
type BuildMark = "times" | "contents";

function digestOfFiles(program: string, by: BuildMark): string {
  // To read all of a build takes a tenth of a second.
  const digest = by === "contents" ? join(program, "digest") : null;
  if (digest !== null && existsSync(digest)) return process.version + readFileSync(digest, "utf8");
  const isFolder = statSync(program).isDirectory();
  const files = isFolder ? readdirSync(program, { recursive: true, encoding: "utf8" }).toSorted() : [""];
  const installed = join(program, "../node_modules/.package-lock.json");
  const build = createHash("sha256").update(process.version);
  for (const file of [installed, ...files.map((name) => join(program, name))]) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isFile() !== true) continue;
    if (by === "times") build.update(`${file}\0${found.size} ${found.mtimeMs}\n`);
    else build.update(`${relative(program, file)}\0${found.size}\n`).update(readFileSync(file));
  }
  return build.digest("base64url");
}

// Whether a command uses the caches of earlier commands; `HOLDFAST_CACHE=off` turns them off.
function usesCaches({ env: { HOLDFAST_CACHE: choice = "" } }: Terminal): boolean {
  if (choice === "off") return false;
  if (choice === "" || choice === "on") return true;
  throw new HoldfastError("invalid", `HOLDFAST_CACHE is "${choice}"`, { hint: "set it to off or on, or leave it out" });
}

const shownWarnings = new WeakMap<Terminal, Set<string>>();

// Warns once about each thing that cannot be stored for the next run.
function warnNotRemembered(terminal: Terminal): OnForgotten {
  const shown = shownWarnings.get(terminal) ?? new Set();
  shownWarnings.set(terminal, shown);
  return (what, why) => {
    const text = `${what} is not remembered for the next run: ${why}`;
    if (!shown.has(text)) terminal.warnings.add(runWarning("not-remembered", text));
    shown.add(text);
  };
}

/**
 * The key that seals the ledger, from `HOLDFAST_STATE_KEY` or the file of `HOLDFAST_STATE_KEY_FILE`; null if neither is set,
 * because the state folder then holds the key.
 */
export function readStateKey({ env, cwd }: Terminal): string | null {
  if (env.HOLDFAST_STATE_KEY) return env.HOLDFAST_STATE_KEY;
  if (!env.HOLDFAST_STATE_KEY_FILE) return null;
  try {
    return readGivenText(resolve(cwd, env.HOLDFAST_STATE_KEY_FILE));
  } catch (cause) {
    throw new HoldfastError("error", `the file that HOLDFAST_STATE_KEY_FILE names ${whyUnreadable(cause)}`, { cause });
  }
}

/** What people have put on hold, in the state of a target. */
export function holdsIn(
  { target }: TargetState,
  { now, proposes }: { readonly now: () => number; readonly proposes: boolean },
): Holds {
  return {
    held: async () => {
      const store = await target();
      const decisions = await store.decisions();
      // Where drift is no longer proposed, git wins.
      if (!proposes && decisions.holds.some(isOfProposal)) await store.decide((all) => withProposalHolds(all, []));
      return heldResources(decisionsAt(decisions, now()));
    },
    heldAfter: async (contents) => {
      const { after } = await (await target()).decide((decisions) =>
        afterRevision(decisionsAt(decisions, now()), contents),
      );
      return heldResources(after);
    },
  };
}
