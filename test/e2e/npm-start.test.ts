import { cp, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Running, run, startNode } from "../support/process.ts";
import { exampleCount } from "../support/source.ts";

const root = resolve(import.meta.dirname, "../..");

/** The checkout as a newcomer has it, built. */
async function checkout(): Promise<string> {
  const folder = await temporaryFolder();
  await cp(dirname(dirname(inject("holdfast"))), folder, { recursive: true });
  for (const path of ["scripts/start.ts", "scripts/scale.ts", "examples", "holdfast.yaml"]) {
    await cp(join(root, path), join(folder, path), { recursive: true });
  }
  return folder;
}

async function begun(folder: string): Promise<{ readonly start: Running; readonly url: string }> {
  const start = startNode(["scripts/start.ts"], { cwd: folder });
  // What it started has process groups of its own, and ends when it is asked to.
  onTestFinished(async () => {
    start.kill("SIGTERM");
    await start.ended;
  });
  const [, url = ""] = await start.shows("stdout", /^control plane at (http:\S+), /m);
  await start.shows("stdout", /^Applied: /m);
  return { start, url };
}

/** What the README shows of a command of its tour, without the line about the server. */
async function shownInReadme(command: string): Promise<string> {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const [, shown = ""] = readme.split(`$ npm run -s holdfast ${command}\n`);
  return shown.slice(shown.indexOf("\n") + 1, shown.indexOf("```"));
}

async function expectSilence(url: string): Promise<void> {
  await eventually("the control plane is gone", () =>
    fetch(url).then(
      () => false,
      () => true,
    ),
  );
}

test("npm start brings the examples to life, follows an edit, and a second terminal just works", async () => {
  const folder = await checkout();
  const { start, url } = await begun(folder);
  await start.shows("stdout", new RegExp(`^Applied: ${exampleCount} created$`, "m"));

  const plan = await run(["plan"], { cwd: folder });
  expect(plan).toMatchObject({ code: 0, stdout: `Plan: nothing to do, ${exampleCount} unchanged\n` });
  expect(plan.stderr).toBe(`using the embedded control plane at ${url}\n`);

  const scaled = startNode(["scripts/scale.ts", "prod-eu:support", "assistant", "5"], { cwd: folder });
  expect(await scaled.ended).toMatchObject({ code: 0 });
  const drift = await run(["drift"], { cwd: folder, env: { COLUMNS: "80" } });
  expect([drift.code, drift.stdout.replace(/\d{4}-\S*Z$/m, "4 s ago")]).toEqual([2, await shownInReadme("drift")]);

  const echo = join(folder, "examples/manifests/support/services.yaml");
  await writeFile(echo, (await readFile(echo, "utf8")).replace("echo:1.0.0", "echo:1.0.1"));
  await start.shows("stdout", /updated {3}service\/staging-eu:support\/echo/);

  start.kill("SIGTERM");
  expect(await start.ended).toMatchObject({ code: 0 });
  await expectSilence(url);
});

test("npm start takes up where it was, and a closed terminal or Ctrl-C ends all of it", async () => {
  const folder = await checkout();
  const first = await begun(folder);
  first.start.kill("SIGHUP");
  expect(await first.start.ended).toMatchObject({ code: 0 });
  await expectSilence(first.url);

  const again = await begun(folder);
  await again.start.shows("stdout", new RegExp(`^Applied: ${exampleCount} unchanged$`, "m"));
  // Ctrl-C reaches every process of the terminal.
  again.start.killGroup("SIGINT");
  expect(await again.start.ended).toMatchObject({ code: 130 });
  await expectSilence(again.url);
});
