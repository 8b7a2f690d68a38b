import { randomBytes } from "node:crypto";
import { chmod, chown, cp, glob, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatefulSet } from "kubernetes-types/apps/v1.d.ts";
import type { CronJob } from "kubernetes-types/batch/v1.d.ts";
import { expect, inject, type TestContext, test } from "vitest";
import { parse } from "yaml";
import { needsRoot } from "../support/as-root.ts";
import { temporaryFolder } from "../support/folder.ts";
import { everyKind } from "../support/manifests.ts";
import { needsMounts } from "../support/namespace-commands.ts";
import { type Running, start } from "../support/process.ts";
import { serve } from "../support/server.ts";
import { guarded, sourceOf } from "../support/source.ts";
import { upstreamOf } from "../support/upstream.ts";
import { createAuthority } from "../unit/client/certificate.ts";

/** A user of a container, and the group that its volumes are given to. */
type ContainerUser = { readonly uid: number; readonly gid: number; readonly group: number };

test("the image's content runs on a read-only file system as any user in root's group", (context) =>
  runsAs({ uid: 54_321, gid: 0, group: 0, mode: 0o770 }, context));

test("the image's content runs on a read-only file system as a user with an fsGroup", (context) =>
  runsAs({ uid: 10_001, gid: 10_001, group: 4_242, mode: 0o2775 }, context));

test("the control plane runs as it is deployed on SQLite, and its CronJob copies the data meanwhile", async (context) => {
  needsRoot(context);
  needsMounts(context);
  const volume = await temporaryFolder();
  const { issue, cert } = createAuthority();
  const certificate = issue("holdfast-control-plane");
  const secrets = {
    "tls/tls.crt": certificate.cert,
    "tls/tls.key": certificate.key,
    "secrets/server-key": randomBytes(32).toString("base64"),
  };
  for (const [file, text] of Object.entries(secrets)) await writeSecret(join(volume, file), text);
  for (const folder of ["state", "backup"]) {
    await mkdir(join(volume, folder));
    await chown(join(volume, folder), 0, FS_GROUP);
    await chmod(join(volume, folder), 0o2775);
  }
  await chmod(volume, 0o755);
  const inVolume = (text: string) =>
    text
      .replaceAll("/run/secrets/holdfast-tls", join(volume, "tls"))
      .replaceAll("/run/secrets/holdfast", join(volume, "secrets"))
      .replaceAll("/backup", join(volume, "backup"))
      .replace(/^7071$/, "0");
  const deployed: StatefulSet = await deployedAs("stateful-set.yaml");
  const [container] = deployed.spec?.template.spec?.containers ?? [];
  const variables = container?.env?.map(({ name, value = ADMIN_TOKEN }) => [name, inVolume(value)]) ?? [];
  const env = {
    ...Object.fromEntries(variables),
    HOLDFAST_STATE: join(volume, "state"),
    HOLDFAST_DRAIN_SECONDS: "0",
  };
  const user = { uid: 10_001, gid: 10_001, group: FS_GROUP };
  const place = { user, cwd: volume, volume, env };
  const args = container?.args?.map(inVolume).filter((word) => word !== "--drain-seconds" && word !== "10") ?? [];
  const serving = await startContainer(["holdfast", ...args], place);
  const [, url = ""] = await serving.shows("stdout", /^listening on (\S+)\n/);
  // As the page says: over TLS, to whoever trusts the authority alone.
  expect(await firstToken(url.replace("0.0.0.0", "127.0.0.1"), cert)).toMatch(/^eyJ\S+\n$/);

  const job: CronJob = await deployedAs("backup.yaml");
  const [copying] = job.spec?.jobTemplate.spec?.template.spec?.containers ?? [];
  const [shell = "", ...script] = [...(copying?.command ?? []), ...(copying?.args ?? [])];
  const copied = await startContainer([shell, ...script.map(inVolume)], {
    ...place,
    env: { HOLDFAST_STATE: join(volume, "state") },
  });
  expect(await copied.ended).toMatchObject({ code: 0 });
  const [backup = "", ...others] = await readdir(join(volume, "backup"));
  expect([backup, ...others]).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\d{6}Z\.db$/)]);
  using database = new DatabaseSync(join(volume, "backup", backup), { readOnly: true });
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  serving.kill("SIGTERM");
  expect(await serving.ended).toMatchObject({ code: 0 });
});

const FS_GROUP = 4_242;
const ADMIN_TOKEN = "the-token-of-the-administrator-of-this-test";

async function writeSecret(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode: 0o440 });
  await chown(path, 0, FS_GROUP);
}

async function deployedAs<Kind>(file: string): Promise<Kind> {
  return parse(await readFile(join("deploy/kubernetes/control-plane/sqlite", file), "utf8"));
}

