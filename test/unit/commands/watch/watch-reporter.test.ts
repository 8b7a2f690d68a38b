import { join } from "node:path";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import type { Flags } from "../../../../src/commands/flags/flags.ts";
import { loggingStderr } from "../../../../src/commands/output/terminal-log.ts";
import type { Terminal } from "../../../../src/commands/terminal.ts";
import { createWatchReporter } from "../../../../src/commands/watch/watch-reporter.ts";
import { HoldfastError } from "../../../../src/core/errors.ts";
import type { Change, Step } from "../../../../src/core/plan/plan.ts";
import type { ApplyEvent, PassEvent, ReadEvent } from "../../../../src/core/report/events.ts";
import { type Outcome, summariseOutcomes } from "../../../../src/core/report/report.ts";
import { observers } from "../../../../src/daemon/pass-observer.ts";
import { createPassWatch } from "../../../../src/daemon/pass-watch.ts";
import { SourceError } from "../../../../src/source/source-error.ts";
import { faultsOf } from "../../../support/output-schemas.ts";
import { emptySummary } from "../../../support/sample-plan.ts";
import { terminalOf } from "../terminal.ts";

const START = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;
const commits = ["1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", "2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e"] as const;
const services = ["api", "assistant", "web"].map((name) => `service/prod-eu:support/${name}`);
const [api = ""] = services;

const fault = {
  severity: "error",
  code: "unknown-field",
  summary: "unknown field `replcas`",
  detail: "did you mean `replicas`?",
  file: "services.yaml",
  line: 9,
  column: 1,
} as const;

function read(diagnostics: ReadEvent["diagnostics"] = []): ReadEvent {
  const counts = {
    files: 1,
    manifests: 3,
    documents: 3,
    paths: null,
    isRefused: false,
    knownFiles: 0,
    leftOut: new Map(),
  };
  const otherDocuments = { documents: 0, types: new Map(), filesOfOurTypes: [], diagnostics: [] };
  return { what: "read", revision: null, diagnostics, selected: diagnostics, otherDocuments, ...counts };
}

function replicas(before: number, after: number, cause: Change["cause"]): Change {
  return { path: "/replicas", label: "replicas", before, after, cause, diff: null };
}

/** A pass that has these outcomes; everything else is unchanged. */
function applied(
  revision: string,
  results: Readonly<Record<string, Partial<Outcome> & { change?: Change }>>,
): ApplyEvent {
  const kind = "service";
  const base = { kind, file: "services.yaml", rollout: null, error: null, attempts: 1 };
  const outcomes = services.map((identity): Outcome => {
    const { change: _, ...fields } = results[identity] ?? {};
    return { ...base, identity, result: "unchanged", ...fields };
  });
  const steps = services.map((identity): Step => {
    const change = results[identity]?.change;
    const place = { file: "services.yaml", line: 1, wave: 1 };
    const nothing = { patch: [], reason: null, risks: [], causedBy: null };
    const action = change === undefined ? "keep" : "update";
    return { action, kind, identity, ...place, ...nothing, changes: change === undefined ? [] : [change] };
  });
  const server = "https://control.example.com";
  const report = { format_version: "2.2", revision, server, summary: summariseOutcomes(outcomes), outcomes } as const;
  const plan = {
    ...report,
    complete: true,
    steps,
    checksum: "sha256:0",
    summary: planCounts,
    diagnostics: [],
  } as const;
  return {
    what: "applied",
    isPart: false,
    report: { ...report, diagnostics: [] },
    plan,
    tokens: [],
    notUsed: [],
    places: new Map(),
  };
}

const planCounts = { ...emptySummary, keep: 3 };

type Reporter = ReturnType<typeof createWatchReporter>;

type Clock = { now: number };

/** What happens in an hour: a pass a minute, of which hardly any finds something to do. */
function anHour(reporter: Reporter, clock: Clock): void {
  reporter.started(60);
  for (let minute = 0; minute <= 60; minute += 1) {
    clock.now = START + minute * MINUTE;
    passAt(minute, reporter, clock);
  }
  reporter.ended?.(null);
}

