import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import type { PromotionReport } from "../../src/contract/generated/output.ts";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { type FakeForge, forgeFacts, startGitHub, startGitLab } from "../support/fake-forge.ts";
import { type FaultProxy, faultProxy, passOn } from "../support/fault-proxy.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startJudge } from "../support/gate-judge.ts";
import { commitAll, git } from "../support/git.ts";
import { foundations, model, prompt, service } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const API = "service/dev:web/api";
/** What production calls it, where it calls the cluster otherwise. */
const LIVE = "service/live:web/api";

/** A service with a comment beside what is promoted, and a number of replicas of its own. */
const api = (version: string, replicas: number): string => `type: service
name: api
workspace_fqn: dev:web
replicas: ${replicas} # of this environment
image:
  type: image
  image_uri: registry.example.com/api:${version} # released by CI
ports:
  - port: 8080
`;

type World = {
  readonly source: Source;
  readonly staging: Server;
  readonly prod: Server;
  readonly run: Source["runHere"];
  readonly config: string;
  /** Writes the configuration with other keys of the targets. */
  readonly targets: (keys: TargetKeys) => Promise<void>;
};

/** The keys of the targets, and those of the whole configuration. */
type TargetKeys = { readonly staging: string; readonly prod: string; readonly more?: string };

/** Two control planes that follow folders of one repository, and a configuration with a target for each. */
async function world(
  files: { readonly [file: string]: string },
  serveOne: () => Promise<Server> = () => serve(),
  keys: Partial<TargetKeys> = {},
): Promise<World> {
  const [staging, prod] = [await serveOne(), await serveOne()];
  const shared = Object.entries(foundations);
  const source = await sourceOf({
    ...Object.fromEntries(
      shared.flatMap(([file, text]) => [
        [`staging/${file}`, text],
        [`prod/${file}`, text],
      ]),
    ),
    ...files,
    ".gitignore": ".holdfast/\n",
  });
  const outside = await temporaryFolder();
  const config = join(outside, "targets.yaml");
  await writeFile(join(outside, "staging-token"), staging.token, { mode: 0o600 });
  await writeFile(join(outside, "prod-token"), prod.token, { mode: 0o600 });
  const targets: World["targets"] = (keys) =>
    writeFile(
      config,
      `${keys.more ?? ""}targets:
  - { name: staging, server: "${staging.url}", tokenFile: ${join(outside, "staging-token")}, ${keys.staging} }
  - { name: prod, server: "${prod.url}", tokenFile: ${join(outside, "prod-token")}, ${keys.prod} }
`,
    );
  await targets({ staging: "paths: [staging]", prod: "paths: [prod]", ...keys });
  const run: Source["runHere"] = (args, env) => source.runHere([...args, "--config", config], env);
  return { source, staging, prod, run, targets, config };
}

const both = (name: string, staging: string, prod: string) => ({
  [`staging/${name}.yaml`]: staging,
  [`prod/${name}.yaml`]: prod,
});

const pinned = (identity: string, version: string, more = ""): string => `match: ${identity}
patch:
  image: # of this environment
    image_uri: registry.example.com/${version} # released by CI
${more}`;

/** Two control planes for one folder of manifests, with patches for each; production calls the cluster otherwise. */
async function patchedWorld(): Promise<World> {
  const base = Object.entries({ ...foundations, "api.yaml": api("1.0.0", 1), "worker.yaml": service("worker") });
  const files = {
    ...Object.fromEntries(base.map(([file, text]) => [`base/${file}`, text])),
    "patches/staging/api.yaml": pinned(API, "api:1.4.0"),
    "patches/staging/worker.yaml": pinned("service/dev:web/worker", "worker:7"),
    "patches/prod/api.yaml": pinned(LIVE, "api:1.3.0", "  replicas: 4\n"),
  };
  return world(files, undefined, {
    staging: "paths: [base], patches: patches/staging",
    prod: "paths: [base], patches: patches/prod, rename: { clusters: { dev: live } }",
  });
}

async function applyBoth({ run }: Pick<World, "run">): Promise<void> {
  for (const target of ["staging", "prod"]) {
    expect(await run(["apply", "--yes", "--target", target])).toMatchObject({ code: 0 });
  }
}

function github({ apiUrl }: FakeForge) {
  return {
    GITHUB_ACTIONS: "true",
    GITHUB_REPOSITORY: forgeFacts.repository,
    GITHUB_API_URL: apiUrl,
    GITHUB_TOKEN: forgeFacts.token,
  };
}

function gitlab({ apiUrl }: FakeForge) {
  return {
    GITLAB_CI: "true",
    CI_API_V4_URL: apiUrl,
    CI_PROJECT_PATH: forgeFacts.repository,
    GITLAB_TOKEN: forgeFacts.token,
  };
}

