import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { Claimant, OwnClaims } from "../../src/commands/targets/claims.ts";
import { createFleetClaims } from "../../src/commands/targets/fleet-claims.ts";
import { Secret } from "../../src/contract/secret.ts";
import { databaseClaims } from "../../src/state/open-state.ts";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { temporaryFolder } from "../support/folder.ts";
import { machine } from "../support/machine.ts";
import { randomFrom } from "../support/random.ts";
import { databaseOf } from "../support/test-database.ts";

const server = "https://plane.example.com";
const keyText = "11".repeat(32);
const always = (): boolean => true;
const never = (): boolean => false;

/** A database, and claims in it as each process of a fleet has them. */
async function database() {
  const url = (await databaseOf(await temporaryFolder(), "template1")) ?? "";
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const claimsAt = (address: string) => {
    const claims = databaseClaims(new Secret(address), { ...machine, readKey: () => keyText });
    onTestFinished(() => claims[Symbol.asyncDispose]());
    return claims;
  };
  const rows = async (query: string): Promise<readonly { readonly [column: string]: unknown }[]> =>
    (await client.query(query)).rows;
  return { url, rows, claimsAt, process: () => claimsAt(url) };
}

const named = (...names: readonly string[]): ReadonlySet<string> => new Set(names.map((name) => `team/${name}`));
const numbered = (count: number, prefix = "n"): ReadonlySet<string> =>
  named(...Array.from({ length: count }, (_, nth) => `${prefix}${nth}`));
const of = (target: string) => ({ server, target });

test("a target's claims are written once, and then only what changes in them; no row tells what is declared", async () => {
  const { rows, process } = await database();
  const claims = process();
  const writers = () => rows("SELECT xmin::text, count(*)::int FROM holdfast_claims.claim GROUP BY 1 ORDER BY 2");
  expect(await claims.claim(numbered(12_000), of("a"), always)).toBeNull();
  expect(await writers()).toMatchObject([{ count: 12_000 }]);
  const claimant = "SELECT xmin::text, number, server, target FROM holdfast_claims.claimant";
  const before = await rows(claimant);
  expect(before).toMatchObject([{ number: "1", server, target: "a" }]);
  expect(await process().claim(numbered(12_000), of("a"), always)).toBeNull();
  expect(await rows(claimant)).toEqual(before);
  const changed = new Set([...numbered(11_999), ...named("new")]);
  expect(await claims.claim(changed, of("a"), always)).toBeNull();
  expect(await writers()).toMatchObject([{ count: 1 }, { count: 11_999 }]);
  const asked = [...named("n0", "n11999", "new", "other")];
  expect(await claims.owners(asked, server)).toEqual(new Map([...named("n0", "new")].map((one) => [one, "a"])));
  expect(await claims.owners(asked, "https://other.example.com")).toEqual(new Map());
  const text = JSON.stringify([...(await rows("SELECT * FROM holdfast_claims.claim LIMIT 100")), ...before]);
  expect(text).not.toContain("team");
});

test("of two machines that claim the same at the same moment, one has all of it and the other one is told", async () => {
  const { rows, process } = await database();
  const machines = [process(), process()];
  for (let round = 0; round < 5; round += 1) {
    const declared = numbered(6000, `r${round}-`);
    const found = await Promise.all(
      machines.map((claims, nth) => claims.claim(declared, of(`${round}-${nth}`), always)),
    );
    expect(found.filter((one) => one === null)).toHaveLength(1);
    const owner = `${round}-${found.indexOf(null)}`;
    expect(found.find((one) => one !== null)).toMatchObject({ target: owner, number: 1 });
    expect(new Set((await machines[0]?.owners(declared, server))?.values())).toEqual(new Set([owner]));
  }
  expect(await rows("SELECT 1 FROM holdfast_claims.claim")).toHaveLength(30_000);
});

test("a claim that does not stand is taken over, and its target claims again what it still declares", async () => {
  const { process } = await database();
  const claims = process();
  await claims.claim(named("x", "y"), of("removed"), always);
  expect(await claims.claim(named("x"), of("a"), never)).toBeNull();
  expect(await claims.owners(named("x", "y"), server)).toEqual(
    new Map([
      ["team/x", "a"],
      ["team/y", "removed"],
    ]),
  );
  // Its digest would say that nothing has changed.
  expect(await claims.claim(named("x", "y"), of("removed"), always)).toMatchObject({ identity: "team/x", target: "a" });
});

