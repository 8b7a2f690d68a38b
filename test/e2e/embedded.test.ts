import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { reportOf } from "../support/json-output.ts";
import { everyKind, service } from "../support/manifests.ts";
import { sourceOf } from "../support/source.ts";

describe("the embedded control plane", () => {
  test("starts with the command, keeps its data, and ends with it", async () => {
    const source = await sourceOf(everyKind);
    const first = await source.run(["apply", "--embedded", "--yes", "-o", "json"]);
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(/^embedded control plane at http:\/\/127\.0\.0\.1:\d+, data in /);
    expect(reportOf(first)).toMatchObject({ server: "embedded", summary: { created: 8 } });
    const data = join(source.folder, ".holdfast/control-plane");
    expect((await stat(join(data, "admin-token"))).mode & 0o777).toBe(0o600);
    expect(existsSync(join(data, "endpoint"))).toBe(false);

    const second = await source.runHere(["apply", "--embedded", "--yes"]);
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining("\nApplied: 8 unchanged\n") });
    expect(await source.runHere(["drift", "--embedded"])).toMatchObject({
      code: 0,
      stdout: "Drift: none; 8 unchanged\n",
    });
  });

  test("is attached to by a second process, with --embedded or without a server named, and says so", async () => {
    const source = await sourceOf(everyKind);
    const watch = source.start(["watch", "--embedded"]);
    const [, url] = await watch.shows("stderr", /^embedded control plane at (\S+), /m);
    await watch.shows("stdout", /^Applied: 8 created/m);
    expect((await readFile(join(source.folder, ".holdfast/control-plane/endpoint"), "utf8")).trim()).toBe(url);

    const plan = await source.runHere(["plan"]);
    expect(plan).toMatchObject({ code: 0, stdout: "Plan: nothing to do, 8 unchanged\n" });
    expect(plan.stderr).toBe(`using the embedded control plane at ${url}\n`);
    expect(await source.runHere(["plan", "--embedded"])).toMatchObject({ code: 0, stdout: plan.stdout });

    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    await watch.shows("stdout", /updated {3}service\/dev:web\/api/);
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
    expect(await source.runHere(["plan"])).toMatchObject({ code: 3 });
    expect(await source.runHere(["plan", "--embedded"])).toMatchObject({ code: 0, stdout: plan.stdout });
  });

  test("that was killed leaves nothing in the way of the next", async () => {
    const source = await sourceOf(everyKind);
    const watch = source.start(["watch", "--embedded"]);
    await watch.shows("stdout", /^Applied: 8 created/m);
    watch.kill("SIGKILL");
    await watch.ended;
    const refused = await source.runHere(["plan"]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("no control plane is named");
    expect(await source.runHere(["apply", "--embedded", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 8 unchanged\n"),
    });
  });

  test("is told from one that is named: the two exclude each other", async () => {
    const source = await sourceOf(everyKind);
    const ended = await source.runHere(["plan", "--embedded", "--server", "http://127.0.0.1:1"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toContain("--server and --embedded exclude each other");
  });

  test("named by a flag, it overrules a server that the environment names, and the other way round", async () => {
    const source = await sourceOf(everyKind);
    const embedded = await source.runHere(["plan", "--embedded"], { HOLDFAST_SERVER: "http://127.0.0.1:1" });
    expect(embedded).toMatchObject({ code: 0 });
    const named = await source.runHere(["plan", "--server", "ftp://x"], {
      HOLDFAST_EMBEDDED: "1",
      HOLDFAST_TOKEN: "any",
    });
    expect(named.stderr).toContain("neither http nor https");
  });

  test("the state folder is private, ignored by git, and never a source", async () => {
    const source = await sourceOf({ ...everyKind, "holdfast.yaml": "ignore: []\n" });
    expect(await source.runHere(["apply", "--embedded", "--yes", "--state", "kept"])).toMatchObject({ code: 0 });
    expect((await stat(join(source.folder, "kept"))).mode & 0o777).toBe(0o700);
    expect(await readFile(join(source.folder, "kept/.gitignore"), "utf8")).toBe("*\n");
    await source.write("kept/stray.yaml", "type: team\nname: stray\n");
    const ended = await source.runHere(["validate", "--state", "kept"]);
    expect(ended).toMatchObject({ code: 0, stdout: "8 manifests in 8 files: valid\n" });
  });
});