describe.each(controlPlaneVariants)("holdfast promote on $name control planes", (plane) => {
  test("shows the diff of what is healthy, which git applies, and changes only the version", async () => {
    const it = await world(both("api", api("1.4.0", 1), api("1.3.0", 4)), plane.serve);
    const { source, run } = it;
    await commitAll(source.folder, "Start");
    await applyBoth(it);
    const effects = it.prod.effects();
    const ended = await run(["promote", "staging", "prod", API, "--dry-run"]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain(`~ ${API}  prod/api.yaml\n`);
    expect(ended.stdout).toContain(" of Ada <ada@example.com>, ");
    expect(ended.stdout).toContain("    healthy since 20");
    expect(ended.stdout).toContain(
      "-  image_uri: registry.example.com/api:1.3.0 # released by CI\n+  image_uri: registry.example.com/api:1.4.0 # released by CI\n",
    );
    expect(ended.stdout).toMatch(/Promotion of staging to prod: 1 resource\n$/);
    expect(it.prod.effects()).toEqual(effects);
    await source.write(
      "change.patch",
      ended.stdout.slice(ended.stdout.indexOf("--- a/"), ended.stdout.indexOf("Promotion of")),
    );
    await git(source.folder, "apply", "--check", "change.patch");
    const { stdout } = await run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
    expect(faultsOf("promotion", stdout)).toEqual([]);
    const report: PromotionReport = JSON.parse(stdout);
    expect(report.promoted).toMatchObject([{ identity: API, changes: [{ before: "registry.example.com/api:1.3.0" }] }]);
    expect(report.plan?.steps).toMatchObject([{ identity: API, action: "update" }]);
    expect(report.revert?.steps).toMatchObject([
      { identity: API, action: "update", changes: [{ after: "registry.example.com/api:1.3.0", cause: "manifest" }] },
    ]);
  });
});

describe.each([
  { name: "GitHub", start: startGitHub, env: github },
  { name: "GitLab", start: startGitLab, env: gitlab },
])("holdfast promote with $name", ({ start, env }) => {
  test("opens one pull request, updates it when there is something new, and does not reopen a closed one", async () => {
    const it = await world(both("api", api("1.4.0", 1), api("1.3.0", 4)));
    const { source, run } = it;
    const parent = await commitAll(source.folder, "Start");
    await applyBoth(it);
    const fake = await start(onTestFinished);
    const promote = () => run(["promote", "staging", "prod"], env(fake));
    const first = await promote();
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toContain("; pull request 21 created: https://");
    const branch = "holdfast/promote-staging-to-prod";
    expect(fake.branches.get(branch)).toMatchObject({ parent, files: { "prod/api.yaml": api("1.4.0", 4) } });
    const [opened] = fake.proposals;
    expect(opened).toMatchObject({ branch, base: "main", title: `Promote staging to prod: ${API}` });
    expect(opened?.body).toContain(
      "| `service/dev:web/api` | `image.image_uri` | `registry.example.com/api:1.3.0` → `registry.example.com/api:1.4.0` |",
    );
    expect(opened?.body).toMatch(
      /## Plan of the promotion\n\n### Holdfast: 1 to update\n.*## Plan of its revert\n.*### Holdfast: 1 to update\n/s,
    );
    expect(opened?.body).toContain("`Ada <ada@example.com>` in `");
    const written = fake.requests.filter((one) => !one.startsWith("GET") && !one.endsWith("/graphql")).length;
    expect((await promote()).stdout).toContain("; pull request 21 unchanged");
    expect(fake.requests.filter((one) => !one.startsWith("GET") && !one.endsWith("/graphql"))).toHaveLength(written);

    await source.write("staging/api.yaml", api("1.5.0", 1));
    const next = await commitAll(source.folder, "Release 1.5.0");
    expect(await run(["apply", "--yes", "--target", "staging"])).toMatchObject({ code: 0 });
    expect((await promote()).stdout).toContain("; pull request 21 updated");
    expect(fake.proposals).toHaveLength(1);
    expect(fake.branches.get(branch)).toMatchObject({ parent: next, files: { "prod/api.yaml": api("1.5.0", 4) } });
    expect(fake.proposals[0]?.body).toContain("registry.example.com/api:1.5.0");

    // Nothing is left: the open one is closed, but not for a look at one resource, without a pull request, or with a doubt.
    await source.write("prod/api.yaml", api("1.5.0", 4));
    await commitAll(source.folder, "Promote by hand");
    await run(["promote", "staging", "prod", API], env(fake));
    await run(["promote", "staging", "prod", "--dry-run"], env(fake));
    await source.write("staging/api.yaml", api("1.5.0", 1).replace("8080", "no-port"));
    expect(await promote()).toMatchObject({ code: 7 });
    expect(opened?.state).toBe("open");
    await source.write("staging/api.yaml", api("1.5.0", 1));
    const withdrawn = await promote();
    expect(withdrawn).toMatchObject({ code: 0, stderr: "" });
    expect(withdrawn.stdout).toMatch(
      /^Promotion of staging to prod: nothing to promote, \d unchanged; pull request 21 is closed: https:/,
    );
    expect(opened?.state).toBe("closed");
    await git(source.folder, "reset", "--quiet", "--hard", "HEAD~");
    expect((await promote()).stdout).toContain("; pull request 22 created");

    const [, again] = fake.proposals;
    if (again !== undefined) again.state = "closed";
    expect((await promote()).stdout).toContain("pull request 22 with this content was closed, and is not opened again");
    expect(fake.proposals).toHaveLength(2);

    await source.write("prod/api.yaml", api("1.5.0", 4));
    await commitAll(source.folder, "Promote by hand");
    const none = await promote();
    expect(none).toMatchObject({ code: 0 });
    expect(none.stdout).toMatch(/^Promotion of staging to prod: nothing to promote, \d unchanged\n$/);
  });

  test("changes the patches of a target whose manifests another one reads too, and nothing a second time", async () => {
    const it = await patchedWorld();
    await commitAll(it.source.folder, "Start");
    await applyBoth(it);
    const fake = await start(onTestFinished);
    const promote = async (): Promise<PromotionReport> => {
      const ended = await it.run(["promote", "staging", "prod", "-o", "json"], env(fake));
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      return JSON.parse(ended.stdout);
    };
    const first = await promote();
    expect(first.promoted).toMatchObject([
      { identity: LIVE, from: API, file: "patches/prod/api.yaml", authors: [{ commit: /./ }] },
      { identity: "service/live:web/worker", from: "service/dev:web/worker", file: "patches/prod/promoted.yaml" },
    ]);
    const branch = "holdfast/promote-staging-to-prod";
    expect(fake.branches.get(branch)?.files).toEqual({
      "patches/prod/api.yaml": pinned(LIVE, "api:1.4.0", "  replicas: 4\n"),
      "patches/prod/promoted.yaml": `match: service/live:web/worker
patch:
  image:
    image_uri: registry.example.com/worker:7
`,
    });
    expect(first.files.map(({ diff }) => diff?.split("\n")[0])).toEqual([
      "--- a/patches/prod/api.yaml",
      "--- /dev/null",
    ]);
    expect(first.pullRequest).toMatchObject({ result: "created", number: 21 });
    expect(first.plan?.steps.map(({ action, identity }) => [action, identity])).toEqual([
      ["update", LIVE],
      ["update", "service/live:web/worker"],
    ]);
    expect(first.revert?.steps.map(({ action }) => action)).toEqual(["update", "update"]);
    const written = fake.requests.filter((one) => !one.startsWith("GET") && !one.endsWith("/graphql")).length;
    expect((await promote()).pullRequest).toMatchObject({ result: "unchanged", number: 21 });
    expect(fake.requests.filter((one) => !one.startsWith("GET") && !one.endsWith("/graphql"))).toHaveLength(written);

    await it.source.write("patches/staging/api.yaml", pinned(API, "api:1.5.0"));
    const release = await commitAll(it.source.folder, "Release 1.5.0");
    expect(await it.run(["apply", "--yes", "--target", "staging"])).toMatchObject({ code: 0 });
    const next = await promote();
    expect(next.pullRequest).toMatchObject({ result: "updated", number: 21 });
    // The patch says the version, so its line is the one that somebody wrote.
    expect(next.promoted[0]?.authors).toMatchObject([{ commit: release }]);
    for (const [file, text] of Object.entries(fake.branches.get(branch)?.files ?? {}))
      await it.source.write(file, text);
    await commitAll(it.source.folder, "Merge the promotion");
    const [merged] = fake.proposals;
    if (merged !== undefined) merged.state = "merged";
    const staging = it.staging.effects();
    expect(await it.run(["apply", "--yes", "--target", "prod"])).toMatchObject({ code: 0 });
    expect(await promote()).toMatchObject({ summary: { promoted: 0, refused: 0 }, pullRequest: null });
    // Nothing that staging reads has changed.
    expect(await it.run(["apply", "--yes", "--target", "staging"])).toMatchObject({ code: 0 });
    expect(it.staging.effects()).toEqual(staging);
    expect(fake.proposals).toHaveLength(1);
  });

  test("says what the forge refuses, and repeats after its faults without a second pull request", async () => {
    const it = await world(both("api", api("1.4.0", 1), api("1.3.0", 4)));
    await commitAll(it.source.folder, "Start");
    await applyBoth(it);
    const fake = await start(onTestFinished);
    fake.mayWrite = false;
    const refused = await it.run(["promote", "staging", "prod"], env(fake));
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("the token lacks a permission");
    fake.mayWrite = true;
    fake.commits = new Set();
    const unknown = await it.run(["promote", "staging", "prod"], env(fake));
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain("writing the branch holdfast/promote-staging-to-prod");
    fake.commits = null;
    fake.fail(/POST .*\/(?:pulls|merge_requests)$/, { status: 502, body: "<html>" });
    expect((await it.run(["promote", "staging", "prod"], env(fake))).code).toBe(1);
    expect((await it.run(["promote", "staging", "prod"], env(fake))).stdout).toContain("pull request 21 created");
    expect(fake.proposals).toHaveLength(1);
    expect(`${refused.stderr}${unknown.stderr}`).not.toContain("CANARY");
  });
});

test("what is not healthy, not applied or not declared in the other target is listed with its reason", async () => {
  const files = {
    ...both("api", api("1.4.0", 1), api("1.3.0", 4)),
    ...both("answer", prompt("answer", "Be brief."), prompt("answer", "Be long.")),
    "staging/only.yaml": service("only"),
  };
  const it = await world(files);
  await applyBoth(it);
  await it.source.write("staging/later.yaml", service("later"));
  const changed = {
    type: "service",
    name: "api",
    workspace_fqn: "dev:web",
    image: { type: "image", image_uri: "x:2" },
    ports: [{ port: 8080 }],
  };
  await it.staging.call("PUT", "/api/svc/v1/apps", { manifest: changed });
  const ended = await it.run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
  const { promoted, refused }: PromotionReport = JSON.parse(ended.stdout);
  expect(promoted.map(({ identity }) => identity)).toEqual(["chat_prompt/registry/answer"]);
  expect(refused.map(({ identity, why }) => [identity, why])).toEqual([
    [API, expect.stringMatching(/^(?:drifted|rolling-out)$/)],
    ["service/dev:web/later", "not-recorded"],
    ["service/dev:web/only", "not-declared"],
  ]);
});

test("while another process writes a resource, it has not drifted, and its open pull request stays", async () => {
  const proxies: FaultProxy<Server>[] = [];
  const it = await world(both("api", api("1.4.0", 1), api("1.3.0", 4)), async () => {
    const proxy = await faultProxy(await serve());
    proxies.push(proxy);
    return proxy.server;
  });
  const [staging] = proxies;
  await commitAll(it.source.folder, "Start");
  await applyBoth(it);
  const fake = await startGitHub(onTestFinished);
  expect(await it.run(["promote", "staging", "prod"], github(fake))).toMatchObject({ code: 0 });
  expect(fake.proposals).toHaveLength(1);
  await it.source.write("staging/api.yaml", api("1.5.0", 1));
  await commitAll(it.source.folder, "Release");
  // Live has the new version, and the process that wrote it does not know yet.
  const answered = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  staging?.inject(
    "putApp",
    async ({ forward, reply }) => {
      const { status, headers, body } = await forward();
      written.resolve();
      await answered.promise;
      reply.writeHead(status, headers).end(body);
    },
    { dryRun: false },
  );
  const applying = it.source.start(["apply", "--yes", "--target", "staging", "--config", it.config]);
  await written.promise;
  const { stdout } = await it.run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
  const { refused }: PromotionReport = JSON.parse(stdout);
  expect(refused.map(({ identity, why, detail }) => [identity, why, detail])).toEqual([
    [API, "rolling-out", "a write of it has not ended"],
  ]);
  expect(await it.run(["promote", "staging", "prod"], github(fake))).toMatchObject({ code: 0 });
  expect(fake.proposals.map(({ state }) => state)).toEqual(["open"]);
  answered.resolve();
  expect(await applying.ended).toMatchObject({ code: 0 });
  expect(await it.run(["promote", "staging", "prod"], github(fake))).toMatchObject({ code: 0 });
  expect(fake.proposals).toHaveLength(1);
  expect(fake.proposals[0]?.body).toContain("api:1.5.0");

  // The records were read before the write, and live after it.
  await it.source.write("staging/api.yaml", api("1.6.0", 1));
  await commitAll(it.source.folder, "Release again");
  const applied = Promise.withResolvers<void>();
  const reading = staging?.inject(
    "listApps",
    async (passing) => {
      await applied.promise;
      await passOn(passing);
    },
    { times: 1 },
  );
  const promoting = it.run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
  await reading?.hit;
  expect(await it.run(["apply", "--yes", "--target", "staging"])).toMatchObject({ code: 0 });
  applied.resolve();
  const { promoted }: PromotionReport = JSON.parse((await promoting).stdout);
  expect(promoted.map(({ identity }) => identity)).toEqual([API]);
});

test("an invalid manifest on either side is listed with its error, and the run ends with 7", async () => {
  const { source, run } = await world(both("api", api("1.1.0", 1), api("1.0.0", 3)));
  await commitAll(source.folder, "Begin");
  await applyBoth({ run });
  const ended = async (): Promise<unknown> => {
    const { code, stdout } = await run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
    const { promoted, refused, diagnostics } = JSON.parse(stdout) as PromotionReport;
    return { code, promoted, refused, diagnostics };
  };
  const invalid = { code: 7, promoted: [], refused: [{ identity: API, why: "invalid" }] };
  for (const side of ["staging", "prod"]) {
    await source.write(`${side}/api.yaml`, api("1.1.0", 1).replace("8080", "no-port"));
    expect(await ended()).toMatchObject({ ...invalid, diagnostics: [{ file: `${side}/api.yaml`, line: 9 }] });
    await source.write(`${side}/api.yaml`, api(side === "staging" ? "1.1.0" : "1.0.0", 1));
  }
  expect(await ended()).toMatchObject({ code: 0, promoted: [{ identity: API }] });
});

test("what is wrong in a file of both targets is told once", async () => {
  const it = await patchedWorld();
  await applyBoth(it);
  await it.source.write("base/worker.yaml", service("worker", "replica: 2\n"));
  const { stdout, stderr } = await it.run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
  expect(stderr.match(/base\/worker.yaml:\d+:\d+: error/g)).toHaveLength(1);
  expect(JSON.parse(stdout).diagnostics).toMatchObject([{ file: "base/worker.yaml", code: "unknown-field" }]);
});

test("what another target reads too is never changed, and a patch for many resources stays as it is", async () => {
  const it = await patchedWorld();
  await it.source.write(
    "patches/prod/all.yaml",
    "match: service/live:web/*\npatch: { image: { image_uri: registry.example.com/all:1 } }\n",
  );
  await it.source.write(
    "patches/prod/api.yaml",
    `match: ${LIVE}\npatch: { replicas: 4 }\n---\n# Everywhere.\nmatch: service/live:web/*\npatch: { image: { image_uri: "registry.example.com/all:2" } }`,
  );
  await applyBoth(it);
  const promote = async (): Promise<PromotionReport> => {
    const ended = await it.run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    return JSON.parse(ended.stdout);
  };
  const report = await promote();
  expect(report.files.map(({ path }) => path)).toEqual(["patches/prod/api.yaml"]);
  const added = report.files[0]?.diff?.split("\n").filter((line) => line.startsWith("+") && !line.startsWith("+++"));
  expect(added?.filter((line) => /match|image_uri/.test(line))).toEqual([
    expect.stringMatching(/all:2/),
    `+match: ${LIVE}`,
    "+    image_uri: registry.example.com/api:1.4.0",
    "+match: service/live:web/worker",
    "+    image_uri: registry.example.com/worker:7",
  ]);

  await it.targets({ staging: "paths: [base], patches: patches/staging", prod: "paths: [base]" });
  const whole = await promote();
  expect(whole.refused.map(({ why, detail }) => [why, detail])).toContainEqual([
    "shared",
    "target staging reads base/api.yaml too: give this target a folder of `patches`",
  ]);
  expect(whole.promoted).toEqual([]);

  const both = "paths: [base], patches: patches/staging";
  await it.targets({ staging: both, prod: both });
  await it.source.write("patches/staging/api.yaml", pinned(API, "api:2.0.0"));
  const { promoted, refused } = await promote();
  expect([promoted, refused]).toMatchObject([[], [{ why: "shared" }]]);
  expect(refused[0]?.detail).toContain("target staging reads the patches in patches/staging too");
});

test("the manifests of a target with a rename are changed in place, with the names that they have", async () => {
  const mounted = (text: string, size: string): string =>
    `${text}mounts:\n  - { type: volume, mount_path: /data, volume_fqn: "tfy-volume://${size}" }\n`;
  const files = both("api", mounted(api("1.4.0", 1), "dev:web:new"), mounted(api("1.3.0", 4), "dev:web:old"));
  const volume = (name: string): string =>
    `type: volume\nname: ${name}\nworkspace_fqn: dev:web\nconfig: { type: dynamic, storage_class: ssd, size: 1 }\n`;
  const it = await world(
    { ...files, ...both("volume", volume("new"), `${volume("old")}---\n${volume("new")}`) },
    undefined,
    {
      prod: "paths: [prod], rename: { clusters: { dev: live } }, promote: [/image/image_uri, /mounts]",
    },
  );
  await applyBoth(it);
  const { stdout } = await it.run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
  const { promoted, refused, files: changed }: PromotionReport = JSON.parse(stdout);
  expect([promoted, refused]).toMatchObject([[{ identity: LIVE, file: "prod/api.yaml" }], []]);
  expect(changed[0]?.diff?.split("\n").filter((line) => /^[+-] /.test(line))).toEqual([
    "-  image_uri: registry.example.com/api:1.3.0 # released by CI",
    "+  image_uri: registry.example.com/api:1.4.0 # released by CI",
    '-  - { type: volume, mount_path: /data, volume_fqn: "tfy-volume://dev:web:old" }',
    '+  - { type: volume, mount_path: /data, volume_fqn: "tfy-volume://dev:web:new" }',
  ]);
  // So is what somebody has changed in the control plane.
  const live = { ...parse(api("1.3.0", 7)), workspace_fqn: "live:web" };
  await it.prod.call("PUT", "/api/svc/v1/apps", { manifest: live });
  expect(await it.run(["import", "--update", "--target", "prod", LIVE])).toMatchObject({ code: 0 });
  expect(await readFile(join(it.source.folder, "prod/api.yaml"), "utf8")).toContain(
    "replicas: 7 # of this environment",
  );
});

describe("a version with a number", () => {
  const numbered = (text: string, version: number, uri: string): string =>
    `${text.replace("example-models/ranker", `example-models/${uri}`)}version: ${version} # of this registry\n`;
  const using = (name: string, version: number): string =>
    service(
      name,
      `artifacts_download:\n  artifacts:\n    - type: truefoundry-artifact\n      artifact_version_fqn: model:holdfast/registry/ranker:${version}\n      download_path_env_variable: MODEL\n`,
    );

  /** Staging is at the third version of its model, and prod declares the first of its own by its number. */
  async function registries(more: { readonly [file: string]: string } = {}) {
    const it = await world({
      ...both("model", model("ranker"), numbered(model("ranker"), 1, "old")),
      ...both("prompt", prompt("answer", "Be brief."), numbered(prompt("answer", "Be long."), 1, "")),
      ...both("api", using("api", 1), using("api", 1)),
      ...more,
    });
    await applyBoth(it);
    for (const uri of ["second", "third"]) {
      await it.source.write("staging/model.yaml", model("ranker").replace("models/ranker", `models/${uri}`));
      await it.source.write("staging/api.yaml", using("api", uri === "third" ? 3 : 2));
      expect(await it.run(["apply", "--yes", "--target", "staging"])).toMatchObject({ code: 0 });
    }
    const promote = async (): Promise<PromotionReport> => {
      const { stdout } = await it.run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
      expect(faultsOf("promotion", stdout)).toEqual([]);
      return JSON.parse(stdout);
    };
    return { ...it, promote };
  }

  test("gets the number that the registry of its target gives it, in place, and so does what refers to it", async () => {
    const { promote, source, run } = await registries();
    const { promoted, refused, files, plan, revert } = await promote();
    expect(refused).toEqual([]);
    expect(promoted.map(({ identity, from }) => [identity, from])).toEqual([
      ["chat_prompt/registry/answer@2", "chat_prompt/registry/answer"],
      ["model-version/registry/ranker@2", "model-version/registry/ranker"],
      [API, API],
    ]);
    expect(promoted[1]?.changes).toContainEqual(expect.objectContaining({ path: "/version", before: 1, after: 2 }));
    const lines = files.flatMap(({ diff }) => diff?.split("\n").filter((line) => /^[+-] *[a-z]/.test(line)) ?? []);
    expect(lines.toSorted()).toEqual([
      "+      artifact_version_fqn: model:holdfast/registry/ranker:2",
      "+    content: Be brief.",
      "+  uri: s3://example-models/third",
      "+version: 2 # of this registry",
      "+version: 2 # of this registry",
      "-      artifact_version_fqn: model:holdfast/registry/ranker:1",
      "-    content: Be long.",
      "-  uri: s3://example-models/old",
      "-version: 1 # of this registry",
      "-version: 1 # of this registry",
    ]);
    expect(plan?.steps.map(({ action, identity }) => [action, identity])).toEqual([
      ["create", "chat_prompt/registry/answer@2"],
      ["create", "model-version/registry/ranker@2"],
      ["update", API],
    ]);
    expect(revert?.steps.filter(({ action }) => action !== "keep").map(({ identity }) => identity)).toEqual([API]);

    await source.write("prod/model.yaml", numbered(model("ranker"), 2, "third"));
    await source.write("prod/prompt.yaml", numbered(prompt("answer", "Be brief."), 2, ""));
    await source.write("prod/api.yaml", using("api", 2));
    expect(await run(["apply", "--yes", "--target", "prod"])).toMatchObject({ code: 0 });
    expect(await promote()).toMatchObject({ summary: { promoted: 0, refused: 0 } });

    // What the registry has already keeps its number.
    await source.write("staging/model.yaml", model("ranker").replace("models/ranker", "models/old"));
    expect(await run(["apply", "--yes", "--target", "staging"])).toMatchObject({ code: 0 });
    expect((await promote()).refused.map(({ why }) => why)).toEqual(["not-editable", "not-editable"]);
    await source.write("staging/api.yaml", using("api", 4));
    expect(await run(["apply", "--yes", "--target", "staging"])).toMatchObject({ code: 0 });
    const back = await promote();
    expect([back.promoted.map(({ identity }) => identity), back.refused]).toEqual([
      ["model-version/registry/ranker@1", API],
      [],
    ]);
  });

  test("is left out, with the reason, where others refer to its number, or several are declared, or patches are needed", async () => {
    const { promote, source, targets } = await registries({ "prod/other.yaml": using("other", 1) });
    const reasons = async () =>
      (await promote()).refused.map(({ identity, why, detail }) => `${identity} ${why}: ${detail}`);
    expect((await reasons()).filter((one) => one.startsWith("model-version"))).toEqual([
      expect.stringMatching(
        /^model-version\/registry\/ranker not-editable: service\/dev:web\/other refers to model-version\/registry\/ranker@1; change prod\/model.yaml by hand: \/source\/uri, \/version$/,
      ),
    ]);
    await source.write("prod/next.yaml", numbered(prompt("answer", "Be longer."), 2, ""));
    expect(await reasons()).toContain(
      "chat_prompt/registry/answer not-editable: the target promoted to declares several versions of it: add a manifest of version 2 by hand",
    );
    await source.write("prod/next.yaml", "");
    await source.write("prod/patches/a.yaml", "match: chat_prompt/registry/answer@1\npatch: { description: a }\n");
    await targets({ staging: "paths: [staging]", prod: "paths: [prod], patches: prod/patches" });
    expect(await reasons()).toContain(
      "chat_prompt/registry/answer not-editable: a patch matches prod/prompt.yaml, and the number of a version is no field that patches change; change prod/prompt.yaml by hand: /messages/0/content, /version",
    );
  });
});

test("sources that name one repository in two ways are one, and those of two branches are not", async () => {
  const it = await patchedWorld();
  const { source } = it;
  await commitAll(source.folder, "Start");
  const linked = join(await temporaryFolder(), "linked");
  await symlink(source.folder, linked);
  const sources = `sources: [{ name: one, url: "${source.folder}" }, { name: two, url: "${linked}/" }]\n`;
  const keys = (staging: string, prod: string, more = sources): Promise<void> =>
    it.targets({ staging: `source: one, ${staging}`, prod: `source: two, ${prod}`, more });
  const promote = async (): Promise<PromotionReport> => {
    const ended = await it.run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
    expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining("error") });
    return JSON.parse(ended.stdout);
  };
  const patches = "paths: [base, patches], patches: patches";
  const rename = "rename: { clusters: { dev: live } }";
  await keys(`${patches}/staging`, `${patches}/prod, ${rename}`);
  await applyBoth(it);
  expect((await promote()).promoted.map(({ file }) => file)).toEqual([
    "patches/prod/api.yaml",
    "patches/prod/promoted.yaml",
  ]);
  await keys(`${patches}/staging`, "paths: [base]");
  const { promoted, refused } = await promote();
  expect([promoted, refused.find(({ identity }) => identity === API)]).toMatchObject([
    [],
    { why: "shared", detail: expect.stringContaining("target staging reads base/api.yaml too") },
  ]);
  // Nor what else is in a folder of patches.
  await it.source.write("patches/staging/extra.yaml", service("extra").replace("dev:", "live:"));
  await commitAll(source.folder, "Add a manifest to the patches");
  await keys(`${patches}/staging`, `${patches}/prod, ${rename}`);
  const planned = await it.run(["plan", "--target", "prod"]);
  expect([planned.code, planned.stdout]).toEqual([0, expect.not.stringContaining("extra")]);
  await git(source.folder, "reset", "--quiet", "--hard", "HEAD~");
  // What is promoted to a branch is not what targets of other branches read.
  await git(source.folder, "branch", "production");
  await keys(`${patches}/staging`, "paths: [base]", sources.replace('/" }', '/", ref: production }'));
  expect((await promote()).promoted.map(({ file }) => file)).toEqual(["base/api.yaml", "base/worker.yaml"]);
});

