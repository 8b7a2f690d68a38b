import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../src/contract/json.ts";
import { jsonDigest } from "../../src/core/plan/sign-plan.ts";
import { answer, type Fault as Broken, dropBefore, type FaultProxy, faultProxy } from "../support/fault-proxy.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Received, startReceiver } from "../support/http-receiver.ts";
import { foundations } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

/** What a gate of the sweep asks. */
type Question = "url" | "metric" | "job";

/** What is promoted in a column, and what the gates ask about it. */
type Flavour = { readonly type: "chat_prompt" | "model-version"; readonly gates: readonly Question[] };

/** Each is in a sweep of as many columns. */
export const flavours: readonly Flavour[] = [
  { type: "chat_prompt", gates: ["url"] },
  { type: "model-version", gates: ["metric"] },
  { type: "chat_prompt", gates: ["job"] },
  { type: "model-version", gates: ["job", "metric"] },
];

/** A target by its stage and its place in the stage; nothing was tried out before the first stage, so a service judges there. */
export type Place = Flavour & { readonly stage: number; readonly column: number };

/** The name of a target. */
export const nameOf = ({ stage, column }: Pick<Place, "stage" | "column">): string => `s${stage}-t${column}`;

/** The identity of what is promoted in a column. */
export const identityOf = ({ type, column }: Place): string => `${type}/registry-${column}/assistant-${column}`;

/** The field that differs between contents. */
export function contentField({ type }: Place, text: string): JsonObject {
  return type === "chat_prompt"
    ? { messages: [{ role: "system", content: text }] }
    : { source: { type: "external", uri: `s3://${text}` } };
}

/** What is promoted in a column, with one content. */
export function manifest(place: Place, text: string): JsonObject {
  const { type, column } = place;
  return { type, name: `assistant-${column}`, ml_repo: `registry-${column}`, ...contentField(place, text) };
}

/** The content with which every target may begin. */
export const FIRST = "content-0";

/** What can happen while a gate is asked, or around the write that it allows. */
export const faults = [
  "none",
  /** The service says no, the metric is below its bound, the newest finished run has failed. */
  "red",
  "timeout",
  "error",
  "reset",
  "nonsense",
  /** There is no such metric, no run that began after the version was registered, or no verdict in the answer. */
  "missing",
  /** The metric is no number, and a run does not say when it began. */
  "not a number",
  /** What was green is red as soon as the receipt is stored. */
  "falls",
  /** The process ends before the receipt is stored, or after it. */
  "early crash",
  "crash",
  /** It ends with the intent of a write in the journal, during the request, or before the end of the write is recorded. */
  "unsent",
  "lost",
  "unrecorded",
] as const;

/** One of them. */
export type Fault = (typeof faults)[number];

/** The control planes of the stages, and what their gates are answered. */
export type Evidence = {
  readonly planes: readonly Server[];
  /** The addresses under which targets reach them. */
  readonly urls: readonly string[];
  readonly gatesOf: (place: Place) => readonly JsonObject[];
  /** What happens to the next questions of a target; a process that has ended is replaced. Ends with the process of the step. */
  readonly next: (fault: Fault, place: Place) => AbortSignal;
  /** From now on, what is read of the control plane before the target is evidence. */
  readonly beginQuestion: () => void;
  /** Receipts have been stored. */
  readonly endQuestion: () => void;
  /** What was green turns red, and the other way round. */
  readonly turn: (place: Place) => void;
  /** Whether every gate of the target was green for exactly this content since `next`. */
  readonly isGreen: (place: Place, digest: string) => boolean;
};

type Run = { readonly status: string; readonly createdAt: number | null; readonly endTime: number };
type Row = { manifest: JsonObject; created_at: string; metrics: unknown };

const DAY_MS = 86_400_000;
const JOB = "job/dev:web/check";
const job = {
  type: "job",
  name: "check",
  workspace_fqn: "dev:web",
  image: { type: "image", image_uri: "example/a:1" },
};

