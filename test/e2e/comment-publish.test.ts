import { createServer } from "node:http";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { PlanReply, PlansReply } from "../../src/contract/generated/output.ts";
import { forgeFacts, startGitHub } from "../support/fake-forge.ts";
import { keyText } from "../support/fleet.ts";
import { listen } from "../support/listen.ts";
import { foundations, service, team } from "../support/manifests.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import { plansDaemon, plansFacts } from "../support/plans-daemon.ts";
import { sampleChange, samplePlan, sampleStep } from "../support/sample-plan.ts";
import { serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const { repository, token } = forgeFacts;
const head = "a".repeat(40);
const plan = samplePlan([
  sampleStep("team/ml", { changes: [sampleChange("members[eve@example.com]", null, "eve@example.com")] }),
]);

let source: Source;
beforeEach(async () => {
  source = await sourceOf({
    "plan.json": JSON.stringify(plan),
    "event.json": JSON.stringify({ pull_request: { number: 7, head: { sha: head } } }),
    "plans-token": `${plansFacts.token}\n`,
  });
});

/** The environment of a job of GitHub Actions. */
function job(apiUrl: string) {
  return {
    ...{ GITHUB_ACTIONS: "true", GITHUB_REPOSITORY: repository, GITHUB_API_URL: apiUrl, GITHUB_TOKEN: token },
    GITHUB_EVENT_PATH: join(source.folder, "event.json"),
  };
}

const said = (text: string): string => text.replaceAll(/\s+/g, " ");

/** A server that gives each request this reply. */
async function replying(status: number, body: string, headers: { readonly [name: string]: string } = {}) {
  const server = createServer((request, reply) => {
    request.resume().once("end", () => reply.writeHead(status, headers).end(body));
  });
  onTestFinished(() => void server.close());
  return listen(server);
}

/** An address at which nothing listens any more. */
async function closedAddress(): Promise<string> {
  const server = createServer();
  const url = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return url;
}

test("a pipeline's signed plan is shown by the daemon with the same state as verified, and one without its key is not", async () => {
  const server = await serve();
  const files = { ...foundations, "api.yaml": service("api", "env:\n  DB_PASSWORD: CANARY-plain-value\n") };
  const upstream = await upstreamOf(
    Object.fromEntries(Object.entries(files).map(([file, text]) => [`dev/${file}`, text])),
  );
  const operator = await operatorOf(
    {
      dashboard: { plansTokenFile: join(source.folder, "plans-token") },
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "dev", paths: ["dev"], sync: "report" }],
    },
    server,
  );
  const watch = operator.start(["watch", "--listen", "127.0.0.1:0", "-o", "text"]);
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  // A plan beside its first start would find a ledger that is still empty.
  await watch.shows("stderr", / idle until /);
  const env = { ...job((await startGitHub(onTestFinished)).apiUrl), HOLDFAST_PLANS_TOKEN: plansFacts.token };
  const send = async (more: { readonly [name: string]: string }) => {
    expect(
      await operator.runHere(["plan", "--target", "dev", "-o", "json=plan.json", "--sink", "file"], more),
    ).toMatchObject({ code: 0 });
    const ended = await operator.runHere(["comment", "plan.json", "--publish", `${url}/`], env);
    expect(ended.code).toBe(0);
    const [, id = ""] = new RegExp(`^Plan sent: ${url}/reviews/([0-9a-f]{32})`, "m").exec(ended.stdout) ?? [];
    return { ended, id };
  };
  const first = await send({});
  expect(first.ended).toMatchObject({ stderr: "" });
  expect(first.ended.stdout).toMatch(/^Comment created on pull request 7.*\nPlan sent: \S+\n$/);
  const get = async <Reply>(path: string): Promise<Reply> =>
    (await (await fetch(`${url}/api/v1${path}`)).json()) as Reply;
  const { plan: about, parts } = await get<PlanReply>(`/plans/${first.id}`);
  expect(about).toMatchObject({
    ...{ forge: "github", repository, pullRequest: 7, commit: head, name: "default", verified: true },
    url: `${new URL(env.GITHUB_API_URL).origin}/${repository}/pull/7`,
  });
  expect(parts).toMatchObject([{ target: null, server: server.url, seal: "valid" }]);
  expect(about.counts.create).toBeGreaterThan(2);
  const shownSteps = JSON.stringify(parts);
  expect([shownSteps.includes("env.DB_PASSWORD: (sensitive)"), shownSteps.includes("CANARY")]).toEqual([true, false]);
  const other = await send({ HOLDFAST_STATE_KEY: "11".repeat(32), HOLDFAST_STATE: join(source.folder, "other") });
  expect(other.id).toBe(first.id);
  expect(other.ended.stdout).toContain("(unverified: not signed with a key of its state)");
  const { plans } = await get<PlansReply>("/plans");
  expect(plans).toMatchObject([{ id: first.id, verified: false }]);
  watch.kill("SIGTERM");
  await watch.ended;
  // Without a daemon, the same are shown, and none are taken.
  const dashboard = operator.start(["dashboard"]);
  const [, shown = ""] = await dashboard.shows("stdout", /^dashboard on (http:\/\/127\.0\.0\.1:\d+)$/m);
  expect(await (await fetch(`${shown}/api/v1/plans`)).json()).toEqual({ plans, next: null });
  const untaken = await operator.runHere(["comment", "plan.json", "--publish", shown], env);
  expect(said(untaken.stderr)).toMatch(/answered 403: this daemon takes no plans/);
});