test("the diff of a patch file with a secret in plain text is shown nowhere, and a reader or a new machine promotes nothing", async () => {
  const it = await patchedWorld();
  const secret = "  env: { API_TOKEN: CANARY-plain-text }\n";
  await it.source.write("patches/prod/api.yaml", pinned(LIVE, "api:1.3.0", secret));
  await commitAll(it.source.folder, "Start");
  await applyBoth(it);
  const fake = await startGitHub(onTestFinished);
  const ended = [
    await it.run(["promote", "staging", "prod", "--dry-run"]),
    await it.run(["promote", "staging", "prod", "--dry-run", "-o", "json"]),
    await it.run(["promote", "staging", "prod"], github(fake)),
  ];
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  const [text, json] = ended.map(({ stdout }) => stdout);
  expect(text).toContain("patches/prod/api.yaml contains secrets in plain text: its diff is not shown");
  expect(text).toContain("+++ b/patches/prod/promoted.yaml");
  expect(JSON.parse(json ?? "").files.map(({ diff }: { diff: unknown }) => typeof diff)).toEqual(["object", "string"]);
  const [proposed] = fake.proposals;
  expect(JSON.stringify([ended, proposed])).not.toContain("CANARY-plain-text");
  const files = fake.branches.get("holdfast/promote-staging-to-prod")?.files;
  expect(files?.["patches/prod/api.yaml"]).toBe(pinned(LIVE, "api:1.4.0", secret));

  // Without the records of what was applied, nothing is known to be tried out.
  const elsewhere = join(await temporaryFolder(), "state");
  const { stdout } = await it.run(["promote", "staging", "prod", "--dry-run", "-o", "json", "--state", elsewhere]);
  const fresh: PromotionReport = JSON.parse(stdout);
  expect([fresh.promoted, new Set(fresh.refused.map(({ why }) => why))]).toEqual([[], new Set(["not-recorded"])]);
  // A token that may only read one workspace of each says what it sees.
  const tokens = join(it.config, "..");
  for (const [name, plane, cluster] of [
    ["staging", it.staging, "dev"],
    ["prod", it.prod, "live"],
  ] as const) {
    const permissions = [{ resource_type: "workspace", resource_fqn: `${cluster}:web`, role_id: "workspace-viewer" }];
    const manifest = { type: "virtual-account", name: "reader", permissions };
    const { token } = await plane.call("PUT", "/api/svc/v1/virtual-accounts", { manifest });
    await writeFile(join(tokens, `${name}-token`), token, { mode: 0o600 });
  }
  const read = await it.run(["promote", "staging", "prod", "--dry-run", "-o", "json"]);
  expect(read).toMatchObject({ code: 0 });
  expect(JSON.parse(read.stdout).promoted.map(({ identity }: { identity: string }) => identity)).toEqual([
    LIVE,
    "service/live:web/worker",
  ]);
});