test("what a target has not claimed yet is introduced by others, but takes nothing from anybody", async () => {
  const { process } = await database();
  const claims = process();
  await claims.claim(named("x"), of("a"), always);
  await claims.introduce(named("x", "y"), of("new"));
  await claims.introduce(named("z"), of("a"));
  expect(await claims.owners(named("x", "y", "z"), server)).toEqual(
    new Map([
      ["team/x", "a"],
      ["team/y", "new"],
    ]),
  );
  expect(await claims.targets(server)).toEqual(new Set(["a", "new"]));
  expect(await claims.claim(named("y", "z"), of("new"), always)).toBeNull();
  expect((await claims.owners(named("z"), server)).get("team/z")).toBe("new");
});

test("claims that a newer release has upgraded are refused, also in a process that has them open", async () => {
  const { rows, process } = await database();
  const claims = process();
  await claims.claim(named("x"), of("a"), always);
  await rows("INSERT INTO holdfast_claims.holdfast_migration VALUES ('999-newer', '2027-01-01T00:00:00.000Z')");
  for (const one of [claims, process()])
    await expect(one.claim(named("x"), of("a"), always)).rejects.toMatchObject({ code: "newer-schema" });
});

test("without its database a claim fails as other writes do, and goes on when it is back", async () => {
  const { url, claimsAt } = await database();
  const wire = await startBreakableProxy(Number(new URL(url).port));
  const through = new URL(url);
  through.port = String(wire.port);
  const claims = claimsAt(through.href);
  await claims.claim(named("x"), of("a"), always);
  await wire.disconnect();
  await expect(claims.claim(named("y"), of("a"), always)).rejects.toMatchObject({ code: "unreachable" });
  await expect(claimsAt(through.href).owners(named("x"), server)).rejects.toMatchObject({ code: "unreachable" });
  await wire.restore();
  expect(await claims.claim(named("y"), of("a"), always)).toBeNull();
  expect(await claims.owners(named("x", "y"), server)).toEqual(new Map([["team/y", "a"]]));
});

/** What the targets of a configuration declare at their newest commits, and how a process reads that. */
function sourcesOf(targets: readonly string[]) {
  const declaring = new Map(targets.map((name) => [name, { version: 0, declared: named() }]));
  const versions: { readonly target: string; readonly declared: ReadonlySet<string> }[] = [];
  const commit = (target: string, declared: ReadonlySet<string>): void => {
    declaring.set(target, { version: (declaring.get(target)?.version ?? 0) + 1, declared });
    versions.push({ target, declared });
  };
  const newest = (target: string) => declaring.get(target) ?? { version: 0, declared: named() };
  const names = new Map<Claimant, string>();
  const claimants = new Map(
    targets.map((name) => {
      const target = (): never => {
        throw new TypeError("only its declarations are read");
      };
      const claimant: Claimant = { target, server, isRun: false, hasPasses: true };
      names.set(claimant, name);
      return [name, claimant];
    }),
  );
  /** The claims of a process, which reads a source as the test says. */
  const claimsOf = (
    recorded: ReturnType<typeof databaseClaims>,
    reading: (target: string) => Promise<ReadonlySet<string> | null>,
  ) => {
    const own: OwnClaims = {
      setClaimants: () => {},
      of: () => ({ claim: async () => {}, takeRead: () => null, declaredElsewhere: async () => new Set() }),
      require: async () => {},
      read: (claimant) => reading(names.get(claimant) ?? ""),
    };
    const claims = createFleetClaims(recorded, own);
    claims.setClaimants(claimants);
    return (target: string, declared = newest(target).declared) => claims.of(target, server).claim(declared);
  };
  return { commit, newest, versions, claimsOf };
}

const twice = (identity: string, ...[one, other]: readonly string[]) =>
  `${identity} is declared in two targets of one control plane: ${one}, ${other}`;

test("no source is read before one declares what another target has, and then only that one", async () => {
  const { process } = await database();
  const { commit, newest, claimsOf } = sourcesOf(["a", "b", "c"]);
  const read: string[] = [];
  const claim = claimsOf(process(), async (target) => {
    read.push(target);
    return newest(target).declared;
  });
  commit("a", named("x"));
  commit("b", named("y"));
  await claim("a");
  await claim("b");
  await claim("c");
  expect(read).toEqual([]);
  commit("b", named("x", "y"));
  await expect(claim("b")).rejects.toThrow(twice("team/x", "b", "a"));
  expect(read).toEqual(["a"]);
  commit("a", named("z"));
  await claim("b");
  await claim("a");
  expect(read).toEqual(["a", "a"]);
});

