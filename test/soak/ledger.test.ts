import { ledgerMigrations } from "../../src/state/sqlite/ledger-schema.ts";
import { sweepDatabase } from "./sweep-database.ts";

sweepDatabase("ledger.db", ledgerMigrations);
