import { existsSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { runGit } from "../remote/run-git.ts";
import { environmentForSettings, folderOf, outsideRepositories, quotedPath } from "./git.ts";
import type { StampCheck } from "./index-entries.ts";
import type { Repository } from "./repository-paths.ts";

/** The settings that decide how git writes files into a checkout, and finds them unchanged. None of them names a program. */
export type ConversionSettings = {
  /** The text of a git configuration with them. */
  readonly configuration: string;
  /** Whether only a part of the tree is checked out. */
  readonly isSparse: boolean;
  /** Whether links are written as links; else as files that hold their target. */
  readonly hasLinks: boolean;
  readonly stampCheck: StampCheck;
};

const NAMES = ["autocrlf", "eol", "symlinks", "sparsecheckout", "checkstat", "trustctime"];

const SPARSE_PATTERNS = "info/sparse-checkout";

/** Reads the settings of a checkout as its user has them; of another user's, only what its own file says. */
export async function conversionSettings(
  repository: Repository,
  { isForeign, signal }: Stop & { readonly isForeign: boolean },
): Promise<ConversionSettings> {
  const { gitFolder, commonFolder } = repository;
  // No file that another user's configuration includes is read, and no path that it names.
  const place = isForeign ? ["--file", join(commonFolder, "config")] : [];
  const names = isForeign ? NAMES : [...NAMES, "attributesfile"];
  const args = ["config", ...place, "--null", "--get-regexp", `^core\\.(${names.join("|")})$`];
  const run = {
    folder: isForeign ? tmpdir() : folderOf(repository),
    env: isForeign ? outsideRepositories() : environmentForSettings(repository),
    signal,
  };
  const { stdout } = await runGit(args, run);
  const values = new Map(stdout.split("\0").flatMap(readSetting));
  const { XDG_CONFIG_HOME = join(homedir(), ".config") } = process.env;
  const attributes = values.get("attributesfile")?.replace(/^~(?=\/)/, homedir());
  const written = [
    ...["autocrlf", "eol"].flatMap((name) => settingLine(name, values.get(name))),
    `\tattributesFile = ${quotedPath(attributes ?? join(XDG_CONFIG_HOME, "git", "attributes"))}\n`,
  ];
  return {
    configuration: `[core]\n${written.join("")}`,
    // The setting may be in a file of the work tree alone, which is not read of another user.
    isSparse: isTrue(values.get("sparsecheckout") ?? String(isForeign && existsSync(join(gitFolder, SPARSE_PATTERNS)))),
    hasLinks: isTrue(values.get("symlinks") ?? "true"),
    stampCheck: {
      isMinimal: values.get("checkstat")?.toLowerCase() === "minimal",
      trustsChangeTime: isTrue(values.get("trustctime") ?? "true"),
    },
  };
}

// `core.<name>`, a line feed, the value; a name alone means true.
function readSetting(setting: string): readonly (readonly [string, string])[] {
  const [, name, value = "true"] = /^core\.(\w+)(?:\n(.*))?$/s.exec(setting) ?? [];
  return name === undefined ? [] : [[name, value]];
}

function settingLine(name: string, value: string | undefined): readonly string[] {
  return value !== undefined && /^\w{1,8}$/.test(value) ? [`\t${name} = ${value}\n`] : [];
}

const isTrue = (value: string): boolean => /^(?:true|yes|on|[1-9]\d*)$/i.test(value);
