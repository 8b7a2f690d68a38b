import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import type { ApplyEvent } from "../../../../src/core/report/events.ts";
import type { OutcomeResult } from "../../../../src/core/report/report.ts";
import { commitStatusOf, createStatusWriter } from "../../../../src/daemon/commit-status/status-writer.ts";
import { createPassWatch } from "../../../../src/daemon/pass-watch.ts";
import { statusPlace } from "../../../../src/forge/status-request.ts";
import { eventually } from "../../../support/eventually.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { startReceiver, status } from "../../../support/http-receiver.ts";
import { observedPass } from "../../../support/observed-pass.ts";
import { sampleApplyEvent } from "../../../support/sample-apply-event.ts";

type Counts = { readonly [result in OutcomeResult]?: number };

function applied(revision: string | null, counts: Counts): ApplyEvent {
  const results = Object.entries(counts).flatMap(([result, number]) => Array<string>(number).fill(result));
  const invalid = { file: "search/gateway.yaml", line: 7 };
  const event = sampleApplyEvent(
    results.map((result, at) => ({ ...invalid, identity: `team/${at}`, result: result as OutcomeResult })),
  );
  return { ...event, report: { ...event.report, revision } };
}

async function writerTo(url: string, provider: "github" | "gitlab" = "github") {
  const tokenFile = join(await temporaryFolder(), "token");
  await writeFile(tokenFile, "status-token\n");
  const troubles: string[] = [];
  const delivery = {
    clock: systemClock,
    onTrouble: (text: string) => troubles.push(text),
    timeoutMs: 60_000,
    retries: 1,
    backoff: { first: 1, most: 1 },
  };
  const place = { provider, apiUrl: url, repository: "ml/platform", target: "prod", tokenFile };
  const writer = createStatusWriter(place, delivery, new AbortController().signal);
  return { pass: (event: ApplyEvent) => void observedPass(writer, [event]), troubles };
}

test("GitHub is told of a commit once, and again when it ends otherwise", async () => {
  const { url, received } = await startReceiver(status(201));
  const { pass } = await writerTo(url);
  pass(applied("c0ffee", { created: 3, unchanged: 2 }));
  pass(applied("c0ffee", { unchanged: 5 }));
  pass(applied("c0ffee", { unchanged: 4, failed: 1 }));
  pass(applied("c0ffee", { unchanged: 3, failed: 1, invalid: 2 }));
  pass(applied(null, { created: 1 }));
  pass(applied("decade", { updated: 1, invalid: 1 }));
  await eventually("the statuses", () => received.length === 3);
  expect(received.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    [
      "/repos/ml/platform/statuses/c0ffee",
      { state: "success", context: "holdfast/prod", description: "3 created, 2 unchanged" },
    ],
    ["/repos/ml/platform/statuses/c0ffee", { state: "failure", context: "holdfast/prod", description: "1 failed" }],
    [
      "/repos/ml/platform/statuses/decade",
      { state: "failure", context: "holdfast/prod", description: "1 of 2 manifests is invalid: search/gateway.yaml:7" },
    ],
  ]);
  expect(received[0]?.headers).toMatchObject({ authorization: "Bearer status-token" });
});

test("a commit that waits for other targets is pending, and one that they halt has failed", () => {
  const ended = (reason: string) => {
    const watch = createPassWatch();
    watch.observer.emit({ what: "kept", revision: "c0ffee", reason, message: "staging", hint: null, diagnostics: [] });
    const pass = watch.end({ startedAt: 0, endedAt: 1, nextAt: null, wanted: "decade" });
    return commitStatusOf(pass, "prod");
  };
  const status = { commit: "decade", name: "holdfast/prod", description: "staging" };
  expect(ended("Waiting")).toEqual({ ...status, state: "pending" });
  expect(ended("Halted")).toEqual({ ...status, state: "failure" });
  expect(ended("Held")).toBeNull();
});

test("a commit that only waits for the end of a freeze is pending, and has failed if something else is left", () => {
  const ended = (...others: readonly { readonly identity: string; readonly result: OutcomeResult }[]) => {
    const error = { code: "frozen", message: "the target is frozen until 2026-11-30T06:00:00Z" };
    const event = sampleApplyEvent([{ identity: "team/ml", result: "skipped", error }, ...others]);
    const applied = { ...event, report: { ...event.report, revision: "c0ffee" } };
    return commitStatusOf(observedPass({ ...createPassWatch().observer }, [applied]), "prod");
  };
  expect(ended()).toMatchObject({ commit: "c0ffee", state: "pending", description: expect.stringContaining("frozen") });
  expect(ended({ identity: "team/web", result: "failed" })).toMatchObject({ state: "failure" });
});

test("GitLab is told in its own form, and asked again when it answers 503", async () => {
  const { url, received } = await startReceiver((response, nth) => void response.writeHead(nth < 2 ? 503 : 201).end());
  const { pass } = await writerTo(url, "gitlab");
  pass(applied("c0ffee", { blocked: 1 }));
  await eventually("the status", () => received.length === 2);
  expect(received[1]).toMatchObject({ path: "/projects/ml%2Fplatform/statuses/c0ffee" });
  expect(received[1]?.headers).toMatchObject({ "private-token": "status-token" });
  expect(JSON.parse(received[1]?.body ?? "")).toEqual({
    state: "failed",
    name: "holdfast/prod",
    description: "1 blocked",
  });
});

test("a host that refuses the token is named by the commit, without the token", async () => {
  const { url } = await startReceiver(status(403));
  const { pass, troubles } = await writerTo(url);
  pass(applied("c0ffee", {}));
  await eventually("the warning", () => troubles.length === 1);
  expect(troubles).toEqual(["the status of commit c0ffee was not written: it answered 403"]);
});

test.each([
  ["github", "https://github.com/ml/platform.git", "https://api.github.com", "ml/platform"],
  ["github", "git@git.example.com:ml/platform.git", "https://git.example.com/api/v3", "ml/platform"],
  [
    "gitlab",
    "ssh://git@git.example.com:2222/group/sub/platform",
    "https://git.example.com/api/v4",
    "group/sub/platform",
  ],
  ["gitlab", "https://git.example.com:8443/group/platform/", "https://git.example.com/api/v4", "group/platform"],
] as const)("the API of %s for %s", (provider, url, apiUrl, repository) => {
  expect(statusPlace(provider, url, null)).toEqual({ provider, apiUrl, repository });
});

test("a repository on this machine has no statuses", () => {
  expect(statusPlace("github", "/srv/git/platform.git", null)).toBeNull();
});
