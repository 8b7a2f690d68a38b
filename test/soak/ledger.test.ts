import { stateMigrations } from "../../src/state/database/state-schema.ts";
import { sweepDatabase } from "./sweep-database.ts";

sweepDatabase("ledger.db", stateMigrations());