test("a target whose source cannot be read keeps what it has claimed", async () => {
  const { process } = await database();
  const { commit, claimsOf } = sourcesOf(["a", "b"]);
  const claim = claimsOf(process(), async () => null);
  commit("a", named("x"));
  await claim("a");
  await expect(claim("b", named("x"))).rejects.toThrow(twice("team/x", "b", "a"));
});

test("what another machine claims again while its source is read is not taken over by what was read", async () => {
  const { process } = await database();
  const { commit, newest, claimsOf } = sourcesOf(["a", "b"]);
  const elsewhere = claimsOf(process(), async (target) => newest(target).declared);
  commit("a", named("x"));
  await elsewhere("a");
  commit("a", named());
  let readings = 0;
  const claim = claimsOf(process(), async (target) => {
    readings += 1;
    const { declared } = newest(target);
    if (readings > 1) return declared;
    commit("a", named("x"));
    await elsewhere("a");
    return declared;
  });
  await expect(claim("b", named("x"))).rejects.toThrow(twice("team/x", "b", "a"));
  expect(readings).toBe(2);
});

const seed = Number(process.env.HOLDFAST_CLAIMS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const steps = Number(process.env.HOLDFAST_CLAIMS_STEPS ?? 60);

test(`three processes that claim as sources change never give a resource to two newest commits (seed ${seed})`, {
  timeout: 180_000 + 1000 * steps,
}, async () => {
  const { rows, process: machineOf } = await database();
  const targets = ["a", "b", "c", "d"];
  const { commit, newest, versions, claimsOf } = sourcesOf(targets);
  const running = new Set<string>();
  const accepted = new Map<string, { readonly version: number; readonly declared: ReadonlySet<string> }>();
  const overlaps = () =>
    targets.flatMap((one) =>
      targets
        .filter((other) => one < other)
        .filter((other) => [one, other].every((name) => accepted.get(name)?.version === newest(name).version))
        .map((other) => accepted.get(one)?.declared.intersection(accepted.get(other)?.declared ?? named()))
        .filter((both) => both !== undefined && both.size > 0),
    );
  const pass = async (claim: ReturnType<typeof claimsOf>, target: string): Promise<void> => {
    const from = versions.length;
    const before = new Map(targets.map((name) => [name, newest(name).declared]));
    const claimed = newest(target);
    try {
      await claim(target, claimed.declared);
    } catch (error) {
      const text = error instanceof Error ? error.message : "";
      const [, identity = "", other = ""] = /^(\S+) is declared in two targets .*, (\w)$/.exec(text) ?? [];
      const since = versions.slice(from).filter((one) => one.target === other);
      const isTrue = [before.get(other), ...since.map(({ declared }) => declared)].some((all) => all?.has(identity));
      expect({ text, isTrue }).toEqual({ text, isTrue: true });
      return;
    }
    accepted.set(target, claimed);
    expect(overlaps()).toEqual([]);
  };
  const lane = async (nth: number): Promise<void> => {
    const chance = randomFrom(seed + nth);
    const any = <One>(all: readonly One[]): One => all[Math.floor(chance() * all.length)] as One;
    const claim = claimsOf(machineOf(), async (target) => {
      // A source is read at some moment while others claim.
      for (let wait = chance() * 4; wait > 1; wait -= 1) await rows("SELECT 1");
      const { declared } = newest(target);
      for (let wait = chance() * 4; wait > 1; wait -= 1) await rows("SELECT 1");
      return declared;
    });
    for (let step = 0; step < steps; step += 1) {
      if (chance() < 0.6) commit(any(targets), named(...["u", "v", "w", "x", "y", "z"].filter(() => chance() < 0.3)));
      const target = any(targets.filter((name) => !running.has(name)));
      running.add(target);
      await pass(claim, target);
      running.delete(target);
    }
  };
  await Promise.all([1, 2, 3].map(lane));
  const claim = claimsOf(machineOf(), async (target) => newest(target).declared);
  for (const target of targets) await pass(claim, target);
  const declared = targets.reduce<ReadonlySet<string>>((all, name) => all.union(newest(name).declared), new Set());
  // Whatever refused targets have claimed before, it is refused to nobody once no source declares it.
  const probing = sourcesOf([...targets, "probe"]);
  for (const target of targets) probing.commit(target, newest(target).declared);
  const probe = probing.claimsOf(machineOf(), async (target) => probing.newest(target).declared);
  await probe("probe", named("u", "v", "w", "x", "y", "z").difference(declared));
  expect(await rows("SELECT key FROM holdfast_claims.claim GROUP BY key HAVING count(*) > 1")).toEqual([]);
});