test("of two daemons over one state in PostgreSQL, with targets from a pattern, one proposes at a time", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const documented = controlPlaneVariants.find(({ name }) => name === "documented-only")?.serve ?? serve;
  const planes = [await documented(), await documented()] as const;
  const fake = await startGitHub(onTestFinished);
  const files = Object.entries({ ...foundations, "api.yaml": api("1.3.0", 4) });
  const upstream = await upstreamOf({
    ...Object.fromEntries(
      ["staging", "prod"].flatMap((env) => files.map(([file, text]) => [`envs/${env}/${file}`, text])),
    ),
    "envs/staging/api.yaml": api("1.4.0", 1),
  });
  const env = { ...github(fake), HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: "11".repeat(32) };
  const machine = async () => {
    const it = await operatorOf({
      sources: [{ name: "platform", url: upstream.folder }],
      servers: planes.map(({ url }, at) => ({ name: ["staging", "prod"][at], url, tokenFile: `${at}.token` })),
      targets: [{ name: "{dir}", each: "envs/*", server: "{dir}", interval: 1 }],
      promotions: [{ from: "staging", to: "prod", every: "1s" }],
    });
    for (const [at, { token }] of planes.entries()) await it.write(`${at}.token`, token);
    return it.start(["watch"], env);
  };
  const daemons = [await machine(), await machine()];
  await eventually("a pull request", () => fake.proposals[0]);
  await upstream.commit({ "envs/staging/api.yaml": api("1.5.0", 1) });
  await eventually("an update", () => fake.proposals[0]?.body.includes("api:1.5.0"));
  for (const daemon of daemons) daemon.kill("SIGTERM");
  const logs = (await Promise.all(daemons.map(({ ended }) => ended))).map(({ stdout, stderr }) => stdout + stderr);
  expect(fake.proposals).toHaveLength(1);
  // Each target may be another one's, and either may have ended first.
  const said = logs.flatMap((log) => log.split("\n").filter((line) => line.includes("promotion")));
  expect(said.map((line) => /pull request 21 (\w+)/.exec(line)?.[1] ?? line).toSorted()).toEqual([
    "created",
    "updated",
  ]);
  expect(fake.branches.get("holdfast/promote-staging-to-prod")?.files).toEqual({
    "envs/prod/api.yaml": api("1.5.0", 4),
  });
});

