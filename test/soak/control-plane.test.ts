import { migrations } from "../../src/server/database/migrations.ts";
import { sweepDatabase } from "./sweep-database.ts";

sweepDatabase("control-plane.db", migrations);