function passAt(minute: number, reporter: Reporter, clock: Clock): void {
  const reportedAt = clock.now;
  const startedAt = reportedAt - 2000;
  const watch = createPassWatch();
  const { begin, emit, failure } = observers([watch.observer, reporter]);
  clock.now = startedAt;
  begin({ target: "prod", scope: "all", cause: "interval" });
  clock.now = reportedAt;
  for (const event of eventsAt(minute)) event({ ...reporter, emit, failure });
  const endedAt = clock.now;
  clock.now += 2000;
  reporter.end?.(watch.end({ startedAt, endedAt, nextAt: clock.now + MINUTE, wanted: null }));
}

type Said = (reporter: Reporter) => void;

const tells =
  (event: PassEvent): Said =>
  ({ emit }) =>
    emit(event);

/** What the pass of a minute reports. */
function eventsAt(minute: number): readonly Said[] {
  const [first, second] = commits;
  const commit = minute < 10 ? first : second;
  if (minute >= 40 && minute < 45) {
    const hint = "it is tried again";
    const error = new HoldfastError("error", "https://control.example.com does not answer", { hint });
    return [({ failure }) => failure(error)];
  }
  if (minute >= 30 && minute < 33) {
    const message = "the source has errors";
    const why = { reason: "Invalid", message, hint: null, diagnostics: [fault] };
    return [tells({ what: "kept", revision: second, ...why })];
  }
  return [tells(read()), ...appliedAt(minute, commit).map(tells)];
}

function appliedAt(minute: number, commit: string): readonly PassEvent[] {
  if (minute === 0) {
    const made = { result: "created", rollout: "succeeded" } as const;
    return [applied(commit, Object.fromEntries(services.map((name) => [name, made])))];
  }
  if (minute === 10) {
    const change = replicas(1, 2, "manifest");
    const updated = applied(commit, { [api]: { result: "updated", rollout: "progressing", change } });
    return [updated, { what: "rolled-out", identity: api, rollout: "succeeded" }];
  }
  if (minute === 20) {
    const change = replicas(5, 2, "drift");
    return [applied(commit, { [api]: { result: "updated", rollout: "succeeded", change } })];
  }
  if (minute === 50) {
    const error = { code: "refused", message: "replicas is more than the quota", status: 422 };
    return [applied(commit, { [api]: { result: "failed", error, change: replicas(2, 9, "manifest") } })];
  }
  if (minute > 54 && minute < 58) {
    const error = { code: "unknown-field", message: "unknown field `replcas`" };
    return [applied(commit, { [api]: { result: "invalid", line: 9, error } })];
  }
  return [applied(commit, {})];
}

/** Everything that a daemon has written, both streams in one. */
function written(
  flags: Pick<Flags, "output" | "logFormat" | "logLevel">,
  happens: (reporter: Reporter, clock: Clock) => void = anHour,
): { readonly all: string; readonly stdout: string } {
  const clock = { now: START };
  const seen = { all: "", stdout: "" };
  const stream = (name: "stdout" | "stderr"): Terminal["stdout"] =>
    new Writable({
      decodeStrings: false,
      write: (part: string, _, done) => {
        seen.all += part;
        if (name === "stdout") seen.stdout += part;
        done();
      },
    });
  const { terminal } = terminalOf({ cwd: "/" });
  const text = stream("stderr");
  const stderr = flags.logFormat === "json" ? loggingStderr(text, { level: flags.logLevel ?? "info" }) : text;
  const shown = { ...terminal, stdout: stream("stdout"), stderr, clock: { ...systemClock, now: () => clock.now } };
  happens(createWatchReporter({ args: [], flags, terminal: shown }, null), clock);
  return seen;
}

const golden = (name: string): string => join(import.meta.dirname, "golden", `${name}.txt`);