test("git applies the diff of files with the line ends of Windows and with tabs", async () => {
  const { name: _, ...rest } = parse(api("1.3.0", 4));
  const it = await world({
    ...both("api", api("1.4.0", 1), api("1.3.0", 4).replaceAll("\n", "\r\n")),
    "staging/worker.yaml": api("1.4.0", 1).replace("name: api", "name: worker"),
    "prod/worker.json": JSON.stringify({ name: "worker", ...rest }, null, "\t"),
  });
  await commitAll(it.source.folder, "Start");
  await applyBoth(it);
  const { stdout } = await it.run(["promote", "staging", "prod", "--dry-run"]);
  expect(stdout).toContain("Promotion of staging to prod: 2 resources");
  const diff = stdout.slice(stdout.indexOf("--- a/"), stdout.indexOf("Promotion of"));
  await it.source.write(".holdfast/change.patch", diff);
  await git(it.source.folder, "apply", ".holdfast/change.patch");
  const changed = await Promise.all(
    ["prod/api.yaml", "prod/worker.json"].map((file) => readFile(join(it.source.folder, file), "utf8")),
  );
  expect(changed[0]).toBe(api("1.4.0", 4).replaceAll("\n", "\r\n"));
  expect(JSON.parse(changed[1] ?? "")).toMatchObject({ image: { image_uri: "registry.example.com/api:1.4.0" } });
});

