import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { canonical, type Json, type JsonObject } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import { requireOwnFolder } from "../../files/own-folder.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { isAtOrBelow, realPathOutside } from "../../files/real-path.ts";
import { createFile } from "../../files/write-file.ts";
import { printable } from "../../render/escape.ts";
import { sentenceText } from "../../render/wrap.ts";
import type { ConfigFile, OperatorConfig } from "../../source/read-config.ts";
import { contentTop } from "../../source/source-root.ts";
import { makeFolder } from "../../store/make-folder.ts";
import { columnsOn, confirm, isInteractive, say, type Terminal } from "../terminal.ts";

/** The root of the source and why it is that, and whether the command may ask for confirmation; a daemon never asks. */
export type PromptContext = { readonly root: string; readonly why: string; readonly mayAsk: boolean };

/** Operator keys of one configuration file that a person has confirmed. */
type Confirmation = {
  /** Real path of the file. */
  readonly path: string;
  readonly keys: JsonObject;
};

const MAX_CONFIRMATION_BYTES = 8192;

/** The honoured operator keys of a configuration; keys of a later file replace those of an earlier one. */
export async function honouredOperatorKeys(
  files: readonly ConfigFile[],
  context: PromptContext,
  terminal: Terminal,
): Promise<OperatorConfig> {
  let keys: OperatorConfig = {};
  for (const file of files) keys = { ...keys, ...(await honouredKeys(file, context, terminal)) };
  return keys;
}

/** The longest value that a person can be expected to read before confirming it. */
const MAX_SHOWN_LENGTH = 2048;

/**
 * The honoured operator keys of one file. All keys of a file outside the source are honoured. The source's own file can be
 * changed by a pull request: only the keys that a person at a terminal has confirmed once are honoured, and never a token file.
 */
async function honouredKeys(config: ConfigFile, context: PromptContext, terminal: Terminal): Promise<OperatorConfig> {
  const { isInSource, operator, operatorKeys, file } = config;
  if (!isInSource || operatorKeys.length === 0 || file === null) return operator;
  if (!isInteractive(terminal)) throw refusal(config, context, "which only the operator may");
  // Sources and targets name credential files and the servers that the credentials are sent to, and promotions write to them.
  if (operator.sources || operator.servers || operator.targets || operator.promotions)
    throw refusal(config, context, "and sources, servers, targets and promotions count only outside of the source");
  // Their settings name programs to run, credential files and where tokens are sent.
  if (operator.sinks?.some((sink) => typeof sink !== "string"))
    throw refusal(config, context, "and settings of sinks count only outside of the source");
  if (operator.sops) throw refusal(config, context, "and sops counts only outside of the source");
  if (operator.secretSources) throw refusal(config, context, "and secretSources count only outside of the source");
  const { tokenFile: _, ...honoured } = operator;
  const keys: JsonObject = Object.fromEntries(Object.entries(operator));
  const confirmation = { path: realpathSync(resolve(terminal.cwd, file)), keys };
  const folder = confirmationFolder(terminal.env, contentTop(context.root));
  if (folder !== null && isConfirmed(folder, confirmation)) return honoured;
  if (!context.mayAsk)
    throw refusal(config, context, "which are not confirmed yet", "run `holdfast validate` here first");
  terminal.stderr.write(shown(config, confirmation, { ...context, width: columnsOn(terminal.stderr) }));
  if (!(await confirm("Use these values from now on?", terminal)))
    throw refusal(config, context, "which you did not confirm");
  if (folder === null || !(await keepConfirmation(folder, confirmation)))
    say(terminal, "the confirmation cannot be stored outside the checkout: you will be asked again");
  return honoured;
}

function shown(
  config: ConfigFile,
  { keys }: Confirmation,
  context: PromptContext & { readonly width: number },
): string {
  const lines = Object.entries(keys).map(([key, value]) => {
    const text = ascii(value);
    if (text.length > MAX_SHOWN_LENGTH) throw refusal(config, context, `and \`${key}\` is too long to be confirmed`);
    return `  ${key}: ${text}${key === "tokenFile" ? "  (never read from a source: use --token-file)" : ""}\n`;
  });
  const file = printable(config.file ?? "");
  return (
    sentenceText(`${file} is part of the source, where a pull request can change it. It sets:`, context.width) +
    lines.join("")
  );
}

// A homoglyph could show the name of one server and mean another.
function ascii(value: Json): string {
  return printable(JSON.stringify(value)).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function refusal(
  { file, operatorKeys }: ConfigFile,
  { root, why: reason }: PromptContext,
  why: string,
  before?: string,
): HoldfastError {
  const instead = "use flags, the environment, or a file outside the source with --config";
  const place = `it lies in ${root}, which is the source because ${reason}`;
  return new HoldfastError("invalid", `${file} sets ${operatorKeys.join(", ")}, ${why}`, {
    hint: before === undefined ? `${place}, so a pull request could change it: ${instead}` : `${before}, or ${instead}`,
  });
}

/**
 * The folder that stores confirmations: `$XDG_STATE_HOME/holdfast/confirmed`, by default below `~/.local/state`.
 * Null if there is none outside the checkout, because a checkout must not be able to bring its own confirmations.
 */
export function confirmationFolder(env: Terminal["env"], checkout: string): string | null {
  const { XDG_STATE_HOME: given = "", HOME: home = "" } = env;
  const base = isAbsolute(given) ? given : isAbsolute(home) ? join(home, ".local", "state") : null;
  if (base === null || isAtOrBelow(checkout, realPathOutside(null, base))) return null;
  return join(base, "holdfast", "confirmed");
}

/** Whether exactly these keys of exactly this file were confirmed before. */
function isConfirmed(folder: string, confirmation: Confirmation): boolean {
  try {
    requireOwnFolder(folder, { isContent: true });
    const content = readOwnFile(fileOf(folder, confirmation), { limit: MAX_CONFIRMATION_BYTES });
    return content?.toString("utf8") === contentOf(confirmation);
  } catch {
    // A file that others can write proves nothing about what our user confirmed.
    return false;
  }
}

/** Stores a confirmation; returns false if that is not possible. */
export async function keepConfirmation(folder: string, confirmation: Confirmation): Promise<boolean> {
  try {
    await makeFolder(folder);
    requireOwnFolder(folder, { isContent: true });
    return createFile(fileOf(folder, confirmation), contentOf(confirmation));
  } catch {
    return false;
  }
}

function fileOf(folder: string, { path, keys }: Confirmation): string {
  const digest = createHash("sha256").update(canonical([path, keys]));
  return join(folder, digest.digest("hex"));
}

function contentOf({ path }: Confirmation): string {
  return `${path}\n`;
}
