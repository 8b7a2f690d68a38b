import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DriftReport } from "../../src/contract/generated/output.ts";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { API, api, change, forges, github, gitlab, writesOf } from "../support/drifted-service.ts";
import { startGitHub, startGitLab } from "../support/fake-forge.ts";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { foundations } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const BRANCH = "holdfast/drift-default";

async function applied(server: Server, text = api(2)): Promise<Source> {
  const source = await sourceOf({ ...foundations, "api.yaml": text, ".gitignore": ".holdfast/\n" }, server);
  await commitAll(source.folder, "Start");
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  return source;
}

describe.each(forges)("holdfast drift --propose with $name", ({ start, env }) => {
  describe.each(controlPlaneVariants)("on a $name control plane", (plane) => {
    test("opens one pull request, updates it in place, and closes it when live and git agree again", async () => {
      const server = await plane.serve();
      const source = await applied(server);
      const fake = await start(onTestFinished);
      const propose = (...more: string[]) => source.runHere(["drift", "--propose", ...more], env(fake));
      const calm = await propose();
      expect(calm).toMatchObject({ code: 0, stderr: "" });
      expect(calm.stdout).toMatch(/\nProposal: nothing to propose\n$/);
      expect([writesOf(fake), fake.proposals.length]).toEqual([0, 0]);

      await change(server, { replicas: 5 });
      const effects = server.effects();
      const opened = await propose();
      expect(opened).toMatchObject({ code: 2, stderr: "" });
      expect(opened.stdout).toMatch(/\nProposal: 1 resource; pull request 21 created: https:\S+\n$/);
      expect(server.effects()).toEqual(effects);
      expect(fake.branches.get(BRANCH)?.files).toEqual({ "api.yaml": api(5) });
      expect(fake.proposals).toMatchObject([
        { branch: BRANCH, base: "main", title: `Take over what was changed in live on default: ${API}` },
      ]);
      expect(fake.proposals[0]?.body).toMatch(
        /\| `service\/dev:web\/api` \| `replicas` \| `2` → `5` \| `user:\S+` \| `20\S+Z` \|/,
      );
      expect(fake.proposals[0]?.body).toContain("**If this is closed,** git wins");

      const written = writesOf(fake);
      expect((await propose()).stdout).toContain("; pull request 21 unchanged: ");
      expect(writesOf(fake)).toBe(written);

      await change(server, { replicas: 7 });
      expect((await propose()).stdout).toContain("; pull request 21 updated: ");
      expect(fake.branches.get(BRANCH)?.files).toEqual({ "api.yaml": api(7) });
      expect(fake.proposals).toHaveLength(1);

      await change(server, { replicas: 2 });
      const closed = await propose();
      expect(closed).toMatchObject({ code: 0, stderr: "" });
      expect(closed.stdout).toContain("Proposal: nothing to propose; pull request 21 is closed: ");
      expect(fake.proposals).toMatchObject([{ state: "closed" }]);
      expect(fake.proposals[0]?.body).toContain("Git and live agree again on target `default`");

      await change(server, { replicas: 7 });
      expect((await propose()).stdout).toContain("; pull request 22 created: ");
      const [, again] = fake.proposals;
      if (again !== undefined) again.state = "closed";
      expect((await propose()).stdout).toContain("pull request 22 with this content was closed");
      expect(fake.proposals).toHaveLength(2);
    });
  });
});