/** Follows the steps of the page from the administrator's token to that of the daemon's account. */
async function firstToken(url: string, authority: string): Promise<string> {
  const page = await readFile("docs/deploy.md", "utf8");
  const [, manifest = ""] = /```yaml\n# deployer\.yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const [, line = ""] = /^holdfast (apply .*)$/m.exec(page) ?? [];
  const [, file = ""] = /`(state\/tokens\/\S+)`/.exec(page) ?? [];
  const files = { "deployer.yaml": manifest, "ca.crt": authority, "admin-token": ADMIN_TOKEN };
  const { folder, runHere } = await sourceOf(files);
  const words = line.replace("https://127.0.0.1:7071", url).split(" ");
  expect(await runHere(words, guarded)).toMatchObject({ code: 0, stdout: expect.stringContaining("1 created") });
  return readFile(join(folder, file.replace("7071", new URL(url).port)), "utf8");
}

test("a command starts from one file, loads few more, and reads of Node's modules only what it needs", async () => {
  const folder = join(dirname(inject("holdfast")), "../dist");
  const imports = new Map<string, readonly string[]>();
  for await (const file of glob("*.js", { cwd: folder })) {
    const text = await readFile(join(folder, file), "utf8");
    imports.set(
      file,
      [...text.matchAll(/^(?:import|export) [^;]*?from "([^"]+)";$/gm)].map(([, from = ""]) => from),
    );
  }
  expect([...imports.values()].flat().filter((from) => !from.startsWith("./"))).toEqual([]);
  expect(loadedWith("./holdfast.js", imports).size).toBe(2);
  const plan = [...imports.keys()].find((file) => file.startsWith("plan-")) ?? "";
  expect(loadedWith(`./${plan}`, imports).size).toBeLessThanOrEqual(6);
});

function loadedWith(file: string, imports: ReadonlyMap<string, readonly string[]>, loaded = new Set<string>()) {
  loaded.add(file);
  for (const other of imports.get(file.slice("./".length)) ?? []) {
    if (!loaded.has(other)) loadedWith(other, imports, loaded);
  }
  return loaded;
}

async function runsAs(user: ContainerUser & { readonly mode: number }, context: TestContext): Promise<void> {
  needsRoot(context);
  needsMounts(context);
  const server = await serve();
  const source = await sourceOf(everyKind);
  await chmod(source.folder, 0o755);
  const state = await temporaryFolder();
  await chown(state, 0, user.group);
  await chmod(state, user.mode);

  const env = {
    HOLDFAST_STATE: state,
    HOLDFAST_ALLOW_PRIVILEGE: "true",
    HOLDFAST_SERVER: server.url,
    HOLDFAST_TOKEN: server.token,
  };
  const place = { user, cwd: source.folder, volume: state, env };
  const watch = await startContainer(["holdfast", "watch", "--sink", "file"], place);
  await watch.shows("stdout", /^Applied: [58] created/m);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0, stderr: expect.not.stringMatching(/error|read-only/i) });
  expect(await stat(join(state, "ledger.db"))).toMatchObject({ uid: user.uid });

  const again = await startContainer(["holdfast", "plan"], place);
  expect(await again.ended).toMatchObject({ code: 0, stdout: "Plan: nothing to do, 8 unchanged\n" });

  // Its merge needs a temporary git directory, for which there is no room but on the volume.
  const { folder } = await upstreamOf(everyKind);
  for (const each of [folder, dirname(folder)]) await chmod(each, 0o755);
  const [, ofImage = ""] = /^ENV .*\bTMPDIR=(\S+)/m.exec(await readFile("Dockerfile", "utf8")) ?? [];
  const comparing = async (TMPDIR: string) => {
    const compared = { ...place, cwd: folder, env: { ...env, TMPDIR } };
    return (await startContainer(["holdfast", "plan", "--base", "HEAD"], compared)).ended;
  };
  // Elsewhere than in the image the state folder is taken by itself.
  for (const temporary of [ofImage.replace("/state", state), "/tmp"]) {
    expect(await comparing(temporary)).toMatchObject({ code: 0 });
    expect((await readdir(state)).filter((name) => name.startsWith("holdfast-git-"))).toEqual([]);
  }
}

type Place = {
  readonly user: ContainerUser;
  readonly cwd: string;
  /** The only folder that can be written. */
  readonly volume: string;
  readonly env: { readonly [name: string]: string };
};

/** Starts a command of the image as a container would: only its volume can be written, and no capability is left. */
async function startContainer([program = "", ...args]: readonly string[], place: Place): Promise<Running> {
  const { user, cwd, volume, env } = place;
  const root = await temporaryFolder();
  await chmod(root, 0o755);
  const content = join(root, "holdfast");
  await cp(resolve(dirname(inject("holdfast")), ".."), content, { recursive: true });
  await chmod(content, 0o755);
  await mkdir(join(root, "path"));
  await symlink(join(content, "deploy/image/holdfast"), join(root, "path/holdfast"));
  const readOnly = 'mount --bind "$0" "$0" && mount -o remount,ro,bind / && cd "$PWD" && exec "$@"';
  const dropping = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"];
  const groups = user.group === user.gid ? ["--clear-groups"] : ["--groups", `${user.group}`];
  return start(args, {
    cwd,
    env: {
      BUNDLE: inject("holdfast"),
      PATH: `${root}/path:${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: volume,
      ...env,
    },
    through: [
      ...["unshare", "--mount", "sh", "-c", readOnly, volume],
      ...["setpriv", "--reuid", `${user.uid}`, "--regid", `${user.gid}`, ...groups, ...dropping],
      // What would start the bundle without the launcher is passed over.
      ...["sh", "-c", 'until [ "$1" = "$BUNDLE" ]; do shift; done; shift; exec "$0" "$@"', program],
    ],
  });
}
