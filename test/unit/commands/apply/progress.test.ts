import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openProgress } from "../../../../src/commands/apply/progress.ts";
import type { Flags } from "../../../../src/commands/flags/flags.ts";
import { terminalViewOf } from "../../../../src/commands/output/terminal-view.ts";
import type { Step } from "../../../../src/core/plan/plan.ts";
import type { Outcome } from "../../../../src/core/report/report.ts";
import { screenOf } from "../../../support/screen.ts";
import { terminalOf } from "../terminal.ts";

const COLUMNS = 80;

function step(identity: string, fields: Partial<Step> = {}): Step {
  const [kind = ""] = identity.split("/");
  const place = { file: "services.yaml", line: 1, wave: 0 };
  const nothing = { changes: [], patch: [], reason: null, risks: [], causedBy: null };
  return { action: "update", kind, identity, ...place, ...nothing, ...fields };
}

function outcome({ identity, kind }: Step, fields: Partial<Outcome> = {}): Outcome {
  return { identity, kind, result: "updated", file: null, rollout: null, error: null, attempts: 1, ...fields };
}

const replicas = { path: "/replicas", label: "replicas", before: 5, after: 2, cause: "manifest", diff: null } as const;
const api = step("service/prod-eu:support/api", { changes: [replicas] });
const web = step("service/prod-eu:support/web");
const team = step("team/ml");
const refused = { result: "failed", error: { code: "refused", message: "no such member", status: 422 } } as const;

/** Streams of a test: a terminal of 80 columns, or none. */
async function progressOn(isTTY: boolean, flags: Pick<Flags, "output"> = {}) {
  const { terminal, stdout, stderr } = terminalOf({ cwd: "/", ...(isTTY ? { answers: [] } : {}) });
  Object.assign(terminal.stderr, { columns: COLUMNS, rows: 24 });
  const invocation = { args: [], flags, terminal };
  const progress = await openProgress(invocation, terminalViewOf(invocation));
  const screen = async (): Promise<readonly string[]> => {
    const lines = screenOf(stderr(), COLUMNS);
    // The emulator works off what it is given in a timer of its own.
    await vi.advanceTimersByTimeAsync(0);
    return lines;
  };
  return { progress: { ...progress, emit: progress.with(() => undefined) }, stdout, stderr, screen };
}