test("an hour of watch has a time and a commit on each pass, and says when it starts, waits and is idle", async () => {
  const { all } = written({});
  await expect(all).toMatchFileSnapshot(golden("watch-of-an-hour"));
  expect(all.split("\n").length).toBeLessThan(60);
  expect(all.match(/Incomplete: 1 invalid, 2 unchanged$/gm)).toHaveLength(3);
});

test("with -o json each event of an hour is a line on stdout that keeps to its schema", async () => {
  const { stdout } = written({ output: [{ format: "json", file: null }] });
  const lines = stdout.trimEnd().split("\n");
  expect(lines.flatMap((line) => faultsOf("watch", line))).toEqual([]);
  const few = lines.filter((line) => !/"event":"(?:idle|applied)"/.test(line) || /"time":"[^"]*T12:[012]0:/.test(line));
  await expect(`${few.join("\n")}\n`).toMatchFileSnapshot(golden("watch-of-an-hour.events"));
});

test("the log of an hour has what changes: a condition when it begins and when it ends, and no pass without a change", async () => {
  const { all, stdout } = written({ logFormat: "json", output: [{ format: "json", file: null }] });
  const events = stdout.split("\n");
  const lines = all.split("\n").filter((line) => line !== "" && !events.includes(line));
  // The clock of the log is that of the machine.
  const steady = lines.map((line) => line.replace(/"time":"[^"]*",/, ""));
  await expect(`${steady.join("\n")}\n`).toMatchFileSnapshot(golden("watch-of-an-hour.log"));
  for (const line of lines) {
    expect(JSON.parse(line)).toMatchObject({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level: expect.stringMatching(/^(?:info|warn|error)$/),
      event: expect.any(String),
      revision: expect.toSatisfy((one: unknown) => one === null || typeof one === "string"),
      identity: expect.toSatisfy((one: unknown) => one === null || typeof one === "string"),
      msg: expect.any(String),
    });
  }
});

test("the log says once that a freeze keeps a target from writing, and it is no error", () => {
  const error = { code: "frozen", message: "not sent: the target is frozen" };
  const frozen = applied(commits[1], { [api]: { result: "skipped", error } });
  const { all } = written({ logFormat: "json" }, (reporter, clock) => {
    for (let minute = 0; minute < 3; minute += 1) {
      clock.now = START + minute * MINUTE;
      const watch = createPassWatch();
      const { begin, emit } = observers([watch.observer, reporter]);
      begin({ target: "prod", scope: "all", cause: "interval" });
      emit(read());
      emit(frozen);
      reporter.end?.(watch.end({ startedAt: clock.now, endedAt: clock.now, nextAt: null, wanted: null }));
    }
  });
  const lines = all.split("\n").filter((line) => /"event":"(?:outcome|incomplete)"/.test(line));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "info", msg: "skipped: not sent: the target is frozen" },
    { level: "info", msg: "Incomplete: 1 skipped, 2 unchanged" },
  ]);
});

test("the log says once that a target waits after its passes had failed", () => {
  const unreachable = new HoldfastError("error", "the control plane does not answer");
  const waits = new SourceError("Waiting", "target prod waits", { hint: "wait" });
  const { all } = written({ logFormat: "json" }, (reporter, clock) => {
    const watch = createPassWatch();
    const { begin, failure } = observers([watch.observer, reporter]);
    for (const error of [unreachable, waits, waits, unreachable]) {
      begin({ target: "prod", scope: "all", cause: "interval" });
      failure(error);
      reporter.end?.(watch.end({ startedAt: clock.now, endedAt: clock.now, nextAt: null, wanted: null }));
    }
  });
  const said = all.trimEnd().split("\n");
  expect(said.map((line) => JSON.parse(line).msg)).toEqual([
    unreachable.message,
    waits.message,
    "recovered after 0 s",
    unreachable.message,
  ]);
});