test("every machine of a fleet shows what was sent to one of them, also after all were restarted", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const server = await serve();
  const upstream = await upstreamOf({ "dev/team.yaml": team("ml") });
  const config = {
    dashboard: { plansTokenFile: join(source.folder, "plans-token") },
    sources: [{ name: "platform", url: upstream.folder }],
    targets: [{ name: "dev", paths: ["dev"], sync: "report" }],
  };
  const shared = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText };
  const machine = async () => {
    const operator = await operatorOf(config, server);
    const watch = operator.start(["watch", "--workers", "1", "--listen", "127.0.0.1:0", "-o", "text"], shared);
    const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
    return { operator, watch, url };
  };
  const machines = [await machine(), await machine()];
  const [first] = machines;
  const planned = await first?.operator.runHere(["plan", "-o", "json=plan.json"], shared);
  expect(planned).toMatchObject({ code: 0 });
  const env = {
    ...job((await startGitHub(onTestFinished)).apiUrl),
    HOLDFAST_PLANS_TOKEN_FILE: join(source.folder, "plans-token"),
  };
  const ended = await first?.operator.runHere(["comment", "plan.json", "--publish", first.url], env);
  expect(ended).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^Plan sent: .*[0-9a-f]{32}$/m) });
  const read = async ({ url }: { readonly url: string }): Promise<unknown> => {
    const { plans } = (await (await fetch(`${url}/api/v1/plans`)).json()) as PlansReply;
    return Promise.all(plans.map(async ({ id }) => (await fetch(`${url}/api/v1/plans/${id}`)).json()));
  };
  const said = await Promise.all(machines.map(read));
  expect(said[0]).toMatchObject([{ plan: { name: "default", verified: true, counts: { create: 1 } } }]);
  expect(said[1]).toEqual(said[0]);
  for (const { watch } of machines) {
    watch.kill("SIGTERM");
    await watch.ended;
  }
  expect(await read(await machine())).toEqual(said[0]);
});

