// Opens a database of a state folder as the commands do, and says on stdout what came of it.
import { basename } from "node:path";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { StoreError } from "../../src/store/store-error.ts";
import { databases } from "../support/database-schemas.ts";
import { machine } from "../support/machine.ts";

const [path = ""] = process.argv.slice(2);
const database = databases.find(({ name }) => name === basename(path));
if (database === undefined) throw new TypeError(`${path} is no database of a state folder`);
try {
  await (await openSqliteStore(path, database.migrations, machine)).close();
  process.stdout.write(JSON.stringify({ code: null }));
} catch (error) {
  if (!(error instanceof StoreError)) throw error;
  process.stdout.write(JSON.stringify({ code: error.code, message: error.message }));
}
