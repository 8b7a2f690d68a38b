import { readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { forgeFacts, startGitHub } from "../support/fake-forge.ts";
import { commitAll, git } from "../support/git.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { foundations, service, team } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { onTerminal } from "../support/pty.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const configured = "policies: policies\n";

const latest = `name: no-latest-tag
severity: deny
message: name the image by a version
when: |
  has(after.image) &&
  after.image.image_uri.endsWith(":latest")
tests:
  - after: { type: service, name: a, workspace_fqn: "dev:web", image: { type: image, image_uri: "a:latest" } }
    expect: deny
`;

const scaling = `name: many-replicas
severity: confirm
message: this is a lot of replicas
match: service/**
when: has(after.replicas) && after.replicas > 4
`;

const owner = `name: owner-label
severity: warn
message: say who answers for it
when: step.kind == "service" && !has(after.labels)
`;

const tagged = (name: string, tag: string, more = "") => service(name, more).replace(`${name}:1.0.0`, `${name}:${tag}`);

const policies = {
  "holdfast.yaml": configured,
  "policies/latest.yaml": latest,
  "policies/scaling.yaml": scaling,
  "policies/owner.yaml": owner,
};

/** The foundations, applied. */
async function applied(server: Server, files: { readonly [file: string]: string } = policies): Promise<Source> {
  const source = await sourceOf({ ...foundations, ...files }, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  return source;
}

describe.each(controlPlaneVariants)("policies on a $name control plane", (plane) => {
  test("deny a step: plan shows it and exits 5, and apply writes nothing, whatever is allowed", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    await source.write("services/api.yaml", tagged("api", "latest"));
    await source.write("services/worker.yaml", service("worker", "labels: { owner: us }\n"));
    const before = server.effects();

    const text = await source.runHere(["plan"]);
    expect(text.code).toBe(5);
    expect(text.stdout).toContain("policy no-latest-tag denies it: name the image by a version");
    expect(text.stdout).toContain("policy owner-label warns: say who answers for it");
    expect(text.stdout).toMatch(/1 step is\s+denied by policies/);
    expect(text.stderr).toMatch(/error: service\/dev:web\/api: name the image by a\s+version \[policy\]/);
    expect(text.stderr).toMatch(/policies refuse one step of this plan/);

    const plan = await source.runHere(["plan", "-o", "json"]);
    expect(plan.code).toBe(5);
    expect(faultsOf("plan", plan.stdout)).toEqual([]);
    const [api, worker] = planOf(plan).steps;
    expect(api).toMatchObject({
      action: "create",
      policies: [
        { name: "no-latest-tag", severity: "deny", file: "policies/latest.yaml", line: 5, column: 3 },
        { name: "owner-label", severity: "warn" },
      ],
      guard: { flags: [], dangers: [], policies: ["no-latest-tag"], isDenied: true },
    });
    expect(worker?.policies).toBeUndefined();
    expect(planOf(plan).summary.refused).toBe(1);

    for (const more of [["--yes"], ["--yes", "--allow-policy", "no-latest-tag"]]) {
      const refused = await source.runHere(["apply", ...more]);
      expect(refused.code).toBe(5);
      expect(refused.stderr).toMatch(/change what is declared, or the policy that\s+denies it; no flag allows it/);
    }
    expect(server.effects()).toEqual(before);

    await source.write("services/api.yaml", tagged("api", "2.0.0"));
    const done = await source.runHere(["apply", "--yes", "-o", "json"]);
    expect(done).toMatchObject({ code: 0 });
    expect(reportOf(done).summary).toMatchObject({ created: 2 });
    expect(reportOf(done).diagnostics.filter(({ code }) => code === "policy")).toMatchObject([
      { severity: "warning", file: "services/api.yaml", line: 1 },
    ]);
    // Nothing is written, so nothing is judged.
    expect(await source.runHere(["plan"])).toMatchObject({ code: 0 });
  });

  test("ask a person: apply takes the flag, and a signed plan carries it", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    await source.write("services/api.yaml", service("api", "replicas: 5\n"));
    const before = server.effects();

    const plan = await source.runHere(["plan", "-o", "json"]);
    expect(plan.code).toBe(0);
    expect(planOf(plan).steps[0]?.guard).toEqual({
      flags: ["--allow-policy many-replicas"],
      dangers: [],
      policies: ["many-replicas"],
    });
    const text = await source.runHere(["plan"]);
    expect(text.stdout).toMatch(/Next: holdfast apply --allow-policy many-replicas --yes/);
    // Code scanning and annotations fail what the exit code fails.
    const scanned = async (...more: readonly string[]) => {
      const ended = await source.runHere(["plan", "-o", "sarif", "-o", "github", ...more], { GITHUB_ACTIONS: "true" });
      const [run] = JSON.parse(ended.stdout).runs;
      expect(run.tool.driver.rules).toContainEqual({ id: "policy/many-replicas" });
      const { level } = run.results.find(({ ruleId }: { ruleId: string }) => ruleId === "policy/many-replicas");
      const annotated = /::(error|warning) [^\n]*title=policy%3A many-replicas::/.exec(ended.stderr)?.[1];
      return [ended.code, level, annotated];
    };
    expect(await scanned()).toEqual([0, "warning", "warning"]);
    expect(await scanned("--out", "scanned.json")).toEqual([5, "error", "error"]);
    const allowed = ["--allow-policy", "many-replicas", "--out", "scanned.json"];
    expect(await scanned(...allowed)).toEqual([0, "warning", "warning"]);
    const refused = await source.runHere(["apply", "--yes"]);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain("--allow-policy many-replicas allows it");
    const other = await source.runHere(["apply", "--yes", "--allow-policy", "owner-label"]);
    expect(other).toMatchObject({ code: 5 });
    for (const command of [["plan"], ["apply", "--yes"]]) {
      const misspelt = await source.runHere([...command, "--allow-policy", "many-replica"]);
      expect(misspelt).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(
          "--allow-policy many-replica: no policy has that name\n  → did you mean many-replicas?",
        ),
      });
      const unknown = await source.runHere([...command, "--allow-policy", "many-replicas,another"]);
      expect(unknown).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("the policies are many-replicas, no-latest-tag, owner-label"),
      });
    }
    expect(await source.runHere(["plan", "--out", "plan.json"])).toMatchObject({ code: 5 });
    expect(server.effects()).toEqual(before);

    const signed = await source.runHere(["plan", "--allow-policy", "many-replicas", "--out", "plan.json"]);
    expect(signed.code).toBe(0);
    const written = await readFile(join(source.folder, "plan.json"), "utf8");
    expect(faultsOf("plan", written)).toEqual([]);
    expect(JSON.parse(written).allows).toContainEqual(
      expect.stringMatching(/^policy:many-replicas@sha256:[0-9a-f]{64}$/),
    );
    // The consent is to the policy as it was, whatever stands beside it in its file.
    await source.write("policies/scaling.yaml", scaling.replace("this is a lot", "this costs a lot"));
    for (const more of [[], ["--allow-policy", "many-replicas"]]) {
      const outdated = await source.runHere(["apply", "--plan", "plan.json", ...more]);
      expect(outdated.code).toBe(5);
      expect(outdated.stderr).toContain("policy many-replicas has changed since the plan was made");
      expect(outdated.stderr.replaceAll(/\s+/g, " ")).toContain(
        "make it again with plan --allow-policy many-replicas --out FILE",
      );
    }
    expect(server.effects()).toEqual(before);
    await source.write("policies/scaling.yaml", `# Asked of the platform team.\n${scaling}`);
    const done = await source.runHere(["apply", "--plan", "plan.json", "-o", "json"]);
    expect(done).toMatchObject({ code: 0 });
    expect(reportOf(done).summary).toMatchObject({ created: 1 });
  });

  test("ask anew where a policy was added after a plan was signed", async () => {
    const server = await plane.serve();
    const source = await applied(server, {});
    await source.write("services/api.yaml", service("api", "replicas: 5\n"));
    expect(await source.runHere(["plan", "--out", "plan.json"])).toMatchObject({ code: 0 });
    for (const [file, content] of Object.entries(policies)) await source.write(file, content);
    const refused = await source.runHere(["apply", "--plan", "plan.json", "--allow-policy", "many-replicas"]);
    expect(refused.code).toBe(5);
    expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain(
      "a signed plan takes the flags of plan alone: make it again with plan --allow-policy many-replicas --out FILE",
    );
    expect(await source.runHere(["plan", "--allow-policy", "many-replicas", "--out", "plan.json"])).toMatchObject({
      code: 0,
    });
    expect(await source.runHere(["apply", "--plan", "plan.json"])).toMatchObject({ code: 0 });
  });

  test("judge a signed plan again: one that was signed before the policy is refused", async () => {
    const server = await plane.serve();
    const source = await applied(server, {});
    await source.write("services/api.yaml", tagged("api", "latest"));
    expect(await source.runHere(["plan", "--out", "plan.json"])).toMatchObject({ code: 0 });
    const before = server.effects();
    for (const [file, content] of Object.entries(policies)) await source.write(file, content);
    const refused = await source.runHere(["apply", "--plan", "plan.json"]);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain("no-latest-tag");
    expect(server.effects()).toEqual(before);
  });

  test("hold a step back in watch, and the others go on", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    await source.write("services/api.yaml", tagged("api", "latest"));
    await source.write("services/big.yaml", service("big", "replicas: 9\n"));
    await source.write("services/worker.yaml", service("worker", "labels: { owner: us }\n"));
    const watch = source.start(["watch", "--yes"]);
    await watch.shows("stdout", /created +service\/dev:web\/worker/);
    await watch.shows("stdout", /blocked +service\/dev:web\/api[\s\S]*no-latest-tag denies it[\s\S]*\[policy\]/);
    await watch.shows("stdout", /blocked +service\/dev:web\/big[\s\S]*--allow-policy many-replicas[\s\S]*\[policy\]/);
    // What is corrected is written in the next pass.
    await source.write("services/api.yaml", tagged("api", "3.0.0"));
    await watch.shows("stdout", /created +service\/dev:web\/api/);
    // With the flag, watch allows what a person has allowed.
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
    expect(server.effects().filter(({ resource }) => resource === "service/dev:web/big")).toHaveLength(0);
    const allowed = source.start(["watch", "--yes", "--allow-policy", "many-replicas"]);
    await allowed.shows("stdout", /created +service\/dev:web\/big/);
    allowed.kill("SIGTERM");
    expect(await allowed.ended).toMatchObject({ code: 0 });
  });
});