test("a plan that cannot be sent is a warning beside the comment, and an error where that was asked for", async () => {
  const forge = await startGitHub(onTestFinished);
  const daemon = await plansDaemon();
  const old = await replying(404, JSON.stringify({ statusCode: 404, code: "route-not-found", message: "no route" }));
  const page = await replying(200, "<html>login</html>");
  const moved = await replying(302, "", { location: daemon.url });
  const stranger = await replying(413, "<html>too large</html>");
  const gone = await closedAddress();
  const env = { ...job(forge.apiUrl), HOLDFAST_PLANS_TOKEN_FILE: "plans-token" };
  const wrong = { ...env, HOLDFAST_PLANS_TOKEN_FILE: "", HOLDFAST_PLANS_TOKEN: "CANARY-other" };
  const cases = [
    [daemon.url, wrong, 4, /answered 401: the token for plans is missing or wrong .*dashboard\.plansTokenFile/],
    [daemon.url, { ...wrong, HOLDFAST_PLANS_TOKEN: "" }, 4, /there is no token for --publish/],
    [daemon.url, { ...env, HOLDFAST_PLANS_TOKEN_FILE: "absent" }, 4, /the token file absent .*/],
    [old, env, 1, /answered 404: no route: it takes no plans .*of a release that takes plans/],
    [moved, env, 1, /answered 302: it takes no plans/],
    [page, env, 1, /its reply is none of a dashboard/],
    [stranger, env, 1, /answered 413 .*a proxy before it/],
    [gone, env, 1, /cannot be reached, or does not answer \(\w+\)/],
  ] as const;
  for (const [url, given, code, text] of cases) {
    const args = ["comment", "plan.json", "--publish", url];
    const ended = await source.runHere(args, given);
    expect([url, ended.code, said(ended.stderr)]).toEqual([url, 0, expect.stringMatching(text)]);
    expect(ended.stderr).toMatch(/^warning: the plan was not sent: /);
    expect(ended.stdout).toMatch(/^Comment (?:created|updated) on pull request 7/);
    const required = await source.runHere([...args, "--require-comment"], given);
    expect([url, required.code, said(required.stderr)]).toEqual([url, code, expect.stringMatching(text)]);
    expect(required.stderr).toMatch(/^error: /);
    expect(required.stdout).toMatch(/^Comment updated on pull request 7/);
    expect(`${ended.stdout}${ended.stderr}${required.stderr}`).not.toContain("CANARY");
  }
  // What is wrong with the flag itself is said before anything is written.
  const asked = forge.requests.length;
  for (const url of ["dashboard", "ftp://127.0.0.1", "http://dashboard.example.com", "https://a:b@example.com"]) {
    const ended = await source.runHere(["comment", "plan.json", "--publish", url], env);
    expect([url, ended.code, ended.stdout]).toEqual([url, 3, ""]);
  }
  expect(forge.requests).toHaveLength(asked);
});

test("a plan is sent although the forge takes no comment, one of more than 8 MiB is not, and a drift report never", async () => {
  const forge = await startGitHub(onTestFinished);
  const daemon = await plansDaemon();
  const env = { ...job(forge.apiUrl), HOLDFAST_PLANS_TOKEN: plansFacts.token, HOLDFAST_PUBLISH: daemon.url };
  forge.mayWrite = false;
  const uncommented = await source.runHere(["comment", "plan.json"], env);
  expect(uncommented).toMatchObject({ code: 0, stdout: expect.stringMatching(/^### Holdfast.*\nPlan sent: /s) });
  expect(uncommented.stderr).toMatch(/^warning: no comment was written/);
  const both = await source.runHere(["comment", "plan.json", "--require-comment"], {
    ...env,
    HOLDFAST_PLANS_TOKEN: "wrong",
  });
  expect(both.code).toBe(4);
  expect(said(both.stderr)).toMatch(/^warning: the plan was not sent: .* error: commenting on pull request 7/);
  forge.mayWrite = true;
  const text = "x".repeat(9 * 1024 * 1024);
  await source.write("plan.json", JSON.stringify(samplePlan([sampleStep("team/ml", { file: text })])));
  const large = await source.runHere(["comment", "plan.json"], env);
  expect(large).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Comment created/) });
  expect(said(large.stderr)).toContain("the plan has 9.0 MiB, and a dashboard takes 8 MiB");
  const summary = { drifted: 1, unrecorded: 0, absent: 0, unchanged: 0, unknown: 0, orphan: 0, invalid: 0 };
  const { format_version, server, complete, diagnostics } = plan;
  await source.write(
    "plan.json",
    JSON.stringify({ format_version, server, complete, diagnostics, summary, drift: [] }),
  );
  const drift = await source.runHere(["comment", "plan.json"], env);
  expect(drift).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^Issue opened/) });
});