test("wrong input is named: unknown targets, the same one twice, no forge, a folder that is no commit", async () => {
  const it = await world(both("api", api("1.4.0", 1), api("1.3.0", 4)));
  await applyBoth(it);
  const unknown = await it.run(["promote", "stagin", "prod"]);
  expect(unknown).toMatchObject({ code: 3 });
  expect(unknown.stderr).toContain("there is no target stagin\n  → did you mean staging? there are: staging, prod");
  expect((await it.run(["promote", "prod", "prod"])).stderr).toContain("prod cannot be promoted to itself");
  const forge = await it.run(["promote", "staging", "prod"]);
  expect(forge).toMatchObject({ code: 3 });
  expect(forge.stderr).toContain("--forge github|gitlab and --repository OWNER/NAME are missing");
  const fake = await startGitHub(onTestFinished);
  const uncommitted = await it.run(["promote", "staging", "prod"], github(fake));
  expect(uncommitted.code).toBe(3);
  expect(uncommitted.stderr).toContain("not those of a commit");
  expect(fake.proposals).toEqual([]);
});

test("a target names the fields that are promoted to it", async () => {
  const more = { prod: "paths: [prod], promote: [/replicas, { path: /ports, match: job/** }]" };
  const it = await world(both("api", api("1.4.0", 2), api("1.3.0", 4)), undefined, more);
  await applyBoth(it);
  const { stdout } = await it.run(["promote", "staging", "prod", "--dry-run"]);
  expect(stdout).toContain("-replicas: 4 # of this environment\n+replicas: 2 # of this environment\n");
  expect(stdout).not.toContain("+  image_uri");
});

