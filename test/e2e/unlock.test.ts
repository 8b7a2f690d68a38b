import { expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { foundations, service } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const files = { ...foundations, "api.yaml": service("api") };
// Its lease lives longer than anybody wants to wait.
const patient = ["--request-timeout", "600"];

test("S70 unlock breaks the lease of a writer that was killed, shows whose it was, and leaves that of a live one", async () => {
  const server = await serve();
  const [dead, other] = [await sourceOf(files, server), await sourceOf(files, server)];
  const gate = await startHoldingProxy(server);
  const held = gate.hold("PUT", "/api/svc/v1/workspaces");
  const apply = dead.start(["apply", "--yes", "--no-wait", ...patient], { HOLDFAST_SERVER: gate.url });
  await held;
  const alive = await other.run(["unlock"]);
  expect(alive).toMatchObject({ code: 8, stdout: "" });
  expect(alive.stderr).toMatch(
    /^error: \S+\.holdfast \(\w{8}\) has this lease until \S+Z\n {2}→ the holder is alive, /m,
  );
  const same = await dead.runHere(["unlock"]);
  expect(same).toMatchObject({ code: 8, stdout: "" });
  expect(same.stderr).toMatch(
    /another holdfast process is using the state folder \S+: process \d+ on \S+, since \S+Z\n/,
  );
  apply.kill("SIGKILL");
  await apply.ended;

  const ended = await other.runHere(["unlock", "-o", "json"]);
  expect([ended.code, faultsOf("unlock", ended.stdout)]).toEqual([0, []]);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    leftBy: null,
    scope: "holdfast",
    broken: [{ scope: "holdfast", holder: expect.stringContaining(`${dead.folder}/.holdfast`) }],
  });
  expect(await other.runHere(["apply", "--yes", "--no-wait", ...patient])).toMatchObject({ code: 0 });
  const left = await dead.runHere(["unlock"]);
  expect(left.code).toBe(0);
  expect(left.stdout).toMatch(
    /^state: left by process \d+ on \S+, since \S+Z, which has ended; free\nlease on holdfast: free\n$/,
  );
  expect((await dead.runHere(["unlock"])).stdout).toMatch(/^state: not held; free\n/);
});

test("S70 unlock says that a control plane without leases has none", async () => {
  const [, documentedOnly] = controlPlaneVariants;
  const server = await (documentedOnly ?? expect.fail("there is no such plane")).serve();
  const source = await sourceOf(files, server);
  const before = server.effects();
  const ended = await source.runHere(["unlock"]);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("leases: this control plane has none\n") });
  expect(server.effects()).toEqual(before);
});
