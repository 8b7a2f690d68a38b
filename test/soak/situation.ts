import type { Json, JsonObject } from "../../src/contract/json.ts";
import { kindOf } from "../../src/kinds/index.ts";
import { referencesWithoutSecrets } from "../../src/model/references.ts";

/** A manifest by its file. */
export type Declared = { readonly [file: string]: JsonObject };

/** Who applies: everything, or what an account with one role, or with nine of them, may do. */
export const callers = [
  "admin",
  "workspace-admin",
  "workspace-editor",
  "workspace-viewer",
  "cluster-admin",
  "cluster-member",
  "cluster-viewer",
  "ml-repo-editor",
  "ml-repo-viewer",
  "tenant-member",
  "tenant-viewer",
  "nine-roles",
] as const;
/** Somebody who plans and applies. */
export type SituationCaller = (typeof callers)[number];

/**
 * What happens between plan and apply: somebody changes live, or a manifest; a file is moved as it is; or something
 * appears beside what is declared.
 */
export type Between =
  | { readonly is: "nothing" | "beside" }
  | { readonly is: "live" | "source" | "file"; readonly file: string };

/** A platform and a source, as they are when a plan is made, and what happens after it. */
export type Situation = {
  readonly seed: number;
  readonly caller: SituationCaller;
  /** What was applied before, by the same state folder, by another, or by nobody. */
  readonly before: { readonly by: "us" | "others" | "nobody"; readonly declared: Declared };
  /** What somebody changes in live after that. */
  readonly drift: Declared;
  readonly declared: Declared;
  /** Whether the plan is signed and applied as it is. */
  readonly isSigned: boolean;
  /** Whether creates are dry-run. */
  readonly isChecked: boolean;
  /** Whether everything that guards refuse is allowed. */
  readonly isAllowed: boolean;
  /** The file whose manifest is invalid, so that everything runs with `--partial`; null where all are valid. */
  readonly broken: string | null;
  /** Whether plan and apply have another state folder than what was applied before. */
  readonly isStateless: boolean;
  readonly between: Between;
  /** What is written by then, where that changes live or the source. */
  readonly changed: JsonObject | null;
};

/** Draws a situation; its resources have names of their own. */
export function drawSituation(seed: number, random: () => number): Situation {
  const name = `s${seed}`;
  const chance = (share: number): boolean => random() < share;
  const pick = <const Item>(items: readonly [Item, ...Item[]]): Item =>
    items[Math.floor(random() * items.length)] ?? items[0];
  const draw = { name, chance, pick };
  const all = drawManifests(draw);
  const declared = subset(all, () => chance(0.85));
  const before = mapValues(
    subset(all, () => chance(0.6)),
    (manifest) => (chance(0.5) ? changedBy(manifest, draw) : manifest),
  );
  const by = pick(["us", "us", "others", "nobody"]);
  const drift = mapValues(
    subset(by === "nobody" ? {} : before, () => chance(0.2)),
    (manifest) => changedBy(manifest, draw),
  );
  const broken = chance(0.2) ? pick(nonEmpty(Object.keys(declared))) : null;
  // What leaves out a manifest cannot be applied later.
  const isSigned = broken === null && chance(0.5);
  const file = pick(nonEmpty(Object.keys(declared)));
  const is = isSigned ? pick(["nothing", "live", "source", "file", "beside"]) : "nothing";
  const target = declared[file];
  const isOfFile = is === "live" || is === "source" || is === "file";
  return {
    seed,
    caller: pick(["admin", "admin", ...callers]),
    before: { by, declared: by === "nobody" ? {} : before },
    drift,
    declared,
    isSigned,
    isAllowed: chance(0.7),
    isChecked: chance(0.9),
    broken,
    isStateless: chance(0.3),
    between: !isOfFile ? { is } : target === undefined ? { is: "nothing" } : { is, file },
    changed: !isOfFile || target === undefined ? null : changedBy(target, draw),
  };
}

/** The identity of a manifest, with its version where it names one. */
export function identityOf(manifest: JsonObject): string {
  const type = String(manifest.type);
  const key = kindOf(type)?.key(manifest) ?? "";
  return `${type}/${key}${typeof manifest.version === "number" ? `@${manifest.version}` : ""}`;
}

/** An identity without its version. */
export function bareIdentity(identity: string): string {
  return identity.replace(/@\d+$/, "");
}

/** The identities that a manifest refers to. */
export function dependenciesOf(manifest: JsonObject): readonly string[] {
  return referencesWithoutSecrets(manifest, "holdfast").map(({ kind, key }) => `${kind}/${key}`);
}

type Draw = {
  readonly name: string;
  readonly chance: (share: number) => boolean;
  readonly pick: <Item>(items: readonly [Item, ...Item[]]) => Item;
};

