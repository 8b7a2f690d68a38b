import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { createLog } from "../../src/log/log.ts";
import { verifyAuditInDatabase } from "../../src/server/offline-admin.ts";
import { caller, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { machine } from "../support/machine.ts";
import { expectAll, type Sent, send, someWrite } from "../support/mixed-writes.ts";
import { randomFrom } from "../support/random.ts";
import { type Apart, kill, serveApart } from "../support/serve-apart.ts";
import { databaseOf, statement } from "../support/test-database.ts";
import { plantWorkspace } from "./platform.ts";

const seed = Number(process.env.HOLDFAST_CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31));
const crashes = Number(process.env.HOLDFAST_CRASHES ?? 4);
const chance = randomFrom(seed);
const timeout = 180_000 + 10_000 * crashes;

test(`F69 after each kill -9, every acknowledged write is there, once and whole (seed ${seed})`, {
  timeout,
}, async () => {
  const data = await temporaryFolder();
  const sent: Sent[] = [];
  for (let nth = 0; nth < crashes; nth += 1) {
    const server = await serveApart(data);
    if (nth === 0) await plant(server);
    sent.push(...(await writeUntilKilled(server, nth)));
  }
  const last = await startControlPlane({ data });
  const { admin, url, adminToken } = last;
  const plane = { url, token: adminToken };
  // Without a key nobody can know what became of it: it is there whole, or not at all.
  const bare = sent.filter(({ reply, key }) => reply === null && key === null);
  // With a key it is sent again, and made once.
  const settled: Sent[] = [];
  let replayed = 0;
  for (const write of sent.filter(({ reply, key }) => reply === null && key !== null)) {
    const again = await send(plane, write);
    expect(again).toMatchObject({ status: 200 });
    settled.push({ ...write, reply: again?.text ?? null });
    if (again?.isReplay) replayed += 1;
  }
  const answered = sent.filter(({ reply }) => reply !== null);
  const present = await expectAll(admin, data, [...answered, ...bare, ...settled]);
  for (const write of [...settled, ...answered].filter(({ key }) => key !== null).slice(0, 20)) {
    expect(await send(plane, write)).toMatchObject({ status: 200, isReplay: true, text: write.reply });
  }
  const database = await databaseOf(data);
  const isSqlite = database === null;
  await last.close();
  const options = { ...machine, data, log: createLog({ level: "silent" }) };
  const audit = await verifyAuditInDatabase(isSqlite ? options : { ...options, database: new Secret(database) }, []);
  // Of each server that was killed some rows are behind its last checkpoint, with numbers that no row has.
  expect(audit).toMatchObject({ findings: [], earlier: 0 });
  expect(audit.chains).toBeGreaterThanOrEqual(crashes);
  if (isSqlite) expect(await statement(data, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  process.stdout.write(
    `${isSqlite ? "SQLite" : "PostgreSQL"}: crashes ${crashes}, acknowledged ${answered.length}, present ${answered.length}, ` +
      `unanswered ${bare.length + settled.length}: without a key ${present} present whole, ${bare.length - present} absent; ` +
      `with one ${replayed} replayed, ${settled.length - replayed} made by the repetition\n`,
  );
});

async function plant({ url, token }: Apart): Promise<void> {
  const admin = caller(url, token);
  await plantWorkspace(admin);
  await admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "repo" } });
}

/** Eight write at once, each what chance wants, until the server is killed at a moment that chance picks. */
async function writeUntilKilled(server: Apart, round: number): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  const { promise: enough, resolve: stop } = Promise.withResolvers<void>();
  const last = 10 + Math.floor(chance() * 80);
  const write = async (writer: number) => {
    for (let nth = 0; ; nth += 1) {
      const wanted = someWrite(chance, { writer, nth: `${round}-${nth}` });
      const reply = await send(server, wanted);
      sent.push({ ...wanted, reply: reply?.text ?? null });
      if (reply === null) return;
      expect([wanted.name, reply.status]).toEqual([wanted.name, 200]);
      if (sent.length === last) stop();
    }
  };
  const writing = Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
  await Promise.race([enough, writing]);
  // Just after a reply the server has little in hand: the moment is to be anywhere between two of them.
  await pause(chance() * 15);
  await kill(server.child);
  await writing;
  return sent;
}
