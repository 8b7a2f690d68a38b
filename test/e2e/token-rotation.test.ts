import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type Fault, faultProxy } from "../support/fault-proxy.ts";
import { temporaryFolder } from "../support/folder.ts";
import { account, everyKind } from "../support/manifests.ts";
import type { Running } from "../support/process.ts";
import { expectInNoFile, expectNowhere } from "../support/secret-search.ts";
import { serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { statement } from "../support/test-database.ts";
import type { StoreFault } from "../support/token-stores/store-fault.ts";
import { startVault } from "../support/token-stores/vault.ts";

const rotating = `${account("ci")}auto_rotate: { auto_rotate_interval: 30, grace_period: 2 }\n`;

/** An account whose token is due to be replaced, in a source that a daemon follows. Vault is a double. */
async function dueAccount({ onWrite }: { readonly onWrite?: (key: string) => StoreFault | null } = {}) {
  const server = await serve();
  const proxy = await faultProxy(server);
  const source = await sourceOf({ ...everyKind, "account.yaml": rotating }, proxy.server);
  let isFirst = true;
  const vault = await startVault({ onWrite: (key) => (isFirst ? null : (onWrite?.(key) ?? null)) });
  const folder = await temporaryFolder();
  await writeFile(join(folder, "token"), vault.token);
  const config = join(folder, "operator.yaml");
  const { url, caFile } = vault;
  const sink = { type: "vault", url, caFile, tokenFile: join(folder, "token") };
  await writeFile(config, JSON.stringify({ sinks: [sink] }));
  expect(await source.runHere(["apply", "--yes", "--config", config])).toMatchObject({ code: 0 });
  isFirst = false;
  const [former = ""] = vault.values.values();
  const schedule = async (at: string): Promise<void> => {
    const next = `json_set(json, '$.nextScheduledRotation', '${at}')`;
    await statement(server.data, `UPDATE virtual_accounts SET json = ${next}`);
  };
  await schedule("2020-01-01T00:00:00.000Z");
  const watch = (from: Source = source): Running => from.start(["watch", "--config", config, "--interval", "0.5"]);
  const replaced = (): number => server.effects().filter(({ operation }) => operation === "E20").length;
  const isValid = async (token: string): Promise<boolean> =>
    (await fetch(`${server.url}/api/svc/v1/workspaces`, { headers: { authorization: `Bearer ${token}` } })).status ===
    200;
  /** The new token, once it is in the sink. */
  const renewed = (): Promise<string> =>
    eventually("the new token is in the sink", () => {
      const tokens = [...vault.values].filter(([key]) => !key.includes("/check/"));
      return tokens.find(([, value]) => value !== former)?.[1];
    });
  return { server, proxy, source, vault, config, former, schedule, watch, replaced, renewed, isValid };
}

async function ended(watch: Running) {
  watch.kill("SIGTERM");
  return watch.ended;
}

describe("a token of an account with auto_rotate", () => {
  test("is replaced by a daemon before it is due, goes to the sink, and the former one stays valid", async () => {
    const { server, source, vault, former, watch, replaced, renewed, isValid } = await dueAccount();
    const daemon = watch();
    const token = await renewed();
    await daemon.shows("stderr", /token of virtual-account\/ci: secret\/holdfast\/.*ci\.2 of Vault/);
    expect([await isValid(former), await isValid(token)]).toEqual([true, true]);
    const runs = [await ended(daemon)];
    // The next one has nothing to replace.
    const next = watch();
    await next.shows("stdout", /Up to date|unchanged/);
    runs.push(await ended(next));
    expect([replaced(), vault.values.size]).toEqual([1, 2]);
    expectNowhere(token, runs);
    await expectInNoFile(token, source.folder, []);
    await expectInNoFile(token, server.data, []);
  });

  test("is replaced once by two daemons", async () => {
    const { proxy, config, vault, watch, replaced, renewed } = await dueAccount();
    const other = await sourceOf({ ...everyKind, "account.yaml": rotating }, proxy.server);
    expect(await other.runHere(["plan", "--config", config])).toMatchObject({ code: 0 });
    const daemons = [watch(), watch(other)];
    await renewed();
    for (const daemon of daemons) await ended(daemon);
    expect([replaced(), vault.values.size]).toEqual([1, 2]);
  });

  test("is not replaced before its time, nor by a person's apply, nor where nobody has chosen a sink", async () => {
    const { source, config, vault, schedule, watch, replaced } = await dueAccount();
    expect(await source.runHere(["apply", "--yes", "--config", config])).toMatchObject({ code: 0 });
    const sinkless = source.start(["watch"]);
    await sinkless.shows("stdout", /Up to date|unchanged/);
    await ended(sinkless);
    await schedule(new Date(Date.now() + 10 * 86_400_000).toISOString());
    const daemon = watch();
    await daemon.shows("stdout", /Up to date|unchanged/);
    await ended(daemon);
    expect([replaced(), vault.values.size]).toEqual([0, 1]);
  });

  test.each([
    {
      when: "before the control plane has the request",
      fault:
        (kill: () => void): Fault =>
        () =>
          kill(),
    },
    {
      when: "before the reply has arrived",
      fault:
        (kill: () => void): Fault =>
        async ({ forward }) => {
          await forward();
          kill();
        },
    },
  ])("is replaced once if the daemon is killed $when", async ({ fault }) => {
    const { proxy, vault, watch, replaced, renewed, isValid } = await dueAccount();
    const daemon = watch();
    const injected = proxy.inject(
      "reissueVirtualAccount",
      fault(() => daemon.kill("SIGKILL")),
    );
    expect((await daemon.ended).signal).toBe("SIGKILL");
    injected.stop();
    const next = watch();
    const token = await renewed();
    expect(await isValid(token)).toBe(true);
    await ended(next);
    expect([replaced(), vault.values.size]).toEqual([1, 2]);
  });

  test("is kept sealed in the state if the sink loses it, and delivered once the sink works", async () => {
    const { source, vault, watch, replaced, renewed, isValid } = await dueAccount({
      onWrite: (key) => (key.includes("/check/") ? null : "lying"),
    });
    const daemon = watch();
    const lost = await daemon.shows("stderr", /was not replaced: the new one is kept sealed.*/);
    expect(lost[0]).toContain("Vault accepted the token");
    vault.recover();
    const token = await renewed();
    expect(await isValid(token)).toBe(true);
    const run = await ended(daemon);
    expect([replaced(), vault.values.size]).toEqual([1, 2]);
    expectNowhere(token, [run]);
    await expectInNoFile(token, source.folder, []);
  });

  test("stays as it is where the control plane cannot replace it, with the reason", async () => {
    const { proxy, watch, replaced } = await dueAccount();
    proxy.inject("reissueVirtualAccount", ({ reply }) => void reply.writeHead(404).end());
    const daemon = watch();
    await daemon.shows("stderr", /the token of virtual-account\/ci was not replaced/);
    await ended(daemon);
    expect(replaced()).toBe(0);
  });
});