describe("policies", () => {
  test("judge redeploy as apply, also where a daemon carries it out", async () => {
    const server = await serve();
    const source = await applied(server, { "services/api.yaml": tagged("api", "latest") });
    const redeploy = (...more: readonly string[]) =>
      source.runHere(["redeploy", "service/dev:web/api", "--force", "--no-wait", ...more]);
    const before = server.effects();
    await source.write("holdfast.yaml", configured);
    await source.write("policies/latest.yaml", latest);
    const denied = await redeploy();
    expect(denied).toMatchObject({ code: 5, stderr: expect.stringContaining("policies refuse one step of this plan") });
    expect(denied.stderr.replaceAll(/\s+/g, " ")).toContain(
      "service/dev:web/api: name the image by a version [policy]",
    );
    await source.write("policies/latest.yaml", "no policy\n");
    expect(await redeploy()).toMatchObject({ code: 3 });
    await source.write("policies/latest.yaml", latest.replace("severity: deny", "severity: confirm"));
    expect(await redeploy()).toMatchObject({ code: 5 });
    expect(await redeploy("--allow-policy", "latest")).toMatchObject({ code: 3 });
    expect(server.effects()).toEqual(before);
    expect(await redeploy("--allow-policy", "no-latest-tag")).toMatchObject({ code: 0 });
    expect(server.effects()).toHaveLength(before.length + 1);
    const watch = source.start(["watch", "--yes"]);
    await watch.shows("stdout", /unchanged/);
    expect(await redeploy()).toMatchObject({ code: 5 });
    expect(await redeploy("--allow-policy", "no-latest-tag")).toMatchObject({ code: 0 });
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
    expect(server.effects()).toHaveLength(before.length + 2);
  });

  test("with an error refuse everything, with its line and column, even where invalid manifests are left out", async () => {
    const server = await serve();
    const source = await applied(server);
    const before = server.effects();
    await source.write("services/api.yaml", service("api"));
    await source.write("policies/owner.yaml", owner.replace("!has(after.labels)", "!has(after.labels) &&"));
    for (const command of [["plan"], ["apply", "--yes"], ["validate"], ["plan", "--partial"], ["policy", "test"]]) {
      const refused = await source.runHere(command);
      expect(refused, command.join(" ")).toMatchObject({ code: 3 });
      expect(refused.stdout + refused.stderr).not.toContain("--partial goes on");
      expect(refused.stdout + refused.stderr).toMatch(
        /policies\/owner\.yaml:4:\d+: error: the expression of\s+policy owner-label is wrong: Unexpected token: EOF/,
      );
    }
    const sarif = JSON.parse((await source.runHere(["validate", "-o", "sarif"])).stdout);
    expect(sarif.runs[0].results[0]).toMatchObject({
      ruleId: "expression",
      level: "error",
      locations: [{ physicalLocation: { region: { startLine: 4 } } }],
    });
    // A glob that can match nothing would switch the policy off.
    await source.write("policies/owner.yaml", owner.replace("when:", 'match: "servce/**"\nwhen:'));
    for (const command of [["plan"], ["apply", "--yes"], ["validate"], ["policy", "test"]]) {
      const refused = await source.runHere(command);
      expect(refused, command.join(" ")).toMatchObject({ code: 3 });
      expect((refused.stdout + refused.stderr).replaceAll(/\s+/g, " ")).toContain(
        "policies/owner.yaml:4:8: error: `match: servce/**` of policy owner-label matches no resource of any kind; did you mean service/**?",
      );
    }
    // An expression without an answer denies the step that it was asked about.
    await source.write("policies/owner.yaml", owner.replace("!has(after.labels)", "after.labels.owner == ''"));
    const denied = await source.runHere(["plan"]);
    expect(denied.code).toBe(5);
    expect(denied.stdout.replaceAll(/\s+/g, " ")).toContain(
      "policy owner-label denies it: the policy's expression cannot be evaluated: No such key: labels (policies/owner.yaml:4)",
    );
    expect(server.effects()).toEqual(before);
    await source.write("holdfast.yaml", "policies: nowhere\n");
    const missing = await source.runHere(["plan"]);
    expect(missing.code).toBe(3);
    expect(missing.stderr).toMatch(/holdfast\.yaml:1:1: error: the folder "nowhere" of `policies` holds no\s+policy/);
    await source.write("holdfast.yaml", "policies: ../elsewhere\n");
    expect((await source.runHere(["plan"])).stderr).toContain("names no folder below the root");
  });

  test("are read whatever ignore files say, and are no manifests", async () => {
    const server = await serve();
    const source = await applied(server, {
      ...policies,
      "holdfast.yaml": "policies: policies\npaths: [services, platform]\n",
      "services/worker.yaml": service("worker"),
    });
    await source.write("services/api.yaml", tagged("api", "latest"));
    const isDenied = async (...more: readonly string[]) => {
      const plan = await source.runHere(["plan", "-o", "json", ...more]);
      expect(plan.code).toBe(5);
      expect(planOf(plan).diagnostics.filter(({ code }) => code !== "policy")).toEqual([]);
    };
    for (const pattern of ["policies/", "policies/latest.yaml", "latest.yaml", "*.yaml\n!services/*.yaml"]) {
      await source.write(".holdfastignore", `${pattern}\n`);
      await isDenied();
    }
    await source.write(".holdfastignore", "");
    await source.write("policies/.holdfastignore", "*\n");
    await isDenied();
    // Of a checkout, also one that git does not track, and one of a folder that is named as a manifest path too.
    await source.remove("policies/.holdfastignore");
    await source.write("holdfast.yaml", configured);
    await source.write(".gitignore", ".holdfast/\npolicies/latest.yaml\n");
    await source.write(".holdfastignore", "policies/latest.yaml\n");
    await commitAll(source.folder, "Declare a platform");
    await isDenied();
    // And of a commit, whose policies are those that it tracks.
    await git(source.folder, "add", "--force", "policies/latest.yaml");
    await commitAll(source.folder, "Track a policy");
    await git(source.folder, "checkout", "-q", "-b", "change");
    await source.write("policies/latest.yaml", owner.replace("owner-label", "nothing"));
    await source.write("services/api.yaml", tagged("api", "latest", "replicas: 2\n"));
    await isDenied("--base", "main");
    // One that was removed leaves the checkout other than its commit.
    await source.write(".holdfastignore", "policies/\n");
    await commitAll(source.folder, "Change a service");
    await source.remove("policies/latest.yaml");
    expect(planOf(await source.runHere(["plan", "-o", "json"])).revision).toBeNull();
  });

  test("of the operator judge beside those of the source, and none replaces another one", async () => {
    const server = await serve();
    const source = await applied(server);
    await source.write("operator/holdfast.yaml", "policies: operator/policies\n");
    await source.write(
      "operator/policies/latest.yaml",
      latest.replace("deny", "warn").replace("expect: deny", "expect: warn"),
    );
    await source.write(
      "operator/policies/web.yaml",
      scaling.replace("many-replicas", "two-replicas").replace("> 4", "< 2"),
    );
    await source.write("services/api.yaml", tagged("api", "latest", "replicas: 1\n"));
    const config = ["--config", "operator/holdfast.yaml"];
    const plan = await source.runHere(["plan", "-o", "json", ...config]);
    expect(plan.code).toBe(5);
    const step = planOf(plan).steps.find(({ identity }) => identity === "service/dev:web/api");
    expect(step?.policies).toMatchObject([
      { name: "no-latest-tag", severity: "deny", file: "policies/latest.yaml" },
      { name: "owner-label", severity: "warn" },
      { name: "two-replicas", severity: "confirm", file: "operator/policies/web.yaml" },
    ]);
    await source.write("operator/holdfast.yaml", "policies: operator/nowhere\n");
    expect(await source.runHere(["plan", ...config])).toMatchObject({ code: 3 });
  });

  test("of the operator are the files that would be manifests, in every folder below", async () => {
    const server = await serve();
    const source = await applied(server, { "services/api.yaml": service("api", "replicas: 1\n") });
    await source.write("operator/holdfast.yaml", "policies: operator/policies\n");
    await source.write("services/api.yaml", tagged("api", "latest", "replicas: 1\n"));
    const named = (name: string) => latest.replace("no-latest-tag", name);
    const folder = "operator/policies";
    const json = { name: "json", severity: "deny", message: "not this", when: "has(after.image)" };
    await source.write(`${folder}/team/deep/a.yaml`, named("deep"));
    await source.write(`${folder}/B.YAML`, named("upper"));
    await source.write(`${folder}/c.yml`, named("yml"));
    await source.write(`${folder}/d.json`, JSON.stringify(json, null, "\t"));
    await source.write(`${folder}/.dot.yaml`, named("dot"));
    // As Kubernetes mounts a ConfigMap, and a link to a folder above.
    await source.write("mounted/..data/e.yaml", named("mounted"));
    await symlink(join(source.folder, "mounted/..data/e.yaml"), join(source.folder, "mounted/e.yaml"));
    await symlink(join(source.folder, "mounted"), join(source.folder, folder, "mounted"));
    await symlink("..", join(source.folder, folder, "team/again"));
    await source.write(`${folder}/README.md`, "# Policies\n");
    const config = ["--config", "operator/holdfast.yaml"];
    const plan = planOf(await source.runHere(["plan", "-o", "json", ...config, "services"]));
    const names = ["deep", "dot", "json", "mounted", "upper", "yml"];
    expect(plan.steps[0]?.policies?.map(({ name }) => name).toSorted()).toEqual(names);
    expect(await source.runHere(["policy", "test", folder])).toMatchObject({
      stdout: "6 policies: 5 tests passed, 1 policy without a test\n",
    });
    // What may hold a policy, and is none, is no silence.
    await source.write(`${folder}/team/notes.yaml`, "- a list\n");
    await symlink("nowhere", join(source.folder, folder, "rules"));
    for (const command of [
      ["plan", ...config],
      ["policy", "test", folder],
    ]) {
      const refused = await source.runHere(command);
      expect(refused.code).toBe(3);
      expect(refused.stdout + refused.stderr).toMatch(
        /operator\/policies\/rules:1:1: error: a link that leads nowhere/,
      );
    }
    await rm(join(source.folder, folder, "rules"));
    const refused = await source.runHere(["policy", "test", folder]);
    expect(refused).toMatchObject({
      code: 3,
      stdout: expect.stringContaining("team/notes.yaml:1:1: error: a file that is no policy"),
    });
  });

  test("count as of the base and of the merge result, so that a pull request only makes them stricter", async () => {
    const server = await serve();
    const source = await applied(server);
    await source.write(".gitignore", ".holdfast/\n");
    await commitAll(source.folder, "Declare a platform");
    await git(source.folder, "checkout", "-q", "-b", "change");
    const at = async (files: { readonly [file: string]: string | null }) => {
      for (const [file, content] of Object.entries(files))
        await (content === null ? source.remove(file) : source.write(file, content));
      return source.runHere(["plan", "--base", "main", "-o", "json"]);
    };
    const findings = ({ stdout }: { readonly stdout: string }) =>
      (JSON.parse(stdout).steps?.[0]?.policies ?? []).map(
        ({ name, severity }: { readonly name: string; readonly severity: string }) => `${name} ${severity}`,
      );
    const api = { "services/api.yaml": tagged("api", "latest", "labels: { owner: us }\n") };
    // Removed, weakened and moved, it counts as it is at the base.
    const removed = await at({ ...api, "policies/latest.yaml": null });
    expect([removed.code, findings(removed)]).toEqual([5, ["no-latest-tag deny"]]);
    const weaker = await at({ "policies/latest.yaml": latest.replace("severity: deny", "severity: warn") });
    expect([weaker.code, findings(weaker)]).toEqual([5, ["no-latest-tag deny"]]);
    const unnamed = await at({ "holdfast.yaml": "{}\n" });
    expect([unnamed.code, findings(unnamed)]).toEqual([5, ["no-latest-tag deny"]]);
    const moved = await at({
      "holdfast.yaml": "policies: lax\n",
      "lax/none.yaml": owner.replace("when: ", "when: false && "),
    });
    expect([moved.code, findings(moved)]).toEqual([5, ["no-latest-tag deny"]]);
    // One that the branch adds counts at once.
    const added = await at({
      "holdfast.yaml": configured,
      "policies/latest.yaml": latest,
      "policies/added.yaml": scaling.replace("many-replicas", "added").replace("after.replicas > 4", "true"),
      "services/api.yaml": tagged("api", "1", "replicas: 1\nlabels: { owner: us }\n"),
    });
    expect([added.code, findings(added)]).toEqual([0, ["added confirm"]]);
    // Also where the base has moved on, and the merge result is judged.
    await commitAll(source.folder, "Add a policy");
    await git(source.folder, "checkout", "-q", "main");
    await source.write("policies/late.yaml", scaling.replace("many-replicas", "late").replace("> 4", "== 1"));
    await commitAll(source.folder, "Add a policy on main");
    await git(source.folder, "checkout", "-q", "change");
    const behind = await at({});
    expect([behind.code, findings(behind)]).toEqual([0, ["added confirm", "late confirm"]]);
  });

  test("count where a folder was renamed, in the branch or at the base, each by the key of its own commit", async () => {
    const server = await serve();
    const source = await applied(server);
    await source.write(".gitignore", ".holdfast/\n");
    await commitAll(source.folder, "Declare a platform");
    await git(source.folder, "checkout", "-q", "-b", "other");
    await git(source.folder, "checkout", "-q", "-b", "change");
    const api = { "services/api.yaml": tagged("api", "latest", "replicas: 5\nlabels: { owner: us }\n") };
    const rename = async (more: { readonly [file: string]: string } = {}) => {
      await git(source.folder, "mv", "policies", "rules");
      await source.write("holdfast.yaml", "# Renamed.\npolicies: rules\n");
      for (const [file, content] of Object.entries(more)) await source.write(file, content);
      await commitAll(source.folder, "Rename the policies");
    };
    const found = async (base: string) => {
      const plan = await source.runHere(["plan", "--base", base, "-o", "json"]);
      expect(plan.code, plan.stderr).toBe(5);
      const step = planOf(plan).steps.find(({ identity }) => identity === "service/dev:web/api");
      return step?.policies?.map(({ name, severity }) => `${name} ${severity}`).toSorted();
    };
    await rename({ ...api, "rules/latest.yaml": latest.replace("severity: deny", "severity: warn") });
    expect(await found("main")).toEqual(["many-replicas confirm", "no-latest-tag deny"]);
    // The other way round: this branch knows the old folder, and its merge with the base has the new one.
    await git(source.folder, "checkout", "-q", "main");
    await rename({ "rules/late.yaml": scaling.replace("many-replicas", "late") });
    await git(source.folder, "checkout", "-q", "other");
    for (const [file, content] of Object.entries(api)) await source.write(file, content);
    await source.write("policies/scaling.yaml", scaling.replace("severity: confirm", "severity: deny"));
    await commitAll(source.folder, "Change a service");
    expect(await found("main")).toEqual(["late confirm", "many-replicas deny", "no-latest-tag deny"]);
    // A folder that a branch names and does not have is told at its line.
    await source.write("holdfast.yaml", "policies: nowhere\n");
    const refused = await source.runHere(["plan", "--base", "main"]);
    expect(refused).toMatchObject({ code: 3 });
    expect(refused.stderr).toMatch(/holdfast\.yaml:1:1: error: the folder "nowhere" of `policies` holds no\s+policy/);
  });

  test("ask a person at a terminal, who allows what asks, and is not asked about what is denied", async () => {
    const server = await serve();
    const source = await applied(server);
    await source.write("services/api.yaml", service("api", "replicas: 5\n"));
    const apply = (answer: string) => source.runThrough(onTerminal(80, answer), ["apply"], { NO_COLOR: "1" });
    const declined = await apply("n\\n");
    expect(declined.stdout).toMatch(
      /policy many-replicas asks a person[\s\S]*Apply this plan\?[\s\S]*nothing was written/,
    );
    const confirmed = await apply("y\\n");
    expect(confirmed.stdout).toMatch(/created {3}service\/dev:web\/api/);
    await source.write("services/api.yaml", tagged("api", "latest", "replicas: 5\n"));
    const denied = await apply("y\\n");
    expect(denied.code).toBe(5);
    expect(denied.stdout).not.toContain("Apply this plan?");
    expect(denied.stdout.replaceAll(/\s+/g, " ")).toContain("name the image by a version");
  });

  test("of a repository that is followed are those of its commit, also where only a policy changes", async () => {
    const server = await serve();
    const member = (name: string) => team("ml", `${name}@example.com`);
    const rule = (name: string) => `name: no-${name}
severity: deny
message: not ${name}
when: has(after.members) && after.members.exists(member, member.startsWith("${name}@"))
`;
    const upstream = await upstreamOf({
      "holdfast.yaml": "policies: rules\npaths: [m]\n",
      "m/ml.yaml": member("ada"),
      "rules/one.yaml": rule("bob"),
    });
    const { start } = await operatorOf(
      {
        sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
        targets: [{ name: "prod", interval: 0.3 }],
      },
      server,
    );
    const daemon = start(["watch"]);
    await daemon.shows("stdout", /1 created/);
    await upstream.commit({ "m/ml.yaml": member("bob") });
    await daemon.shows("stdout", /policy no-bob denies it/);
    // The first commit changes a policy alone, and the second what it judges.
    await upstream.commit({ "rules/one.yaml": rule("eve") });
    await daemon.shows("stdout", /1 updated/);
    await upstream.commit({ "m/ml.yaml": member("eve") });
    await daemon.shows("stdout", /policy no-eve denies it/);
    // The policies of a commit that has an error are not those in force, and neither is the commit.
    await upstream.commit({
      "rules/one.yaml": rule("eve").replace("has(after.members)", "has("),
      "m/ml.yaml": member("eve"),
    });
    await daemon.shows("stderr", /the policies have errors/);
    expect(server.effects().map(({ resource }) => resource)).toEqual(["team/ml", "team/ml"]);
    daemon.kill("SIGTERM");
    expect(await daemon.ended).toMatchObject({ code: 0 });
  });

  test("over the plan refuse it as a whole", async () => {
    const server = await serve();
    const large = `name: small-plans
severity: confirm
over: plan
message: more than one resource at once
when: plan.summary.create > 1
`;
    const source = await sourceOf({ ...foundations }, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await source.write("holdfast.yaml", configured);
    await source.write("policies/large.yaml", large);
    await source.write("services/a.yaml", service("a"));
    await source.write("services/b.yaml", service("b"));
    const plan = await source.runHere(["plan", "-o", "json"]);
    expect(faultsOf("plan", plan.stdout)).toEqual([]);
    expect(JSON.parse(plan.stdout)).toMatchObject({
      policies: [{ name: "small-plans", severity: "confirm" }],
      summary: { refused: 2 },
    });
    const text = async () => (await source.runHere(["plan"])).stdout.replaceAll(/\s+/g, " ");
    expect(await text()).toContain("3 unchanged; 1 policy over the plan needs --allow-policy small-plans");
    await source.write("policies/large.yaml", large.replace("confirm", "deny"));
    expect(await text()).toContain("3 unchanged; 1 policy over the plan denies it");
    await source.write("policies/large.yaml", large);
    // Code scanning takes no result without a place, so it is that of the policy.
    const scanned = JSON.parse((await source.runHere(["plan", "-o", "sarif"])).stdout);
    expect(scanned.runs[0].results).toMatchObject([
      {
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: "policies/large.yaml" },
              region: { startLine: 5, startColumn: 7 },
            },
          },
        ],
      },
    ]);
    const refused = await source.runHere(["apply", "--yes"]);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain("policies refuse this plan");
    expect(await source.runHere(["apply", "--yes", "--allow-policy", "small-plans"])).toMatchObject({ code: 0 });
  });

  test("show no secret, neither in what they see nor in what they say", async () => {
    const server = await serve();
    const source = await applied(server);
    const secret = "sk-live-4f9a8b7c6d5e4f3a2b1c";
    await source.write(
      "policies/leak.yaml",
      `name: leak
severity: warn
message: env is set
when: has(after.env) && int(after.env.PASSWORD) == 1
`,
    );
    await source.write("services/api.yaml", service("api", `env: { PASSWORD: ${JSON.stringify(secret)} }\n`));
    const ended = await source.runHere(["plan"]);
    expect(ended.stdout + ended.stderr).not.toContain(secret);
  });

  test("are in the comment on a pull request, whose status is a failure where one denies", async () => {
    const server = await serve();
    const fake = await startGitHub(onTestFinished);
    const source = await applied(server);
    await source.write("services/api.yaml", tagged("api", "latest"));
    const plan = await source.runHere(["plan", "-o", "json=plan.json", "-o", "github"], {
      GITHUB_STEP_SUMMARY: join(source.folder, "summary.md"),
      GITHUB_OUTPUT: join(source.folder, "outputs"),
      GITHUB_ACTIONS: "true",
    });
    expect(plan.code).toBe(5);
    expect(plan.stderr).toContain("::error file=services/api.yaml,line=1,title=policy%3A no-latest-tag::");
    expect(plan.stderr).toContain("::warning file=services/api.yaml,line=1,title=policy%3A owner-label::");
    const scanned = JSON.parse((await source.runHere(["plan", "-o", "sarif"])).stdout);
    const found = {
      locations: [{ physicalLocation: { artifactLocation: { uri: "services/api.yaml" } } }],
    };
    expect(scanned.runs[0].results).toMatchObject([
      {
        ...{ ...found, ruleId: "policy/no-latest-tag", level: "error" },
        message: { text: expect.stringContaining("Policy no-latest-tag") },
      },
      { ...found, ruleId: "policy/owner-label", level: "warning" },
    ]);
    await source.write("event.json", JSON.stringify({ pull_request: { number: 7, head: { sha: "a".repeat(40) } } }));
    const commented = await source.runHere(["comment", "plan.json", "--unverified"], {
      GITHUB_ACTIONS: "true",
      GITHUB_REPOSITORY: forgeFacts.repository,
      GITHUB_API_URL: fake.apiUrl,
      GITHUB_EVENT_PATH: join(source.folder, "event.json"),
      GITHUB_SHA: "f".repeat(40),
      GITHUB_SERVER_URL: "https://github.example.com",
      GITHUB_RUN_ID: "42",
      GITHUB_TOKEN: forgeFacts.token,
    });
    expect(commented).toMatchObject({ code: 0 });
    const body = fake.comments.at(-1)?.body ?? "";
    expect(body).toContain("**Policies: 2**");
    expect(body).toContain("- **deny** `service/dev:web/api` in `services/api.yaml:1`: `name the image by a version`");
    expect(body).toContain("- **warn** `service/dev:web/api`");
    expect(fake.statuses.at(-1)?.body).toMatchObject({ state: "failure" });
  });
});

