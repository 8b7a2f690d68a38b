// Serves a control plane as it is told until it is killed, saying on stdout where.
import { flushCompileCache } from "node:module";
import { Secret } from "../../src/contract/secret.ts";
import { createLog } from "../../src/log/log.ts";
import { createControlPlane } from "../../src/server/control-plane.ts";
import { machine } from "../support/machine.ts";

const { data, rolloutSeconds, database, serverKey, adminToken } = JSON.parse(process.argv[2] ?? "{}");
// Its bundle loads parts of it later, for which nothing may be awaited here.
void createControlPlane({
  ...machine,
  data,
  rolloutSeconds,
  ...(database === undefined ? {} : { database: new Secret(database) }),
  ...(serverKey === undefined ? {} : { serverKey: new Secret(serverKey) }),
  ...(adminToken === undefined ? {} : { adminToken: new Secret(adminToken) }),
  log: createLog({ level: "fatal" }),
}).then(({ url }) => {
  process.stdout.write(`${url}\n`);
  // It is killed, and would write nothing at its end.
  flushCompileCache();
});
