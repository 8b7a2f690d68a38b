// src/commands/mcp: tools for AI agents; each runs a command that reads. See docs/mcp.md#tools.

import { isObject, type JsonObject } from "../../contract/json.ts";
import type { CommandDeclaration } from "../command.ts";

/** The arguments of a call, which its schema has checked. */
export type ToolArguments = { readonly [name: string]: unknown };

/** A tool: the command that it runs, with words that are fixed here and values that the arguments give. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The JSON Schema of each argument. */
  readonly properties: { readonly [name: string]: JsonObject };
  /** @default none */
  readonly required?: readonly string[];
  /** Whether it writes a plan for others. @default false */
  readonly proposes?: boolean;
  readonly command: (given: ToolArguments) => CommandDeclaration;
  /** The words behind the name of the command: a value is joined to its flag, or stands behind `--`. */
  readonly words: (given: ToolArguments) => readonly string[];
  /** What of the result of a command with these words is returned. @default all of it */
  readonly pick?: (result: JsonObject, given: ToolArguments, words: readonly string[]) => JsonObject;
  /** How a caller asks for less, where a result is too long. */
  readonly narrow: string;
};

/** An argument: files and folders within the source. */
export const paths: JsonObject = {
  type: "array",
  items: {
    type: "string",
    minLength: 1,
    maxLength: 300,
    pattern: "^(?!/)(?!(?:.*/)?\\.\\.(?:/|$))[^\\u0000-\\u001f\\\\]+$",
  },
  maxItems: 50,
  description: "files and folders of the source, relative to it; default: the whole source",
};

/** An argument: a commit. It never reads as a flag, nor as a range or a command of git. */
export const base: JsonObject = {
  type: "string",
  pattern: "^(?!.*\\.\\.)(?!.*@\\{)[A-Za-z0-9][A-Za-z0-9._/~^-]{0,199}$",
  description: "a commit or branch to compare with, such as origin/main",
};

/** An argument: the name of a target. */
export const target: JsonObject = {
  type: "string",
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
  description: "name of a target of the operator's configuration; default: all, where a tool takes several",
};

/** A flag with its value, in one word; nothing without a value. */
export function flagged(flag: string, value: unknown): readonly string[] {
  return value === undefined ? [] : [`${flag}=${value}`];
}

/** Values behind `--`, where no value reads as a flag. */
export function behind(values: unknown): readonly string[] {
  return values === undefined ? [] : ["--", ...[values].flat().map(String)];
}

/** A plan without what `apply --plan` needs of it, so that a reply is no file that can be applied. */
export function withoutSeal({ seal: _, ...report }: JsonObject): JsonObject {
  const { targets } = report;
  return Array.isArray(targets)
    ? { ...report, targets: targets.map((one) => (isObject(one) ? withoutSeal(one) : one)) }
    : report;
}
