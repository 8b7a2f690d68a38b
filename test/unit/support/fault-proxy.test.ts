import { expect, test } from "vitest";
import {
  answer,
  dropAfter,
  dropBefore,
  emptyList,
  faultProxy,
  htmlPage,
  listWithout,
  silence,
  tooManyRequests,
} from "../../support/fault-proxy.ts";
import { json, serve } from "../client/server.ts";

const teams = "/api/svc/v1/teams";

async function proxied() {
  const server = await serve((response, _, nth) => json(response, { nth }));
  return { server, proxy: await faultProxy(server) };
}

test("what meets no fault is passed on whole", async () => {
  const { server, proxy } = await proxied();
  const reply = await fetch(`${proxy.url}${teams}?limit=1`, { method: "PUT", body: '{"a":1}' });
  expect(await reply.json()).toEqual({ nth: 1 });
  expect(server.seen).toMatchObject([{ method: "PUT", path: teams, body: '{"a":1}' }]);
  expect(proxy.asked).toMatchObject([{ method: "PUT", path: `${teams}?limit=1`, body: '{"a":1}' }]);
});

test("a fault is met by the operation or the pattern, by the nth request, and until it is taken out", async () => {
  const { proxy } = await proxied();
  const statuses = async (path: string, times: number) => {
    const replies = await Promise.all(Array.from({ length: times }, () => fetch(proxy.url + path)));
    return replies.map(({ status }) => status).toSorted();
  };
  const injected = proxy.inject("listTeams", htmlPage(404), { skip: 1, times: 2 });
  expect(await statuses(teams, 4)).toEqual([200, 200, 404, 404]);
  expect(injected.hits()).toBe(2);
  const other = proxy.inject(/^GET \/api\/ml\//, answer(503, "down"));
  expect(await statuses("/api/ml/v1/ml-repos", 1)).toEqual([503]);
  expect(await statuses(teams, 1)).toEqual([200]);
  other.stop();
  expect(await statuses("/api/ml/v1/ml-repos", 1)).toEqual([200]);
  proxy.inject("listTeams", htmlPage(502));
  proxy.heal();
  expect(await statuses(teams, 1)).toEqual([200]);
});

test("a fault may be for dry runs alone, or for everything else", async () => {
  const { proxy } = await proxied();
  proxy.inject("putTeam", answer(500, { message: "broken" }), { dryRun: false });
  const put = (body: object) => fetch(proxy.url + teams, { method: "PUT", body: JSON.stringify(body) });
  expect((await put({ dryRun: true })).status).toBe(200);
  expect((await put({})).status).toBe(500);
});

test("the usual faults answer as gateways, rate limits and emptied databases do", async () => {
  const { server, proxy } = await proxied();
  proxy.inject("listTeams", emptyList);
  expect(await (await fetch(proxy.url + teams)).json()).toMatchObject({ data: [], pagination: { total: 0 } });
  proxy.inject("listTeams", tooManyRequests(7));
  const limited = await fetch(proxy.url + teams);
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "7"]);
  proxy.inject("listTeams", htmlPage(404));
  expect((await fetch(proxy.url + teams)).headers.get("content-type")).toBe("text/html");
  expect(server.seen).toEqual([]);
});

test("rows are left out of a list as if they had been deleted", async () => {
  const rows = [{ name: "ml" }, { name: "web" }];
  const server = await serve((response) => json(response, { data: rows, pagination: { total: 2, offset: 0 } }));
  const proxy = await faultProxy(server);
  proxy.inject("listTeams", listWithout('"ml"'));
  const reply = await fetch(proxy.url + teams);
  expect(await reply.json()).toEqual({ data: [{ name: "web" }], pagination: { total: 1, offset: 0 } });
});

test("a connection is dropped before or after the request had its effect, or left without an answer", async () => {
  const { server, proxy } = await proxied();
  const { hit } = proxy.inject("listTeams", dropBefore);
  await expect(fetch(proxy.url + teams)).rejects.toThrow();
  await hit;
  expect(server.seen).toHaveLength(0);
  proxy.inject("listTeams", dropAfter);
  await expect(fetch(proxy.url + teams)).rejects.toThrow();
  expect(server.seen).toHaveLength(1);
  const silent = proxy.inject("listTeams", silence);
  const stop = new AbortController();
  const unanswered = fetch(proxy.url + teams, { signal: stop.signal });
  await silent.hit;
  stop.abort();
  await expect(unanswered).rejects.toThrow();
  expect(server.seen).toHaveLength(1);
});
