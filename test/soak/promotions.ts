import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock } from "../../src/clock/system.ts";
import { findPromotion, promotionTargets } from "../../src/commands/promote/find-promotion.ts";
import type { CommandTarget } from "../../src/commands/targets/create-target.ts";
import { type FoundTargets, findTargets } from "../../src/commands/targets/find-targets.ts";
import type { Terminal } from "../../src/commands/terminal.ts";
import type { JsonObject } from "../../src/contract/json.ts";
import { HoldfastError } from "../../src/core/errors.ts";
import { jsonDigest } from "../../src/core/plan/sign-plan.ts";
import type { ApplyMode } from "../../src/engine/passes/apply-pass.ts";
import { reconcile } from "../../src/engine/reconcile.ts";
import { temporaryFolder } from "../support/folder.ts";
import type { Files } from "../support/manifests.ts";
import { randomFrom } from "../support/random.ts";
import type { Server } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { terminalOf } from "../unit/commands/terminal.ts";
import {
  contentField,
  type Evidence,
  type Fault,
  FIRST,
  faults,
  flavours,
  identityOf,
  manifest,
  nameOf,
  type Place,
  startEvidence,
  textOf,
} from "./gate-evidence.ts";

/** How large a sweep of promotions is. */
export type PromotionSweep = {
  readonly stages: number;
  /** The targets of each stage. */
  readonly columns: number;
  readonly promotions: number;
  readonly seed: number;
};

/** What a sweep of promotions did, and what it found wrong. */
export type SweptPromotions = {
  /** Promotions that proposed something, contents that a target began to run, and steps that a gate has stopped. */
  readonly proposed: number;
  readonly applied: number;
  readonly stopped: number;
  readonly faults: { readonly [fault in Fault]: number };
  readonly wrong: readonly string[];
};

const patchFile = ({ stage, column }: Place): string => `patches/${stage}/${column}/tried.yaml`;

const patch = (place: Place, text: string): string => `# what was tried out
match: ${identityOf(place)}
patch: ${JSON.stringify(contentField(place, text))}
`;

/**
 * Promotes prompts and models through stages of targets whose gates answer at random, with faults, and looks at every content
 * that begins to run. The seed decides which column has which gates.
 */
export async function sweepPromotions({ stages, columns, promotions, seed }: PromotionSweep): Promise<SweptPromotions> {
  const random = randomFrom(seed);
  const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const world = await createWorld({ stages, columns }, random);
  const counted = Object.fromEntries(faults.map((fault) => [fault, 0])) as Record<Fault, number>;
  const sum = { proposed: 0, applied: 0, stopped: 0 };
  const wrong: string[] = [];
  let contents = 0;
  const apply = async (place: Place, fault: Fault): Promise<void> => {
    counted[fault] += 1;
    const found = await world.apply(place, fault);
    sum.applied += found.hasChanged ? 1 : 0;
    sum.stopped += found.isStopped ? 1 : 0;
    wrong.push(...found.wrong);
  };
  const anyFault = (): Fault => (random() < 0.5 ? "none" : one(faults));
  for (let column = 0; column < columns; column += 1) await apply(world.place(0, column), "none");
  for (let nth = 0; nth < promotions; nth += 1) {
    const column = Math.floor(random() * columns);
    // Mostly from one of the stages that a content has reached.
    const reached = Array.from({ length: stages - 1 }, (_, stage) => stage).filter((stage) =>
      world.isLive(stage, column),
    );
    const stage = random() < 0.8 && reached.length > 0 ? one(reached) : Math.floor(random() * (stages - 1));
    const [from, to] = [world.place(stage, column), world.place(stage + 1, column)];
    if (random() < 0.5) {
      contents += 1;
      await world.write(from, `content-${contents}`);
      await apply(from, anyFault());
    }
    // Somebody may also write into the patches of a target without a promotion.
    if (random() < 0.1) {
      contents += 1;
      await world.write(to, `content-${contents}`);
    }
    const fault = anyFault();
    counted[fault] += 1;
    const files = await world.promote(from, to, fault, wrong);
    if (files !== null) sum.proposed += 1;
    // What was green when it was proposed may be red when it is merged, and the other way round.
    if (random() < 0.3) world.turn(to);
    if (files !== null && random() < 0.9) await files.merge();
    await apply(to, anyFault());
  }
  return { ...sum, faults: counted, wrong };
}