describe.each([
  { name: "GitHub", start: startGitHub, env: github },
  { name: "GitLab", start: startGitLab, env: gitlab },
])("a daemon with promotions, and $name", ({ start, env }) => {
  test("proposes what becomes healthy, and updates and closes its pull request, whatever the forge does", async () => {
    const more = "promotions: [{ from: staging, to: prod, ids: ['service/**'], every: 1s }]\n";
    const it = await world(both("api", api("1.4.0", 1), api("1.3.0", 4)), undefined, { more });
    const { source } = it;
    await commitAll(source.folder, "Start");
    const fake = await start(onTestFinished);
    fake.fail(/\/user|graphql|POST/, { status: 403 }, { status: 403 }, { status: 403 });
    const daemon = source.start(["watch", "--config", it.config, "--interval", "1"], env(fake));
    await daemon.shows("stderr", /the promotion of staging to prod failed: /);
    await eventually("a pull request", () => fake.proposals[0]);
    await daemon.shows("stderr", /promotion of staging to prod: pull request 21 created: https:/);
    expect(fake.branches.get("holdfast/promote-staging-to-prod")?.files).toEqual({ "prod/api.yaml": api("1.4.0", 4) });

    await source.write("staging/api.yaml", api("1.5.0", 1));
    await commitAll(source.folder, "Release 1.5.0");
    await eventually("an update", () => fake.proposals[0]?.body.includes("api:1.5.0"));
    await source.write("prod/api.yaml", api("1.5.0", 4));
    await commitAll(source.folder, "Promote by hand");
    await eventually("its end", () => fake.proposals[0]?.state === "closed");
    expect(fake.proposals[0]?.body).toContain("nothing to promote from `staging` to `prod` now");

    // What was withdrawn is proposed again when it is due again.
    await source.write("prod/api.yaml", api("1.3.0", 4));
    await commitAll(source.folder, "Roll back");
    await eventually("another one", () => fake.proposals[1]?.body.includes("api:1.5.0"));
    daemon.kill("SIGTERM");
    expect(await daemon.ended).toMatchObject({ code: 0 });
    expect(fake.proposals).toHaveLength(2);
  });
});

