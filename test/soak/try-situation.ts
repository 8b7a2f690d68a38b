import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { canonical, type JsonObject } from "../../src/contract/json.ts";
import { Secret } from "../../src/contract/secret.ts";
import { type Caller, caller as callerOf, effects, startControlPlane } from "../control-plane.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Ended, run as runApart } from "../support/process.ts";
import { runHere } from "../support/run-here.ts";
import { isPartlyVisible, type Judging, judgeSituation, type ShownPlan, type Tried } from "./judge-situation.ts";
import { readLiveManifests } from "./live-manifests.ts";
import { bareIdentity, type Declared, identityOf, type Situation, type SituationCaller } from "./situation.ts";

/** A control plane that several situations share; each has resources of its own. */
export type SituationPlane = {
  readonly name: "full" | "documented-only";
  readonly url: string;
  readonly adminToken: string;
  readonly data: string;
  readonly admin: Caller;
  /** The token of another administrator, and a write by them. */
  readonly othersToken: string;
  readonly others: (manifest: JsonObject) => Promise<unknown>;
};

const routes: { readonly [type: string]: string } = {
  cluster: "/api/svc/v1/clusters",
  workspace: "/api/svc/v1/workspaces",
  team: "/api/svc/v1/teams",
  "virtual-account": "/api/svc/v1/virtual-accounts",
  "ml-repo": "/api/ml/v1/ml-repos",
  chat_prompt: "/api/ml/v1/prompt-versions",
  "model-version": "/api/ml/v1/model-versions",
};

/** Starts a control plane with the secret that manifests refer to; one without extensions has the workspaces of these situations. */
export async function situationPlane(name: SituationPlane["name"], seeds: readonly number[]): Promise<SituationPlane> {
  const seed = await temporaryFolder();
  const elsewhere = { type: "cluster", name: "elsewhere", cluster_type: "generic" };
  const found = seeds.flatMap((one): readonly JsonObject[] => [
    { type: "cluster", name: `s${one}`, cluster_type: "generic", base_domains: [`s${one}.example.com`] },
    { type: "workspace", name: "web", cluster_fqn: `s${one}` },
    { type: "ml-repo", name: `s${one}`, description: "one" },
  ]);
  await mkdir(seed, { recursive: true });
  for (const [nth, manifest] of [elsewhere, ...found].entries())
    await writeFile(join(seed, `${nth}.json`), JSON.stringify(manifest));
  const documentedOnly = name === "documented-only";
  const plane = await startControlPlane({ documentedOnly, ...(documentedOnly ? { seed } : {}) });
  await plane.admin.put("/api/svc/v1/clusters", { manifest: elsewhere });
  await plane.admin.post("/api/svc/v1/secret-groups", {
    name: "shared",
    integrationId: "builtin",
    secrets: [{ key: "key", value: "v" }],
  });
  const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-admin" }];
  const manifest = { type: "virtual-account", name: "others", permissions };
  const { body } = await plane.admin.put("/api/svc/v1/virtual-accounts", { manifest });
  const others = callerOf(plane.url, new Secret(body.token));
  return {
    name,
    url: plane.url,
    adminToken: plane.adminToken.open(),
    data: plane.data,
    admin: plane.admin,
    othersToken: body.token,
    others: (changed) => others.put(routeOf(changed), { manifest: changed }),
  };
}

function routeOf({ type }: JsonObject): string {
  return routes[String(type)] ?? "/api/svc/v1/apps";
}

