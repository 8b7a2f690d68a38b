import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { temporaryFolder } from "./folder.ts";

/**
 * The files of a database, with its log and backups, as a kill would leave them: before each statement that the work
 * runs, and after the last one. Each distinct state is a copy in its own folder. The work runs in this process.
 */
export async function crashImages(path: string, work: () => Promise<unknown>): Promise<readonly string[]> {
  const folder = await temporaryFolder();
  const images = new Map<string, string>();
  const take = () => {
    const files = filesOf(path);
    const content = contentOf(files);
    if (images.has(content)) return;
    const image = join(folder, String(images.size));
    for (const file of files) cpSync(file, join(image, basename(file)));
    images.set(content, join(image, basename(path)));
  };
  using stack = new DisposableStack();
  stack.use(beforeEach(DatabaseSync.prototype, "exec", take));
  for (const name of ["run", "all", "get"]) stack.use(beforeEach(StatementSync.prototype, name, take));
  await work();
  take();
  return [...images.values()];
}

// The index of a log (`-shm`) is made anew from the log.
function filesOf(path: string): readonly string[] {
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)) && !name.endsWith("-shm"));
  return names.map((name) => join(dirname(path), name));
}

function contentOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) {
    const bytes = readFileSync(file);
    hash.update(`${file} ${bytes.length} `).update(bytes);
  }
  return hash.digest("hex");
}

/** Calls back before each call of a method, until disposed of. */
function beforeEach(prototype: object, name: string, notice: () => void): Disposable {
  const original: unknown = Reflect.get(prototype, name);
  if (typeof original !== "function") throw new TypeError(`${name} is no method`);
  const noticed = function (this: unknown, ...given: readonly unknown[]): unknown {
    notice();
    return Reflect.apply(original, this, given);
  };
  Object.assign(prototype, { [name]: noticed });
  return { [Symbol.dispose]: () => void Object.assign(prototype, { [name]: original }) };
}
