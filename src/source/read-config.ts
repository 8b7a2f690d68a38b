import { realpathSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { HoldfastConfig } from "../contract/generated/config.ts";
import { isObject, type JsonObject } from "../contract/json.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import { isLooserThanDefault } from "../core/guards/mass-change-guards.ts";
import { isLooserGuard } from "../core/guards/step-guards.ts";
import { schemaFor } from "../schema/schemas.ts";
import { validateConfig } from "../schema/validate.ts";
import type { ParsedDocument } from "../yaml/document.ts";
import { fault } from "../yaml/fault.ts";
import { type Locate, lineFinder, locator, type Position } from "../yaml/locator.ts";
import { ExactProcess, readYaml } from "../yaml/read-yaml.ts";
import { diagnosticInFile, fileDiagnostic, keyOrValue, wordingOf } from "./file-diagnostic.ts";
import { defaultLimits } from "./limits.ts";
import { readRegularFile } from "./read-regular-file.ts";
import { CONFIG_NAME, isInside } from "./source-root.ts";

type Given<Keys extends keyof HoldfastConfig> = { readonly [Key in Keys]?: NonNullable<HoldfastConfig[Key]> };

/** Keys that a pull request may change; the source's own file sets them. */
export type RepositoryConfig = Given<
  | "paths"
  | "ref"
  | "ignore"
  | "external"
  | "unknownFields"
  | "defaults"
  | "guards"
  | "policies"
  | "allowLiteralSecrets"
  | "concurrency"
  | "timeout"
  | "requestTimeout"
>;

/**
 * Keys that decide where credentials and writes go. From the source's own file they are accepted only at a terminal.
 */
export type OperatorConfig = Given<
  | "server"
  | "tokenFile"
  | "login"
  | "state"
  | "sinks"
  | "sops"
  | "secretSources"
  | "notifications"
  | "dashboard"
  | "sources"
  | "servers"
  | "promotions"
  | "targets"
  | "modelVersionWrite"
  | "modelRoot"
  | "writers"
  | "approvals"
  | "guards"
>;

/** The position of a key or a rule in a configuration file. */
export type KeyPlace = { readonly file: string } & Position;

/** The position of each rule in a configuration file, and of each target and promotion with its keys and their items, by its pointer. */
export type RulePlaces = ReadonlyMap<string, KeyPlace>;

/** A configuration file, with its two classes of keys separated. */
export type ConfigFile = {
  /** Its path relative to the working directory; null if there is no file. */
  readonly file: string | null;
  /** Whether it lies in the source, where a pull request can change it. */
  readonly isInSource: boolean;
  readonly repository: RepositoryConfig;
  /** For a file in the source, guards that are looser than the defaults belong here too. */
  readonly operator: OperatorConfig;
  /** The operator keys that it sets, for messages. */
  readonly operatorKeys: readonly string[];
  /** Where each item of a list of rules stands, by its pointer. */
  readonly places: RulePlaces;
  /** Its faults; if one is an error, both classes are empty. */
  readonly diagnostics: readonly Diagnostic[];
};
/** The empty configuration, for a source without a file. */
export const noConfig: ConfigFile = {
  file: null,
  isInSource: false,
  repository: {},
  operator: {},
  operatorKeys: [],
  places: new Map(),
  diagnostics: [],
};

/** Reads the configuration; it is empty if the source has no file. */
export async function readConfig(options: {
  readonly root: string;
  /** The root as reports name it. @default the root itself */
  readonly shownRoot?: string | undefined;
  readonly cwd: string;
  /** The file that `--config` names. @default the source's own file */
  readonly file?: string | undefined;
  /** The content of the source's own file, if it was read already. @default null */
  readonly content?: Uint8Array | null;
}): Promise<ConfigFile> {
  const { root, shownRoot = root, cwd, file, content = null } = options;
  const isOwn = file === undefined;
  const named = resolve(cwd, file ?? join(root, CONFIG_NAME));
  const path = isOwn ? named : operatorFile(named);
  const display = relative(cwd, isOwn ? join(shownRoot, CONFIG_NAME) : path)
    .split(sep)
    .join("/");
  if (content !== null) return parseConfig(content, { file: display, isInSource: true });
  const opened = readRegularFile(path, defaultLimits.fileBytes);
  if (opened.is === "gone" && isOwn) return noConfig;
  if (opened.is !== "read") return broken(display, "cannot be read as a regular file", isOwn);
  if (opened.size > opened.bytes.length) return broken(display, "is too large", isOwn);
  const config = await parseConfig(opened.bytes, { file: display, isInSource: isOwn || isInside(root, named) });
  // An operator's file with sources of its own makes no folder the source, so it lies in none.
  return isOwn || !config.isInSource || !hasSources(config)
    ? config
    : parseConfig(opened.bytes, { file: display, isInSource: false });
}

/** Whether a configuration names repositories to follow; then the working directory is no source. */
export function hasSources({ operator: { sources = [] } }: ConfigFile): boolean {
  return sources.length > 0;
}

/** Reads a configuration from bytes, such as those of a base commit. */
export async function parseConfig(
  bytes: Uint8Array,
  origin: { readonly file: string; readonly isInSource: boolean },
): Promise<ConfigFile> {
  await using exact = new ExactProcess();
  const options = { format: "yaml", limits: defaultLimits, worthy: null } as const;
  const { text, faults, documents } = await readYaml(bytes, options, exact);
  const positionAt = lineFinder(text);
  const [document] = documents;
  const all = [...faults, ...documents.flatMap((each) => each.faults), ...(documents[1] ? [second(documents[1])] : [])];
  if (all.length > 0)
    return {
      ...noConfig,
      ...origin,
      diagnostics: all.map((each) => diagnosticInFile(origin.file, each, positionAt(each.offset))),
    };
  if (document === undefined || document.value === null) return { ...noConfig, ...origin };
  const locate = locator(document, positionAt);
  const diagnostics = validateConfig(document.value).map((each) => {
    return diagnosticInFile(origin.file, wordingOf(each), locate(each.pointer, keyOrValue(each)));
  });
  if (diagnostics.some(({ severity }) => severity === "error") || !isObject(document.value))
    return { ...noConfig, ...origin, diagnostics };
  const places = rulePlaces(document.value, origin.file, locate);
  return { ...noConfig, ...origin, ...split(document.value, origin.isInSource), places, diagnostics };
}

const RULES = ["ignore", "external", "allowLiteralSecrets"];

function rulePlaces(value: JsonObject, file: string, locate: Locate): RulePlaces {
  const pointers = RULES.flatMap((key) => {
    const list = value[key];
    return Array.isArray(list) ? list.map((_, at) => `/${key}/${at}`) : [];
  });
  const rules = pointers.map((pointer) => [pointer, { file, ...locate(pointer) }] as const);
  const keys = ["targets", "promotions"].flatMap((list) => {
    const entries = Array.isArray(value[list]) ? value[list] : [];
    return entries.flatMap((entry, at) => {
      const pointer = `/${list}/${at}`;
      const fields = isObject(entry) ? Object.entries(entry) : [];
      const names = fields.map(([name]) => `${pointer}/${name}`);
      const items = fields.flatMap(([name, field]) =>
        Array.isArray(field) ? field.map((_, item) => `${pointer}/${name}/${item}`) : [],
      );
      return [
        ...[pointer, ...items].map((each) => [each, { file, ...locate(each) }] as const),
        ...names.map((each) => [each, { file, ...locate(each, "key") }] as const),
      ];
    });
  });
  const policies =
    value.policies === undefined ? [] : [["/policies", { file, ...locate("/policies", "key") }] as const];
  return new Map([...rules, ...keys, ...policies]);
}

// A mounted ConfigMap is a link. Links outside the source belong to the operator, and are followed.
function operatorFile(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new HoldfastError("invalid", `the configuration ${path} does not exist`, {
      hint: "Correct --config, or HOLDFAST_CONFIG where that names it.",
      cause,
    });
  }
}

