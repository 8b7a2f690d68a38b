import { chmod, chown, cp, glob, readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { expect, inject, type TestContext, test } from "vitest";
import { needsRoot } from "../support/as-root.ts";
import { temporaryFolder } from "../support/folder.ts";
import { everyKind } from "../support/manifests.ts";
import { needsMounts } from "../support/namespace-commands.ts";
import { type Running, start } from "../support/process.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

/** A user of a container, and how the volume for the state is given to it. */
type ContainerUser = { readonly uid: number; readonly gid: number; readonly group: number; readonly mode: number };

test("the image's content runs on a read-only file system as any user in root's group", (context) =>
  runsAs({ uid: 54_321, gid: 0, group: 0, mode: 0o770 }, context));

test("the image's content runs on a read-only file system as a user with an fsGroup", (context) =>
  runsAs({ uid: 10_001, gid: 10_001, group: 4_242, mode: 0o2775 }, context));

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

async function runsAs(user: ContainerUser, context: TestContext): Promise<void> {
  needsRoot(context);
  needsMounts(context);
  const server = await serve();
  const source = await sourceOf(everyKind);
  await chmod(source.folder, 0o755);
  const state = await temporaryFolder();
  await chown(state, 0, user.group);
  await chmod(state, user.mode);

  const watch = await startContainer(["watch", "--sink", "file"], { user, source: source.folder, state, server });
  await watch.shows("stdout", /^Applied: [58] created/m);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0, stderr: expect.not.stringMatching(/error|read-only/i) });
  expect(await stat(join(state, "ledger.db"))).toMatchObject({ uid: user.uid });

  const again = await startContainer(["plan"], { user, source: source.folder, state, server });
  expect(await again.ended).toMatchObject({ code: 0, stdout: "Plan: nothing to do, 8 unchanged\n" });
}

type Place = {
  readonly user: ContainerUser;
  readonly source: string;
  readonly state: string;
  readonly server: { readonly url: string; readonly token: string };
};

/** Starts the image's launcher as a container would: only the state can be written, and no capability is left. */
async function startContainer(args: readonly string[], place: Place): Promise<Running> {
  const { user, source, state, server } = place;
  const content = join(await temporaryFolder(), "holdfast");
  await chmod(dirname(content), 0o755);
  await cp(resolve(dirname(inject("holdfast")), ".."), content, { recursive: true });
  await chmod(content, 0o755);
  const readOnly = 'mount --bind "$0" "$0" && mount -o remount,ro,bind / && cd "$PWD" && exec "$@"';
  const dropping = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"];
  const groups = user.group === user.gid ? ["--clear-groups"] : ["--groups", `${user.group}`];
  return start(args, {
    cwd: source,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: state,
      HOLDFAST_STATE: state,
      HOLDFAST_ALLOW_PRIVILEGE: "true",
      HOLDFAST_SERVER: server.url,
      HOLDFAST_TOKEN: server.token,
    },
    through: [
      ...["unshare", "--mount", "sh", "-c", readOnly, state],
      ...["setpriv", "--reuid", `${user.uid}`, "--regid", `${user.gid}`, ...groups, ...dropping],
      // What would start the bundle without the launcher is passed over.
      ...["sh", "-c", 'shift 2 && exec "$0" "$@"', join(content, "deploy/image/holdfast")],
    ],
  });
}