/** What of a situation did not go as the plan said; nothing where everything did. */
export async function trySituation(
  plane: SituationPlane,
  situation: Situation,
  { apart = false } = {},
): Promise<Tried> {
  const folder = await temporaryFolder();
  const admin = { HOLDFAST_SERVER: plane.url, HOLDFAST_TOKEN: plane.adminToken, HOLDFAST_RETRY_WAIT: "5" };
  const allowed = { HOLDFAST_ALLOW_ADOPT: "true", HOLDFAST_ALLOW_PRIVILEGE: "true" };
  const command = apart ? runApart : runHere;
  const run = (args: readonly string[], env: { readonly [name: string]: string }): Promise<Ended> =>
    command(args, { cwd: folder, env });
  await lay(folder, {}, situation.before.declared);
  if (situation.before.by !== "nobody" && Object.keys(situation.before.declared).length > 0) {
    const isOurs = situation.before.by === "us";
    await runHere(
      ["apply", "--yes", "--no-wait", "--partial", ...(isOurs ? [] : ["--state", await temporaryFolder()])],
      {
        cwd: folder,
        env: { ...admin, ...allowed, ...(isOurs ? {} : { HOLDFAST_TOKEN: plane.othersToken }) },
      },
    );
  }
  for (const manifest of Object.values(situation.drift)) await plane.others(manifest);
  await lay(folder, situation.before.declared, situation.declared, situation.broken);
  const env = {
    ...admin,
    HOLDFAST_TOKEN: await tokenOf(situation.caller, situation, plane),
    ...(situation.isAllowed ? allowed : {}),
  };
  const out = join(await temporaryFolder(), "plan.json");
  const since = async (earlier: readonly string[]) => writesIn((await effects(plane.data)).slice(earlier.length));
  const early = await effects(plane.data);
  const unchecked = situation.isChecked ? [] : ["--no-dry-run"];
  const { broken } = situation;
  const partial = broken === null ? [] : ["--partial"];
  const flags = [...unchecked, ...partial, ...(situation.isStateless ? ["--state", await temporaryFolder()] : [])];
  const planned = await run(["plan", "--show", "unchanged", "-o", "json", "--out", out, ...flags], env);
  const wroteAtPlan = (await since(early)).map((resource) => `plan wrote ${resource}`);
  const isInvalid = planned.code === 3;
  if (wroteAtPlan.length > 0) return { end: "planned", faults: wroteAtPlan, results: [] };
  // A plan that apply would refuse is not signed, and apply refuses it for the same guards.
  if (planned.code === 5) {
    const refused = await run(["apply", "--yes", "--no-wait", "-o", "json", ...flags], env);
    const wrote = await since(early);
    const isRefused = refused.code === 5 && wrote.length === 0;
    const said = `plan was refused, apply ended with ${refused.code} and wrote ${wrote.length}: ${planned.stderr}`;
    return { end: "refused", faults: isRefused ? [] : [said], results: [] };
  }
  const isPartial = broken !== null || isPartlyVisible(planned);
  if (planned.code !== (isPartial ? 1 : 0) && !isInvalid) {
    return { end: "planned", faults: [`plan ended with ${planned.code}: ${planned.stderr}`], results: [] };
  }
  const moved = await happen(situation, folder, plane);
  const before = await readLiveManifests(plane.admin, situation.declared);
  const earlier = await effects(plane.data);
  // What is invalid where it is read, a version that leaps among it, is refused by apply as well.
  const applying = situation.isSigned && !isInvalid ? ["--plan", out] : ["--yes"];
  const applied = await run(["apply", "--no-wait", "-o", "json", ...applying, ...flags], env);
  const wrote = await since(earlier);
  if (isInvalid) {
    const isRefused = wrote.length === 0 && (applied.code === 3 || moved !== null);
    return { end: "invalid", faults: isRefused ? [] : [`apply of what is invalid: ${applied.code}`], results: [] };
  }
  if (isPartial && situation.isSigned) {
    // An incomplete plan is not signed, so there is no file.
    const isRefused = wrote.length === 0 && applied.code === 3;
    return { end: "refused", faults: isRefused ? [] : [`apply of an incomplete plan: ${applied.code}`], results: [] };
  }
  const plan: ShownPlan = JSON.parse(planned.stdout);
  if (plan.complete === isPartial) {
    const is = plan.complete ? "complete" : "incomplete";
    return { end: "planned", faults: [`the plan says that it is ${is}`], results: [] };
  }
  const after = await readLiveManifests(plane.admin, situation.declared);
  const again = () => run(["plan", "-o", "json", ...flags], env);
  const { declared } = situation;
  return judgeSituation({ situation, declared, plan, moved, applied, wrote, before, after, again });
}