type World = {
  readonly place: (stage: number, column: number) => Place;
  readonly isLive: (stage: number, column: number) => boolean;
  readonly write: (place: Place, text: string) => Promise<void>;
  readonly turn: (place: Place) => void;
  /** What a promotion changes; null if it changes nothing. */
  readonly promote: (
    from: Place,
    to: Place,
    fault: Fault,
    wrong: string[],
  ) => Promise<{ readonly merge: () => Promise<void> } | null>;
  readonly apply: (
    place: Place,
    fault: Fault,
  ) => Promise<{ readonly hasChanged: boolean; readonly isStopped: boolean; readonly wrong: readonly string[] }>;
};

async function createWorld({ stages, columns }: Pick<PromotionSweep, "stages" | "columns">, random: () => number) {
  const first = Math.floor(random() * flavours.length);
  const places = Array.from({ length: stages }, (_, stage) =>
    Array.from({ length: columns }, (__, column): Place => {
      const flavour = flavours[(first + column) % flavours.length] as (typeof flavours)[number];
      return { ...flavour, ...(stage === 0 && { gates: ["url"] }), stage, column };
    }),
  );
  const evidence = await startEvidence(places.flat(), random);
  const files: Files = Object.fromEntries(
    places.flat().flatMap((place) => [
      [`base/${place.column}/repo.yaml`, `type: ml-repo\nname: registry-${place.column}\n`],
      [`base/${place.column}/tried.yaml`, JSON.stringify(manifest(place, "to-be-patched"))],
      [patchFile(place), patch(place, FIRST)],
    ]),
  );
  const source = await sourceOf(files);
  const opened = await openTargets(source.folder, places.flat(), evidence);
  const shown = new Map<string, string | null>();
  const place = (stage: number, column: number) => places[stage]?.[column] as Place;
  const isLive = (stage: number, column: number) => typeof shown.get(nameOf({ stage, column })) === "string";
  return { place, isLive, write, turn: evidence.turn, promote, apply } satisfies World;

  async function write(place: Place, text: string): Promise<void> {
    await source.write(patchFile(place), patch(place, text));
  }

  async function promote(from: Place, to: Place, fault: Fault, wrong: string[]) {
    evidence.next(fault, to);
    const targets = promotionTargets(opened, [nameOf(from), nameOf(to)]);
    const terminal = { ...opened.terminal, emit: () => {}, isProposed: true };
    const found = await findPromotion({ ...targets, to: failing(targets.to, fault, evidence) }, [], terminal).catch(
      crashed,
    );
    if (found === null || !("promotion" in found)) return null;
    for (const { identity, after } of found.promotion.promoted) {
      if (!evidence.isGreen(to, jsonDigest(after))) wrong.push(`${nameOf(to)}: ${identity} is proposed, and not green`);
    }
    const changed = found.promotion.files;
    if (changed.length === 0) return null;
    return {
      merge: async () => {
        for (const { path, after } of changed) await source.write(path, after);
      },
    };
  }

  async function apply(place: Place, fault: Fault) {
    const name = nameOf(place);
    const target = opened.target(name);
    const wrong: string[] = [];
    const before = shown.get(name) ?? null;
    const process = evidence.next(fault, place);
    const began = opened.clock.now();
    const mode: ApplyMode = { is: "apply", approve: async () => ({ is: "confirmed" }), signed: null };
    const run = { ...opened.terminal, clock: opened.clock, emit: () => {}, signal: process };
    const result = await reconcile(failing(target, fault, evidence, process), mode, run).catch((error: unknown) =>
      process.aborted ? null : crashed(error),
    );
    const live = await liveContent(evidence.planes[place.stage] as Server, place);
    shown.set(name, live);
    if (live !== null && live !== before) {
      const digest = jsonDigest(manifest(place, live));
      const receipts = await (await target.state.target()).gateReceipts(identityOf(place));
      const current = receipts.filter(({ content, at }) => content === digest && Date.parse(at) >= began);
      const last = new Map(current.map(({ gate, verdict }) => [gate, verdict]));
      const isCovered = last.size === place.gates.length && [...last.values()].every((verdict) => verdict === "pass");
      if (!isCovered) wrong.push(`${name} runs ${live}, and its receipts are: ${[...last.values()]}`);
      if (!evidence.isGreen(place, digest)) wrong.push(`${name} runs ${live}, and a gate said no`);
    }
    const isStopped = result?.what === "applied" && result.report.summary.blocked > 0;
    return { hasChanged: live !== before, isStopped, wrong };
  }
}

