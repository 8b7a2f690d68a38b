import { execFileSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { planDigest } from "../../src/core/plan/sign-plan.ts";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { foreignService } from "../support/foreign-service.ts";
import { commitAll } from "../support/git.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { account, foundations, prompt, service, team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { guarded, type Source, sourceOf } from "../support/source.ts";

async function sourceBesideOthers(server: Server): Promise<Source> {
  const source = await sourceOf(foundations, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: expect.toBeOneOf([0, 7]) });
  await foreignService(server);
  await source.write("services/api.yaml", service("api"));
  return source;
}

describe.each(controlPlaneVariants)("guards on a $name control plane", (plane) => {
  test("S60 what somebody else manages is overwritten only when that is allowed, and the plan names what would be lost", async () => {
    const server = await plane.serve();
    const source = await sourceBesideOthers(server);
    const before = server.effects();
    const plan = await source.runHere(["plan", "-o", "json"], guarded);
    expect(plan.code).toBe(0);
    expect(planOf(plan).steps).toMatchObject([
      {
        ...{ action: "update", identity: "service/dev:web/api", risks: ["adopts"] },
        guard: {
          flags: ["--allow-adopt"],
          dangers: [{ risk: "adopts", path: "/env/QUEUE", text: "env.QUEUE, replicas" }],
        },
      },
    ]);
    expect(planOf(plan).summary.refused).toBe(1);

    const refused = await source.runHere(["apply", "--yes"], guarded);
    expect(refused).toMatchObject({ code: 5 });
    expect(refused.stderr).toContain(
      "service/dev:web/api would overwrite what somebody else manages (env.QUEUE, replicas)",
    );
    expect(refused.stderr).toContain("--allow-adopt");
    expect(server.effects()).toEqual(before);

    // What an apply refuses is not signed, and the refusal says which flag allows it.
    const unsigned = await source.runHere(["plan", "--out", "strict.json"], guarded);
    expect(unsigned.code).toBe(5);
    expect(unsigned.stdout).toMatch(
      /NotAdopted: 1 of 4 declared[\s\S]*Plan: 1 to update, .*; 1 step needs --allow-adopt[^\n]*\n$/,
    );
    expect(unsigned.stderr).toContain("nothing was signed: run plan again with --allow-adopt");
    expect(await readdir(source.folder)).not.toContain("strict.json");
    await source.write("strict.json", plan.stdout);
    const unapplied = await source.runHere(["apply", "--plan", "strict.json", "--allow-adopt"], guarded);
    expect(unapplied).toMatchObject({ code: 5 });
    expect(server.effects()).toEqual(before);
    expect(await source.runHere(["plan", "--allow-adopt", "--out", "plan.json"], guarded)).toMatchObject({ code: 0 });
    const applied = await source.runHere(["apply", "--plan", "plan.json", "-o", "json"], guarded);
    expect(reportOf(applied).summary).toMatchObject({ updated: 1, failed: 0 });
  });

  test("S61 watch holds back what a guard refuses and goes on with everything else", async () => {
    const server = await plane.serve();
    const source = await sourceBesideOthers(server);
    await source.write("services/worker.yaml", service("worker"));
    const watch = source.start(["watch", "--yes"], guarded);
    await watch.shows("stdout", /created +service\/dev:web\/worker/);
    await watch.shows(
      "stdout",
      /blocked +service\/dev:web\/api[\s\S]*somebody else manages \(env\.QUEUE, replicas\)[\s\S]*\[guard\]/,
    );
    await source.write("registry/prompt.yaml", prompt("greeting", "Be kind."));
    await watch.shows("stdout", /created +chat_prompt\/registry\/greeting/);
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
    expect(server.effects().filter(({ resource }) => resource === "service/dev:web/api")).toHaveLength(1);
  });

  test("S62 nobody is given rights without --allow-privilege", async () => {
    const server = await plane.serve();
    const source = await sourceOf(
      { ...foundations, "team.yaml": team("ml", "ada@example.com, grace@example.com") },
      server,
    );
    const before = server.effects();
    const refused = await source.runHere(["apply", "--yes"], guarded);
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr.startsWith(`Applying to ${server.url}`), refused.stderr).toBe(true);
    expect(refused.stderr.split("\n").filter((line) => line.endsWith("[privilege-growth]"))).toEqual(
      [
        ["team.yaml:3:11", "ada@example.com"],
        ["team.yaml:3:28", "grace@example.com"],
      ].map(
        ([place, who]) =>
          `${place}: error: team/ml would give somebody more rights (${who} becomes a member); --allow-privilege allows it [privilege-growth]`,
      ),
    );
    expect(server.effects()).toEqual(before);
    // Without a dry run nobody knows whether the team is there, so it may be somebody else's.
    const unread = plane.name === "full" ? [] : ["--allow-adopt"];
    const allowing = ["apply", "--yes", "--allow-privilege", ...unread, "-o", "json"];
    const allowed = await source.runHere(allowing, guarded);
    expect(reportOf(allowed).summary).toMatchObject({ failed: 0 });
    await source.write("team.yaml", team("ml", "ada@example.com, eve@example.com"));
    expect(await source.runHere(["apply", "--yes"], guarded)).toMatchObject({ code: 5 });
    await source.write("team.yaml", team("ml"));
    expect(reportOf(await source.runHere(["apply", "--yes", "-o", "json"], guarded)).summary).toMatchObject({
      updated: 1,
    });
  });
});

