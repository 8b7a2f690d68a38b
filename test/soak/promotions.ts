import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock } from "../../src/clock/system.ts";
import { findPromotion, promotionTargets } from "../../src/commands/promote/find-promotion.ts";
import type { CommandTarget } from "../../src/commands/targets/create-target.ts";
import { type FoundTargets, findTargets } from "../../src/commands/targets/find-targets.ts";
import type { Terminal } from "../../src/commands/terminal.ts";
import type { JsonObject } from "../../src/contract/json.ts";
import { jsonDigest } from "../../src/core/plan/sign-plan.ts";
import type { ApplyMode } from "../../src/engine/passes/apply-pass.ts";
import { reconcile } from "../../src/engine/reconcile.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Received, startReceiver } from "../support/http-receiver.ts";
import type { Files } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { terminalOf } from "../unit/commands/terminal.ts";
import { randomFrom } from "./sweep.ts";

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

const faults = [
  "none",
  "red",
  "timeout",
  "error",
  "reset",
  "nonsense",
  "early crash",
  "crash",
  "unsent",
  "unrecorded",
] as const;

/**
 * What happens while a gate is asked. The process ends before or after the receipt is stored (`early crash`, `crash`), when the
 * intent of a write is in the journal (`unsent`), or when the write was made and is not recorded (`unrecorded`).
 */
type Fault = (typeof faults)[number];

/** A target by its stage and its place in the stage. */
type Place = { readonly stage: number; readonly column: number };

const nameOf = ({ stage, column }: Place): string => `s${stage}-t${column}`;
const promptOf = ({ column }: Place): string => `chat_prompt/registry-${column}/assistant`;
const patchFile = ({ stage, column }: Place): string => `patches/${stage}/${column}/prompt.yaml`;

const manifest = ({ column }: Place, text: string): JsonObject => ({
  type: "chat_prompt",
  name: "assistant",
  ml_repo: `registry-${column}`,
  messages: [{ role: "system", content: text }],
});

const patch = (place: Place, text: string): string => `match: ${promptOf(place)}
patch:
  messages: # what was tried out
    - role: system
      content: ${text}
`;

