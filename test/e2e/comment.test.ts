import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type FakeForge, forgeFacts, forgeFaults, startGitHub, startGitLab } from "../support/fake-forge.ts";
import { sampleChange, samplePlan, sampleStep } from "../support/sample-plan.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { startTlsProxy } from "../support/tls-proxy.ts";
import { createAuthority } from "../unit/client/certificate.ts";

const { repository, token } = forgeFacts;
const head = "a".repeat(40);
const plan = samplePlan([
  sampleStep("team/ml", { changes: [sampleChange("members[eve@example.com]", null, "eve@example.com")] }),
]);

let source: Source;
beforeEach(async () => {
  source = await sourceOf({
    "plan.json": JSON.stringify(plan),
    "event.json": event({ pull_request: { number: 7, head: { sha: head } } }),
  });
});

function event(value: object): string {
  return JSON.stringify(value);
}

/** The environment of a job of GitHub Actions. */
function github({ apiUrl }: FakeForge) {
  return {
    GITHUB_ACTIONS: "true",
    GITHUB_REPOSITORY: repository,
    GITHUB_API_URL: apiUrl,
    GITHUB_EVENT_PATH: join(source.folder, "event.json"),
    GITHUB_SHA: "f".repeat(40),
    GITHUB_SERVER_URL: "https://github.example.com",
    GITHUB_RUN_ID: "42",
    GITHUB_TOKEN: token,
  };
}