test("promotions between targets that do not exist, to the same one, or twice, are refused", async () => {
  const it = await world(both("api", api("1.4.0", 1), api("1.3.0", 4)));
  const planned = async (promotions: string): Promise<string> => {
    await it.targets({ staging: "paths: [staging]", prod: "paths: [prod]", more: `promotions: ${promotions}\n` });
    const ended = await it.run(["plan", "--target", "prod"]);
    expect(ended.code).toBe(3);
    return ended.stderr;
  };
  expect(await planned("[{ from: stagin, to: prod }]")).toContain("`promotions` names no target stagin");
  expect(await planned("[{ from: prod, to: prod }]")).toContain("the promotion of prod to prod is to the same target");
  const pair = "{ from: staging, to: prod }";
  expect(await planned(`[${pair}, ${pair}]`)).toContain("there are two promotions called staging to prod");
});

test("what the gate of the target does not let pass is listed and left out, until it does", async () => {
  const judge = await startJudge();
  const gate = { match: "chat_prompt/**", ...judge.gate };
  const files = {
    ...both("api", api("1.4.0", 1), api("1.3.0", 4)),
    ...both("answer", prompt("answer", "Be brief."), prompt("answer", "Be long.")),
  };
  const it = await world(files, undefined, { prod: `paths: [prod], gate: ${JSON.stringify(gate)}` });
  await commitAll(it.source.folder, "Start");
  judge.says(true, "the start");
  await applyBoth(it);
  const fake = await startGitHub(onTestFinished);
  const receipts = () => receiptsIn(join(it.source.folder, ".holdfast/targets/prod/ledger.db"));
  const before = receipts().length;
  judge.says(false, "3 of 12 | cases", 0.25);
  await it.run(["promote", "staging", "prod", "--dry-run"]);
  expect(receipts()).toHaveLength(before);
  const closed = await it.run(["promote", "staging", "prod", "-o", "json"], github(fake));
  expect(closed).toMatchObject({ code: 0, stderr: "" });
  expect(faultsOf("promotion", closed.stdout)).toEqual([]);
  const report: PromotionReport = JSON.parse(closed.stdout);
  expect(report.promoted.map(({ identity }) => identity)).toEqual([API]);
  expect(report.plan?.steps.map(({ identity }) => identity)).toEqual([API]);
  expect(report.refused).toMatchObject([
    {
      identity: "chat_prompt/registry/answer",
      why: "gate",
      detail: expect.stringMatching(/^blocked by its gate: url http.* \(.*targets\.yaml:3\): 3 of 12 \| cases$/),
      gates: [{ verdict: "fail", score: 0.25, place: { line: 3 } }],
    },
  ]);
  expect(Object.keys(fake.branches.get("holdfast/promote-staging-to-prod")?.files ?? {})).toEqual(["prod/api.yaml"]);
  expect(fake.proposals[0]?.body).toContain("- `chat_prompt/registry/answer`: `blocked by its gate: ");
  expect(receipts()).toHaveLength(before + 1);

  judge.says(true, "12 of 12 cases", 1);
  const open = await it.run(["promote", "staging", "prod", "-o", "json"], github(fake));
  const { promoted, refused, plan, pullRequest }: PromotionReport = JSON.parse(open.stdout);
  expect([promoted.length, refused]).toEqual([2, []]);
  expect(pullRequest).toMatchObject({ result: "updated", number: 21 });
  expect(plan?.steps.find(({ kind }) => kind === "chat_prompt")?.gates).toMatchObject([{ verdict: "pass", score: 1 }]);
  // The receipt is for exactly what an apply then sends.
  await it.source.write("prod/answer.yaml", prompt("answer", "Be brief."));
  const asked = judge.received.length;
  expect(await it.run(["apply", "--yes", "--target", "prod"])).toMatchObject({ code: 0 });
  const [promotedDigest, appliedDigest] = judge.received.slice(asked - 1).map(({ body }) => JSON.parse(body).digest);
  expect(appliedDigest).toBe(promotedDigest);
});

function receiptsIn(file: string): readonly unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare("SELECT receipt FROM gate_receipt").all();
  } finally {
    database.close();
  }
}
