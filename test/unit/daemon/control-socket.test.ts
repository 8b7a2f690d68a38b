import { expect, test } from "vitest";
import { askDaemon, serveControl } from "../../../src/daemon/control-socket.ts";
import { temporaryFolder } from "../../support/folder.ts";

test("what a daemon cannot do is the error of the command that asks for it", async () => {
  const folder = await temporaryFolder();
  const fail = async (): Promise<never> => {
    throw new Error("postgres://db/holdfast: it cannot be reached");
  };
  await using _ = await serveControl(folder, { status: fail, reconcile: fail, carryOut: fail });
  for (const [method, path] of [
    ["GET", "/status"],
    ["POST", "/reconcile"],
  ] as const) {
    const asked = askDaemon(folder, { method, path }, { signal: new AbortController().signal });
    await expect(asked).rejects.toMatchObject({ name: "HoldfastError", message: expect.stringContaining("reached") });
  }
});
