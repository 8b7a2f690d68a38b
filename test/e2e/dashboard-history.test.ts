import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EventsReply, ResourceEvent } from "../../src/contract/generated/output.ts";
import { startBrowser } from "../support/browser.ts";
import { foreignService } from "../support/foreign-service.ts";
import { foundations, service } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const identity = "service/dev:web/api";
const secret = (value: string) => `env:\n  DB_PASSWORD: CANARY-${value}\n  MODE: ${value}\n`;
const textOf = (value: unknown) =>
  value === null ? "not set" : typeof value === "string" ? value : JSON.stringify(value, null, 2);

test("the history on the dashboard shows what each pass changed, field by field, as holdfast history --changes says it", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ ...foundations, "api.yaml": service("api", `replicas: 2\n${secret("one")}`) });
  const operator = await operatorOf(
    { sources: [{ name: "platform", url: upstream.folder }], targets: [{ name: "prod", interval: 3600 }] },
    server,
  );
  const watch = operator.start(["watch", "--listen", "127.0.0.1:0", "-o", "text"]);
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  await watch.shows("stderr", /idle until/);
  // One field is a commit's, one somebody else's, and one is a secret.
  await foreignService(server);
  const commit = await upstream.commit({ "api.yaml": service("api", `replicas: 2\n${secret("two")}`) });
  expect(await operator.runHere(["reconcile"])).toMatchObject({ code: 0 });

  const byCommand = async (...args: readonly string[]): Promise<readonly ResourceEvent[]> => {
    const { stdout } = await operator.runHere(["history", "--changes", "-o", "json", ...args]);
    expect(stdout).not.toContain("CANARY");
    return JSON.parse(stdout).targets[0].events;
  };
  const events = await byCommand();
  expect(events.map(({ identity: one, state }) => [one, state])).toEqual([
    ...["cluster/dev", "ml-repo/registry", "workspace/dev:web", identity].map((one) => [one, "created"]),
    [identity, "updated"],
  ]);
  const written = events.at(-1);
  expect(written).toMatchObject({ commit, hasDrifted: true, changed: { leftOut: 0, cut: 0 } });
  const fields = written?.changed?.fields ?? [];
  const field = (path: string) => fields.find((one) => one.path === path);
  expect(field("/replicas")).toMatchObject({ label: "replicas", before: 4, after: 2, cause: "drift" });
  expect(field("/env/DB_PASSWORD")).toMatchObject({ before: null, after: "(sensitive)" });
  expect(await byCommand(identity)).toEqual(events.filter((event) => event.identity === identity));
  expect(await byCommand("--drifted")).toEqual([written]);
  const text = (await operator.runHere(["history", "--changes"], { COLUMNS: "200" })).stdout;
  expect(text).toMatch(/ {2}service\/dev:web\/api {2}updated, .*live had drifted by .*\n(?: {4}.*\n)+$/);
  expect(text).toMatch(/^ {4}drift +replicas +4 → 2$/m);

  const path = `/api/v1/targets/prod/events?at=${written?.at}&changes=true`;
  const reply: EventsReply = JSON.parse(await (await fetch(url + path)).text());
  expect(reply.events).toEqual([written]);
  // Where it is not asked for, nothing is said of it.
  expect(await (await fetch(`${url}/api/v1/targets/prod/events`)).text()).not.toContain('changed"');
  const dashboard = operator.start(["dashboard"]);
  const [, later = ""] = await dashboard.shows("stdout", /^dashboard on (http:\/\/127\.0\.0\.1:\d+)$/m);
  expect(JSON.parse(await (await fetch(later + path)).text())).toEqual(reply);

  const browser = await startBrowser();
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  for (const shown of [url, later]) {
    await page.goto(`${shown}/targets/prod/history`);
    await page.getByRole("link", { name: "Resources that it changed" }).first().click();
    const changed = page.locator("details.written");
    await changed.locator("summary", { hasText: `${fields.length} fields` }).waitFor();
    const lines = await changed.locator("li").allInnerTexts();
    expect(lines.map((line) => line.replaceAll(/\s+/g, " "))).toEqual(
      fields.map(({ label, cause, before, after }) =>
        `${label} ${cause} ${textOf(before)} → ${textOf(after)}`.replaceAll(/\s+/g, " "),
      ),
    );
    expect(await page.content()).not.toContain("CANARY");
  }
  dashboard.kill("SIGTERM");
  await dashboard.ended;
  watch.kill("SIGTERM");
  await watch.ended;
  const state = join(operator.folder, ".holdfast");
  for (const file of readdirSync(state, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()))
    expect(readFileSync(join(file.parentPath, file.name), "latin1"), file.name).not.toContain("CANARY");
});