test("a commit that changes the resource ends it, and says so; what is not committed does not", async () => {
  const server = await serve();
  const source = await applied(server);
  await change(server, { replicas: 5 });
  const fake = await startGitHub(onTestFinished);
  const propose = () => source.runHere(["drift", "--propose"], github(fake));
  expect((await propose()).stdout).toContain("pull request 21 created");
  await source.write("api.yaml", api(3));
  const [written, uncommitted] = [writesOf(fake), await propose()];
  expect(uncommitted.stdout).toMatch(/\nProposal: nothing to propose, 1 not proposed\n$/);
  expect([writesOf(fake), fake.proposals[0]?.state]).toEqual([written, "open"]);
  await commitAll(source.folder, "Ask for three");
  expect((await propose()).stdout).toContain("nothing to propose, 1 not proposed; pull request 21 is closed: ");
  expect(fake.proposals).toMatchObject([{ state: "closed" }]);
  const [closed] = fake.proposals;
  expect(closed?.body).toContain("What still differs on target `default` is not proposed, so this was closed.");
  expect(closed?.body).toContain("`service/dev:web/api`");
  expect(closed?.body).toContain("a commit that is not applied yet changes it too");
});

test("says in the pull request what cannot be proposed, field by field, and never writes a secret", async () => {
  const server = await serve();
  const anchored = api(2, "env: &shared\n  LOG_LEVEL: info\nlabels: *shared\n");
  const source = await applied(server, anchored);
  const fake = await startGitHub(onTestFinished);
  const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  await change(server, {
    replicas: 5,
    env: { LOG_LEVEL: "debug", GITHUB_TOKEN: token },
    labels: { LOG_LEVEL: "info" },
  });
  const ended = await source.runHere(["drift", "--propose", "-o", "json"], github(fake));
  expect(ended.code).toBe(2);
  expect(faultsOf("drift", ended.stdout)).toEqual([]);
  const { proposal }: DriftReport = JSON.parse(ended.stdout);
  expect(proposal?.proposed).toMatchObject([{ identity: API, changes: [{ path: "/replicas", before: 2, after: 5 }] }]);
  expect(proposal?.refused).toMatchObject([
    { identity: API, why: "literal-secret", detail: expect.stringContaining("/env/GITHUB_TOKEN") },
    { identity: API, why: "not-editable", detail: expect.stringContaining("/env/LOG_LEVEL") },
  ]);
  expect(fake.branches.get(BRANCH)?.files).toEqual({ "api.yaml": anchored.replace("replicas: 2", "replicas: 5") });
  expect(fake.proposals[0]?.body).toContain("**Not proposed: 2.** Git wins there");
  expect(JSON.stringify([ended, fake.proposals, [...fake.branches]])).not.toContain(token);
});

test("--dry-run shows a diff that git applies; without a record the manifests at the base stand in", async () => {
  const server = await serve();
  const source = await applied(server);
  await change(server, { replicas: 5 });
  const stateless = ["drift", "--propose", "--dry-run", "--state", await temporaryFolder()];
  const shown = await source.runHere(stateless);
  expect(shown).toMatchObject({ code: 2, stderr: "" });
  expect(shown.stdout).toContain("-replicas: 2 # of this environment\n+replicas: 5 # of this environment\n");
  expect(shown.stdout).toMatch(/\nProposal: 1 resource\n$/);
  await source.write(
    "change.patch",
    shown.stdout.slice(shown.stdout.indexOf("--- a/"), shown.stdout.indexOf("Proposal:")),
  );
  await git(source.folder, "apply", "--check", "change.patch");
  await source.remove("change.patch");

  // What a later commit changes is not taken back.
  const base = await git(source.folder, "rev-parse", "HEAD");
  await source.write("api.yaml", api(2, "labels: { owner: ml }\n"));
  await commitAll(source.folder, "Name the owner");
  const since = await source.runHere([...stateless, "--base", base]);
  expect(since.stdout).toContain("+replicas: 5 # of this environment\n");
  expect(since.stdout).not.toContain("owner");
  const refused = await source.runHere([...stateless, "--only", API]);
  expect(refused).toMatchObject({ code: 3 });
  expect(refused.stderr).toContain("--only selects a part of it");
  expect(await source.runHere(["drift", "--dry-run"])).toMatchObject({ code: 3 });
});

