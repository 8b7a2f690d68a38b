import { stateMigrations } from "../../src/state/sqlite/state-schema.ts";
import { sweepDatabase } from "./sweep-database.ts";

sweepDatabase("ledger.db", stateMigrations());
