import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { planDigest } from "../../src/core/plan/sign-plan.ts";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { temporaryFolder } from "../support/folder.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { foundations, service, team } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { onTerminal } from "../support/pty.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { fidoKey, needsSsh, type SshKey, sshCertificate, sshKey, sshSignature } from "../support/ssh-keys.ts";

beforeEach(needsSsh);

type Setting = {
  readonly server: Server;
  readonly source: Source;
  /** A folder outside of the source, with the keys and the operator's configuration. */
  readonly keys: string;
  readonly ada: SshKey;
  readonly ben: SshKey;
  readonly cy: SshKey;
  /** Writes the operator's configuration, and returns the flags that name it. */
  readonly demand: (atLeast: number | null, of: readonly SshKey[], name?: string) => readonly string[];
};

async function setUp(server: Server): Promise<Setting> {
  const source = await sourceOf(foundations, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const keys = await temporaryFolder();
  const [ada, ben, cy] = [sshKey(keys, "ada"), sshKey(keys, "ben", "rsa"), sshKey(keys, "cy", "ecdsa-256")];
  const demand: Setting["demand"] = (atLeast, of, name = "operator") => {
    const file = join(keys, `${name}.yaml`);
    const lines = of.map(({ publicLine }) => `    - ${publicLine}\n`).join("");
    writeFileSync(file, atLeast === null ? "{}\n" : `approvals:\n  atLeast: ${atLeast}\n  keys:\n${lines}`);
    return ["--config", file];
  };
  await source.write("team.yaml", team("reviewers"));
  return { server, source, keys, ada, ben, cy, demand };
}

const onto = (config: readonly string[]) => ["plan", "--out", "plan.json", ...config];
const apply = (config: readonly string[], ...more: readonly string[]) => [
  ...["apply", "--plan", "plan.json", ...config],
  ...more,
];
const approve = ({ file }: SshKey) => ["approve", "plan.json", "--yes", "--key", file];

async function planned({ source, demand, ada, ben, cy }: Setting, atLeast = 1): Promise<readonly string[]> {
  const config = demand(atLeast, [ada, ben, cy]);
  expect(await source.runHere(onto(config))).toMatchObject({ code: 0 });
  return config;
}

/** Applies where that is refused with this, and nothing is written. */
async function refused({ source, server }: Setting, config: readonly string[], ...says: readonly string[]) {
  const before = server.effects();
  const ended = await source.runHere(apply(config));
  for (const said of says) expect(ended.stderr).toContain(said);
  expect(ended.code).toBe(5);
  expect(server.effects()).toEqual(before);
}

describe.each(controlPlaneVariants)("approvals on a $name control plane", (plane) => {
  test("a plan is applied once enough of the keys have signed it, and the audit names everybody", async () => {
    const setting = await setUp(await plane.serve());
    const { source, server, ada, cy } = setting;
    const config = await planned(setting, 2);
    const shown = await source.runHere(["plan", ...config]);
    expect(shown.stdout).toContain("Needs 2 approvals (holdfast approve PLAN), by the keys of ada, ben, cy");
    expect(shown.stdout).toContain(`Next: holdfast plan`);
    await refused(setting, config, "the plan needs 2 approvals, and has none", "let ada, ben, cy run holdfast approve");

    const first = await source.runHere(approve(ada));
    expect(first).toMatchObject({ code: 0 });
    expect(first.stderr).toContain("team/reviewers");
    // Who asks and what was asked is known where the control plane says it.
    const isFull = plane.name === "full";
    expect(first.stderr.includes("Planned by user:admin")).toBe(isFull);
    expect(first.stdout).toBe("Approved as ada: 1 of 2 approvals, in plan.json.approvals\n");
    await refused(setting, config, "the plan needs 2 approvals, and has ada", "let ben, cy run holdfast approve");

    const again = await source.runHere(approve(ada));
    expect(again.stdout).toBe("Approved already as ada: 1 of 2 approvals, in plan.json.approvals\n");
    const json = await source.runHere([...approve(ada), "-o", "json"]);
    expect(faultsOf("approval", json.stdout)).toEqual([]);
    const [file, approver] = ["plan.json.approvals", { name: "ada", fingerprint: expect.stringMatching(/^SHA256:/) }];
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ plan: "plan.json", digest: contentOf(source), file, atLeast: 2 },
      ...{ approver, added: false, approvers: [approver], diagnostics: [] },
    });
    const second = await source.runHere(approve(cy));
    expect(second.stdout).toContain("Approved as cy: 2 of 2 approvals");
    expect(second.stdout).toContain(
      "Enough have signed it: holdfast apply --plan plan.json, with the flags of its plan",
    );

    const done = await source.runHere(apply(config, "-o", "json"));
    expect(done).toMatchObject({ code: 0 });
    expect(faultsOf("apply", done.stdout)).toEqual([]);
    expect(reportOf(done).approvers).toEqual([
      { name: "ada", fingerprint: expect.stringMatching(/^SHA256:/) },
      { name: "cy", fingerprint: expect.stringMatching(/^SHA256:/) },
    ]);
    const history = await source.runHere(["history"]);
    expect(history.stdout).toContain("approved by ada, cy");
    expect(server.effects().filter(({ resource }) => resource === "team/reviewers")).toHaveLength(1);
    if (!isFull) return;
    const audit = await source.runHere(["audit", "--resource", "team/reviewers", "-o", "json"]);
    expect(faultsOf("audit", audit.stdout)).toEqual([]);
    expect(JSON.parse(audit.stdout).rows).toMatchObject([{ planner: expect.any(String), approvers: ["ada", "cy"] }]);
    const told = await source.runHere(["audit", "--resource", "team/reviewers"]);
    expect(told.stdout).toMatch(/planned by \S+, approved by ada and cy/);
  });
});