function broken(file: string, what: string, isInSource: boolean): ConfigFile {
  return {
    ...noConfig,
    file,
    isInSource,
    diagnostics: [fileDiagnostic("error", "configuration", file, `the configuration ${what}`)],
  };
}

function second({ offset }: ParsedDocument) {
  return fault(offset, "too-many-documents", "a second document in the configuration", "Keep one.");
}

function split(value: JsonObject, isInSource: boolean): Pick<ConfigFile, "repository" | "operator" | "operatorKeys"> {
  const given = Object.entries(value).filter(([, field]) => field !== null);
  // The schema has just validated the types of the fields.
  const hasLooser = isInSource && isLooser((value as HoldfastConfig).guards ?? {});
  const isOperators = (key: string): boolean => classOf(key) === "operator" || (key === "guards" && hasLooser);
  const operator = given.filter(([key]) => isOperators(key));
  const repository = given.filter(([key]) => !isOperators(key));
  return {
    repository: Object.fromEntries(repository) as RepositoryConfig,
    operator: Object.fromEntries(operator) as OperatorConfig,
    operatorKeys: operator.map(([key]) => (key === "guards" ? "looser guards" : key)),
  };
}

function isLooser(guards: NonNullable<HoldfastConfig["guards"]>): boolean {
  return isLooserThanDefault(guards) || isLooserGuard(guards);
}

function classOf(key: string): string | undefined {
  return schemaFor("config")?.properties?.[key]?.["x-class"];
}
