import { migrations } from "../../src/control-plane/data/migrations.ts";
import { sweepDatabase } from "./sweep-database.ts";

sweepDatabase("control-plane.db", migrations);
