import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { impossibleDate, pastDate, type Rule, type RuleContext } from "../rule.ts";
import { error, type SchemaDiagnostic, warning } from "../schema-diagnostic.ts";

/** Rules of virtual accounts. */
export const rules: readonly Rule[] = [expiry, rotation, store];

const BUILTIN_PATH = /^[A-Za-z0-9_.-]{1,64}\/[A-Za-z0-9_.-]{1,128}$/;

function expiry({ expiration_date: day }: JsonObject, { now }: RuleContext): readonly SchemaDiagnostic[] {
  const pointer = "/expiration_date";
  return [...impossibleDate(day, pointer), ...(now === undefined ? [] : pastDate(day, pointer, now))];
}

function rotation({ auto_rotate: rotate }: JsonObject): readonly SchemaDiagnostic[] {
  if (!isObject(rotate)) return [];
  const { auto_rotate_interval: interval, grace_period: grace } = rotate;
  if (typeof interval !== "number" || typeof grace !== "number" || grace < interval) return [];
  return [warning("/auto_rotate/grace_period", "inconsistent", "former tokens are still valid at the next rotation")];
}

function store({ secret_store_config: config }: JsonObject): readonly SchemaDiagnostic[] {
  if (!isObject(config) || config.integration_fqn !== "builtin") return [];
  const pointer = "/secret_store_config/secret_path";
  const path = text(config.secret_path);
  if (path === undefined)
    return [error(pointer, "missing-field", "`secret_path` is missing: the built-in store needs one")];
  if (BUILTIN_PATH.test(path)) return [];
  return [error(pointer, "invalid-form", "`secret_path` must be group/key for the built-in store")];
}