function drawManifests({ name, chance, pick }: Draw): Declared {
  const workspace = `${name}:web`;
  const services = Array.from({ length: pick([1, 2, 4]) }, (_, nth) => service(`api${nth}`));
  const prompts = Array.from({ length: pick([0, 1, 2]) }, (_, nth) => prompt(`greeting${nth}`));
  const models = Array.from({ length: pick([0, 1]) }, (_, nth) => model(`ranker${nth}`));
  const teams = chance(0.5) ? [{ type: "team", name, members: [`${name}@example.com`] }] : [];
  const accounts = chance(0.4) ? [account()] : [];
  const list: readonly JsonObject[] = [
    ...(chance(0.7) ? [{ type: "cluster", name, cluster_type: "generic", base_domains: [`${name}.example.com`] }] : []),
    ...(chance(0.7) ? [workspaceOf(teams.length > 0)] : []),
    ...(chance(0.7) ? [{ type: "ml-repo", name, description: pick(["one", "two"]) }] : []),
    ...services,
    ...prompts,
    ...models,
    ...teams,
    ...accounts,
  ];
  return Object.fromEntries(list.map((manifest, nth) => [`${String(manifest.type)}-${nth}.json`, manifest]));

  function service(called: string): JsonObject {
    const exposed = chance(0.3)
      ? { expose: true, host: `${called}.${pick([name, name, "elsewhere"])}.example.com` }
      : {};
    return {
      type: pick(["service", "service", "async-service"]),
      name: called,
      workspace_fqn: workspace,
      image: { type: "image", image_uri: `registry.example.com/${called}:${pick(["1", "2"])}` },
      ports: [{ port: 8080, ...exposed }],
      replicas: pick([0, 1, 2, 3]),
      ...(chance(0.3) ? { env: { LEVEL: pick(["info", "1", 1]), SECRET: secret() } } : {}),
      ...(chance(0.2)
        ? { mounts: [{ type: "secret", mount_path: "/run/secret", secret_fqn: secret().slice("secret://".length) }] }
        : {}),
      ...(chance(0.3) ? { labels: { tier: pick(["gold", "tin"]) } } : {}),
    };
  }

  function secret(): string {
    return `secret://holdfast:${pick(["shared", "shared", "shared", "nowhere"])}:key`;
  }

  function workspaceOf(hasTeam: boolean): JsonObject {
    const subject = hasTeam && chance(0.5) ? `team:${name}` : `user:${name}@example.com`;
    const collaborators = chance(0.4)
      ? { collaborators: [{ subject, role_id: pick(["workspace-viewer", "workspace-editor"]) }] }
      : {};
    return { type: "workspace", name: "web", cluster_fqn: name, ...collaborators };
  }

  function prompt(called: string): JsonObject {
    const numbered = chance(0.3) ? { version: pick([1, 2, 3]) } : {};
    const messages = [{ role: "system", content: pick(["Be kind.", "Be brief."]) }];
    return { type: "chat_prompt", name: called, ml_repo: name, messages, ...numbered };
  }

  function model(called: string): JsonObject {
    return {
      type: "model-version",
      name: called,
      ml_repo: name,
      source: { type: "external", uri: `s3://models/${pick(["1", "2"])}` },
    };
  }

  function account(): JsonObject {
    const role_id = pick(["workspace-viewer", "workspace-editor"]);
    return {
      type: "virtual-account",
      name: `${name}-ci`,
      permissions: [{ resource_fqn: workspace, resource_type: "workspace", role_id }],
    };
  }
}

/** The same resource with something else in it. */
function changedBy(manifest: JsonObject, { pick, chance, name }: Draw): JsonObject {
  switch (manifest.type) {
    case "service": {
      const { env: _env, labels: _labels, ...rest } = manifest;
      const base = chance(0.3) ? rest : manifest;
      return { ...base, replicas: pick([4, 5, 0]), ...(chance(0.5) ? { labels: { tier: "lead", by: name } } : {}) };
    }
    case "team":
      return { ...manifest, members: [...listOf(manifest.members), `other-${pick(["a", "b"])}@example.com`] };
    case "workspace":
      return { ...manifest, labels: { stage: pick(["dev", "prod"]) } };
    case "cluster":
      return { ...manifest, environment_names: [pick(["dev", "prod"])] };
    case "ml-repo":
      return { ...manifest, description: pick(["three", "four"]) };
    case "chat_prompt":
      return { ...manifest, messages: [{ role: "system", content: pick(["Be quick.", "Be slow."]) }] };
    case "model-version":
      return { ...manifest, source: { type: "external", uri: `s3://models/${pick(["3", "4"])}` } };
    default:
      return { ...manifest, expiration_date: pick(["2030-01-01", "2031-01-01"]) };
  }
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function subset(declared: Declared, isIn: () => boolean): Declared {
  return Object.fromEntries(Object.entries(declared).filter(isIn));
}

function mapValues(declared: Declared, make: (manifest: JsonObject) => JsonObject): Declared {
  return Object.fromEntries(Object.entries(declared).map(([file, manifest]) => [file, make(manifest)]));
}

function nonEmpty(items: readonly string[]): readonly [string, ...string[]] {
  const [first = "", ...rest] = items;
  return [first, ...rest];
}
