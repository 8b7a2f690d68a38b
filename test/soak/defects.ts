/** Every defect that a sweep, or the fault test before them, has found; each has a test that names its case. */
export const defects: { readonly [name: `F${number}`]: string } = {
  F72: "A crash or a full disk while a database was created or upgraded left it unusable.",
  F73: "A single 404 page on the route of an extension made Holdfast treat the extension as missing permanently.",
  F74: "Leases on overlapping scopes did not exclude each other, so two writers created services twice.",
  F75: "Recovery sent a write of an interrupted run again although its manifest had changed or left git.",
  F76: "A kill could lose what a run had learned about a server, and later model versions were blocked permanently.",
  F77: "A field under an `ignore` rule was recorded as written, so its drift stayed invisible after the rule was removed.",
  F78: "On servers without idempotency keys, a version created twice and an account created without its token were not reported.",
  F79: "A single empty list made the next apply create every recorded resource again.",
  F80: "A write sent again after an ambiguous outcome carried a new idempotency key, so that a late request doubled it.",
  F81: "Holdfast waited for a `Retry-After` of an hour without a message.",
  F82: "A full disk of the server was answered as an internal error, and a read-only state folder stopped even `plan` and `drift`.",
  F83: "`watch` created accounts without a sink for their tokens, and `plan` treated an unreadable list as empty.",
  F84: "Two state folders on a server without leases created versions twice without a warning.",
};
