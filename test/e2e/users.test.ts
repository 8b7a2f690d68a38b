import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const email = "ada@example.com";

describe("the users of a control plane", () => {
  test("are added with a token in the sink, listed, and removed with all their tokens", async () => {
    const server = await serve();
    const source = await sourceOf({}, server);
    const added = await source.runHere(["user", "add", "Ada@example.com", "--sink", "file"]);
    const folder = join(source.folder, ".holdfast/tokens", new URL(server.url).host.replace(":", "_"));
    const path = join(folder, "user-token", "ada_example.com");
    expect(added).toMatchObject({ code: 0, stderr: "" });
    expect(added.stdout.replaceAll(/\s+/g, " ")).toContain(`user:${email} its token is in ${path}`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const HOLDFAST_TOKEN = (await readFile(path, "utf8")).trim();
    expect(added.stdout).not.toContain(HOLDFAST_TOKEN);
    expect((await source.runHere(["whoami"], { HOLDFAST_TOKEN })).stdout).toContain(`user:${email}`);
    // Whoever is no administrator is told so.
    const refused = await source.runHere(["user", "list"], { HOLDFAST_TOKEN });
    expect(refused).toMatchObject({ code: 4, stdout: "", stderr: expect.stringContaining("you may not list users") });

    const again = await source.runHere(["user", "add", email, "--sink", "file"]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("it has a token already") });
    const other = await source.runHere(["user", "add", email, "--no-token"]);
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("signs in by token: remove the user") });
    const wrong = await source.runHere(["user", "add", "ada", "--no-token"]);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("must be an e-mail") });

    expect(await source.runHere(["user", "remove", email])).toMatchObject({ code: 3, stdout: "" });
    const removed = await source.runHere(["user", "remove", `user:${email}`, "--yes"]);
    expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining(`user:${email}, removed`) });
    expect(await source.runHere(["whoami"], { HOLDFAST_TOKEN })).toMatchObject({ code: 4 });
    const { users } = JSON.parse((await source.runHere(["user", "list", "-o", "json"])).stdout);
    expect(users).toMatchObject([
      { subject: `user:${email}`, state: "removed", storedAt: null },
      { subject: "user:admin", state: "active", displayName: "Administrator" },
    ]);
  });

  test("get no token that nobody would keep, and no users where the control plane has none", async () => {
    const server = await serve();
    const source = await sourceOf({}, server);
    const unkept = await source.runHere(["user", "add", email], { CI: "1" });
    expect(unkept).toMatchObject({ code: 3, stderr: expect.stringContaining("--sink file") });
    const issued = await source.runHere(["user", "add", email, "--no-token"], { CI: "1" });
    expect(issued).toMatchObject({ code: 0, stdout: expect.stringContaining("through the issuer, and has not yet") });
    for (const args of [["user"], ["user", "add"], ["user", "list", email], ["user", "rename", email]]) {
      expect((await source.runHere(args)).code).toBe(3);
    }
    for (const [args, flag] of [
      [["user", "list", "--sink", "file"], "--sink"],
      [["user", "remove", email, "--yes", "--no-token"], "--no-token"],
      [["user", "add", email, "--no-token", "--sink", "file"], "--sink"],
      [["token", "list", "--sink", "file"], "--sink"],
    ] as const) {
      const unfit = await source.runHere(args);
      expect(unfit).toMatchObject({
        code: 3,
        stdout: "",
        stderr: expect.stringContaining(`${flag} has no effect here`),
      });
    }
    // Which is for all commands.
    expect(await source.runHere(["user", "list"], { HOLDFAST_SINK: "file" })).toMatchObject({ code: 0 });
    const without = await sourceOf({}, await serve(["--documented-only"]));
    for (const args of [["list"], ["add", email, "--no-token"], ["remove", email, "--yes"]]) {
      const refused = await without.runHere(["user", ...args]);
      expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("the extension E17") });
    }
  });
});