async function lay(folder: string, old: Declared, declared: Declared, broken: string | null = null): Promise<void> {
  for (const file of Object.keys(old)) await rm(join(folder, file), { force: true });
  await writeFile(join(folder, "holdfast.yaml"), 'external: ["**"]\n');
  for (const [file, manifest] of Object.entries(declared)) {
    const written = file === broken ? { ...manifest, nonsense: 1 } : manifest;
    await writeFile(join(folder, file), JSON.stringify(written));
  }
}

/** Does what happens between plan and apply, and answers what it changed of what is declared. */
async function happen(situation: Situation, folder: string, plane: SituationPlane): Promise<Judging["moved"]> {
  const { between, changed, declared } = situation;
  switch (between.is) {
    case "nothing":
      return null;
    case "beside":
      await plane.others({ type: "ml-repo", name: `s${situation.seed}-beside` });
      return null;
    case "file": {
      const moved = join(folder, "moved", between.file);
      await mkdir(dirname(moved));
      await rename(join(folder, between.file), moved);
      return null;
    }
    case "live":
    case "source": {
      const was = declared[between.file];
      if (changed === null || was === undefined) return null;
      const moved = { is: between.is, identity: bareIdentity(identityOf(was)), isEqual: false };
      if (between.is === "source") {
        await writeFile(join(folder, between.file), JSON.stringify(changed));
        return canonical(changed) === canonical(was) ? null : moved;
      }
      const one = { [between.file]: was };
      const earlier = await readLiveManifests(plane.admin, one);
      const written = await effects(plane.data);
      await plane.others(changed);
      if ((await effects(plane.data)).length === written.length) return null;
      const later = await readLiveManifests(plane.admin, one);
      return { ...moved, isEqual: Object.keys(later).length > 0 && canonical(earlier) === canonical(later) };
    }
  }
}

async function tokenOf(caller: SituationCaller, { seed }: Situation, plane: SituationPlane): Promise<string> {
  if (caller === "admin") return plane.adminToken;
  const permissions = caller === "nine-roles" ? nineRoles(seed) : [permission(caller, seed)];
  const manifest = { type: "virtual-account", name: `s${seed}-caller`, permissions };
  const { status, body } = await plane.admin.put("/api/svc/v1/virtual-accounts", { manifest });
  // Where what the role is on is not there, an account with a role elsewhere sees as little.
  if (status === 200) return body.token;
  const other = { ...manifest, permissions: [elsewhere("cluster-viewer")] };
  return (await plane.admin.put("/api/svc/v1/virtual-accounts", { manifest: other })).body.token;
}

function permission(role_id: string, seed: number): JsonObject {
  const resource_type = role_id.replace(/-[a-z]+$/, "");
  const fqns: { readonly [type: string]: string } = { workspace: `s${seed}:web`, tenant: "holdfast" };
  return { resource_type, resource_fqn: fqns[resource_type] ?? `s${seed}`, role_id };
}

function elsewhere(role_id: string): JsonObject {
  return { resource_type: "cluster", resource_fqn: "elsewhere", role_id };
}

// A control plane that does not report a caller's roles names only some of so many.
function nineRoles(seed: number): readonly JsonObject[] {
  const own = ["workspace-editor", "workspace-viewer", "workspace-member", "cluster-member", "cluster-viewer"];
  const all = [...own, "ml-repo-editor", "ml-repo-viewer"].map((role_id) => permission(role_id, seed));
  return [...all, elsewhere("cluster-viewer"), elsewhere("cluster-member")];
}

/** The resources of effects, without the leases. */
function writesIn(all: readonly string[]): readonly string[] {
  return all
    .map((effect) => effect.split(" "))
    .filter(([, operation]) => operation !== "E10")
    .map(([, , resource = ""]) => bareIdentity(resource));
}