test("the command that a plan names next works as it is printed", async () => {
  const server = await serve();
  const odd = "my teams/a's.yaml";
  const source = await sourceOf({ [odd]: team("ml"), "other.yaml": team("other") }, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const cases: readonly (readonly string[])[] = [
    ["--allow-privilege"],
    [],
    [odd],
    ["--only", "team/ml", "--no-color", "--no-fold"],
    ["--kind", "team", "--source", ".", "--concurrency", "2"],
    ["--out", "plan.json", "--allow-privilege"],
    ["--out", "my plan.json", odd],
    ["--no-dry-run"],
    ["--state", "its state", "--allow-adopt"],
  ];
  for (const [nth, args] of cases.entries()) {
    await source.write(odd, team("ml", `ada@example.com, member-${nth}@example.com`));
    const commands = await followNext(source, ["plan", ...args]);
    // The flag is repeated, since another state folder cannot tell that it was given.
    if (args[0] === "--out") expect(commands.at(-1)).toContain("--allow-privilege");
    expect(commands.at(-1), `after plan ${args.join(" ")}`).toMatch(/^holdfast apply /);
    const after = await source.runHere(["plan", odd, ...(args.includes("--state") ? args.slice(0, 2) : [])], guarded);
    expect(after.stdout, commands.join(" && ")).toContain("Plan: nothing to do");
  }
});

/** Runs a command and each that the result names next, as a shell would read it. */
async function followNext(source: Source, args: readonly string[]): Promise<readonly string[]> {
  const ended = await source.runHere(args, guarded);
  const [, next] = /^Next: (.*)$/m.exec(ended.stdout) ?? [];
  // A plan that could not be signed names the plan that can.
  const isUnsigned = next?.startsWith("holdfast plan ") === true;
  expect(ended, args.join(" ")).toMatchObject({ code: isUnsigned ? 5 : 0 });
  if (next === undefined) return [];
  const words = execFileSync("sh", ["-c", `printf '%s\\n' ${next}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
  return [next, ...(await followNext(source, words.slice(1)))];
}

test("S60 a team and an account of others need adoption where nothing reads them, dryRun proven or not", async () => {
  const [, documented] = controlPlaneVariants;
  const server = await documented?.serve();
  if (server === undefined) throw new TypeError("there is no such variant");
  const files = { ...foundations, "team.yaml": team("ml"), "account.yaml": account("ci") };
  const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-admin" }];
  const manifest = { type: "virtual-account", name: "others", permissions };
  const others = (await server.call("PUT", "/api/svc/v1/virtual-accounts", { manifest })).token;
  const theirs = await sourceOf(files, server);
  expect(await theirs.runHere(["apply", "--yes"], { HOLDFAST_TOKEN: others })).toMatchObject({ code: 0 });
  const made = Date.now();
  const source = await sourceOf({ ...files, "team.yaml": team("ml", "eve@example.com") }, server);
  const privileged = { ...guarded, HOLDFAST_ALLOW_PRIVILEGE: "true" };
  const before = [...server.effects()];
  const refusedIn = async (state: string) => {
    const refused = await source.runHere(["apply", "--yes", "--state", state], privileged);
    expect(refused).toMatchObject({ code: 5 });
    expect(server.effects()).toEqual(before);
    return ["team/ml", "virtual-account/ci"].filter((identity) =>
      new RegExp(`${identity} (?:would overwrite|may exist already)`).test(refused.stderr),
    );
  };
  // There is no application yet, so no dry run is proven.
  expect(await refusedIn("first")).toEqual(["team/ml", "virtual-account/ci"]);
  const watch = source.start(["watch", "--yes", "--state", "watching"], privileged);
  await watch.shows("stdout", /blocked +team\/ml[\s\S]*\[guard\]/);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
  expect(server.effects()).toEqual(before);
  await source.write("services/api.yaml", service("api"));
  expect(await source.runHere(["apply", "--yes", "--kind", "service"])).toMatchObject({ code: 0 });
  before.splice(0, Infinity, ...server.effects());
  expect(await refusedIn("second")).toEqual(["team/ml", "virtual-account/ci"]);
  // Nobody is told to adopt what cannot be read.
  const told = (await source.runHere(["plan", "--state", "second"], privileged)).stdout.replaceAll(/\s+/g, " ");
  const unread = "live cannot be read, since no documented operation reads";
  expect(told).toContain(`what somebody else manages (${unread} teams); --allow-adopt writes it all the same`);
  expect(told).not.toContain("holdfast adopt");
  // Whoever allows it is told that they were there. The control plane tells its time in whole seconds.
  await eventually("two seconds since they were made", () => Date.now() - made > 2000);
  await source.remove("services/api.yaml");
  const allowed = await source.runHere(
    ["apply", "--yes", "--state", "third", "-o", "json", "--allow-adopt"],
    privileged,
  );
  expect(reportOf(allowed).summary).toMatchObject({ created: 0, failed: 0 });
  const outcome = reportOf(allowed).outcomes.find(({ identity }) => identity === "team/ml");
  expect(outcome?.result).toBe("updated");
});

test("S62 the operator loosens a guard, and a source can only tighten one", async () => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "team.yaml": team("ml") }, server);
  await source.write("holdfast.yaml", "guards: { privilege-growth: mark }\n");
  const looser = await source.runHere(["apply", "--yes"], guarded);
  expect(looser.code).toBe(3);
  expect(looser.stderr).toContain("looser guards");
  const operator = join(await sourceOf({}).then(({ folder }) => folder), "operator.yaml");
  await writeFile(operator, "guards: { privilege-growth: mark }\n");
  await source.remove("holdfast.yaml");
  expect(await source.runHere(["apply", "--yes", "--config", operator], guarded)).toMatchObject({ code: 0 });

  await source.write("services/api.yaml", service("api", "replicas: 2\n"));
  expect(await source.runHere(["apply", "--yes"], guarded)).toMatchObject({ code: 0 });
  await source.write("services/api.yaml", service("api", "replicas: 0\n"));
  await source.write("holdfast.yaml", "guards: { scale-to-zero: refuse }\n");
  const refused = await source.runHere(["apply", "--yes"], guarded);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain("service/dev:web/api may leave no replica running");
});

test("S63 a permission that is written into a plan by hand is not one", async () => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "team.yaml": team("ml") }, server);
  // Of the same commit another key will do.
  await commitAll(source.folder, "Team");
  const signing = ["plan", "--out", "plan.json", "--allow-privilege"];
  const signed = await source.runHere(signing, guarded);
  expect(signed).toMatchObject({ code: 0, stderr: expect.stringMatching(/with another state,.*--allow-/s) });
  const plan = JSON.parse(await readFile(join(source.folder, "plan.json"), "utf8"));
  expect(plan.allows).toEqual(["privilege-growth"]);
  await source.write("plan.json", JSON.stringify({ ...plan, allows: ["privilege-growth", "shrink"] }));
  expect(await source.runHere(["apply", "--plan", "plan.json"], guarded)).toMatchObject({ code: 6 });
  // Its digest made anew, and named after a key that nobody here has.
  const forged = { ...plan, allows: ["privilege-growth"], seal: { ...plan.seal, key: "0123456789abcdef" } };
  const seal = { ...forged.seal, content: planDigest(forged) };
  await source.write("plan.json", JSON.stringify({ ...forged, seal }));
  const refused = await source.runHere(["apply", "--plan", "plan.json"], guarded);
  expect(refused).toMatchObject({ code: 5 });
  expect(refused.stderr).toContain("or give both the same HOLDFAST_STATE_KEY");
  expect(server.effects()).toEqual([]);
});

test("S64 watch does not update more than its share at once", async () => {
  const server = await serve();
  const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
  const files = (more: string) =>
    Object.fromEntries(names.map((name) => [`services/${name}.yaml`, service(name, more)]));
  const source = await sourceOf({ ...foundations, ...files("") }, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  for (const [file, text] of Object.entries(files("replicas: 3\n"))) await source.write(file, text);
  const watch = source.start(["watch", "--yes"]);
  await watch.shows("stdout", /blocked +service\/dev:web\/s9[\s\S]*10 of 13 resources would be updated in one pass/);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
  expect(reportOf(await source.runHere(["apply", "--yes", "-o", "json"])).summary).toMatchObject({ updated: 10 });
});
