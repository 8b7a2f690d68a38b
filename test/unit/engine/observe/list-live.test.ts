import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import type { Identity } from "../../../../src/core/manifest.ts";
import { listLive } from "../../../../src/engine/observe/list-live.ts";
import { kindOf } from "../../../../src/kinds/index.ts";
import { calm, dial, json, page, serve } from "../../client/server.ts";

const NAME = "chat_prompt/r/greeter";

async function surveyed(rows: readonly JsonObject[], declared: readonly Identity[]) {
  const kind = kindOf("chat_prompt");
  if (kind?.list === undefined) throw new TypeError("prompts have a list");
  const server = await serve((response, request) => json(response, page(rows, request)));
  const { reader } = dial(server.url);
  const on = { reader, known: null, ...calm };
  return listLive({ kind, list: kind.list, narrow: {} }, { declared, others: [] }, on);
}

function version(number: number, id = `id-${number}`): JsonObject {
  const manifest = { type: "chat_prompt", name: "greeter", ml_repo: "r", version: number };
  return { id, mlRepo: "r", name: "greeter", version: number, manifest };
}

describe("versions of one name in a list", () => {
  test("are found by number, and without a number the newest one, in whatever order they are listed", async () => {
    const { live } = await surveyed([version(2), version(10), version(1)], [NAME, `${NAME}@1`, `${NAME}@10`]);
    const ids = [NAME, `${NAME}@1`, `${NAME}@10`].map((identity) => live.get(identity));
    expect(ids).toMatchObject([{ row: { version: 10 } }, { row: { version: 1 } }, { row: { version: 10 } }]);
  });

  test("that are not there are absent, with the newest one that is", async () => {
    const { live } = await surveyed([version(2), version(7)], [`${NAME}@3`, "chat_prompt/r/other@3"]);
    expect(live.get(`${NAME}@3`)).toEqual({ state: "absent", newest: 7 });
    expect(live.get("chat_prompt/r/other@3")).toEqual({ state: "absent" });
  });

  test("that are listed twice count as they are listed first", async () => {
    const { live } = await surveyed([version(2, "first"), version(2, "second")], [NAME, `${NAME}@2`]);
    expect([live.get(NAME), live.get(`${NAME}@2`)]).toMatchObject([{ row: { id: "first" } }, { row: { id: "first" } }]);
  });

  test("take time in proportion to their number: 20,000 are found in less than three seconds", async () => {
    const numbers = Array.from({ length: 20_000 }, (_, index) => index + 1);
    const rows = numbers.map((number) => version(number));
    const identities = numbers.map((number) => `${NAME}@${number}` as const);
    const { user } = process.threadCpuUsage();
    const { live } = await surveyed(rows, identities);
    const seconds = (process.threadCpuUsage().user - user) / 1e6;
    expect(identities.every((identity) => live.get(identity)?.state === "present")).toBe(true);
    expect(seconds).toBeLessThan(3);
  });
});
