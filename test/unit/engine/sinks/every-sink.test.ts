import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../../../src/clock/system.ts";
import { Secret } from "../../../../src/contract/secret.ts";
import { sinks } from "../../../../src/engine/sinks/index.ts";
import type { Sink, SinkSettings, SinkType } from "../../../../src/engine/token-sink.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { startKubernetes } from "../../../support/token-stores/kubernetes.ts";
import { tokenProgram } from "../../../support/token-stores/program.ts";
import type { StoreFault } from "../../../support/token-stores/store-fault.ts";
import { startVault } from "../../../support/token-stores/vault.ts";

/** A place for tokens: what a sink is given to store there, what it has, and what goes wrong with it. */
type Place = {
  readonly settings: SinkSettings;
  readonly env?: { readonly [name: string]: string };
  readonly folder: string;
  readonly values: () => readonly string[];
  readonly fault: (fault: StoreFault | null) => Promise<void> | void;
};

/** The place of each sink. Those of `vault` and `kubernetes` are doubles written from the documentation of these systems. */
const places: {
  readonly [sink: string]: { readonly faults: readonly StoreFault[]; readonly make: () => Promise<Place> };
} = {
  file: {
    faults: ["refused"],
    make: async () => {
      const folder = await temporaryFolder();
      const top = join(folder, "tokens");
      const values = (): readonly string[] =>
        readdirSync(top, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8").trimEnd());
      const fault = async (wanted: StoreFault | null): Promise<void> => {
        if (wanted === null) {
          await rm(top);
          return rename(`${top}.away`, top);
        }
        await mkdir(top, { recursive: true, mode: 0o700 });
        await rename(top, `${top}.away`);
        await writeFile(top, "");
      };
      return { settings: {}, folder, values, fault };
    },
  },
  vault: {
    faults: ["full", "refused", "lying", "quoting", "reply-lost"],
    make: async () => {
      const { url, caFile, token, values, fault } = await startVault();
      const folder = await temporaryFolder();
      const tokenFile = join(folder, "vault-token");
      await writeFile(tokenFile, `${token}\n`);
      return { settings: { url, caFile, tokenFile }, folder, values: () => [...values.values()], fault };
    },
  },
  kubernetes: {
    faults: ["full", "refused", "lying", "quoting", "reply-lost"],
    make: async () => {
      const { url, caFile, token, values, fault } = await startKubernetes();
      const folder = await temporaryFolder();
      const tokenFile = join(folder, "account-token");
      await writeFile(tokenFile, token);
      const decoded = (): readonly string[] =>
        [...values.values()].map((value) => Buffer.from(value, "base64").toString("utf8"));
      return { settings: { url, caFile, tokenFile, namespace: "tokens" }, folder, values: decoded, fault };
    },
  },
  exec: {
    faults: ["full", "refused", "lying", "quoting", "reply-lost"],
    make: async () => {
      const { command, values, fault } = await tokenProgram();
      return {
        settings: { command },
        env: { PATH: process.env.PATH ?? "" },
        folder: await temporaryFolder(),
        values,
        fault,
      };
    },
  },
};

/** A clock on which only waits are short. */
const clock = { ...systemClock, sleep: async () => undefined };

/** Opens the sink; each is like that of another process. */
function open({ open: openSink }: SinkType, { settings, folder, env = {} }: Place): Sink {
  return openSink({
    folder,
    server: "Platform.example.com_443",
    settings,
    cwd: folder,
    env,
    clock,
    random: systemRandom,
  });
}

const ACCOUNT = "virtual-account/ci";

/** What a value looks like in texts. */
function encodings(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  return [
    value,
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
    bytes.toString("hex"),
    encodeURIComponent(value),
  ];
}

/** Fails unless the promise is rejected with an error without the value anywhere, also in its causes. */
async function failsWithout(value: string, promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error("nothing failed"),
    (cause: unknown) => cause,
  );
  const shown = inspect(error, { depth: 20, showHidden: true, maxStringLength: null });
  for (const form of encodings(value)) expect(shown).not.toContain(form);
  if (!(error instanceof Error)) throw new TypeError("no error");
  expect(error.message).not.toBe("nothing failed");
  return error.message;
}

