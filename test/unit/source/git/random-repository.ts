import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { git } from "../../../support/git.ts";

/** What a commit has at a path. */
export type Entry =
  | { readonly is: "file"; readonly content: string; readonly isExecutable: boolean }
  | { readonly is: "link"; readonly target: string }
  | { readonly is: "submodule" };

/** What happens to a file of the checkout without git calling it changed, as far as git is concerned. */
const touches = ["touch", "chmod", "assume", "assume and remove", "skip", "skip and remove", "lf", "crlf"] as const;

/** A repository, how it is checked out, and what happens to the checkout. */
export type RandomRepository = {
  readonly entries: readonly (readonly [path: string, entry: Entry])[];
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** The patterns of a sparse checkout; null for a whole one. */
  readonly sparse: { readonly isCone: boolean; readonly patterns: readonly string[] } | null;
  readonly touched: readonly (readonly [nth: number, how: (typeof touches)[number]])[];
  readonly modules: "empty" | "absent" | "there";
};

/** The file that every filter of a checkout creates beside it. */
export const FILTER_RAN = "filter-ran";

/** The file that the monitor of a checkout creates in it. */
export const MONITOR_RAN = "monitor-ran";

const folders = ["", "a/", "b/", "a/c/", "b/a/", ".hidden/", "node_modules/"];
const names = ["x.yaml", "y.yml", "z.json", "n.txt", "ü.yaml", 'q"\\.yaml', "s p.yaml", "l\nf.yaml", "x.yaml.yml"];

const path = fc.tuple(fc.constantFrom(...folders), fc.constantFrom(...names)).map((parts) => parts.join(""));

const content = fc.constantFrom(
  "type: team\nname: a\nmembers: [a@example.com]\n",
  "type: team\r\nname: b\r\nmembers: [a@example.com]\r\n",
  "type: team\nname: mixed\r\nmembers: [a@example.com]\n",
  "# $Id$\ntype: team\nname: c\n",
  "# $Id: 0123456789 $\ntype: team\nname: d\n",
  "type: team\nname: ü\n# 説明\n",
  "type: team\nname: e",
  "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 1\n",
  "lone \r return\n",
  "",
);

const file = fc.record({ is: fc.constant("file" as const), content, isExecutable: fc.boolean() });
const link = fc.record({ is: fc.constant("link" as const), target: fc.constantFrom("x.yaml", "a", "../a", "nowhere") });
const submodule = fc.constant({ is: "submodule" } as const);

const attributes = fc.constantFrom(
  "* text=auto",
  "*.yaml text",
  "*.yaml text eol=crlf",
  "*.yml eol=crlf",
  "*.yaml -text",
  "*.json ident",
  "*.yaml ident",
  "*.yaml working-tree-encoding=UTF-16",
  "*.yml working-tree-encoding=UTF-16LE-BOM",
  "x.yaml working-tree-encoding=UTF-32",
  "a/** filter=upper",
  "*.yml filter=upper",
  "*.json filter=undefined",
  "*.yaml binary",
  ".holdfastignore text eol=crlf",
  "holdfast.yaml working-tree-encoding=UTF-16",
);
const ignored = fc.constantFrom("a/", "/b", "x.yaml", "*.yml", "!x.yaml", "c", "*", "!b/");
const lines = (line: fc.Arbitrary<string>) => fc.array(line, { maxLength: 3 }).map((all) => `${all.join("\n")}\n`);

const special = fc.record(
  {
    ".gitattributes": lines(attributes),
    "a/.gitattributes": lines(attributes),
    ".gitignore": lines(ignored),
    "a/.gitignore": lines(ignored),
    ".holdfastignore": lines(ignored),
    "a/.holdfastignore": lines(ignored),
    "holdfast.yaml": fc.constantFrom("paths: [a, b]\n", "paths: [b]\n", "unknownFields: warn\n"),
    "b/x.yaml": content,
  },
  { requiredKeys: ["b/x.yaml"] },
);

const setting = fc.constantFrom(
  ["core.autocrlf", "true"],
  ["core.autocrlf", "input"],
  ["core.eol", "crlf"],
  ["core.symlinks", "false"],
  ["core.fileMode", "false"],
  ["core.splitIndex", "true"],
  ["index.version", "4"],
  ["index.sparse", "true"],
  ["core.fsmonitor", `touch ${MONITOR_RAN}`],
  ["core.untrackedCache", "true"],
  ["core.trustctime", "false"],
) as fc.Arbitrary<readonly [string, string]>;

const sparse = fc.oneof(
  fc.record({ isCone: fc.constant(true), patterns: fc.subarray(["a", "b", "a/c"], { minLength: 1 }) }),
  fc.record({
    isCone: fc.constant(false),
    patterns: fc.subarray(["/*", "!/a/", "b/", "*.yaml", "!x.yaml", "/.gitattributes"], { minLength: 1 }),
  }),
);