describe("signatures that do not count", () => {
  test("of a key that may not approve: approve writes none, and apply refuses one that is there", async () => {
    const setting = await setUp(await serve([]));
    const { source, keys } = setting;
    const config = await planned(setting);
    const eve = sshKey(keys, "eve");
    const ended = await source.runHere(approve(eve));
    expect(ended.code).toBe(5);
    expect(ended.stderr).toMatch(/nothing was signed with \S+eve: the key SHA256:\S+ is none of those/);
    await refused(setting, config, "and has none");
    await source.write("plan.json.approvals", sshSignature(eve, `${contentOf(source)}\n`));
    await refused(setting, config, "plan.json.approvals:1:1: error: signature 1 does not count: the key SHA256:");
    const { stdout } = await source.runHere([...approve(setting.ada), "-o", "json"]);
    expect(faultsOf("approval", stdout)).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ added: true, approvers: [{ name: "ada" }] },
      diagnostics: [{ severity: "warning", summary: expect.stringContaining("signature 1 does not count") }],
    });
  });

  test("twice of the same key, of another namespace, and text that is none", async () => {
    const setting = await setUp(await serve([]));
    const { source, ada, ben } = setting;
    const config = await planned(setting, 2);
    const digest = `${contentOf(source)}\n`;
    await source.write("plan.json.approvals", sshSignature(ada, digest) + sshSignature(ada, digest));
    await refused(setting, config, "and has ada", "signature 2 does not count: ada has approved the plan already");
    await source.write("plan.json.approvals", sshSignature(ada, digest) + sshSignature(ben, digest, "file"));
    await refused(setting, config, "and has ada", "ben made it for file, and not for holdfast-plan");
    await source.write("plan.json.approvals", "hello\n");
    await refused(setting, config, "and has none", "signature 1 does not count: it cannot be read");
  });

  test("of another plan: one of a changed source, and one that was edited", async () => {
    const setting = await setUp(await serve([]));
    const { source, ada } = setting;
    const config = await planned(setting);
    expect(await source.runHere(approve(ada))).toMatchObject({ code: 0 });
    await source.write("more.yaml", team("others"));
    expect(await source.runHere(onto(config))).toMatchObject({ code: 0 });
    await refused(setting, config, "and has none", "what ada has signed is another plan");

    // Edited, and with a digest that fits again: its own key shows that too, but the approvals are looked at first.
    expect(await source.runHere(approve(ada))).toMatchObject({ code: 0 });
    edit(source, (plan) => ({
      ...plan,
      approvals: { ...(plan.approvals as object), atLeast: 1, keys: [ada.publicLine] },
    }));
    await refused(setting, config, "what ada has signed is another plan");
    // Without the requirement, the configuration still has it.
    edit(source, ({ approvals: _, ...plan }) => plan);
    await refused(setting, config, "what ada has signed is another plan");
    const unapproved = await source.runHere(apply(setting.demand(null, [])));
    expect(unapproved).toMatchObject({ code: 6 });
    expect(unapproved.stderr).toContain("the plan was edited after it was made");
  });

  test("of a key whose time is over", async () => {
    const setting = await setUp(await serve([]));
    const { source, ada, demand } = setting;
    const config = demand(1, [{ ...ada, publicLine: `'ada valid-before="20200101Z" ${ada.publicLine}'` }]);
    expect(await source.runHere(onto(config))).toMatchObject({ code: 0 });
    await source.write("plan.json.approvals", sshSignature(ada, `${contentOf(source)}\n`));
    await refused(setting, config, "the key of ada has not counted since 2020-01-01T00:00:00Z");
  });
});

