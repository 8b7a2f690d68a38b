import { expect, test } from "vitest";
import { calm, dial, json, serve } from "./server.ts";

const manifest = { type: "team", name: "ml", members: ["a@example.com"] };

test("a write gives the data of the envelope", async () => {
  const server = await serve((response) => json(response, { data: { id: "t1", teamName: "ml", manifest } }));
  const { writer } = dial(server.url);
  const sent = await writer.send("putTeam", { body: { manifest } }, calm);
  expect(sent).toMatchObject({ state: "applied", status: 200, data: { id: "t1" }, token: null, attempts: 1 });
  expect(server.seen).toHaveLength(1);
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ manifest });
});

test("a refusal is an answer with every detail, not an exception", async () => {
  const details = [{ pointer: "/members", message: "needs at least one", code: "min-items" }];
  const server = await serve((response) =>
    json(response, { statusCode: 422, message: "refused", code: "invalid", details }, { status: 422 }),
  );
  const { writer } = dial(server.url);
  const sent = await writer.send("putTeam", { body: { manifest } }, calm);
  expect(sent).toEqual({
    state: "refused",
    reason: "refused",
    status: 422,
    code: "invalid",
    message: "refused",
    details,
    attempts: 1,
  });
});