/** Promotes prompts through stages of targets whose gates answer at random, with faults, and looks at every content that begins to run. */
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
  for (let nth = 0; nth < promotions; nth += 1) {
    const column = Math.floor(random() * columns);
    const stage = Math.floor(random() * (stages - 1));
    const [from, to] = [
      { stage, column },
      { stage: stage + 1, column },
    ];
    if (random() < 0.5) {
      contents += 1;
      await world.write(from, `content ${contents}`);
      await apply(from, anyFault());
    }
    // Somebody may also write into the patches of a target without a promotion.
    if (random() < 0.1) {
      contents += 1;
      await world.write(to, `content ${contents}`);
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
  const places = Array.from({ length: stages }, (_, stage) =>
    Array.from({ length: columns }, (__, column): Place => ({ stage, column })),
  ).flat();
  const planes: Server[] = [];
  for (let stage = 0; stage < stages; stage += 1) planes.push(await serve());
  const judge = await startJudge(random);
  const files: Files = Object.fromEntries(
    places.flatMap((place) => [
      [`base/${place.column}/repo.yaml`, `type: ml-repo\nname: registry-${place.column}\n`],
      [`base/${place.column}/prompt.yaml`, JSON.stringify(manifest(place, "to be patched"))],
      [patchFile(place), patch(place, "content 0")],
    ]),
  );
  const source = await sourceOf(files);
  const opened = await openTargets(source.folder, places, { planes, judge });
  const shown = new Map<string, string | null>();
  return { write, turn: judge.turn, promote, apply } satisfies World;

  async function write(place: Place, text: string): Promise<void> {
    await source.write(patchFile(place), patch(place, text));
  }

  async function promote(from: Place, to: Place, fault: Fault, wrong: string[]) {
    judge.next(fault, to);
    const targets = promotionTargets(opened, [nameOf(from), nameOf(to)]);
    const terminal = { ...opened.terminal, emit: () => {}, isProposed: true };
    const found = await findPromotion({ ...targets, to: crashing(targets.to, fault) }, [], terminal).catch(crashed);
    if (found === null || !("promotion" in found)) return null;
    for (const { identity, after } of found.promotion.promoted) {
      if (judge.last(to, jsonDigest(after)) !== true)
        wrong.push(`${nameOf(to)}: ${identity} is proposed, and not green`);
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
    judge.next(fault, place);
    const mode: ApplyMode = { is: "apply", approve: async () => ({ is: "confirmed" }), signed: null };
    const run = { ...opened.terminal, clock: opened.clock, emit: () => {} };
    const result = await reconcile(crashing(target, fault), mode, run).catch(crashed);
    const live = await liveContent(planes[place.stage] as Server, place);
    shown.set(name, live);
    if (live !== null && live !== before) {
      const digest = jsonDigest(manifest(place, live));
      const receipts = await (await target.state.target()).gateReceipts(promptOf(place));
      const current = receipts.findLast(({ content }) => content === digest);
      if (current?.verdict !== "pass") wrong.push(`${name} runs ${live}, and its receipt is ${current?.verdict}`);
      if (judge.last(place, digest) !== true) wrong.push(`${name} runs ${live}, and its gate said no`);
    }
    const isStopped = result?.what === "applied" && result.report.summary.blocked > 0;
    return { hasChanged: live !== before, isStopped, wrong };
  }
}

function crashing<Target extends Pick<CommandTarget, "gates" | "server">>(target: Target, fault: Fault): Target {
  const { gates } = target;
  if (fault === "unsent" || fault === "unrecorded") return { ...target, server: crashingServer(target.server, fault) };
  if ((fault !== "crash" && fault !== "early crash") || gates === undefined) return target;
  const keep: typeof gates.keep = async (receipts) => {
    if (fault === "crash") await gates.keep(receipts);
    throw new Crash();
  };
  return { ...target, gates: { ...gates, keep } };
}

function crashingServer(server: CommandTarget["server"], fault: "unsent" | "unrecorded"): CommandTarget["server"] {
  const at = fault === "unsent" ? "begin" : "close";
  return {
    ...server,
    connect: async (rules) => {
      const connection = await server.connect(rules);
      const ledger = new Proxy(connection.session.ledger, {
        get: (known, name) => {
          const value: unknown = Reflect.get(known, name, known);
          if (typeof value !== "function") return value;
          if (name !== at) return value.bind(known);
          return async (...given: readonly unknown[]) => {
            if (fault === "unsent") await value.apply(known, given);
            throw new Crash();
          };
        },
      });
      return { ...connection, session: { ...connection.session, ledger } };
    },
  };
}

function isCrash(fault: Fault): boolean {
  return ["early crash", "crash", "unsent", "unrecorded"].includes(fault);
}

class Crash extends Error {}

function crashed(error: unknown): null {
  if (error instanceof Crash) return null;
  throw error;
}

async function liveContent({ call }: Server, { column }: Place): Promise<string | null> {
  const { data } = await call("GET", `/api/ml/v1/prompt-versions?name=assistant`);
  const rows: readonly {
    readonly manifest: JsonObject & { readonly messages: readonly { content: string }[] };
    readonly version: number;
  }[] = data;
  const own = rows.filter((row) => row.manifest.ml_repo === `registry-${column}`);
  const newest = own.toSorted((a, b) => b.version - a.version)[0];
  return newest?.manifest.messages[0]?.content ?? null;
}

type Judge = {
  readonly url: string;
  readonly keyFile: string;
  /** What happens to the next question of a target, and whether an answer that it has given turns. */
  readonly next: (fault: Fault, place: Place) => void;
  readonly turn: (place: Place) => void;
  /** What it has said last of a content: true for green; undefined if it was not asked. */
  readonly last: (place: Place, digest: string) => boolean | undefined;
};

async function startJudge(random: () => number): Promise<Judge> {
  const verdicts = new Map<string, boolean>();
  const said = new Map<string, boolean>();
  const asked = new Map<string, string>();
  let fault: Fault = "none";
  const keyFile = join(await temporaryFolder(), "key");
  await writeFile(keyFile, "a key");
  const keyOf = (place: string, digest: string): string => `${place} ${digest}`;
  const { url, received } = await startReceiver((response, nth) => {
    const { path, body } = received[nth - 1] as Received;
    const place = path.slice(1);
    const { digest } = JSON.parse(body);
    const key = keyOf(place, digest);
    asked.set(place, key);
    const isGreen = verdicts.get(key) ?? (digest === start(place) || random() < 0.7);
    const passes = isGreen && fault !== "red";
    verdicts.set(key, passes);
    const isAnswered = fault === "none" || fault === "red" || isCrash(fault);
    said.set(key, isAnswered && passes);
    if (fault === "timeout") return;
    if (fault === "reset") return void response.destroy();
    if (fault === "error") return void response.writeHead(500).end();
    const answer = fault === "nonsense" ? { pass: "yes" } : { pass: passes, summary: "judged" };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  return {
    url,
    keyFile,
    next: (one) => {
      fault = one;
    },
    turn: (place) => {
      const key = asked.get(nameOf(place));
      if (key !== undefined) verdicts.set(key, !verdicts.get(key));
    },
    last: (place, digest) => said.get(keyOf(nameOf(place), digest)),
  };
}

// Every target may begin.
function start(name: string): string {
  return jsonDigest(manifest({ stage: 0, column: Number(name.slice(name.indexOf("t") + 1)) }, "content 0"));
}

type Opened = FoundTargets & {
  readonly terminal: Terminal;
  readonly clock: Terminal["clock"];
  readonly target: (name: string) => CommandTarget;
};

async function openTargets(
  folder: string,
  places: readonly Place[],
  { planes, judge }: { readonly planes: readonly Server[]; readonly judge: Judge },
): Promise<Opened> {
  const config = join(await temporaryFolder(), "operator.yaml");
  const targets = places.map((place) => {
    const { url, data } = planes[place.stage] as Server;
    return {
      name: nameOf(place),
      server: url,
      tokenFile: join(data, "admin-token"),
      paths: [`base/${place.column}`],
      patches: dirname(patchFile(place)),
      gate: { match: "chat_prompt/**", url: `${judge.url}/${nameOf(place)}`, secretFile: judge.keyFile },
    };
  });
  await writeFile(config, JSON.stringify({ targets }));
  const { terminal } = terminalOf({ cwd: folder });
  const clock: Terminal["clock"] = {
    ...systemClock,
    // A gate is waited for: ten seconds are too many here.
    timeout: (ms) => systemClock.timeout(ms === 10_000 ? 100 : ms),
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
