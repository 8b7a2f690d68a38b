import type { ImportedResource } from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import { declares } from "../../core/diff/declared-form.ts";
import { HoldfastError } from "../../core/errors.ts";
import { manifestPaths } from "../../core/import/manifest-paths.ts";
import { type Kind, type LiveRow, requireKind } from "../../core/kind.ts";
import { type Identity, splitIdentity, splitVersion } from "../../core/manifest.ts";
import type { ImportEvent, ImportedFile } from "../../core/report/events.ts";
import { unseenBy } from "../../core/sight.ts";
import { kindOf, kinds, kindsByType } from "../../kinds/index.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import { globMatcher, hasWildcard } from "../../model/glob.ts";
import { kindHint } from "../../schema/closest-name.ts";
import { checkFiles } from "../import/check-files.ts";
import { type LiveResource, makeManifest, skipped } from "../import/make-manifest.ts";
import { observeEverything } from "../observe/observe-everything.ts";
import { readCaller } from "../observe/read-live.ts";
import type { Pass } from "../pass.ts";
import { readAccessOf } from "../session.ts";

/** A pass that turns what is live into manifests, and writes nothing. */
export type ImportMode = {
  readonly is: "import";
  /** Kinds, identities or globs over these; everything when empty. */
  readonly only: readonly string[];
  /** The folder of the new files, relative to the source; null where it lies outside, so that nothing is declared there. */
  readonly folder: string | null;
  /** The JSON Schema for editors, relative to that folder. */
  readonly schema: string;
  /** Globs over identities that are declared elsewhere. */
  readonly external: readonly string[];
};

/** Turns what is live and not declared into manifests, and says of what is declared whether it is as live. */
export async function importPass(pass: Pass, { only, folder, schema, external }: ImportMode): Promise<ImportEvent> {
  const { connection, read, run } = pass;
  const { session } = connection;
  const { concurrency, load, selection } = read.rules;
  const signal = run.stopping;
  const declared: ReadonlySet<Identity> = folder === null ? new Set() : read.desired.declared;
  const asked = askedFor(only, selection.exclude);
  const server = readAccessOf(session);
  const recorded = [...(await session.heads())].map(idOf);
  const mayExist = new Map([...asked.names.map((name) => [name, null] as const), ...recorded]);
  const [access, { rows, unread }] = await Promise.all([
    readCaller({ ...server, signal }),
    observeEverything(asked.kinds, { server, mayExist, concurrency, run }),
  ]);
  const live = [...rows].flatMap(([type, found]) => newestOf(requireKind(kindsByType, type), found));
  const wanted = live.filter(({ identity }) => asked.has(identity));
  const bare = new Set([...declared].map(withoutVersion));
  const { known = [], unknown = [] } = Object.groupBy(wanted, ({ identity }) =>
    bare.has(identity) ? "known" : "unknown",
  );
  const paths = manifestPaths(
    live.map(({ identity }) => identity),
    kindsByType,
  );
  const mayHoldSecrets = (load.allowLiteralSecrets ?? []).map(globMatcher);
  const made = unknown.map((one) => {
    const path = paths.get(one.identity) ?? "";
    const inSource = folder === "" ? path : `${folder}/${path}`;
    const allowsSecrets = folder !== null && mayHoldSecrets.some((matches) => matches(inSource));
    return makeManifest(one, { path, schema, unknownFields: load.unknownFields ?? "refuse", allowsSecrets });
  });
  const drafts = made.filter((one): one is ImportedFile => "text" in one);
  const checked = await checkFiles(drafts, { rules: load, external, declared, pace: { clock: run.clock, signal } });
  const kept = [
    ...(await compareDeclared(known, pass)),
    ...made.filter((one): one is ImportedResource => "result" in one),
    ...checked.refused,
    ...notFound(asked.names, { live, unread: new Set(unread.map(({ kind }) => kind)) }),
  ];
  return {
    what: "imported",
    server: session.server,
    files: checked.files.toSorted((a, b) => compareText(a.path, b.path)),
    kept: kept.toSorted((a, b) => compareText(a.identity, b.identity)),
    unread,
    unseen: unseenBy(access),
    undeclared: checked.undeclared,
    paths: read.event.paths,
  };
}

