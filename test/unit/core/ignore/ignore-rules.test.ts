import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isIgnored, ruleFinder } from "../../../../src/core/ignore/ignore-rules.ts";
import { keepIgnored, manifestToSend } from "../../../../src/core/ignore/keep-ignored.ts";
import type { Live } from "../../../../src/core/live.ts";
import { kindOf } from "../../../../src/kinds/index.ts";
import { globMatcher } from "../../../../src/model/glob.ts";
import { processorMs } from "../../../support/processor-time.ts";
import { against, declare, present, service, shapeOf } from "../given.ts";

describe("a glob", () => {
  test.each([
    ["service/c1:ws1/*", "service/c1:ws1/api", true],
    ["service/*", "service/c1:ws1/api", false],
    ["service/**", "service/c1:ws1/api", true],
    ["**", "cluster/c1", true],
    ["**/api", "service/c1:ws1/api", true],
    ["**/api", "api", true],
    ["cluster/c?", "cluster/c1", true],
    ["cluster/c?", "cluster/c12", false],
    ["cluster/c.", "cluster/c1", false],
    ["cluster/(c1|c2)", "cluster/c1", false],
    ["cluster/[c]1", "cluster/c1", false],
    ["chat_prompt/r/*@*", "chat_prompt/r/greeter@3", true],
    ["", "", true],
  ])("%s on %s is %s", (glob, text, matches) => {
    expect(globMatcher(glob)(text)).toBe(matches);
  });

  test("without stars and question marks matches its own text and no other", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const [glob, text] = [one.replaceAll(/[*?]/g, "x"), other.replaceAll(/[*?]/g, "x")];
        expect(globMatcher(glob)(glob)).toBe(true);
        expect(globMatcher(glob)(text)).toBe(glob === text);
      }),
    );
  });

  test("matches in bounded time, however many stars it has", () => {
    const started = processorMs();
    globMatcher("*a".repeat(12))(`${"a".repeat(60)}/`);
    globMatcher("**/".repeat(12))(`${"a/".repeat(60)}!`);
    expect(processorMs() - started).toBeLessThan(1_000);
  });
});

describe("an ignore rule", () => {
  const tokens = (path: string) => ruleFinder([{ path, reason: "r" }], "2026-11-21")("service/x");

  test.each([
    ["/replicas", ["replicas"], true],
    ["/replicas", ["replicas", "min_replicas"], true],
    ["/replicas/min_replicas", ["replicas"], false],
    ["/ports/*/host", ["ports", "80:TCP", "host"], true],
    ["/ports/*/host", ["ports", "80:TCP", "path"], false],
    ["/labels/a~1b", ["labels", "a/b"], true],
    ["/labels/*", ["labels", "x"], true],
    ["/labels/*", ["labels"], false],
    ["", ["anything"], true],
  ])("%s on %j is %s", (path, at, matches) => {
    expect(isIgnored(tokens(path), at)).toBe(matches);
  });

  test("holds on its last day", () => {
    const rule = { path: "/x", reason: "r", expires: "2026-11-21" };
    expect(ruleFinder([rule], "2026-11-21")("x")).toHaveLength(1);
    expect(ruleFinder([rule], "2026-11-22")("x")).toHaveLength(0);
  });
});

test("rules are found once for each resource", () => {
  const find = ruleFinder([{ path: "/x", reason: "r", match: "team/*" }], "2026-11-21");
  expect(find("team/a")).toEqual([["x"]]);
  expect(find("team/a")).toBe(find("team/a"));
  expect(find("cluster/a")).toEqual([]);
});

