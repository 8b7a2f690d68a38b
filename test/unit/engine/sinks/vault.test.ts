import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Secret } from "../../../../src/contract/secret.ts";
import { sink as vault } from "../../../../src/engine/sinks/vault.ts";
import type { Sink, SinkSettings } from "../../../../src/engine/token-sink.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";
import { startVault } from "../../../support/token-stores/vault.ts";

async function opened(settings: SinkSettings, env = {}): Promise<Sink & { readonly folder: string }> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "account-token"), "account-token");
  return { ...vault.open({ folder, server: "platform_443", settings, cwd: folder, env, ...machine }), folder };
}

const token = new Secret("CANARY-token");

// Vault is a double here, written from its documentation.
describe("the sink vault", () => {
  test("writes where the settings say, only if nothing is there, and names the place", async () => {
    const { url, caFile, token: credential, values, seen } = await startVault({ mount: "kv/prod" });
    const settings = { url, caFile, mount: "kv/prod", path: "platform/tokens", namespace: "team-a" };
    const sink = await opened(settings, { VAULT_TOKEN: credential });
    expect(await sink.deliver("virtual-account/ci", token)).toBe(
      "kv/prod/platform/tokens/platform_443/virtual-account/ci of Vault",
    );
    expect([...values]).toEqual([["platform/tokens/platform_443/virtual-account/ci", "CANARY-token"]]);
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "PUT /v1/kv/prod/data/platform/tokens/platform_443/virtual-account/ci",
      "GET /v1/kv/prod/data/platform/tokens/platform_443/virtual-account/ci",
    ]);
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ data: { token: "CANARY-token" }, options: { cas: 0 } });
    expect(seen[0]?.headers).toMatchObject({ "x-vault-namespace": "team-a", "x-vault-token": credential });
  });

  test("is checked by a value that it writes, reads and deletes", async () => {
    const { url, caFile, token: credential, seen, values } = await startVault();
    const sink = await opened({ url, caFile }, { VAULT_TOKEN: credential });
    await sink.check("virtual-account/ci");
    expect(seen.map(({ method }) => method)).toEqual(["PUT", "GET", "DELETE", "GET"]);
    expect(values.size).toBe(0);
  });

  test("signs in as the service account of its pod once, where a role is named", async () => {
    const { url, caFile, seen, values } = await startVault();
    const sink = await opened({ url, caFile, role: "holdfast", tokenFile: "account-token" });
    await sink.deliver("virtual-account/ci", token);
    expect(values.size).toBe(1);
    expect(seen.filter(({ path }) => path === "/v1/auth/kubernetes/login")).toHaveLength(1);
    const other = await opened({ url, caFile, role: "other", tokenFile: "account-token" });
    await expect(other.check("virtual-account/ci")).rejects.toThrow(
      "Vault refused the sign-in with the role other (403)",
    );
  });

  test.each([
    {
      is: "an engine of version 1, which would overwrite",
      double: { isVersion1: true },
      settings: {},
      says: "secret is no KV secrets engine of version 2",
    },
    {
      is: "a mount that is not there",
      double: {},
      settings: { mount: "other" },
      says: "(404): no KV secrets engine of version 2 is mounted there",
    },
    {
      is: "a token that is not valid",
      double: {},
      settings: { tokenFile: "account-token" },
      says: "(403): its token is not valid, or no policy",
    },
    {
      is: "a token file that is missing",
      double: {},
      settings: { tokenFile: "missing" },
      says: "missing cannot be read (ENOENT)",
    },
  ])("refuses $is before there is a token", async ({ double, settings, says }) => {
    const { url, caFile, token: credential } = await startVault(double);
    const sink = await opened({ url, caFile, ...settings }, { VAULT_TOKEN: credential });
    await expect(sink.check("virtual-account/ci")).rejects.toThrow(says);
  });

  test("trusts only the authorities that it is given", async () => {
    const { url, token: credential, seen } = await startVault();
    const { caFile: other } = await startVault();
    const sink = await opened({ url, caFile: other }, { VAULT_TOKEN: credential });
    await expect(sink.check("virtual-account/ci")).rejects.toThrow("Vault cannot be reached: ");
    expect(seen).toEqual([]);
  });

  test.each([
    { settings: {}, says: "nothing says where Vault is" },
    { settings: { url: "https://vault.example.com" }, says: "nothing says as whom to sign in to Vault" },
    {
      settings: { url: "http://vault.example.com", role: "holdfast" },
      says: "the url of Vault must begin with https://",
    },
  ])("is not opened with settings that cannot work: $says", async ({ settings, says }) => {
    await expect(opened(settings)).rejects.toThrow(says);
  });
});
