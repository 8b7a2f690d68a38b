import { globSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { parseAst } from "rolldown/parseAst";

// `npm run house`: counts of the sources, so that a change of their shape can be judged by its figures.
const ROOT = "src";

/** A function whose calls are followed to count the files that a reader of it has to open. */
const CALL_PATHS = [
  ["a push until its PUT", "engine/reconcile.ts", "reconcile"],
  ["apply on the command line", "commands/apply.ts", "run"],
] as const;

const READS_TIME =
  /\bDate\.now\(|new Date\(\)|performance\.now\(|\bset(?:Timeout|Interval|Immediate)\(|AbortSignal\.timeout\(|Math\.random\(|random(?:UUID|Bytes)\(|node:timers/;
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const MEMBERS = new Set(["FunctionDeclaration", "ClassDeclaration"]);

type Node = { readonly type: string; readonly start: number; readonly end: number; readonly [key: string]: unknown };

/** A function or class of a file, or a value of a module's top level. */
type Member = { readonly name: string; readonly node: Node };

/** An imported name: the file that exports it, and its name there. */
type Import = { readonly file: string; readonly name: string };

type Module = {
  readonly text: string;
  readonly members: ReadonlyMap<string, Member>;
  readonly imports: ReadonlyMap<string, Import>;
  readonly functions: readonly number[];
};

const files = globSync("**/*.ts", { cwd: ROOT }).toSorted();
const modules = new Map(files.map((file) => [file, readModule(file)]));
const own = files.filter((file) => !file.includes("generated/"));
const sizes = own.map((file) => ({ file, lines: lineCount(textOf(file)) })).toSorted((a, b) => b.lines - a.lines);
const lengths = own.flatMap((file) => modules.get(file)?.functions ?? []).toSorted((a, b) => a - b);
const all = own.map(textOf).join("\n");

row("files", own.length, `${files.length - own.length} generated ones not counted, here and below`);
row("lines", sum(sizes.map(({ lines }) => lines)));
row("median lines of a file", median(sizes.map(({ lines }) => lines).toReversed()));
row("files of at most 20 lines", sizes.filter(({ lines }) => lines <= 20).length);
row("files of at most 30 lines", sizes.filter(({ lines }) => lines <= 30).length);
row(
  "longest files",
  sizes[0]?.lines ?? 0,
  sizes
    .slice(0, 3)
    .map(({ file, lines }) => `${file} ${lines}`)
    .join(", "),
);
row("functions", lengths.length, `median ${median(lengths)} lines, longest ${lengths.at(-1)}`);
row("type aliases", matches(/^(?:export )?type \w+/gm), "interfaces are not used");
row("contexts", names(/^(?:export )?type (\w*Context)\b/gm));
row("options", names(/^(?:export )?type (\w*Options)\b/gm));
row("Pick<", matches(/\bPick</g));
row("files that read the time or randomness", own.filter((file) => READS_TIME.test(textOf(file))).length);
for (const [what, file, name] of CALL_PATHS) {
  const { entered, moves, returns } = callPath(file, name);
  row(`files on the way of ${what}`, entered.size, `${moves} changes of file, ${returns} to one that was left`);
}
const tests = globSync("test/**/*.ts", { exclude: ["**/node_modules/**"] }).map((file) => readFileSync(file, "utf8"));
const testLines = sum(tests.map(lineCount));
row(
  "lines of tests",
  testLines,
  `${(testLines / sum(sizes.map(({ lines }) => lines))).toFixed(2)} for each line of source`,
);

function row(what: string, figure: number, detail = ""): void {
  console.log(`${String(figure).padStart(7)}  ${what}${detail === "" ? "" : `: ${detail}`}`);
}

function textOf(file: string): string {
  return modules.get(file)?.text ?? "";
}

function matches(pattern: RegExp): number {
  return [...all.matchAll(pattern)].length;
}

function names(pattern: RegExp): number {
  return new Set([...all.matchAll(pattern)].map(([, name]) => name)).size;
}

/**
 * The files that hold what a function calls, in the order of the calls, each function once. A class counts with all its
 * methods where it is made; calls of values that are handed in are not followed.
 */
function callPath(file: string, name: string): { entered: ReadonlySet<string>; moves: number; returns: number } {
  const entered = new Set([file]);
  const seen = new Set<string>();
  let moves = 0;
  const follow = (from: string, into: Import): void => {
    const key = `${into.file} ${into.name}`;
    const module = modules.get(into.file);
    const member = module?.members.get(into.name);
    if (module === undefined || member === undefined || seen.has(key)) return;
    seen.add(key);
    if (into.file !== from) moves += 1;
    entered.add(into.file);
    for (const called of calledIn(member.node)) {
      follow(into.file, module.imports.get(called) ?? { file: into.file, name: called });
    }
  };
  follow(file, { file, name });
  return { entered, moves, returns: moves - entered.size + 1 };
}

// Names that are called, constructed or handed to another call.
function calledIn(node: Node): readonly string[] {
  const called: string[] = [];
  walk(node, (each) => {
    if (each.type !== "CallExpression" && each.type !== "NewExpression") return;
    for (const named of [each.callee, ...(each.arguments as readonly unknown[])]) {
      if (isNode(named) && named.type === "Identifier") called.push(String(named.name));
    }
  });
  return called;
}

function readModule(file: string): Module {
  const text = readFileSync(join(ROOT, file), "utf8");
  const program = parseAst(text, { lang: "ts" }) as unknown as Node;
  const members = new Map<string, Member>();
  const imports = new Map<string, Import>();
  for (const statement of program.body as readonly Node[]) {
    if (statement.type === "ImportDeclaration") addImports(imports, file, statement);
    const declared = isNode(statement.declaration) ? statement.declaration : statement;
    for (const member of membersOf(declared)) members.set(member.name, member);
  }
  for (const [, list = "", from = ""] of text.matchAll(/const \{([^}]+)\} = await import\(\s*"(\.[^"]+)"/g)) {
    for (const part of list.split(",")) {
      const [name = "", local = name] = part.split(":").map((word) => word.trim());
      imports.set(local, { file: resolved(file, from), name });
    }
  }
  const functions: number[] = [];
  walk(program, (node) => {
    if (FUNCTIONS.has(node.type)) functions.push(lineCount(text.slice(node.start, node.end)) + 1);
  });
  return { text, members, imports, functions };
}

function addImports(imports: Map<string, Import>, file: string, statement: Node): void {
  const from = String((statement.source as Node).value);
  if (statement.importKind === "type" || !from.startsWith(".")) return;
  for (const { type, imported, local } of statement.specifiers as readonly Node[]) {
    if (type !== "ImportSpecifier") continue;
    imports.set(String((local as Node).name), { file: resolved(file, from), name: String((imported as Node).name) });
  }
}

function membersOf(node: Node): readonly Member[] {
  if (node.type === "VariableDeclaration") {
    return (node.declarations as readonly Node[]).flatMap(({ id, init }) => {
      return isNode(id) && isNode(init) && id.type === "Identifier" ? [{ name: String(id.name), node: init }] : [];
    });
  }
  const { id } = node;
  return MEMBERS.has(node.type) && isNode(id) ? [{ name: String(id.name), node }] : [];
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const value of Object.values(node)) {
    for (const item of Array.isArray(value) ? value : [value]) if (isNode(item)) walk(item, visit);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

function resolved(file: string, path: string): string {
  return normalize(join(file, "..", path));
}

function lineCount(text: string): number {
  return text.split("\n").length - 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
