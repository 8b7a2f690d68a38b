import { migrations } from "../../src/server/data/migrations.ts";
import { sweepDatabase } from "./sweep-database.ts";

sweepDatabase("control-plane.db", migrations);