test("a plan is applied with the signature of a key in a FIDO device, and certificates are refused at once", async () => {
  const setting = await setUp(await serve([]));
  const { source, keys, ada, demand } = setting;
  const key = fidoKey("dee", "sk-ssh-ed25519@openssh.com");
  const config = demand(1, [{ file: "", publicLine: key.publicLine }]);
  expect(await source.runHere(onto(config))).toMatchObject({ code: 0 });
  await source.write("plan.json.approvals", key.sign(`${contentOf(source)}\n`, { flags: 0 }));
  await refused(setting, config, "and has none", "nobody has touched the device of dee for it");
  await source.write("plan.json.approvals", key.sign(`${contentOf(source)}\n`));
  expect(await source.runHere(apply(config, "-o", "json"))).toMatchObject({ code: 0 });
  const certificate = { file: "", publicLine: sshCertificate(ada, sshKey(keys, "authority")) };
  const ended = await source.runHere(["plan", ...demand(1, [certificate], "certified")]);
  expect(ended).toMatchObject({ code: 3 });
  expect(ended.stderr).toContain("(ssh-ed25519-cert-v01@openssh.com AAAA");
  expect(ended.stderr).toContain("certificates are not read: name the keys themselves");
});

test("the comment of a plan says which signatures it needs, and how they are given", async () => {
  const setting = await setUp(await serve([]));
  const { source, demand, ada, ben } = setting;
  const shown = await source.runHere(["plan", "-o", "markdown", ...demand(2, [ada, ben])]);
  expect(shown.stdout).toContain(
    "Needs 2 approvals (`holdfast approve PLAN`), by the keys of `ada`, `ben`. `PLAN` is the file that `holdfast plan --out PLAN` writes.",
  );
  await source.write("plan.out", (await source.runHere(["plan", "-o", "json", ...demand(2, [ada, ben])])).stdout);
  const comment = await source.runHere(["comment", "plan.out"]);
  expect(comment.stdout).toContain("Needs 2 approvals (`holdfast approve PLAN`), by the keys of `ada`, `ben`.");
});

