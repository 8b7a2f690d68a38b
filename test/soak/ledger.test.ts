import { migrations } from "../../src/engine/ledger-store.ts";
import { sweepDatabase } from "./sweep-database.ts";

sweepDatabase("ledger.db", migrations);