beforeEach(() => {
  vi.useFakeTimers({
    now: Date.UTC(2026, 10, 22, 12),
    toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("an apply on a terminal", () => {
  test("is one block with a bar, counts and the time, and with what is under way and for how long", async () => {
    const { progress, screen, stdout } = await progressOn(true);
    progress.emit({ what: "begun", steps: 4 });
    for (const one of [team, api, web]) progress.emit({ what: "started", step: one });
    progress.emit({ what: "finished", step: team, outcome: outcome(team, refused), place: null });
    progress.emit({ what: "rollout", step: api, status: "BUILDING" });
    await vi.advanceTimersByTimeAsync(61_000);
    expect(await screen()).toEqual([
      "Applying ██████░░░░░░░░░░░░░░░░░░ 1 of 4, 1 failed, 1 min 1 s",
      "  service/prod-eu:support/api  building the image   1 min 1 s",
      "  service/prod-eu:support/web  writing              1 min 1 s",
    ]);
    progress.emit({ what: "finished", step: api, outcome: outcome(api, { rollout: "succeeded" }), place: null });
    await vi.advanceTimersByTimeAsync(1000);
    expect(await screen()).toEqual([
      "Applying ████████████░░░░░░░░░░░░ 2 of 4, 1 failed, 1 min 2 s",
      "  service/prod-eu:support/web  writing              1 min 2 s",
    ]);
    expect(progress.wasShown(outcome(api))).toBe(false);
    progress[Symbol.dispose]();
    expect([await screen(), stdout()]).toEqual([[], ""]);
  });

  test("leaves what is written meanwhile above the block", async () => {
    const { progress, screen } = await progressOn(true);
    progress.emit({ what: "begun", steps: 2 });
    progress.emit({ what: "started", step: web });
    await vi.advanceTimersByTimeAsync(500);
    progress.stderr.write("waiting: the server is busy\n");
    await vi.advanceTimersByTimeAsync(500);
    expect(await screen()).toEqual([
      "waiting: the server is busy",
      "Applying ░░░░░░░░░░░░░░░░░░░░░░░░ 0 of 2, 1 s",
      "  service/prod-eu:support/web  writing              1 s",
    ]);
    progress[Symbol.dispose]();
    expect(await screen()).toEqual(["waiting: the server is busy"]);
  });

  test("shows no more lines than there is room for, none of them wider than the terminal", async () => {
    const { progress, screen } = await progressOn(true);
    progress.emit({ what: "begun", steps: 1000 });
    for (let at = 0; at < 64; at += 1) {
      progress.emit({ what: "started", step: step(`service/prod-eu:${"x".repeat(200)}/\u001b[31m${at}`) });
    }
    await vi.advanceTimersByTimeAsync(250);
    expect(await screen()).toHaveLength(9);
    expect((await screen()).at(-1)).toBe("  … and 57 more under way");
    expect(Math.max(...(await screen()).map(({ length }) => length))).toBeLessThanOrEqual(COLUMNS);
  });
});

describe("an apply without a terminal", () => {
  test("is one line for each outcome as it happens, with its changed fields", async () => {
    const { progress, stdout, stderr } = await progressOn(false);
    progress.emit({ what: "begun", steps: 3 });
    for (const one of [team, api, web]) progress.emit({ what: "started", step: one });
    progress.emit({ what: "finished", step: api, outcome: outcome(api, { rollout: "succeeded" }), place: null });
    await vi.advanceTimersByTimeAsync(50);
    expect(stdout()).toBe("  updated   service/prod-eu:support/api  rollout succeeded  replicas 5 → 2\n");
    progress.emit({ what: "finished", step: team, outcome: outcome(team, refused), place: null });
    progress.emit({ what: "finished", step: web, outcome: outcome(web, { result: "unchanged" }), place: null });
    progress[Symbol.dispose]();
    expect(stdout().split("\n").slice(1)).toEqual(["  failed    team/ml", ""]);
    // The cause of a failure, and what to do now, is told in the end.
    expect([api, team].map((one) => progress.wasShown(outcome(one)))).toEqual([true, false]);
    expect(stderr()).toBe("");
  });

  test("says after ten seconds of silence what it waits for, and then less and less often", async () => {
    const { progress, stdout, stderr } = await progressOn(false);
    progress.emit({ what: "begun", steps: 2 });
    progress.emit({ what: "started", step: web });
    progress.emit({ what: "rollout", step: web, status: "SOME_OTHER" });
    await vi.advanceTimersByTimeAsync(9_900);
    expect(stderr()).toBe("");
    await vi.advanceTimersByTimeAsync(590_100);
    const lines = stderr().trimEnd().split("\n");
    expect(lines.slice(0, 2)).toEqual([
      "waiting: service/prod-eu:support/web (some other, 10 s); 0 of 2 done",
      "waiting: service/prod-eu:support/web (some other, 30 s); 0 of 2 done",
    ]);
    expect(lines).toHaveLength(11);
    expect(stdout()).toBe("");
    progress[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(stderr().trimEnd().split("\n")).toHaveLength(11);
  });

  test("writes nothing but the document to stdout where that is JSON", async () => {
    const { progress, stdout, stderr } = await progressOn(false, { output: [{ format: "json", file: null }] });
    progress.emit({ what: "begun", steps: 1 });
    progress.emit({ what: "finished", step: api, outcome: outcome(api), place: null });
    progress[Symbol.dispose]();
    expect([stdout(), stderr()]).toEqual(["", "  updated   service/prod-eu:support/api  replicas 5 → 2\n"]);
    expect(progress.wasShown(outcome(api))).toBe(false);
  });
});
