import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { everyKind, service, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

test("S76 one plan is written as text, Markdown, JSON, for GitHub and for GitLab at once", async () => {
  const files = { ...everyKind, "other.yaml": service("other", "replicas: 1\n") };
  const source = await sourceOf(files, await serve(["--seed", (await sourceOf(files)).folder]));
  await commitAll(source.folder, "Declare a platform");
  await git(source.folder, "checkout", "-q", "-b", "change");
  await source.write("other.yaml", service("other", "replicas: 0\n"));
  await commitAll(source.folder, "Stop the other one");
  const job = await temporaryFolder();
  const [summary, outputs] = [join(job, "summary.md"), join(job, "outputs")];
  for (const file of [summary, outputs]) writeFileSync(file, "before\n");
  const forms = [
    "-o",
    "text",
    "-o",
    "markdown=review.md",
    "-o",
    "json=plan.json",
    "-o",
    "github",
    "-o",
    "gitlab=counts.json",
  ];
  const env = { GITHUB_STEP_SUMMARY: summary, GITHUB_OUTPUT: outputs, GITHUB_WORKSPACE: join(source.folder, "..") };
  const once = "a second plan is appended to the summary";
  const ended = await source.runHere(["plan", "--base", "main", "--gate", "change", ...forms], env, { once });
  expect(ended.code).toBe(2);
  expect(ended.stdout).toMatch(/^Plan for /);
  const read = (file: string) => readFileSync(join(source.folder, file), "utf8");
  expect(read("review.md")).toContain("#### This change: 1 resource");
  expect(readFileSync(summary, "utf8")).toBe(`before\n${read("review.md")}\n`);
  expect(readFileSync(outputs, "utf8")).toMatch(/^before\n.*own-changes<<(holdfast_[\w-]{36})\ntrue\n\1\n/s);
  expect(ended.stderr).toMatch(/^::warning file=[^,]+\/other.yaml,line=\d+,title=scale-to-zero::/m);
  expect(JSON.parse(read("counts.json"))).toEqual({ create: 0, update: 1, delete: 0 });
  // What lies in the source as a result of this is no part of it, and the plan can be applied.
  expect(await source.runHere(["apply", "--plan", "plan.json"])).toMatchObject({ code: 0 });
});

test("an output that cannot be written ends the command before anything is read of live", async () => {
  const source = await sourceOf({ "team.yaml": team("ml"), "review.md/kept": "" });
  const env = { HOLDFAST_SERVER: "http://127.0.0.1:9", HOLDFAST_TOKEN: "any" };
  const ended = await source.runHere(["plan", "-o", "markdown=review.md"], env);
  expect(ended).toMatchObject({ code: 3, stdout: "" });
  expect(ended.stderr).toContain("review.md");
});

test("validate writes SARIF and annotations beside its text", async () => {
  const source = await sourceOf({ "team.yaml": "type: team\nname: ml\nmembers: []\nmembres: []\n" });
  const ended = await source.runHere(["validate", "-o", "sarif=faults.sarif", "-o", "github"]);
  expect(ended).toMatchObject({ code: 3 });
  expect(ended.stdout).toContain("0 of 1 manifest");
  expect(ended.stderr).toMatch(/^::error file=team.yaml,line=3,/m);
  const sarif = JSON.parse(readFileSync(join(source.folder, "faults.sarif"), "utf8"));
  expect(sarif).toMatchObject({ version: "2.1.0", runs: [{ tool: { driver: { name: "holdfast" } } }] });
  expect(sarif.runs[0].results).toHaveLength(2);
});

test("the results of several targets are joined in each form", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ "a/ml.yaml": team("ml"), "b/web.yaml": team("web") });
  const sources = ["a", "b"].map((name) => ({ name, url: upstream.folder, ref: "main", paths: [name] }));
  const targets = ["a", "b"].map((name) => ({ name, source: name, server: server.url }));
  const operator = await operatorOf({ sources, targets }, server);
  const ended = await operator.runHere(["plan", "-o", "gitlab", "-o", "json=plans.json", "-o", "markdown=plans.md"]);
  expect(ended).toMatchObject({ code: 0 });
  expect(JSON.parse(ended.stdout)).toEqual({ create: 2, update: 0, delete: 0 });
  const read = (file: string) => readFileSync(join(operator.folder, file), "utf8");
  expect(JSON.parse(read("plans.json"))).toMatchObject({ targets: [{ target: "a" }, { target: "b" }] });
  expect(read("plans.md")).toMatch(/Target `a`.*Target `b`/s);
});