type Failing = Pick<CommandTarget, "gates" | "server">;

/** A target whose process ends where the fault says, and whose questions the evidence knows of. */
function failing<Target extends Failing>(target: Target, fault: Fault, evidence: Evidence, process?: AbortSignal) {
  const { gates, server } = target;
  if (gates === undefined) return target;
  const registryOf: typeof gates.registryOf = (name) => {
    evidence.beginQuestion();
    return gates.registryOf(name);
  };
  const keep: typeof gates.keep = async (receipts) => {
    if (fault === "early crash") throw new Crash();
    await gates.keep(receipts);
    evidence.endQuestion();
    if (fault === "crash") throw new Crash();
  };
  const ending = { ...target, gates: { ...gates, registryOf, keep } };
  const hasEnded = (name: string): boolean => process?.aborted === true || (fault === "unrecorded" && name === "close");
  return { ...ending, server: recording(server, hasEnded, (name) => fault === "unsent" && name === "begin") };
}

/** A server whose ledger a process that has ended does not reach, or that ends right after a call. */
function recording(
  server: CommandTarget["server"],
  hasEnded: (name: string) => boolean,
  endsAfter: (name: string) => boolean,
): CommandTarget["server"] {
  return {
    ...server,
    connect: async (rules) => {
      const connection = await server.connect(rules);
      const ledger = new Proxy(connection.session.ledger, {
        get: (known, name) => {
          const value: unknown = Reflect.get(known, name, known);
          if (typeof value !== "function") return value;
          return (...given: readonly unknown[]) => {
            if (hasEnded(String(name))) throw new Crash();
            const result: unknown = value.apply(known, given);
            return endsAfter(String(name)) ? Promise.resolve(result).then(end) : result;
          };
        },
      });
      return { ...connection, session: { ...connection.session, ledger } };
    },
  };
}

function end(): never {
  throw new Crash();
}

class Crash extends Error {}

function crashed(error: unknown): null {
  // The lease of a process that has ended lasts for a while.
  if (error instanceof Crash || (error instanceof HoldfastError && error.code === "locked")) return null;
  throw error;
}

async function liveContent({ call }: Server, { type, column }: Place): Promise<string | null> {
  const list = type === "chat_prompt" ? "prompt-versions" : "model-versions";
  const { data } = await call("GET", `/api/ml/v1/${list}?name=assistant-${column}`);
  const rows: readonly { readonly manifest: JsonObject; readonly version: number }[] = data;
  const newest = rows.toSorted((a, b) => b.version - a.version)[0];
  return newest === undefined ? null : textOf(newest.manifest);
}

type Opened = FoundTargets & {
  readonly terminal: Terminal;
  readonly clock: Terminal["clock"];
  readonly target: (name: string) => CommandTarget;
};

/** The targets of a sweep, as commands find them, with a clock that waits for nothing. */
export async function openTargets(
  folder: string,
  places: readonly Place[],
  { planes, urls, gatesOf }: Evidence,
): Promise<Opened> {
  const config = join(await temporaryFolder(), "operator.yaml");
  const targets = places.map((place) => {
    return {
      name: nameOf(place),
      server: urls[place.stage],
      tokenFile: join((planes[place.stage] as Server).data, "admin-token"),
      paths: [`base/${place.column}`],
      patches: dirname(patchFile(place)),
      gate: gatesOf(place),
    };
  });
  await writeFile(config, JSON.stringify({ targets }));
  const { terminal } = terminalOf({ cwd: folder });
  let skipped = 0;
  const clock: Terminal["clock"] = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + skipped,
    // A gate is waited for, and a list that fails is asked for again: seconds are too long here.
    timeout: (ms) => systemClock.timeout(ms === 10_000 ? 100 : ms),
    sleep: (ms, options) => {
      skipped += ms;
      return systemClock.sleep(0, options);
    },
  };
  const flags = { config, source: folder, state: join(await temporaryFolder(), "state") };
  const found = await findTargets(
    { args: [], flags, terminal: { ...terminal, clock } },
    { reading: false, unattended: true },
  );
  const byName = new Map(found.targets.map((target) => [target.name, target]));
  return {
    ...found,
    terminal: { ...terminal, clock },
    clock,
    target: (name) => byName.get(name) as CommandTarget,
  };
}