/** Starts the control planes of the stages, and what answers their gates at random. */
export async function startEvidence(places: readonly Place[], random: () => number): Promise<Evidence> {
  const verdicts = new Map<string, boolean>();
  const said = new Map<string, boolean>();
  const runs = new Map<string, readonly Run[]>();
  let asked: readonly string[] = [];
  let current = { fault: "none" as Fault, place: places[0] as Place, isAsking: false, ended: new AbortController() };
  const planes: Server[] = [];
  const proxies: FaultProxy<Server>[] = [];
  const { folder } = await sourceOf(foundations);
  for (const stage of new Set(places.map((one) => one.stage))) {
    const plane = await serve(["--seed", folder]);
    await plane.call("PUT", "/api/svc/v1/apps", { manifest: job });
    planes.push(plane);
    proxies.push(await proxyOf(plane, stage));
  }
  const keyFile = join(await temporaryFolder(), "key");
  await writeFile(keyFile, "a key");
  const { url, received } = await startReceiver((response, nth) => {
    const { path, body } = received[nth - 1] as Received;
    const { fault, place } = current;
    if (path.slice(1) !== nameOf(place)) throw new TypeError(`${path} asks, and it is the turn of ${nameOf(place)}`);
    const { digest } = JSON.parse(body);
    const passes = verdictOf("url", digest);
    if (fault === "timeout") return;
    if (fault === "reset") return void response.destroy();
    if (fault === "error") return void response.writeHead(500).end();
    say("url", digest, passes && !["nonsense", "missing", "not a number"].includes(fault));
    const fields = { pass: fault === "nonsense" ? "yes" : passes, summary: "judged" };
    const replies = { missing: { summary: "judged" }, "not a number": { ...fields, score: "NaN" } };
    const reply = fault === "missing" || fault === "not a number" ? replies[fault] : fields;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply));
  });
  const judge = { url, secretFile: keyFile };
  return {
    planes,
    urls: proxies.map((proxy) => proxy.url),
    gatesOf: (place) => place.gates.map((question) => gateOf(place, question, judge)),
    next: (fault, place) => {
      for (const proxy of proxies) proxy.asked.length = 0;
      said.clear();
      asked = [];
      current = { fault, place, isAsking: false, ended: new AbortController() };
      if (place.gates.includes("job")) drawRuns(place, fault);
      return current.ended.signal;
    },
    beginQuestion: () => {
      current.isAsking = true;
    },
    endQuestion: () => {
      if (current.fault !== "falls") return;
      current.isAsking = false;
      turn(current.place);
    },
    turn,
    isGreen: (place, digest) => place.gates.every((question) => said.get(keyOf(place, question, digest)) === true),
  };

  function turn(place: Place): void {
    for (const key of asked) verdicts.set(key, !verdicts.get(key));
    if (place.gates.includes("job")) begin(place, random() < 0.5 ? "FAILED" : "FINISHED", Date.now());
  }

  // Every target may begin, as far as a verdict is concerned.
  function verdictOf(question: Question, digest: string): boolean {
    const { fault, place } = current;
    const key = keyOf(place, question, digest);
    const isGreen = verdicts.get(key) ?? (digest === jsonDigest(manifest(place, FIRST)) || random() < 0.7);
    verdicts.set(key, isGreen && fault !== "red");
    asked = [...asked, key];
    return isGreen && fault !== "red";
  }

  function say(question: Question, digest: string, isGreen: boolean): void {
    said.set(keyOf(current.place, question, digest), isGreen);
  }

  function begin(place: Place, status: string, createdAt: number | null): void {
    const endTime = status === "RUNNING" || createdAt === null ? 0 : createdAt + 1;
    runs.set(nameOf(place), [...(runs.get(nameOf(place)) ?? []), { status, createdAt, endTime }]);
  }

  function drawRuns(place: Place, fault: Fault): void {
    const now = Date.now();
    const isUntimed = runs.get(nameOf(place))?.some(({ createdAt }) => createdAt === null) === true;
    if (fault === "missing" || isUntimed) runs.set(nameOf(place), []);
    if (fault === "missing") begin(place, "FINISHED", now - DAY_MS);
    else if (fault === "red") begin(place, "FAILED", now);
    else if (random() < 0.8) begin(place, "FINISHED", now);
    if (fault === "not a number") begin(place, "FINISHED", null);
    if (random() < 0.2) begin(place, "RUNNING", now + 1);
  }

  async function proxyOf(plane: Server, stage: number): Promise<FaultProxy<Server>> {
    const proxy = await faultProxy(plane);
    let registered: readonly { readonly digest: string; readonly at: number }[] = [];
    const isAsked = (path: string): boolean =>
      current.isAsking &&
      current.place.stage === stage + 1 &&
      current.place.gates.some((one) => one !== "url") &&
      /versions|\/runs/.test(path);
    proxy.inject(
      ({ method, path }) => method === "GET" && isAsked(path),
      async (passing) => {
        const broken = brokenLists[current.fault];
        if (broken !== undefined) return broken(passing);
        const { status, body } = await passing.forward();
        const page = JSON.parse(body.toString());
        if (passing.asked.path.includes("/runs")) page.data = readRuns();
        else registered = readVersions(page.data);
        if (page.pagination !== undefined) page.pagination.total = page.data.length;
        passing.reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(page));
      },
    );
    proxy.inject(
      ({ method, path, body }) =>
        current.fault === "lost" &&
        current.place.stage === stage &&
        method !== "GET" &&
        /^\/api\/ml\/v1\/(?:prompt|model)-versions/.test(path) &&
        !body.includes('"dryRun":true'),
      async ({ forward, reply }) => {
        if (!current.ended.signal.aborted) await forward();
        current.ended.abort(new Error("the process has ended"));
        reply.destroy();
      },
    );
    return proxy;

    function readRuns(): readonly object[] {
      const rows = runs.get(nameOf(current.place)) ?? [];
      const isTimed = rows.every(({ createdAt }) => createdAt !== null);
      for (const { digest, at } of registered) {
        const since = rows.filter(({ createdAt, endTime }) => (createdAt ?? 0) > at && endTime > 0);
        const newest = Math.max(...since.map(({ createdAt }) => createdAt ?? 0));
        const last = since.filter(({ createdAt }) => createdAt === newest);
        say("job", digest, isTimed && last.length > 0 && last.every(({ status }) => status === "FINISHED"));
      }
      return rows.map((run, nth) => ({ name: `check-1-${nth + 1}`, ...run }));
    }
  }

  function readVersions(rows: readonly Row[]): readonly { readonly digest: string; readonly at: number }[] {
    const { place, fault } = current;
    return rows.map((row) => {
      const digest = jsonDigest(manifest(place, textOf(row.manifest)));
      if (place.gates.includes("metric")) {
        const passes = verdictOf("metric", digest);
        say("metric", digest, passes && fault !== "missing" && fault !== "not a number");
        row.metrics = metricsOf(passes, fault);
      }
      return { digest, at: Date.parse(row.created_at) };
    });
  }
}