describe("what the configuration of the apply demands", () => {
  test("holds where it is more than the plan says, and less where the plan says more", async () => {
    const setting = await setUp(await serve([]));
    const { source, ada, ben, cy, demand } = setting;
    await planned(setting);
    expect(await source.runHere(approve(ada))).toMatchObject({ code: 0 });
    await refused(setting, demand(2, [ada, ben], "strict"), "the plan needs 2 approvals, and has ada");
    await refused(setting, demand(1, [ben], "other"), "and has none", "the key SHA256:");
    await refused(setting, demand(1, [sshKey(setting.keys, "dee")], "disjoint"), "make the plan again with plan --out");
    expect(await source.runHere(approve(cy))).toMatchObject({ code: 0 });
    await refused(setting, demand(2, [ada, ben], "strict"), "and has ada");
    // Nothing is demanded here, but the plan itself asks for one, which it has.
    expect(await source.runHere(apply(demand(null, [])))).toMatchObject({ code: 0 });
  });

  test("a plan that asks for none is approved with a named key where the apply demands it", async () => {
    const setting = await setUp(await serve([]));
    const { source, ada, demand } = setting;
    expect(await source.runHere(onto([]))).toMatchObject({ code: 0 });
    const config = demand(1, [ada]);
    await refused(setting, config, "the plan needs one approval, and has none");
    const unnamed = await source.runHere(["approve", "plan.json", "--yes"]);
    expect(unnamed).toMatchObject({ code: 3 });
    expect(unnamed.stderr).toContain("the plan itself asks for no approval");
    expect((await source.runHere(approve(ada))).stdout).toMatch(/^Approved as SHA256:\S+\n/);
    expect(await source.runHere(apply(config))).toMatchObject({ code: 0 });
  });

  test("apply without a plan, redeploy and watch are refused, and a source cannot set it", async () => {
    const setting = await setUp(await serve([]));
    const { source, server, ada, demand } = setting;
    const config = demand(1, [ada]);
    await source.write("api.yaml", service("api"));
    const before = server.effects();
    for (const args of [
      ["apply", "--yes"],
      ["redeploy", "service/dev:web/api"],
    ]) {
      const ended = await source.runHere([...args, ...config]);
      expect(ended.stderr).toContain("needs a plan with an approval: the configuration demands it");
      expect(ended.code).toBe(5);
    }
    const watch = await source.runHere(["watch", ...config]);
    expect(watch.stderr).toContain("target default needs approved plans, which watch does not wait for");
    expect(watch.code).toBe(5);
    expect(server.effects()).toEqual(before);
    await source.write("holdfast.yaml", `approvals:\n  keys: ["${ada.publicLine}"]\n`);
    const own = await source.runHere(["plan"]);
    expect(own).toMatchObject({ code: 3 });
    expect(own.stderr).toContain("approvals");
  });

  test("a target has its own, and its faults name their place", async () => {
    const setting = await setUp(await serve([]));
    const { source, server, keys, ada } = setting;
    const file = join(keys, "targets.yaml");
    const target = (name: string, approvals: string) =>
      `  - { name: ${name}, server: ${server.url}, paths: [${name}], approvals: ${approvals} }\n`;
    for (const name of ["free", "prod"]) await source.write(`${name}/team.yaml`, team(name));
    const own = `{ keys: ["${ada.publicLine}"] }`;
    writeFileSync(file, `targets:\n${target("free", "null")}${target("prod", own)}`);
    const options = ["--config", file];
    const signed = await source.runHere([...onto(options), "--target", "prod"]);
    expect(signed).toMatchObject({ code: 0 });
    expect(
      planOf(await source.runHere(["plan", ...options, "--target", "prod", "-o", "json"])).approvals,
    ).toMatchObject({
      atLeast: 1,
      keys: [ada.publicLine],
    });
    const ended = await source.runHere(["apply", "--yes", ...options, "--target", "prod"]);
    expect(ended.code).toBe(5);
    expect(await source.runHere(["apply", "--yes", ...options, "--target", "free"])).toMatchObject({ code: 0 });
    writeFileSync(file, `targets:\n${target("prod", '{ keys: ["ssh-ed25519 AAAA ada"] }')}`);
    const bad = await source.runHere(["plan", ...options]);
    expect(bad.code).toBe(3);
    expect(bad.stderr).toContain("targets.yaml:2");
    expect(bad.stderr).toContain("it is cut off or no public key");
  });
});