test("the log says once that a commit waits for the end of a soak, and not how far it is in each pass", () => {
  const [revision] = commits;
  const { all } = written({ logFormat: "json" }, (reporter) => {
    for (const passed of ["55s", "1m 55s", "2m 55s"]) {
      const message = `staging: commit ${revision.slice(0, 12)} has been healthy there for ${passed} of 30m`;
      reporter.emit({ what: "kept", revision, reason: "Waiting", message, hint: null, diagnostics: [] });
      reporter.failure(new SourceError("Waiting", message, { hint: "wait" }));
    }
  });
  expect(all.match(/for \w+(?: \w+)? of 30m/g)).toEqual(["for 55s of 30m", "for 55s of 30m"]);
});

test("at level debug the log counts what is invalid in every pass", () => {
  const { all } = written({ logFormat: "json", logLevel: "debug" });
  const lines = all.split("\n").filter((line) => line.includes('"event":"incomplete"'));
  expect(lines.map((line) => JSON.parse(line)).filter(({ summary }) => summary.invalid > 0)).toMatchObject([
    { level: "error", msg: "Incomplete: 1 invalid, 2 unchanged" },
    { level: "debug", msg: "Incomplete: 1 invalid, 2 unchanged" },
    { level: "debug", msg: "Incomplete: 1 invalid, 2 unchanged" },
  ]);
});

test("text written to a JSON log becomes one line for each message, with the lines that belong to it", () => {
  let text = "";
  const stream = new Writable({
    write: (part: Buffer, _, done) => {
      text += part.toString();
      done();
    },
  });
  const log = loggingStderr(stream);
  log.write("warning: going on without a lease\n  → use one\nerror: no\u001b[31m\u202e answer\n");
  log.write("half a ");
  log.write("line ::error::x\n");
  const entries = text
    .trimEnd()
    .split("\n")
    .map((line): { level: string; msg: string } => JSON.parse(line));
  expect(entries.map(({ level, msg }) => [level, msg])).toEqual([
    ["warn", "going on without a lease → use one"],
    ["error", "no\u202e answer"],
    ["info", "half a line ::error::x"],
  ]);
  expect(text).not.toContain("\u202e");
});

test("the list of orphans is written when it changes, and not by a pass over a part of the source", () => {
  const [commit] = commits;
  const orphan = { recorded: false, isLive: true };
  const step: Step = {
    ...{
      action: "orphan",
      kind: "service",
      identity: "service/dev:web/old",
      file: null,
      line: null,
      wave: 0,
      changes: [],
    },
    ...{ patch: [], reason: null, risks: [], causedBy: null, orphan },
  };
  const all = applied(commit, {});
  const listing = (steps: readonly Step[]): ApplyEvent => ({ ...all, plan: { ...all.plan, steps } });
  const hidden = { ...step, orphan: { ...orphan, isLive: false, notVisible: true as const } };
  const passes = [listing([step]), listing([step]), { ...all, isPart: true }, listing([step]), listing([hidden])];
  const { stdout } = written({}, ({ emit }) => passes.forEach(emit));
  expect(stdout.match(/^Orphans.*|^○.*/gm)).toEqual([
    "Orphans: still running; Holdfast never deletes: remove it on the platform",
    "○ service/dev:web/old",
    "Orphans that may still run; Holdfast never deletes: remove it on the platform",
    "○ service/dev:web/old",
  ]);
  const json = { output: [{ format: "json", file: null }] } as const;
  const events = written(json, ({ emit }) => [listing([]), ...passes, listing([])].forEach(emit)).stdout.split("\n");
  const lines = events.filter((line) => line.includes('"event":"orphans"'));
  expect(lines.flatMap((line) => faultsOf("watch", line))).toEqual([]);
  expect(lines.map((line) => JSON.parse(line).message)).toEqual([
    expect.stringMatching(/^1 orphan still running; .*: service\/dev:web\/old$/),
    expect.stringContaining("1 orphan that may still run;"),
    "no orphans",
  ]);
});
