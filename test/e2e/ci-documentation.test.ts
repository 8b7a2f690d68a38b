import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { holdfastOnPath } from "../support/holdfast-on-path.ts";
import { everyKind, type Files, service } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const project = resolve(import.meta.dirname, "../..");
const scaled = (name: string, replicas: number) => service(name, `replicas: ${replicas}\n`);

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** The commands of the page on pull requests, by the comment in their first line; the test's own person applies. */
async function documentedCommands(): Promise<ReadonlyMap<string, string>> {
  const page = await readFile(join(project, "docs/pull-requests.md"), "utf8");
  const section = /\n## From a laptop to a pipeline to a pod\n(.*?)\n## /s.exec(page)?.[1] ?? "";
  const blocks = [...section.matchAll(/```bash\n# ([^\n]+)\n(.*?)```/gs)];
  return new Map(
    blocks.map(([, where = "", commands = ""]) => [where, commands.replaceAll("user:you@example.com", "user:admin")]),
  );
}

test("the documented commands lead from a laptop to a pipeline to a pod, in their order, without --allow-adopt", async () => {
  const commands = await documentedCommands();
  const [laptop, merge, scheduled, pod] = [...commands.keys()];
  expect([...commands.values()].join("")).not.toContain("adopt");
  const server = await serve();
  const bare = await temporaryFolder();
  await git(bare, "init", "--quiet", "--bare", "--initial-branch", "main");
  const person = await sourceOf({ ".gitignore": ".holdfast/\n", ...everyKind, "other.yaml": scaled("other", 1) });
  await commitAll(person.folder, "Declare a platform");
  await git(person.folder, "remote", "add", "origin", bare);
  const bin = await holdfastOnPath();
  await symlink(join(project, "deploy/ci/shell/holdfast-ci"), join(bin, "holdfast-ci"));
  const tokenOf = async (name: string): Promise<string> => {
    const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-admin" }];
    const manifest = { type: "virtual-account", name, permissions };
    return (await server.call("PUT", "/api/svc/v1/virtual-accounts", { manifest })).token;
  };
  const [deployer, podToken, somebody] = [
    await tokenOf("ci-deployer"),
    await tokenOf("pod"),
    await tokenOf("somebody"),
  ];
  const envOf = (token: string, more = {}) => ({
    ...{ PATH: `${bin}:${process.env.PATH}`, HOME: bin, HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: token },
    ...more,
  });
  const run = (where: string | undefined, cwd: string, env: { readonly [name: string]: string }): Promise<Ended> =>
    new Promise((done) => {
      const script = commands.get(where ?? "") ?? "exit 99";
      execFile("sh", ["-e", "-c", script], { cwd, env }, (error, stdout, stderr) => {
        done({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : 255, stdout, stderr });
      });
    });
  // Each job begins with a clone of its own, and with no state.
  const job = async (where: string | undefined): Promise<Ended> => {
    const folder = await temporaryFolder();
    await git(folder, "clone", "--quiet", `file://${bare}`, "clone");
    return run(where, join(folder, "clone"), envOf(deployer, { CI: "true", OUT: await temporaryFolder() }));
  };
  const push = async (changed: Files): Promise<void> => {
    for (const [file, text] of Object.entries(changed)) await person.write(file, text);
    await commitAll(person.folder, "Change");
    await git(person.folder, "push", "--quiet", "origin", "main");
  };
  const editByHand = async (name: string, replicas: number): Promise<void> => {
    const { data } = await server.call("GET", `/api/svc/v1/apps?fqn=dev:web:${name}`);
    const manifest = { ...data[0].deployment.manifest, replicas };
    await server.call("PUT", "/api/svc/v1/apps", { manifest }, somebody);
  };
  const replicasOf = async (name: string): Promise<number> =>
    (await server.call("GET", `/api/svc/v1/apps?fqn=dev:web:${name}`)).data[0].deployment.manifest.replicas;

  expect(await run(laptop, person.folder, envOf(server.token))).toMatchObject({ code: 0 });
  await push({ "other.yaml": scaled("other", 3) });
  expect(await job(merge)).toMatchObject({ code: 0, stdout: expect.stringContaining("1 updated") });
  expect(await replicasOf("other")).toBe(3);

  await editByHand("api", 9);
  const drift = await job(scheduled);
  expect([drift.code, drift.stdout]).toEqual([
    2,
    expect.stringMatching(/replicas\s+2\s+→ 9\s+by virtualaccount:somebody/),
  ]);
  const corrected = await job(merge);
  expect(corrected).toMatchObject({ code: 0, stdout: expect.stringContaining("1 updated") });
  expect(await replicasOf("api")).toBe(2);

  await editByHand("api", 7);
  await push({ "other.yaml": scaled("other", 4) });
  const [folder, config] = [await temporaryFolder(), join(await temporaryFolder(), "operator.yaml")];
  const source = { name: "platform", url: bare, ref: "main" };
  const targets = [{ name: "prod", interval: 0.5 }];
  await writeFile(config, stringify({ sources: [source], targets }));
  const watching = (commands.get(pod ?? "") ?? "exit 99").replace("/etc/holdfast/operator.yaml", config);
  const daemon = spawn("sh", ["-e", "-c", watching], { cwd: folder, env: envOf(podToken) });
  onTestFinished(() => void daemon.kill("SIGKILL"));
  let said = "";
  const hear = (part: Buffer): void => {
    said += part.toString("utf8");
  };
  for (const stream of [daemon.stdout, daemon.stderr]) stream.on("data", hear);
  while (!said.includes("2 updated"))
    await Promise.race([once(daemon.stdout, "data"), once(daemon, "exit").then(() => expect.fail(said))]);
  expect([await replicasOf("api"), await replicasOf("other")]).toEqual([2, 4]);
  daemon.kill("SIGTERM");
  expect((await once(daemon, "exit"))[0]).toBe(0);
});