describe("holdfast comment", () => {
  test("shows a plan on the pull request of a GitHub job, and shrinks to a line once nothing changes", async () => {
    const fake = await startGitHub(onTestFinished);
    const first = await source.run(["comment", "plan.json"], github(fake));
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toBe(
      "Comment created on pull request 7: https://github.example.com/ml/platform/pull/7#issuecomment-102\n",
    );
    const written = fake.comments.at(-1)?.body ?? "";
    expect(written).toMatch(/^<!-- holdfast name=default revision=a{40} -->\n### Holdfast: 1 to update\n/);
    expect(written).toContain("#### This change: 1 resource");
    expect(fake.statuses).toEqual([
      { commit: head, body: { state: "success", context: "holdfast/plan/default", description: "1 to update" } },
    ]);
    await source.write("plan.json", JSON.stringify(samplePlan([])));
    expect(await source.runHere(["comment", "plan.json"], github(fake))).toMatchObject({ code: 0 });
    expect(fake.comments.at(-1)?.body.split("\n").slice(1)).toEqual(["Holdfast: no changes at `aaaaaaaaaaaa`.", ""]);
    expect(fake.comments).toHaveLength(3);
  });

  test("is one comment with a part for each target that a merge request of GitLab touches", async () => {
    const fake = await startGitLab(onTestFinished);
    const failure = { error: { code: "unauthorized", message: "the token is refused", hint: null }, diagnostics: [] };
    const targets = [
      { target: "prod", ...plan },
      { target: "dev", ...samplePlan([]) },
      { target: "eu", format_version: "2.2", ...failure },
    ];
    await source.write("plan.json", JSON.stringify({ format_version: "2.2", targets }));
    const env = {
      GITLAB_CI: "true",
      CI_API_V4_URL: fake.apiUrl,
      CI_PROJECT_PATH: repository,
      CI_MERGE_REQUEST_IID: "7",
      CI_COMMIT_SHA: head,
      GITLAB_TOKEN: token,
    };
    expect(await source.runHere(["comment", "plan.json"], env)).toMatchObject({ code: 0 });
    const written = fake.comments.at(-1)?.body ?? "";
    expect(written).toMatch(/Target `prod`.*Target `eu`: `unauthorized`.*no changes on `dev`/s);
    expect(fake.statuses.map(({ body }) => [body.name, body.state])).toEqual([
      ["holdfast/plan/prod", "success"],
      ["holdfast/plan/dev", "success"],
      ["holdfast/plan/eu", "failed"],
    ]);
  });

  test("prints the plan and ends well where the forge fails, and fails where that was asked for", async () => {
    const fake = await startGitHub(onTestFinished);
    fake.mayWrite = false;
    const ended = await source.runHere(["comment", "plan.json"], github(fake));
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("### Holdfast: 1 to update");
    expect(ended.stderr).toMatch(
      /^warning: no comment was written: .*answered 403: Resource not accessible by integration \[not-commented\]\n {4}the token lacks a permission/,
    );
    const required = await source.runHere(["comment", "plan.json", "--require-comment"], github(fake));
    expect(required.code).toBe(4);
    expect(required.stdout).toContain("### Holdfast: 1 to update");
    fake.mayWrite = true;
    fake.fail(/POST .*\/statuses\//, { status: 403, body: JSON.stringify({ message: "Resource not accessible" }) });
    const unsaid = await source.runHere(["comment", "plan.json"], github(fake));
    expect(unsaid).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Comment created on pull request 7/) });
    expect(unsaid.stderr).toMatch(/^warning: no commit status was written: .*answered 403/);
    fake.fail(/./, forgeFaults.page);
    expect((await source.runHere(["comment", "plan.json", "--require-comment"], github(fake))).code).toBe(1);
    fake.mayWrite = true;
    fake.pull.head = "b".repeat(40);
    const late = await source.runHere(["comment", "plan.json"], github(fake));
    expect(late).toMatchObject({ code: 0 });
    expect(late.stdout).toMatch(/^No comment on pull request 7: its head is now bbbbbbbbbbbb,/);
    expect(`${ended.stdout}${ended.stderr}${required.stderr}${late.stderr}`).not.toContain("CANARY");
  });

  test("names an internal certificate authority as such, and how to make it known", async () => {
    const authority = createAuthority();
    const fake = await startGitHub(onTestFinished);
    const { origin, pathname } = new URL(fake.apiUrl);
    const { url } = await startTlsProxy({ url: origin }, authority.issue("localhost"));
    const apiUrl = url + pathname;
    const refused = await source.runHere(["comment", "plan.json", "--require-comment"], github({ ...fake, apiUrl }));
    expect(refused.code).toBe(1);
    expect(refused.stderr.replaceAll(/\s+/g, " ")).toMatch(
      /the forge's certificate is not trusted here \([A-Z_]+\).*NODE_EXTRA_CA_CERTS=FILE/,
    );
    await source.write("ca.pem", authority.cert);
    const trusted = { ...github({ ...fake, apiUrl }), NODE_EXTRA_CA_CERTS: join(source.folder, "ca.pem") };
    expect(await source.run(["comment", "plan.json"], trusted)).toMatchObject({ code: 0 });
  });

  test("S77 after a stranger's job takes the pull request from the forge, and says that the plan is unverified", async () => {
    const fake = await startGitHub(onTestFinished);
    const run = {
      head_branch: "feature",
      head_sha: head,
      head_repository: { owner: { login: "stranger" } },
      pull_requests: [],
    };
    await source.write("event.json", event({ workflow_run: run }));
    // What the artifact says of itself has no say.
    await source.write("plan.json", JSON.stringify({ ...plan, revision: "c".repeat(40), pull_request: 1, number: 1 }));
    expect(await source.runHere(["comment", "plan.json", "--unverified"], github(fake))).toMatchObject({ code: 0 });
    expect(fake.comments.at(-1)?.body).toMatch(/revision=a{40} -->\n\*\*Unverified\*\*/);
    fake.pull.isOpen = false;
    const closed = await source.runHere(["comment", "plan.json", "--unverified"], github(fake));
    expect(closed.stderr).toContain("no open pull request has that head");
  });

  test("S83 takes no drift report from a job without secrets, and asks the forge nothing", async () => {
    const fake = await startGitHub(onTestFinished);
    const summary = { drifted: 1, unrecorded: 0, absent: 0, unchanged: 0, unknown: 0, orphan: 0, invalid: 0 };
    const { format_version, server, complete, diagnostics } = plan;
    const drift = { format_version, server, complete, diagnostics, summary, drift: [] };
    for (const document of [drift, { format_version, targets: [plan, drift] }]) {
      await source.write("plan.json", JSON.stringify(document));
      const ended = await source.runHere(["comment", "plan.json", "--unverified"], github(fake));
      expect(ended).toMatchObject({ code: 3, stdout: "" });
      expect(ended.stderr).toContain("is a drift report, and --unverified takes none");
    }
    expect(fake.requests).toEqual([]);
    expect(await source.runHere(["comment", "plan.json"], github(fake))).toMatchObject({ code: 0 });
    expect(fake.issues).toHaveLength(2);
  });

  test("S77 refuses what is no plan: forged, cut off, of gigabytes or nested without end", async () => {
    const fake = await startGitHub(onTestFinished);
    const forged = JSON.stringify({ ...plan, steps: [{ ...sampleStep("team/ml"), action: "<b>" }] });
    for (const text of [forged, "[".repeat(10_000)]) {
      await source.write("plan.json", text);
      const ended = await source.runHere(["comment", "plan.json"], github(fake));
      expect(ended).toMatchObject({ code: 3, stdout: "" });
      expect(ended.stderr).toMatch(/^error: plan.json is no plan: /);
    }
    writeFileSync(join(source.folder, "plan.json"), Buffer.alloc(65 * 1024 * 1024, 32));
    const large = await source.runHere(["comment", "plan.json"], github(fake));
    expect(large).toMatchObject({ code: 3 });
    expect(large.stderr).toContain("larger than 64 MiB");
    const endless = await source.runHere(["comment", "/dev/zero"], github(fake));
    expect(endless).toMatchObject({ code: 3, stderr: expect.stringContaining("it is a device, not a regular file") });
    expect(fake.requests).toEqual([]);
  });

  test("says what is missing: the forge, the token, the pull request, a safe address", async () => {
    const run = (env: { readonly [name: string]: string }, ...args: readonly string[]) =>
      source.runHere(["comment", "plan.json", ...args], env);
    expect((await run({})).stderr.replaceAll(/\s+/g, " ")).toContain(
      "--forge github|gitlab, --repository OWNER/NAME and --pull-request NUMBER are missing",
    );
    expect((await source.runHere(["comment", "--forge", "github"])).stderr).toMatch(
      /^error: <plan>, --repository OWNER\/NAME and --pull-request NUMBER are missing\n/,
    );
    const named = ["--forge", "github", "--repository", repository];
    expect((await run({}, ...named)).stderr).toContain("there is no token for the forge");
    const unsafe = await run({ GITHUB_TOKEN: token }, ...named, "--api-url", "http://github.example.com");
    expect(unsafe).toMatchObject({ code: 3 });
    expect(unsafe.stderr).toContain("over https alone");
  });
});