type Asked = {
  readonly kinds: readonly Kind[];
  readonly has: (identity: Identity) => boolean;
  /** The resources that are named themselves. */
  readonly names: readonly Identity[];
};

function askedFor(only: readonly string[], exclude: readonly string[]): Asked {
  const isExcluded = exclude.map(globMatcher);
  const given = only.map((one) => {
    const [word = "", ...rest] = one.split("/");
    const found = hasWildcard(word) ? kinds.filter(({ type }) => globMatcher(word)(type)) : kindOf(word);
    if (found === undefined || (Array.isArray(found) && found.length === 0)) throw unknownKind(word);
    const chosen = [found].flat();
    const pattern = rest.length === 0 ? `${word}/**` : one;
    const identity = Array.isArray(found) || rest.length === 0 ? one : [(found as Kind).type, ...rest].join("/");
    return { chosen, identity, isName: rest.length > 0 && !hasWildcard(one), matches: globMatcher(pattern) };
  });
  return {
    kinds: only.length === 0 ? kinds : kinds.filter((kind) => given.some(({ chosen }) => chosen.includes(kind))),
    has: (identity) =>
      (only.length === 0 || given.some((one) => one.identity === identity || one.matches(identity))) &&
      !isExcluded.some((matches) => matches(identity)),
    names: given.flatMap(({ identity, isName }) => (isName ? [identity] : [])),
  };
}

function unknownKind(word: string): HoldfastError {
  const types = kinds.map(({ type }) => type);
  return new HoldfastError("invalid", `${word} is not a kind`, { hint: kindHint(word, types) });
}

function idOf([identity, { id }]: readonly [Identity, { readonly id: string | null }]) {
  return [identity, id] as const;
}

function withoutVersion(identity: Identity): Identity {
  return splitVersion(identity).name;
}

// Of a name with versions, the newest one is declared, without its number.
function newestOf(kind: Kind, rows: readonly LiveRow[]): readonly LiveResource[] {
  const newest = new Map<string, LiveRow>();
  for (const row of rows) {
    const known = newest.get(row.key);
    if (known === undefined || (row.version ?? 0) > (known.version ?? 0)) newest.set(row.key, row);
  }
  return [...newest].map(([key, row]) => ({ identity: `${kind.type}/${key}`, kind, row }));
}

async function compareDeclared(
  live: readonly LiveResource[],
  { read, run }: Pass,
): Promise<readonly ImportedResource[]> {
  const rows = new Map(live.map((one) => [one.identity, one]));
  const manifests = read.manifests.filter(({ identity }) => rows.has(withoutVersion(identity)));
  const pace = { clock: run.clock, signal: run.stopping };
  const results = new Map<Identity, ImportedResource>();
  for (const { identity, file, value } of await readManifests(manifests, pace)) {
    const name = withoutVersion(identity);
    const one = rows.get(name);
    if (one === undefined || (splitVersion(identity).version ?? one.row.version) !== one.row.version) continue;
    const result = declares(one.kind, value, one.row.manifest) ? "unchanged" : "differs";
    results.set(name, { identity, kind: one.kind.type, file, result });
  }
  return live.map(
    ({ identity, kind }) => results.get(identity) ?? { identity, kind: kind.type, file: null, result: "differs" },
  );
}

function notFound(
  names: readonly Identity[],
  { live, unread }: { readonly live: readonly LiveResource[]; readonly unread: ReadonlySet<string> },
): readonly ImportedResource[] {
  const found = new Set(live.map(({ identity }) => identity));
  return names.flatMap((name) => {
    const identity = withoutVersion(name);
    if (found.has(identity)) return [];
    const kind = requireKind(kindsByType, splitIdentity(identity).kind);
    return unread.has(kind.type)
      ? [skipped({ identity, kind }, "unreadable", "it cannot be read here, or is not live")]
      : [skipped({ identity, kind }, "absent", "it is not live")];
  });
}