/** Repositories with attributes, ignore files, links, modes, submodules, encodings, and every way to check them out. */
export const randomRepository: fc.Arbitrary<RandomRepository> = fc
  .record({
    special,
    others: fc.uniqueArray(fc.tuple(path, fc.oneof({ weight: 8, arbitrary: file }, link, submodule)), {
      maxLength: 10,
      selector: ([at]) => at,
    }),
    settings: fc.array(setting, { maxLength: 4 }),
    sparse: fc.option(sparse, { freq: 1 }),
    touched: fc.array(fc.tuple(fc.nat(20), fc.constantFrom(...touches)), { maxLength: 4 }),
    modules: fc.constantFrom("empty", "absent", "there"),
  })
  .map(({ special: files, others, ...rest }) => {
    const entries = new Map<string, Entry>();
    for (const [at, text] of Object.entries(files)) {
      if (text !== undefined) entries.set(at, { is: "file", content: text, isExecutable: false });
    }
    for (const [at, entry] of others) if (!entries.has(at)) entries.set(at, entry);
    return { entries: [...entries], ...rest };
  });

/** Makes the repository, bare, with one commit that has exactly these contents. */
export async function makeBare(folder: string, { entries }: RandomRepository): Promise<void> {
  mkdirSync(folder);
  await git(folder, "init", "--quiet", "--bare", "--initial-branch=main");
  const quoted = (name: string) => `"${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
  const changes = entries.map(([at, entry]) => {
    if (entry.is === "submodule") return `M 160000 ${"1".repeat(40)} ${quoted(at)}\n`;
    const [mode, text] =
      entry.is === "link" ? ["120000", entry.target] : [entry.isExecutable ? "100755" : "100644", entry.content];
    return `M ${mode} inline ${quoted(at)}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  });
  const commit = (branch: string, more: string) =>
    `commit refs/heads/${branch}\ncommitter Ada <ada@example.com> 0 +0000\ndata 0\n${more}`;
  const ahead = "from refs/heads/main\nM 100644 inline b/added.yaml\ndata 4\na: b\n";
  const input = commit("main", changes.join("")) + commit("ahead", ahead);
  execFileSync("git", ["fast-import", "--quiet"], { cwd: folder, input, stdio: ["pipe", "ignore", "pipe"] });
}

/** Checks the repository out, as its settings have it, and touches the files. */
export async function checkOut(bare: string, folder: string, repository: RandomRepository): Promise<void> {
  const { settings, sparse: part, entries, touched, modules } = repository;
  mkdirSync(folder);
  await git(folder, "init", "--quiet", "--initial-branch=main");
  const upper = (from: string, to: string) => `touch '${join(folder, "..", FILTER_RAN)}'; tr ${from} ${to}`;
  const config = [
    ...settings.map(([name, value]) => `[${name.replace(".", "]\n\t").replace(/^/, "")} = ${value}\n`),
    `[filter "upper"]\n\tclean = "${upper("A-Z", "a-z")}"\n\tsmudge = "${upper("a-z", "A-Z")}"\n`,
  ];
  writeFileSync(join(folder, ".git/config"), readFileSync(join(folder, ".git/config"), "utf8") + config.join(""));
  await git(folder, "fetch", "--quiet", bare, "main:refs/remotes/origin/main", "ahead:refs/remotes/origin/ahead");
  if (part !== null) {
    const kind = part.isCone ? "--cone" : "--no-cone";
    await git(folder, "sparse-checkout", "set", kind, ...part.patterns);
  }
  await git(folder, "checkout", "--quiet", "-B", "main", "origin/main");
  for (const [at, entry] of entries) if (entry.is === "submodule") makeModule(join(folder, at), modules);
  for (const [nth, how] of touched) {
    const [at, entry] = entries[nth % entries.length] ?? ["", undefined];
    if (entry?.is === "file" && existsSync(join(folder, at))) await touch(folder, at, how);
  }
  for (const each of [join(folder, "..", FILTER_RAN), join(folder, MONITOR_RAN)]) rmSync(each, { force: true });
}

function makeModule(folder: string, how: RandomRepository["modules"]): void {
  if (!existsSync(folder)) return;
  if (how === "absent") rmSync(folder, { recursive: true });
  if (how !== "there") return;
  execFileSync("git", ["init", "--quiet", folder]);
  writeFileSync(join(folder, "inside.yaml"), "type: team\nname: inside\n");
}

async function touch(folder: string, at: string, how: (typeof touches)[number]): Promise<void> {
  const file = join(folder, at);
  const replace = (from: string, to: string) => {
    const bytes = readFileSync(file, "latin1").replaceAll("\r\n", "\n");
    writeFileSync(file, bytes.replaceAll(from, to), "latin1");
  };
  if (how === "touch") utimesSync(file, 1e9, 1e9);
  if (how === "chmod") chmodSync(file, 0o777);
  if (how === "lf") replace("\r\n", "\n");
  if (how === "crlf") replace("\n", "\r\n");
  if (how.startsWith("assume")) await git(folder, "update-index", "--assume-unchanged", "--", at);
  if (how.startsWith("skip")) await git(folder, "update-index", "--skip-worktree", "--", at);
  if (how === "assume") writeFileSync(file, "edited: true\n");
  if (how.endsWith("remove")) rmSync(file);
}
