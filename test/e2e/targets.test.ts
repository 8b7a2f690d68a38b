import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { eventually } from "../support/eventually.ts";
import { git } from "../support/git.ts";
import { planOf, reportOf, statusOf } from "../support/json-output.ts";
import { team } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const teams = (server: { effects: () => readonly { resource: string }[] }) =>
  server.effects().map(({ resource }) => resource);

describe("a source that is a git repository", () => {
  test("is planned and applied at its newest commit, without a checkout", async () => {
    const server = await serve();
    const upstream = await upstreamOf({ "manifests/ml.yaml": team("ml"), "other.yaml": team("other") });
    const source = { name: "platform", url: upstream.folder, ref: "main", paths: ["manifests"] };
    const { runHere: run } = await operatorOf({ sources: [source] }, server);
    const planned = await run(["plan", "-o", "json"]);
    expect(JSON.parse(planned.stdout)).toMatchObject({
      revision: await upstream.git("rev-parse", "HEAD"),
      steps: [{ identity: "team/ml", file: "manifests/ml.yaml" }],
    });
    const commit = await upstream.commit({ "manifests/web.yaml": team("web") });
    const applied = await run(["apply", "--yes", "-o", "json"]);
    expect(reportOf(applied)).toMatchObject({ revision: commit, summary: { created: 2 } });
    expect(await run(["validate", "manifests/web.yaml"])).toMatchObject({ code: 0 });
    expect(await run(["plan", "--only", "team/web", "--detailed-exitcode"])).toMatchObject({ code: 0 });
    expect(await run(["plan", "--source", "."])).toMatchObject({ code: 3 });
  });

  test("is refused where its own configuration sets what only the operator may", async () => {
    const upstream = await upstreamOf({ "holdfast.yaml": "server: http://127.0.0.1:9\n", "ml.yaml": team("ml") });
    const { runHere: run } = await operatorOf({ sources: [{ name: "platform", url: upstream.folder }] }, await serve());
    const ended = await run(["plan"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toContain("the commit's holdfast.yaml sets server");
  });

  test("F51 that loses its branch or its configuration is not applied", async () => {
    const server = await serve();
    const upstream = await upstreamOf({ "holdfast.yaml": "paths: [manifests]\n", "manifests/ml.yaml": team("ml") });
    const { runHere: run } = await operatorOf(
      { sources: [{ name: "platform", url: upstream.folder, ref: "main" }] },
      server,
    );
    expect(await run(["apply", "--yes"])).toMatchObject({ code: 0 });
    await upstream.remove("holdfast.yaml");
    expect(await run(["apply", "--yes"])).toMatchObject({ code: 5 });
    await upstream.git("branch", "--move", "main", "trunk");
    const ended = await run(["apply", "--yes"]);
    expect(ended.code).toBe(5);
    expect(ended.stderr).toContain("source platform: the remote has no branch or tag main");
    expect(teams(server)).toEqual(["team/ml"]);
  });
});

test("F56 S3 submodules, links and LFS pointers are reported, and filters are not run", async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12\n`;
  const upstream = await upstreamOf({
    "ml.yaml": team("ml"),
    "large.yaml": pointer,
    ".gitattributes": "*.yaml filter=evil eol=crlf ident\n",
    ".gitmodules": '[submodule "sub"]\n\tpath = sub.yaml\n\turl = https://127.0.0.1:9/x\n',
  });
  await symlink("/etc/passwd", join(upstream.folder, "link.yaml"));
  const gitlink = `160000,${await upstream.git("rev-parse", "HEAD")},sub.yaml`;
  await upstream.git("update-index", "--add", "--cacheinfo", gitlink);
  await upstream.git("add", "link.yaml");
  await upstream.git("commit", "--quiet", "--message", "Bring more than files");
  const { runHere: run } = await operatorOf({ sources: [{ name: "platform", url: upstream.folder }] }, await serve());
  const { code, stdout } = await run(["validate", "-o", "json"]);
  expect(code).toBe(3);
  const { diagnostics } = JSON.parse(stdout);
  expect(diagnostics.map(({ file, code: name }: { file: string; code: string }) => [file, name])).toEqual([
    ["large.yaml", "lfs-pointer"],
    ["link.yaml", "not-a-regular-file"],
    ["sub.yaml", "not-a-regular-file"],
  ]);
  expect(await run(["apply", "--yes"])).toMatchObject({ code: 3 });
});

describe("the operator's file in the working directory", () => {
  test("counts where it names sources: the working directory is then no source, whatever it holds", async () => {
    const server = await serve();
    const upstream = await upstreamOf({ "ml.yaml": team("ml") });
    const config = stringify({ sources: [{ name: "platform", url: upstream.folder }] });
    const { folder, runHere, runThrough } = await sourceOf(
      { "operator.yaml": config, "holdfast.yaml": config, "broken.yaml": "type: team\nname: [" },
      server,
    );
    for (const file of ["operator.yaml", "holdfast.yaml"]) {
      const planned = await runHere(["plan", "--config", file, "-o", "json"]);
      expect(planOf(planned).steps.map(({ identity }) => identity)).toEqual(["team/ml"]);
    }
    // As a service manager starts it.
    const atTop = ["sh", "-c", 'cd / && exec "$@"', "sh"];
    const named = ["--config", join(folder, "operator.yaml"), "--state", join(folder, "state")];
    expect(await runThrough(atTop, ["apply", "--yes", ...named])).toMatchObject({ code: 0 });
  });

  test("is refused where it names none, with the folder that it lies in and why that is the source", async () => {
    const { folder, runHere } = await sourceOf({ "operator.yaml": "server: https://platform.example.com\n" });
    const refused = await runHere(["plan", "--config", "operator.yaml"]);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toContain("error: operator.yaml sets server, which only the operator may\n");
    const hint = refused.stderr.replace(/\s+/g, " ");
    expect(hint).toContain(`it lies in ${folder}, which is the source because it is the working directory`);
    await git(folder, "init", "--quiet");
    const inCheckout = await runHere(["plan", "--config", "operator.yaml"]);
    expect(inCheckout.stderr.replace(/\s+/g, " ")).toContain("because it is the top of the git checkout");
  });
});

describe("targets", () => {
  test("each have a part of a source, a server, and a state of their own", async () => {
    const [blue, green] = [await serve(), await serve()];
    const upstream = await upstreamOf({ "blue/ml.yaml": team("ml"), "green/web.yaml": team("web") });
    const { runHere: run, write } = await operatorOf({
      sources: [{ name: "platform", url: upstream.folder }],
      targets: [
        { name: "blue", server: blue.url, tokenFile: "blue.token", paths: ["blue"] },
        { name: "green", server: green.url, tokenFile: "green.token", paths: ["green"], confirm: true },
      ],
    });
    await write("blue.token", blue.token);
    await write("green.token", green.token);
    const both = await run(["plan", "-o", "json", "--detailed-exitcode"]);
    expect(both.code).toBe(2);
    for (const args of [["validate"], ["drift"]]) {
      expect(faultsOf("targets", (await run([...args, "-o", "json"])).stdout)).toEqual([]);
    }
    expect(faultsOf("targets", both.stdout)).toEqual([]);
    expect(JSON.parse(both.stdout)).toMatchObject({
      format_version: "2.2",
      targets: [
        { target: "blue", server: blue.url, steps: [{ identity: "team/ml" }] },
        { target: "green", server: green.url, steps: [{ identity: "team/web" }] },
      ],
    });
    const shown = (await run(["plan"])).stdout;
    expect(shown).toMatch(/^Target blue\n.*team\/ml.*^Target green\n.*team\/web/ms);
    expect(shown).toContain(`Plan for green (${green.url}), commit `);
    expect(shown).toMatch(/^Token of user:admin in tenant holdfast: /m);
    // Both commands are run below.
    expect(shown.match(/^Next: .*$/gm)).toEqual([
      "Next: holdfast apply --target blue --yes",
      "Next: holdfast apply --target green --yes --confirm green",
    ]);
    const unnamed = await run(["apply", "--yes"]);
    expect(unnamed).toMatchObject({ code: 3, stdout: "" });
    expect(unnamed.stderr).toContain("name one with --target: blue, green");
    expect(await run(["plan", "--out", "plan.json"])).toMatchObject({ code: 3 });
    expect(await run(["apply", "--target", "blue", "--yes"])).toMatchObject({ code: 0 });
    const unconfirmed = await run(["apply", "--target", "green", "--yes"]);
    expect(unconfirmed).toMatchObject({ code: 3, stdout: "" });
    expect(unconfirmed.stderr).toContain("run it with --confirm green");
    expect(await run(["apply", "--target", "green", "--yes", "--confirm", "blue"])).toMatchObject({ code: 3 });
    expect(teams(green)).toEqual([]);
    expect(await run(["apply", "--target", "green", "--yes", "--confirm", "green"])).toMatchObject({ code: 0 });
    expect([teams(blue), teams(green)]).toEqual([["team/ml"], ["team/web"]]);
    // A state of its own: what the other has recorded is no orphan here.
    expect(JSON.parse((await run(["plan", "-o", "json"])).stdout).targets).toMatchObject([
      { summary: { keep: 1, orphan: 0 } },
      { summary: { keep: 1, orphan: 0 } },
    ]);
  });

  test("that declare one identity for one server are refused, and for two servers are not", async () => {
    const [blue, green] = [await serve(), await serve()];
    const {
      runHere: run,
      write,
      remove,
    } = await operatorOf(
      {
        targets: [
          { name: "one", paths: ["one"] },
          { name: "two", paths: ["two"] },
        ],
      },
      blue,
    );
    await write("one/a.yaml", team("ml"));
    await write("two/a.yaml", team("ml"));
    for (const command of [
      ["validate"],
      ["plan"],
      ["plan", "--target", "two"],
      ["apply", "--target", "one", "--yes"],
    ]) {
      const ended = await run(command);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain("team/ml is declared in two targets of one control plane");
    }
    expect(teams(blue)).toEqual([]);
    // Declared by one target at a time, it moves from one to the other, and is an orphan only once neither declares it.
    await remove("two/a.yaml");
    expect(await run(["apply", "--target", "one", "--yes", "--state", "state"])).toMatchObject({ code: 0 });
    const orphans = async () =>
      planOf(await run(["plan", "--target", "one", "-o", "json", "--state", "state", "--allow-shrink"])).summary.orphan;
    await write("one/b.yaml", team("web"));
    await remove("one/a.yaml");
    expect(await orphans()).toBe(1);
    await write("two/a.yaml", team("ml"));
    expect(await orphans()).toBe(0);
    const apart = await operatorOf({
      targets: [
        { name: "one", paths: ["one"], server: blue.url, tokenFile: "one.token" },
        { name: "two", paths: ["one"], server: green.url, tokenFile: "two.token" },
      ],
    });
    await apart.write("one/a.yaml", team("ml"));
    await apart.write("one.token", blue.token);
    await apart.write("two.token", green.token);
    expect(await apart.runHere(["plan"])).toMatchObject({ code: 0 });
  });

  test("name entries of `servers`, and one that names none fails alone", async () => {
    const server = await serve();
    const { runHere: run, write } = await operatorOf({
      servers: [
        { name: "Prod.eu_1", url: server.url, tokenFile: "prod.token", concurrency: 2, requestsPerSecond: 500 },
      ],
      targets: [
        { name: "one", paths: ["one"], server: "Prod.eu_1" },
        { name: "two", paths: ["two"], server: "nowhere" },
      ],
    });
    await write("prod.token", server.token);
    await write("one/a.yaml", team("ml"));
    await write("two/a.yaml", team("ml"));
    const planned = await run(["plan", "-o", "json"]);
    expect(planned.code).toBe(3);
    expect(faultsOf("targets", planned.stdout)).toEqual([]);
    expect(JSON.parse(planned.stdout).targets).toMatchObject([
      { target: "one", server: server.url, steps: [{ identity: "team/ml" }] },
      {
        target: "two",
        error: {
          message: expect.stringMatching(
            /operator\.yaml:15:5: target two names the server nowhere, which is no entry of `servers`$/,
          ),
        },
      },
    ]);
    expect(await run(["apply", "--target", "two", "--yes"])).toMatchObject({ code: 3, stdout: "" });
    expect(await run(["apply", "--target", "one", "--yes"])).toMatchObject({ code: 0 });
    expect(teams(server)).toEqual(["team/ml"]);
    expect(statusOf(await run(["status", "-o", "json"])).targets).toMatchObject([
      { target: "one", sync: "Synced" },
      { target: "two", condition: "Stalled", reason: "Invalid" },
    ]);
  });

  test.each([
    [
      "credentials beside the name of a server",
      { servers: [{ name: "s", url: "http://127.0.0.1:9" }], targets: [{ name: "a", server: "s", tokenFile: "t" }] },
      "has tokenFile beside the name of a server",
    ],
    ["an unknown source", { targets: [{ name: "a", source: "nowhere" }] }, "follows source nowhere"],
    ["two of one name", { targets: [{ name: "a" }, { name: "a" }] }, "two targets called a"],
    ["ssh without pinned host keys", { sources: [{ name: "a", url: "git@example.com:x.git" }] }, "without knownHosts"],
    [
      "a password in the url",
      { sources: [{ name: "a", url: "https://ada:CANARY@example.com/x" }] },
      "user name or a password",
    ],
    [
      "paths outside the source's",
      { sources: [{ name: "a", url: "/x", paths: ["b"] }], targets: [{ name: "a", paths: ["c"] }] },
      "outside the paths",
    ],
    ["a ref to publish nowhere", { targets: [{ name: "a", publishRef: true }] }, "publishRef without publishUrl"],
    [
      "a ref to publish in two places",
      { sources: [{ name: "a", url: "/x" }], targets: [{ name: "a", publishRef: true, publishUrl: "/y" }] },
      "has publishUrl too",
    ],
    [
      "several sources and no targets",
      {
        sources: [
          { name: "a", url: "/x" },
          { name: "b", url: "/y" },
        ],
      },
      "no targets",
    ],
  ])("S1 %s: exit 3, and nothing is fetched", async (_, config, why) => {
    const { runHere: run } = await operatorOf(config, await serve());
    const ended = await run(["plan"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toContain(why);
    expect(ended.stderr).not.toContain("CANARY");
  });

  test("in the source's own file never count", async () => {
    const { runHere: run } = await sourceOf(
      { "holdfast.yaml": "targets: [{name: a}]\n", "ml.yaml": team("ml") },
      await serve(),
    );
    expect(await run(["plan"])).toMatchObject({ code: 3, stdout: "" });
  });

  test("are needed for --target: without them nothing is written under a name that has no patches and no gates", async () => {
    const server = await serve();
    const { runHere: run } = await sourceOf({ "ml.yaml": team("ml") }, server);
    for (const command of [["validate"], ["plan"], ["render"], ["apply", "--yes"]]) {
      const ended = await run([...command, "--target", "prod"]);
      expect(ended).toMatchObject({ code: 3, stdout: "" });
      expect(ended.stderr).toContain(
        "there is no target prod\n  → targets are declared in the operator's configuration",
      );
    }
    expect(teams(server)).toEqual([]);
  });
});

describe("targets from a pattern", () => {
  const workspaceIn = (cluster: string) => `type: team\nname: ${cluster}-team\nmembers: [ada@example.com]\n`;
  const clusters = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [`clusters/${name}/a.yaml`, workspaceIn(name)]));

  test("follow the folders of a commit, on two control planes", async () => {
    const servers = [await serve(), await serve()] as const;
    const upstream = await upstreamOf(clusters("eu", "us"));
    const { runHere: run, write } = await operatorOf({
      sources: [{ name: "platform", url: upstream.folder }],
      servers: servers.map(({ url }, at) => ({ name: ["eu", "us"][at], url, tokenFile: `${at}.token` })),
      targets: [{ name: "c-{dir}", each: "clusters/*", server: "{dir}" }],
    });
    for (const [at, { token }] of servers.entries()) await write(`${at}.token`, token);
    const planned = JSON.parse((await run(["plan", "-o", "json"])).stdout);
    expect(planned.targets).toMatchObject([
      { target: "c-eu", server: servers[0].url, steps: [{ identity: "team/eu-team" }] },
      { target: "c-us", server: servers[1].url, steps: [{ identity: "team/us-team" }] },
    ]);
    const several = await run(["apply", "--target", "c-*", "--yes"]);
    expect(several).toMatchObject({ code: 3, stdout: "" });
    expect(several.stderr.replace(/\s+/g, " ")).toContain("--target c-* names them all");
    for (const target of ["c-eu", "c-us"])
      expect(await run(["apply", "--target", target, "--yes"])).toMatchObject({ code: 0 });
    expect(servers.map(teams)).toEqual([["team/eu-team"], ["team/us-team"]]);
    await upstream.commit(clusters("nowhere"));
    const alone = await run(["plan", "-o", "json", "--target", "*e*"]);
    expect(alone.code).toBe(3);
    expect(JSON.parse(alone.stdout).targets).toMatchObject([
      { target: "c-eu", steps: [] },
      { target: "c-nowhere", error: { message: expect.stringContaining("names the server nowhere") } },
    ]);
  });

  test("follow folders at the root of a commit, and one that is named without a wildcard", async () => {
    const upstream = await upstreamOf({ "a/m.yaml": workspaceIn("a"), "b/m.yaml": workspaceIn("b") });
    const found = async (each: string) => {
      const { runHere: run } = await operatorOf({
        sources: [{ name: "platform", url: upstream.folder }],
        targets: [{ name: "x-{dir}", each }],
      });
      const { targets, diagnostics } = JSON.parse((await run(["status", "-o", "json"])).stdout);
      return [...targets, ...diagnostics].map(({ target, code }) => target ?? code);
    };
    expect(await found("none/*")).toEqual(["no-targets"]);
    expect(await found("*")).toEqual(["x-a", "x-b"]);
    expect(await found("b")).toEqual(["x-b"]);
  });

  test("are retired when their folder goes: kept and listed, and their resources may move", async () => {
    const server = await serve(["--documented-only"]);
    const upstream = await upstreamOf(clusters("a", "b"));
    const { runHere: run } = await operatorOf(
      { sources: [{ name: "platform", url: upstream.folder }], targets: [{ name: "{dir}", each: "clusters/*" }] },
      server,
    );
    for (const target of ["a", "b"])
      expect(await run(["apply", "--target", target, "--yes"])).toMatchObject({ code: 0 });
    await upstream.git("mv", "clusters/b/a.yaml", "clusters/a/b.yaml");
    await upstream.commit({});
    // No command has written since.
    const gone = await run(["orphans", "--target", "b", "-o", "json"]);
    expect(JSON.parse(gone.stdout)).toMatchObject({ target: "b", orphans: [] });
    expect(JSON.parse((await run(["plan", "-o", "json"])).stdout)).toMatchObject({ steps: expect.anything() });
    expect(await run(["apply", "--target", "a", "--yes"])).toMatchObject({ code: 0 });
    const status = statusOf(await run(["status", "-o", "json"])).targets;
    expect(status).toMatchObject([
      { target: "a", sync: "Synced" },
      { target: "b", condition: "Retired", reason: "Retired" },
    ]);
    expect(await run(["apply", "--target", "b", "--yes"])).toMatchObject({ code: 3 });
    const moved = await run(["orphans", "--target", "b", "-o", "json"]);
    expect(JSON.parse(moved.stdout).orphans).toEqual([]);
    await upstream.remove("clusters/a/b.yaml");
    const left = await run(["orphans", "--target", "b", "-o", "json"]);
    expect(JSON.parse(left.stdout).orphans).toMatchObject([{ identity: "team/b-team" }]);
    // It comes back, and continues with its state.
    await upstream.commit(clusters("b"));
    expect(JSON.parse((await run(["plan", "--target", "b", "-o", "json"])).stdout)).toMatchObject({
      summary: { create: 0, update: 0, keep: 1 },
    });
  });

  test("are those of a list, whose faults have their place, and an emptied one is refused", async () => {
    const { runHere: run, write } = await operatorOf(
      { targets: [{ name: "env-{name}", each: { file: "environments.yaml" }, paths: ["env/{name}"] }] },
      await serve(),
    );
    await write("environments.yaml", "- name: one\n- name: two\n");
    for (const name of ["one", "two"]) await write(`env/${name}/a.yaml`, workspaceIn(name));
    expect(JSON.parse((await run(["validate", "-o", "json"])).stdout).targets).toMatchObject([
      { target: "env-one", summary: { errors: 0 } },
      { target: "env-two", summary: { errors: 0 } },
    ]);
    expect(await run(["apply", "--target", "env-one", "--yes"])).toMatchObject({ code: 0 });
    await write("environments.yaml", "- name: one\n- name: ../two\n");
    const refused = await run(["plan", "-o", "json"]);
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { hint: expect.stringMatching(/^correct it, or the pattern at \S*operator\.yaml:3:5; nothing was read/) },
      diagnostics: [{ file: "environments.yaml", line: 2, column: 3 }],
    });
    await write("environments.yaml", "- name: null\n");
    const empty = JSON.parse((await run(["plan", "-o", "json"])).stdout).diagnostics;
    expect(empty).toMatchObject([{ summary: "the value of name is no text", detail: null }]);
    await write("environments.yaml", "- name: one\n- name: ../two\n");
    expect(statusOf(await run(["status", "-o", "json"])).targets).toMatchObject([
      { target: "env-one" },
      { target: "env-two" },
    ]);
    await write("environments.yaml", "[]\n");
    expect(await run(["plan"])).toMatchObject({ code: 5 });
  });

  test("are added and retired by a daemon, while those that stay go on without a full pass", async () => {
    const server = await serve();
    const upstream = await upstreamOf(clusters("a", "b"));
    const target = { name: "{dir}", each: "clusters/*", interval: 0.3, driftInterval: 3600 };
    const source = await operatorOf(
      { sources: [{ name: "platform", url: upstream.folder }], targets: [target] },
      server,
    );
    const daemon = source.start(["watch", "--sink", "file", "--listen", "127.0.0.1:0"]);
    const [, url = ""] = await daemon.shows("stderr", /health and metrics on (\S+)/);
    // Between two sets of targets, the daemon closes its socket for a moment.
    const statuses = async () => {
      const shown = await source.runHere(["status", "-o", "json"]);
      return shown.code === 0 ? statusOf(shown).targets : null;
    };
    const isSynced = ({ sync }: { sync: string }) => sync === "Synced";
    await eventually("both are synced", async () => (await statuses())?.every(isSynced) === true);
    // What others change meanwhile, only a full pass would find.
    const manifest = { type: "team", name: "a-team", members: ["eve@example.com"] };
    await server.call("PUT", "/api/svc/v1/teams", { manifest });
    await upstream.remove("clusters/b");
    const commit = await upstream.commit(clusters("c"));
    await daemon.shows("stderr", /^the targets have changed: \+c/m);
    const now = await eventually("the new target is synced, and the others are at its commit", async () => {
      const found = await statuses();
      const [a, c, b] = found ?? [];
      return c?.target === "c" && isSynced(c) && a?.appliedRevision === commit && b?.condition === "Retired"
        ? found
        : null;
    });
    expect(now).toMatchObject([{ target: "a" }, { target: "c" }, { target: "b", reason: "Retired" }]);
    expect(teams(server).filter((name) => name === "team/a-team")).toHaveLength(2);
    expect(JSON.parse(await (await fetch(`${url}/status`)).text()).targets).toMatchObject([
      { target: "a", condition: "Ready" },
      { target: "c", condition: "Ready" },
      { target: "b", condition: "Retired", resources: [], message: expect.stringContaining("orphans --target b") },
    ]);
    const series = (await (await fetch(`${url}/metrics`)).text())
      .split("\n")
      .filter((line) => line.includes('target="b"'));
    expect(series).toEqual(['holdfast_target_info{target="b",sync="Synced",condition="Retired",reason="Retired"} 1']);
    // A pattern that is emptied retires nothing.
    await upstream.git("rm", "--quiet", "-r", "clusters");
    await upstream.commit({ "other.yaml": team("other") });
    await daemon.shows("stderr", /the targets stay as they were: clusters\/\* stands for no target/);
    expect(await statuses()).toHaveLength(3);
    daemon.kill("SIGTERM");
    expect(await daemon.ended).toMatchObject({ code: 0 });
    expect(daemon.stdout()).not.toContain("RetiredError");
    expect(daemon.stderr()).not.toContain("b: error");
  });
});

test("targets whose `after` differs only by a repeated name are one stage", async () => {
  const after = [["dev"], ["dev", "dev"]];
  const prod = after.map((names, at) => ({ name: `prod-${at}`, after: names }));
  const { runHere } = await operatorOf({ targets: [{ name: "dev" }, ...prod] });
  expect(statusOf(await runHere(["status", "-o", "json"])).stages).toMatchObject([
    { name: "first" },
    { name: "after-dev", targets: [{ target: "prod-0" }, { target: "prod-1" }] },
  ]);
});

test("apply and watch say that the patterns find no target", async () => {
  const { runHere } = await operatorOf({ targets: [{ name: "{dir}", each: "none/*" }] });
  for (const command of [["apply", "--yes"], ["watch"]]) {
    const ended = await runHere(command);
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.stderr + ended.stdout).toContain("there are no targets");
  }
});

test("a placeholder without a pattern is refused at its place, also where no other target has a pattern", async () => {
  const { runHere } = await operatorOf({ targets: [{ name: "dev" }, { name: "{one}" }] });
  for (const command of [["validate"], ["plan", "--target", "dev"], ["status"]]) {
    const refused = await runHere(command);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toContain("/operator.yaml:3:5: target {one} has the placeholder {one} without `each`\n");
  }
});

test("a fault of a target is named by the line of its key in the operator's configuration", async () => {
  const key = (keys: string) => `targets:\n  - name: one\n    paths: [one]\n    ${keys}\n`;
  const { config, runHere: run, write } = await operatorOf({});
  await write("one/a.yaml", team("ml"));
  const at = async (text: string, args = ["validate"]) => {
    await writeFile(config, text);
    const { code, stderr, stdout } = await run(args);
    expect(code).toBe(3);
    return /operator\.yaml:(\d+:\d+)/.exec(stderr + stdout)?.[1];
  };
  expect(await at(key("patches: overlays"))).toBe("4:5");
  expect(await at(key("patches: ../overlays"))).toBe("4:5");
  expect(await at(key("server: nowhere"))).toBe("4:5");
  expect(await at(key("source: nowhere"))).toBe("4:5");
  expect(await at(key("publishRef: true"))).toBe("4:5");
  expect(await at(key("gate: { metric: accuracy }"))).toBe("4:5");
  expect(await at(key("after: [none]"))).toBe("4:5");
  expect(await at(key("each: envs/*"))).toBe("2:5");
  expect(await at('targets:\n  - name: "{dir}"\n    each: envs/*\n    patches: "{dir}"\n')).toBe("4:5");
  expect(await at('targets:\n  - name: "{dir}"\n    each: envs/*\n    paths: ["{item}"]\n')).toBe("4:5");
  expect(await at('targets:\n  - name: "{dir}"\n    each: "*"\n  - name: one\n')).toBe("4:5");
  expect(await at("targets:\n  - name: one\n    paths: [one, one/../../two]\n")).toBe("3:5");
  expect(await at(key("soak: 30m"))).toBe("4:5");
  expect(await at(key("when: synced"))).toBe("4:5");
  expect(await at(`${key("confirm: true")}promotions:\n  - from: one\n    to: two\n`)).toBe("7:5");
});
