export type { Risk } from "../contract/generated/output.ts";
