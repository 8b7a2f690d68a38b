import type { Clock, Stop } from "../clock/clock.ts";
import type { HistoryReach } from "../contract/generated/output.ts";
import type { JsonObject } from "../contract/json.ts";
import { type Identity, splitIdentity, splitVersion } from "../core/manifest.ts";
import type { Removal } from "../core/removal.ts";
import { namingFields } from "../model/normal-form.ts";
import type { ReplacedFile } from "../source/git/first-parent-line.ts";
import type { HistoryFiles, HistoryStep } from "../source/read-commit-history.ts";
import type { SourceFile } from "../source/revision.ts";
import { ExactProcess } from "../yaml/read-yaml.ts";
import type { Declaration } from "./declaration.ts";
import { type LoadOptions, readAll, readingOf } from "./load-manifests.ts";
import { type PatchSet, readPatches } from "./read-patches.ts";
import type { TransformRules } from "./transform.ts";

/** What earlier commits declared and the source no longer does, and how far back that was read. */
export type RemovedManifests = {
  readonly removed: ReadonlyMap<Identity, Removal>;
  readonly reach: HistoryReach;
};

/** How a history is read. */
type HistoryLoading = LoadOptions & {
  readonly clock: Clock;
  /** The patch files of today: what an earlier manifest was on the target is told with them. */
  readonly patchFiles: readonly SourceFile[];
};

/** What a repository declared in its history. Only files that a question needs are parsed, and each of them once. */
export class DeclaredHistory {
  readonly #history: HistoryFiles;
  readonly #options: HistoryLoading;
  readonly #pathOf: ReadonlyMap<string, string>;
  readonly #declarations = new Map<string, readonly Declaration[]>();
  #patches: PatchSet | null = null;
  #leftMs: number;

  constructor(history: HistoryFiles, options: HistoryLoading) {
    this.#history = history;
    this.#options = options;
    this.#leftMs = history.leftMs;
    const changes = history.steps.flatMap(({ files }) => files);
    this.#pathOf = new Map(changes.map(({ before, path }) => [before, path]));
  }

  /** The identities that earlier commits declared and that are not declared now, with the commit that removed each. */
  async removed(declared: ReadonlySet<Identity>, stop: Stop): Promise<RemovedManifests> {
    using time = this.#time();
    const { steps, reach } = this.#history;
    const removed = new Map<Identity, Removal>();
    for (const [index, { files, ...removal }] of steps.entries()) {
      if (time.isUp()) return { removed, reach: { commits: countCommits(steps.slice(0, index)), ended: "cut" } };
      const before = files.filter((file) => this.#mayRemove(file)).map((file) => file.before);
      for (const { identity } of await this.#declaredIn(before, stop)) {
        // What is not declared now was removed by the newest commit that changed it.
        if (identity !== null && !declared.has(identity) && !removed.has(identity)) removed.set(identity, removal);
      }
    }
    return { removed, reach };
  }

  /** The manifests that the history has of each of these identities, newest first. */
  async manifestsOf(
    identities: ReadonlySet<Identity>,
    stop: Stop,
  ): Promise<ReadonlyMap<Identity, readonly JsonObject[]>> {
    using time = this.#time();
    const names = namesInDocuments(identities, this.#options.rules.rename);
    const found = new Map<Identity, JsonObject[]>([...identities].map((identity) => [identity, []]));
    for (const blob of this.#pathOf.keys()) {
      if (time.isUp()) break;
      if (!this.#names(blob, names)) continue;
      for (const declaration of await this.#declaredIn([blob], stop)) {
        const { identity, fields } = declaration;
        if (identity === null || fields === null || !("value" in declaration)) continue;
        found.get(identity)?.push(declaration.value);
      }
    }
    return found;
  }

  // Parsing is most of the work: where the lines with names stayed the same, nothing was removed.
  #mayRemove({ before, after }: ReplacedFile): boolean {
    const [was, is] = [this.#text(before), after === null ? null : this.#text(after)];
    return was !== null && (is === null || HAS_ALIAS.test(was) || namingLines(was) !== namingLines(is));
  }

  #names(blob: string, names: ReadonlySet<string>): boolean {
    const text = this.#text(blob);
    return text !== null && names.values().some((name) => text.includes(name));
  }

  #text(blob: string): string | null {
    return this.#history.contents.get(blob)?.toString("utf8") ?? null;
  }

  async #declaredIn(blobs: readonly string[], { signal }: Stop): Promise<readonly Declaration[]> {
    const unread = [...new Set(blobs)].filter((blob) => !this.#declarations.has(blob));
    const files = unread.flatMap((blob) => this.#fileOf(blob) ?? []);
    if (files.length > 0) {
      await using exact = new ExactProcess();
      const { clock, patchFiles, limits } = this.#options;
      this.#patches ??= await readPatches(patchFiles, { limits, exact, signal });
      for (const { file, content } of await readAll(
        files,
        readingOf(this.#options, { exact, clock, signal }, this.#patches),
      ))
        this.#declarations.set(file.blob ?? "", content.declarations);
    }
    return blobs.flatMap((blob) => this.#declarations.get(blob) ?? []);
  }

  #fileOf(blob: string): SourceFile | null {
    const [bytes, path] = [this.#history.contents.get(blob), this.#pathOf.get(blob)];
    if (bytes === undefined || path === undefined) return null;
    return { path, display: path, bytes: () => bytes, size: bytes.length, digest: null, stamp: null, blob };
  }

  // Only the time that is spent here counts, not that of the requests between two questions.
  #time(): Disposable & { readonly isUp: () => boolean } {
    const { clock } = this.#options;
    const since = clock.monotonic();
    return {
      isUp: () => clock.monotonic() - since > this.#leftMs,
      [Symbol.dispose]: () => {
        this.#leftMs -= clock.monotonic() - since;
      },
    };
  }
}

function countCommits(steps: readonly HistoryStep[]): number {
  return steps.filter(({ commit }) => commit !== null).length;
}

const NAMING = new RegExp(`["']?(?:${[...namingFields, "version"].join("|")})["']?[ \\t]*:[^\\n]*`, "g");

const HAS_ALIAS = /[\s,[{]\*\w/;

function namingLines(text: string): string {
  return (text.match(NAMING) ?? []).join("\n");
}

// What the documents of these resources call them: a renamed cluster or workspace has its own name there.
function namesInDocuments(identities: ReadonlySet<Identity>, rename: TransformRules["rename"]): ReadonlySet<string> {
  const names = new Set([...identities].map((identity) => lastPart(splitVersion(splitIdentity(identity).key).name)));
  const renamed = Object.entries({ ...rename?.clusters, ...rename?.workspaces });
  for (const [from, to] of renamed) if (names.has(lastPart(to))) names.add(lastPart(from));
  return names;
}

function lastPart(key: string): string {
  return key.slice(Math.max(key.lastIndexOf("/"), key.lastIndexOf(":")) + 1);
}
