import type { Diagnostic } from "../core/diagnostic.ts";
import { readFileAt } from "./commit.ts";
import { type ConfigFile, parseConfig, type RepositoryConfig, readConfig } from "./config.ts";
import { defaultLimits } from "./limits.ts";
import type { Repository } from "./repository.ts";
import { CONFIG_NAME } from "./root.ts";

/** A commit, and whether the folder is compared with it or it is read in the folder's place. */
export type Base = { readonly ref: string; readonly use: "compare" | "instead" };

/** Whose configuration is read. */
export type SourceConfigOptions = {
  readonly root: string;
  readonly cwd: string;
  /** The repository that the root lies in. */
  readonly repository: Repository | null;
  /** The operator's own file (`--config`), beside the source's. */
  readonly configFile?: string | undefined;
  readonly base: Base | null;
};

/** The configuration of one revision. */
export type SourceConfig = {
  /** The files that it comes from: the source's own, and the operator's. */
  readonly files: readonly ConfigFile[];
  /** The keys that a pull request may change. */
  readonly repository: RepositoryConfig;
  /** What is wrong with it. */
  readonly diagnostics: readonly Diagnostic[];
};

/** Reads the configuration of a source. */
export async function readSourceConfig(
  { root, cwd, repository, configFile, base }: SourceConfigOptions,
  stop: { readonly signal: AbortSignal },
): Promise<SourceConfig> {
  const own = await readConfig({ root, cwd, file: configFile });
  if (base === null) return { files: [own], repository: own.repository, diagnostics: own.diagnostics };
  // A pull request must not decide by what rules it is looked at.
  const path = CONFIG_NAME;
  const file = await readFileAt({ root, cwd, repository, limits: defaultLimits, ref: base.ref, path }, stop);
  const isInSource = true;
  const before = file && (await parseConfig(file.bytes(), { file: `${base.ref}:${path}`, isInSource }));
  return { files: [own], repository: before?.repository ?? {}, diagnostics: before?.diagnostics ?? [] };
}
