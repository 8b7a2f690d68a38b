import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Json, JsonObject } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import { printable } from "../../render/escape.ts";
import { sentenceText } from "../../render/wrap.ts";
import type { ConfigFile, OperatorConfig } from "../../source/read-config.ts";
import { contentTop } from "../../source/source-root.ts";
import { columnsOn, confirm, isInteractive, say, type Terminal } from "../terminal.ts";
import { type Confirmation, confirmationFolder, isConfirmed, keepConfirmation } from "./confirmations.ts";

/** The root of the source and why it is that, and whether the command may ask for confirmation; a daemon never asks. */
export type PromptContext = { readonly root: string; readonly why: string; readonly mayAsk: boolean };

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
  // Sources and targets name credential files and the servers that the credentials are sent to.
  if (operator.sources || operator.targets)
    throw refusal(config, context, "and sources and targets count only outside of the source");
  const { tokenFile: _, ...honoured } = operator;
  const keys: JsonObject = Object.fromEntries(Object.entries(operator));
  const confirmation = { path: realpathSync(resolve(terminal.cwd, file)), keys };
  const folder = confirmationFolder(terminal, contentTop(context.root));
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
