/** Every defect that a sweep, or the fault test before them, has found; each has a test that names its case. */
export const defects: { readonly [name: `F${number}`]: string } = {
  F72: "A crash or a full disk while a database was created or upgraded left it unusable.",
  F73: "One stray page on an extension route was taken to mean that the extension is missing, for good.",
  F74: "Leases on overlapping scopes did not exclude each other, so that two writers made services twice.",
  F75: "Recovery sent a write of an interrupted run again although its manifest had changed or left git.",
  F76: "A kill could lose what a run had learned of a server, and later model versions were blocked for good.",
  F77: "A field under an `ignore` rule was recorded as if it were ours, and its drift stayed invisible without the rule.",
  F78: "A version made twice and an account created without its token went unnoticed where no keys are taken.",
  F79: "One empty list made the next apply create everything again that the ledger knows.",
  F80: "A write sent again after an ambiguous outcome carried a new idempotency key, so that a late request doubled it.",
  F81: "A `Retry-After` of an hour was waited for in silence.",
  F82: "A full disk under the server was an internal error, and an unwritable state folder stopped even `plan` and `drift`.",
  F83: "`watch` made accounts without a chosen sink, and an unreadable list was planned as if nothing existed.",
  F84: "Two state folders on a server without leases made versions twice without a warning.",
};