describe("which key signs", () => {
  test("is one of ~/.ssh that may approve, else one of ssh-agent", async () => {
    const setting = await setUp(await serve([]));
    const { source, keys, ada, ben } = setting;
    await planned(setting, 2);
    const home = join(keys, "home");
    await mkdir(join(home, ".ssh"), { recursive: true });
    sshKey(join(home, ".ssh"), "id_other");
    const none = await source.runHere(["approve", "plan.json", "--yes"], { HOME: home });
    expect(none).toMatchObject({ code: 3 });
    expect(none.stderr).toContain("neither ~/.ssh nor ssh-agent has a key that may approve this plan");

    const agent = execFileSync("ssh-agent", ["-s"], { encoding: "utf8" });
    const [, socket = "", process_ = ""] = /SSH_AUTH_SOCK=([^;]+);[\s\S]*SSH_AGENT_PID=(\d+)/.exec(agent) ?? [];
    onTestFinished(() => {
      process.kill(Number(process_));
    });
    execFileSync("ssh-add", ["-q", ben.file], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
    const byAgent = await source.runHere(["approve", "plan.json", "--yes"], { HOME: home, SSH_AUTH_SOCK: socket });
    expect(byAgent.stdout).toContain("Approved as ben");

    await rename(ada.file, join(home, ".ssh/id_ed25519"));
    await rename(`${ada.file}.pub`, join(home, ".ssh/id_ed25519.pub"));
    const byFile = await source.runHere(["approve", "plan.json", "--yes"], { HOME: home });
    expect(byFile.stdout).toContain("Approved as ada: 2 of 2");
  });

  test("is asked for on a terminal, and elsewhere --yes is needed", async () => {
    const setting = await setUp(await serve([]));
    const { source, ada } = setting;
    await planned(setting);
    const args = ["approve", "plan.json", "--key", ada.file];
    expect(await source.runHere(args)).toMatchObject({ code: 3 });
    const no = await source.runThrough(onTerminal(80, "n\\n"), args);
    expect(no.stdout).toContain("nothing was signed");
    const yes = await source.runThrough(onTerminal(80, "y\\n"), args);
    expect(yes.stdout).toContain("team/reviewers");
    expect(yes.stdout).toContain("Approved as ada: 1 of 1 approval");
    expect(yes.code).toBe(0);
  });

  test("of a device asks for a touch", async () => {
    const setting = await setUp(await serve([]));
    const { source, keys } = setting;
    await planned(setting);
    const file = join(keys, "device.pub");
    writeFileSync(file, `${fidoKey("dee", "sk-ssh-ed25519@openssh.com").publicLine}\n`);
    // It is not there.
    const ended = await source.runHere(["approve", "plan.json", "--yes", "--key", file]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("touch the security key when it asks for it");
  });

  test("must be a key: a file that is none, and a plan that is none, are refused", async () => {
    const setting = await setUp(await serve([]));
    const { source, keys } = setting;
    await planned(setting);
    const ended = await source.runHere(["approve", "plan.json", "--yes", "--key", join(keys, "absent")]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("ssh-keygen could not sign with");
    await source.write("other.json", "{}");
    const other = await source.runHere(["approve", "other.json", "--yes"]);
    expect(other).toMatchObject({ code: 3 });
    expect(other.stderr).toContain("other.json is no plan of this version");
  });
});

function contentOf({ folder }: Source): string {
  return JSON.parse(readFileSync(join(folder, "plan.json"), "utf8")).seal.content;
}

function edit({ folder }: Source, change: (plan: Record<string, unknown>) => Record<string, unknown>): void {
  const path = join(folder, "plan.json");
  const plan = change(JSON.parse(readFileSync(path, "utf8")));
  const content = planDigest(JSON.parse(JSON.stringify(plan)));
  writeFileSync(path, JSON.stringify({ ...plan, seal: { ...(plan.seal as object), content } }));
}