test("every sink has a place in this test", () => {
  expect(Object.keys(places).toSorted()).toEqual(sinks.map(({ name }) => name).toSorted());
});

describe.each(sinks.map((type) => ({ name: type.name, type })))("the sink $name", ({ name, type }) => {
  const { faults = [], make } = places[name] ?? {};
  const place = async (): Promise<Place> => {
    if (make === undefined) throw new TypeError(`no place for ${name}`);
    return make();
  };

  test("is checked without leaving anything behind", async () => {
    const where = await place();
    await open(type, where).check(ACCOUNT);
    expect(where.values()).toEqual([]);
  });

  test("stores a token once, also when it is delivered again after a crash", async () => {
    const where = await place();
    const token = new Secret("CANARY-one");
    const first = await open(type, where).deliver(ACCOUNT, token);
    expect(await open(type, where).deliver(ACCOUNT, token)).toBe(first);
    expect(where.values()).toEqual(["CANARY-one"]);
    expect(first).toContain("ci");
  });

  test("never overwrites a token: another one gets a place beside it", async () => {
    const where = await place();
    const sink = open(type, where);
    const locations = [];
    for (const value of ["one", "two", "three"]) locations.push(await sink.deliver(ACCOUNT, new Secret(value)));
    expect(new Set(locations).size).toBe(3);
    expect(where.values().toSorted()).toEqual(["one", "three", "two"]);
    expect(await sink.deliver(ACCOUNT, new Secret("two"))).toBe(locations[1]);
  });

  test("loses no token of names that are hard to tell apart, or that its names do not allow", async () => {
    const where = await place();
    const sink = open(type, where);
    const names = [
      "a",
      "A",
      "a_b",
      "a-b",
      "a/b",
      "a.b",
      "..",
      "-",
      "ada@example.com",
      "a--b",
      "é",
      "x".repeat(200),
      "a\nb",
      "%2e",
    ];
    const locations = [];
    for (const one of names)
      locations.push(await sink.deliver(`virtual-account/${one}`, new Secret(`token of ${one}`)));
    expect(new Set(locations).size).toBe(names.length);
    expect(where.values().toSorted()).toEqual(names.map((one) => `token of ${one}`).toSorted());
  });

  test("loses none of many tokens that come at once", async () => {
    const where = await place();
    const sink = open(type, where);
    const tokens = Array.from({ length: 8 }, (_, nth) => `token-${nth}`);
    await Promise.all(tokens.map((token) => sink.deliver(ACCOUNT, new Secret(token))));
    expect(where.values().toSorted()).toEqual(tokens);
  });

  test.each(faults.filter((fault) => fault !== "reply-lost"))(
    "that is %s fails its check and a delivery, with no value in the error, and stores the token later",
    async (fault) => {
      const where = await place();
      const token = new Secret("CANARY-kept/é");
      await where.fault(fault);
      expect(await failsWithout("holdfast-check", open(type, where).check(ACCOUNT))).not.toBe("");
      expect(await failsWithout(token.open(), open(type, where).deliver(ACCOUNT, token))).not.toBe("");
      await where.fault(null);
      expect(where.values()).toEqual([]);
      await open(type, where).check(ACCOUNT);
      await open(type, where).deliver(ACCOUNT, token);
      expect(where.values()).toEqual([token.open()]);
    },
  );

  test("has a token once whose reply was lost after it was stored", async ({ skip }) => {
    if (!faults.includes("reply-lost")) return skip("this store answers without a network");
    const where = await place();
    await where.fault("reply-lost");
    const location = await open(type, where).deliver(ACCOUNT, new Secret("one"));
    await where.fault(null);
    expect(await open(type, where).deliver(ACCOUNT, new Secret("one"))).toBe(location);
    expect(where.values()).toEqual(["one"]);
  });
});