describe("what is sent when somebody else keeps a field", () => {
  const shape = shapeOf("service");
  const keep = (desired: object, live: object, ...paths: readonly (readonly string[])[]) =>
    keepIgnored(shape, service({ ...desired }), service({ ...live }), paths);

  test("carries the field as live has it", () => {
    expect(keep({ replicas: 2 }, { replicas: 9 }, ["replicas"])).toEqual(service({ replicas: 9 }));
    expect(keep({ replicas: 2 }, {}, ["replicas"])).toEqual(service());
    expect(keep({}, { replicas: 9 }, ["replicas"])).toEqual(service({ replicas: 9 }));
  });

  test("follows the fields of objects and leaves their others as declared", () => {
    expect(keep({ labels: { a: "1", b: "1" } }, { labels: { a: "2", b: "2" } }, ["labels", "a"])).toEqual(
      service({ labels: { a: "2", b: "1" } }),
    );
    expect(keep({}, { resources: { cpu_limit: 2 } }, ["resources", "cpu_limit"])).toEqual(
      service({ resources: { cpu_limit: 2 } }),
    );
  });

  test("follows items of keyed lists, with the defaults of their keys", () => {
    const [desired, live] = [
      { ports: [{ port: 80, host: "a" }, { port: 90 }] },
      {
        ports: [
          { port: 90, protocol: "TCP" },
          { port: 80, protocol: "TCP", host: "b" },
        ],
      },
    ];
    expect(keep(desired, live, ["ports", "80:TCP", "host"])).toEqual(
      service({ ports: [{ port: 80, host: "b" }, { port: 90 }] }),
    );
    expect(keep({}, live, ["ports", "90:TCP"])).toEqual(service({ ports: [{ port: 90, protocol: "TCP" }] }));
    expect(keep(desired, {}, ["ports", "90:TCP"])).toEqual(service({ ports: [{ port: 80, host: "a" }] }));
  });

  test.each<[string, object, object, readonly string[], object]>([
    ["of what is no object", { replicas: 2 }, { replicas: { min: 1 } }, ["replicas", "min"], { replicas: 2 }],
    [
      "of what live has no object for",
      { replicas: { min: 1 } },
      { replicas: 2 },
      ["replicas", "min"],
      { replicas: { min: 1 } },
    ],
    ["alone in an object that live lacks", { resources: { cpu_limit: 2 } }, {}, ["resources", "cpu_limit"], {}],
    ["alone in an object that live has", { labels: { a: "1" } }, { labels: {} }, ["labels", "a"], { labels: {} }],
    ["of an item that nobody has", {}, {}, ["ports", "80:TCP"], {}],
    ["of an item beside others", { ports: [{ port: 90 }] }, {}, ["ports", "80:TCP"], { ports: [{ port: 90 }] }],
    ["of the only item", { ports: [{ port: 80 }] }, {}, ["ports", "80:TCP"], {}],
    [
      "of an item without a name, which live lacks",
      { kustomize: { additions: ["a", "b"] } },
      { kustomize: { additions: ["a"] } },
      ["kustomize", "additions", "1"],
      { kustomize: { additions: ["a", "b"] } },
    ],
  ])("leaves out nothing else: a field %s", (_, desired, live, path, sent) => {
    expect(keep(desired, live, path)).toStrictEqual(service({ ...sent }));
  });

  test.each<[string, Live | undefined, readonly (readonly string[])[], number]>([
    ["live's value where it is ignored", present(service({ replicas: 9 })), [["replicas"]], 9],
    ["the declared one where it is not", present(service({ replicas: 9 })), [], 2],
    ["the declared one where nothing is live", { state: "absent" }, [["replicas"]], 2],
    ["the declared one where live was not read", undefined, [["replicas"]], 2],
  ])("has %s", (_, live, ignored, replicas) => {
    const kind = kindOf("service");
    if (kind === undefined) throw new TypeError("no kind");
    expect(manifestToSend(kind, declare(service({ replicas: 2 })), live, { ignored })).toEqual(service({ replicas }));
  });

  test("takes nothing from the prototype of objects", () => {
    expect(keep({ labels: { a: "1" } }, { labels: { a: "1" } }, ["labels", "constructor"])).toEqual(
      service({ labels: { a: "1" } }),
    );
  });

  test("differs from live in nothing but what is not ignored", () => {
    const desired = service({ replicas: 2, service_account: "new", ports: [{ port: 80, host: "a" }] });
    const live = service({ replicas: 9, service_account: "old", ports: [{ port: 80, protocol: "TCP", host: "b" }] });
    const ignore = [
      { path: "/replicas", reason: "r" },
      { path: "/ports/*/host", reason: "r" },
    ];
    const { decision } = against(desired, present(live), { ignore });
    const sent = keepIgnored(shape, desired, live, decision.ignored);
    const again = against(sent as typeof desired, present(live), {});
    expect(again.changes.map(({ path }) => path)).toEqual(["/service_account"]);
    expect(declare(desired).identity).toBe(again.identity);
  });
});
