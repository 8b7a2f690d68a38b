import { parentPort, workerData } from "node:worker_threads";
import type { Diagnostic } from "../core/diagnostic.ts";
import { kindOf } from "../kinds/index.ts";
import type { SourceFile } from "../source/revision.ts";
import { type DeclareRules, declarePlain } from "./declare.ts";
import { outlineOf } from "./outline-of.ts";
import { writeOutline } from "./outline-text.ts";

/** By what rules a thread reads: plain data. */
export type ThreadRules = Omit<DeclareRules, "kindOf">;

/** A file for a thread to read. */
export type SentFile = Pick<SourceFile, "path" | "display" | "size"> & { readonly bytes: Uint8Array };

/** What a thread read: the content in outline and its values, all as JSON; null where the file has to be read again. */
export type ReadApart = { readonly content: string; readonly values: readonly string[] } | null;

const given: ThreadRules = workerData;
const rules: DeclareRules = { ...given, kindOf };

function readApart({ path, display, size, bytes }: SentFile): ReadApart {
  if (size > rules.limits.fileBytes) return null;
  const file = { path, display, size: bytes.length, bytes: () => bytes, digest: null, stamp: null, blob: null };
  const said: Diagnostic[] = [];
  const read = declarePlain(file, bytes, rules, { add: (diagnostic) => said.push(diagnostic) });
  if (read === null) return null;
  const content = outlineOf({ content: read, said });
  if (content === null) return null;
  return { content: writeOutline(content), values: read.declarations.map(({ value }) => JSON.stringify(value)) };
}

const say = (answer: readonly ReadApart[] | "ready") => parentPort?.postMessage(answer);

parentPort?.on("message", (files: readonly SentFile[]) => say(files.map(readApart)));
say("ready");
