import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { whyNoStrace } from "../soak/strace.ts";
import { temporaryFolder } from "../support/folder.ts";
import { everyKind } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

test("F32 an apply flushes its journal to the disk for every write that it sends", async ({ skip }) => {
  const reason = whyNoStrace();
  if (reason !== null) return skip(reason);
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  const trace = join(await temporaryFolder(), "trace");
  const journal = join(source.folder, ".holdfast/ledger.db-wal");
  const strace = ["strace", "-f", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync", "-P", journal];
  expect(await source.runThrough(strace, ["apply", "--yes", "--concurrency", "1"])).toMatchObject({ code: 0 });
  const flushes = (await readFile(trace, "utf8")).match(/f(?:data)?sync\(/g) ?? [];
  expect(flushes.length).toBeGreaterThanOrEqual(server.effects().length);
});
