import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { everyKind } from "../support/manifests.ts";
import { startPostgres } from "../support/postgres.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const keyText = "11".repeat(32);

test("commands share a state by its address, and keep it out of what they print", async ({ skip }) => {
  const postgres = await startPostgres().catch((error: Error) => error);
  if (postgres instanceof Error) return skip(`PostgreSQL does not start here: ${postgres.message}`);
  onTestFinished(() => postgres[Symbol.asyncDispose]());
  const { url } = postgres;
  const server = await serve();
  const env = { HOLDFAST_STATE: url, HOLDFAST_STATE_KEY: keyText };
  const first = await sourceOf(everyKind, server);
  expect(await first.runHere(["apply", "--yes", "--sink", "file"], env)).toMatchObject({ code: 0 });
  // Another machine, with nothing but the sources.
  const second = await sourceOf(everyKind, server);
  const before = server.effects();
  expect(await second.runHere(["apply", "--yes", "--sink", "file"], env)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Applied: 8 unchanged\n"),
  });
  expect(server.effects()).toEqual(before);
  await second.runHere(["hold", "team/ml", "--reason", "incident", "--until", "2h"], env);
  expect((await first.runHere(["status"], env)).stdout).toContain("team/ml until");
  const password = new URL(url).password;
  const refused = await first.runHere(["plan", "--state", url], { ...env, HOLDFAST_STATE: "" });
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("--state has a password") });
  const away = new URL(url);
  away.port = "1";
  const unreachable = await first.runHere(["plan"], { ...env, HOLDFAST_STATE: away.href });
  expect(unreachable).toMatchObject({ code: 1, stderr: expect.stringContaining("it cannot be reached") });
  const keyless = await first.runHere(["plan"], { HOLDFAST_STATE: url });
  expect(keyless).toMatchObject({ code: 3, stderr: expect.stringContaining("none is given") });
  for (const { stdout, stderr } of [refused, unreachable, keyless]) expect(stdout + stderr).not.toContain(password);
  const file = join(await temporaryFolder(), "address");
  const named = { HOLDFAST_STATE_KEY: keyText, HOLDFAST_STATE_FILE: file };
  expect(await first.runHere(["plan"], named)).toMatchObject({ code: 1 });
  await writeFile(file, `${url}\n`, { mode: 0o600 });
  expect(await first.runHere(["plan"], named)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("nothing to do"),
  });
  expect(await first.runHere(["state", "check"], env)).toMatchObject({ code: 3 });
});