describe("policy test", () => {
  test("runs the tests beside policies, and names those that fail", async () => {
    const source = await sourceOf(policies);
    const passed = await source.runHere(["policy", "test"]);
    expect(passed).toMatchObject({ code: 0, stdout: "3 policies: 1 test passed, 2 policies without a test\n" });
    await source.write("policies/latest.yaml", latest.replace("expect: deny", "expect: pass"));
    const failed = await source.runHere(["policy", "test"]);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toMatch(
      /policies\/latest\.yaml:8:1: error: the test of policy no-latest-tag expects\s+pass, and the verdict is deny \[policy-test\]\n {4}name the image by a version/,
    );
    const report = await source.runHere(["policy", "test", "policies", "-o", "json"]);
    expect(faultsOf("policy-test", report.stdout)).toEqual([]);
    expect(JSON.parse(report.stdout)).toMatchObject({ summary: { policies: 3, untested: 2, passed: 0, failed: 1 } });
    expect(JSON.parse((await source.runHere(["policy", "test", "-o", "sarif"])).stdout)).toMatchObject({
      runs: [{ results: [{ ruleId: "policy-test/no-latest-tag" }] }],
    });
    // An expression without an answer is no verdict, although it denies a step.
    await source.write("policies/latest.yaml", latest.replace("has(after.image) &&", "after.labels.owner == '' &&"));
    const error = await source.runHere(["policy", "test"]);
    expect(error.code).toBe(1);
    expect(error.stdout.replaceAll(/\s+/g, " ")).toContain(
      "error: the test of policy no-latest-tag cannot be run [policy-test] the policy's expression cannot be evaluated: No such key: labels (policies/latest.yaml:5:9)",
    );
    for (const [folder, message] of [
      ["polices", "the folder polices does not exist\n  → did you mean policies?"],
      [
        "policies/latest.yaml",
        "policies/latest.yaml is no folder\n  → name the folder of the policies: holdfast policy test policies",
      ],
      ["nowhere/else", "the folder nowhere/else does not exist\n  → name the folder of the policies"],
    ] as const) {
      const refused = await source.runHere(["policy", "test", folder]);
      expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining(message) });
    }
    await source.write("policies/latest.yaml", latest.replace("severity: deny", "severity: block"));
    expect(await source.runHere(["policy", "test"])).toMatchObject({ code: 3 });
    expect(await source.runHere(["policy"])).toMatchObject({ code: 3 });
    const none = await (await sourceOf({})).runHere(["policy", "test"]);
    expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining("there are no policies") });
  });

  test("passes for the examples", async () => {
    const source = await sourceOf({});
    const ended = await source.runHere([
      "policy",
      "test",
      join(import.meta.dirname, "../../examples/policies"),
      "-o",
      "json",
    ]);
    expect(ended).toMatchObject({ code: 0 });
    const { summary } = JSON.parse(ended.stdout);
    expect(summary).toMatchObject({ untested: 0, failed: 0 });
    expect(summary.policies).toBeGreaterThanOrEqual(10);
  });
});
