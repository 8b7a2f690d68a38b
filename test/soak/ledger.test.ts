import { migrations } from "../../src/state/sqlite/ledger.ts";
import { sweepDatabase } from "./sweep-database.ts";

sweepDatabase("ledger.db", migrations);