test("a target with patches gets the change there, and a file that another target reads stays as it is", async () => {
  const server = await serve();
  const source = await sourceOf({
    ...Object.fromEntries(Object.entries(foundations).map(([file, text]) => [`base/${file}`, text])),
    "base/api.yaml": api(2),
    "patches/api.yaml": `match: ${API}\npatch:\n  labels: { owner: ml } # of this target\n`,
    ".gitignore": ".holdfast/\n",
  });
  await commitAll(source.folder, "Start");
  const outside = await temporaryFolder();
  const config = join(outside, "targets.yaml");
  await writeFile(join(outside, "token"), server.token, { mode: 0o600 });
  const common = `server: "${server.url}", tokenFile: ${join(outside, "token")}`;
  const targets = (more: string) =>
    writeFile(
      config,
      `targets:\n  - { name: prod, ${common}, paths: [base], ${more} }\n  - { name: other, paths: [base], sync: "off", server: "http://127.0.0.1:9" }\n`,
    );
  await targets("patches: patches");
  const run = (args: readonly string[], env = {}) =>
    source.runHere([...args, "--target", "prod", "--config", config], env);
  expect(await run(["apply", "--yes"])).toMatchObject({ code: 0 });
  await change(server, { replicas: 5, labels: { owner: "web" } });
  const fake = await startGitLab(onTestFinished);
  expect(await run(["drift", "--propose"], gitlab(fake))).toMatchObject({ code: 2, stderr: "" });
  expect(fake.branches.get("holdfast/drift-prod")?.files).toEqual({
    "patches/api.yaml": `match: ${API}\npatch:\n  labels: { owner: "web" } # of this target\n  replicas: 5\n`,
  });
  await targets("sync: heal");
  const shared = await run(["drift", "--propose", "--dry-run", "-o", "json", "--state", await temporaryFolder()]);
  const { proposal }: DriftReport = JSON.parse(shared.stdout);
  expect(proposal).toMatchObject({ proposed: [], refused: [{ identity: API, why: "shared" }], files: [] });
});

test("says what the forge refuses, and a later run completes what was begun, without a second pull request", async () => {
  const server = await serve();
  const source = await applied(server);
  await change(server, { replicas: 5 });
  const fake = await startGitHub(onTestFinished);
  const propose = () => source.runHere(["drift", "--propose"], github(fake));
  const none = await source.runHere(["drift", "--propose"], { ...github(fake), GITHUB_TOKEN: "" });
  expect(none).toMatchObject({ code: 4, stdout: "" });
  expect(none.stderr).toContain("there is no token for the forge");
  fake.mayWrite = false;
  expect(await propose()).toMatchObject({ code: 4, stderr: expect.stringContaining("the token lacks a permission") });
  fake.mayWrite = true;
  fake.fail(/POST .*\/git\/refs$/, {
    status: 422,
    body: JSON.stringify({ message: "Repository rule violations found" }),
  });
  expect(await propose()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Repository rule violations found"),
  });
  fake.fail(/POST .*\/pulls$/, { status: 502, body: "<html>" });
  expect((await propose()).code).toBe(1);
  expect([fake.branches.has(BRANCH), fake.proposals.length]).toEqual([true, 0]);
  expect((await propose()).stdout).toContain("pull request 21 created");
  expect(fake.proposals).toHaveLength(1);
});

test("needs a token that may only read", async () => {
  const server = await serve();
  const source = await applied(server);
  await change(server, { replicas: 5 });
  const permissions = [{ resource_type: "workspace", resource_fqn: "dev:web", role_id: "workspace-viewer" }];
  const manifest = { type: "virtual-account", name: "reader", permissions };
  const { token } = await server.call("PUT", "/api/svc/v1/virtual-accounts", { manifest });
  const fake = await startGitHub(onTestFinished);
  const ended = await source.runHere(["drift", "--propose"], { ...github(fake), HOLDFAST_TOKEN: String(token) });
  expect(ended.stdout).toContain("; pull request 21 created: ");
  expect(fake.branches.get(BRANCH)?.files).toEqual({ "api.yaml": api(5) });
});