const brokenLists: { readonly [fault in Fault]?: Broken } = {
  timeout: answer(504, "a gateway has waited long enough"),
  error: answer(500, "no"),
  reset: dropBefore,
  nonsense: answer(200, { data: "yes" }),
};

function metricsOf(passes: boolean, fault: Fault): readonly object[] {
  const key = fault === "missing" ? "loss" : "accuracy";
  const value = passes ? 0.95 : 0.5;
  return [
    { key, value: passes ? 0.5 : 0.95, step: 1, timestamp: 2 },
    { key, value: fault === "not a number" ? "NaN" : value, step: 2, timestamp: 1 },
  ];
}

/** The content of a manifest. */
export function textOf({ messages, source }: JsonObject): string {
  const found = JSON.stringify(messages ?? source).match(/content-\d+/);
  if (found === null) throw new TypeError("a manifest without a content of the sweep");
  return found[0];
}

function keyOf(place: Place, question: Question, digest: string): string {
  return `${nameOf(place)} ${question} ${digest}`;
}

function gateOf(place: Place, question: Question, { url, secretFile }: { url: string; secretFile: string }) {
  const match = `${place.type}/**`;
  const from = nameOf({ stage: place.stage - 1, column: place.column });
  if (question === "url") return { match, url: `${url}/${nameOf(place)}`, secretFile };
  return question === "job" ? { match, job: JOB, from } : { match, metric: "accuracy", atLeast: 0.9, from };
}
