// src/model: what client and server know about manifests. See docs/architecture.md#source-folders.

import { isCredential, MASK, SHORTEST_CREDENTIAL } from "./credential.ts";

// The last group of each of these is the secret.
const PASSWORDS = [
  // `scheme://user:password@host`. A user alone is shown, and so are a reference such as `secret://tenant:group:key`, a
  // port before a query or the next host, and the tag of an image before its digest.
  /\b(?!(?:[a-z0-9.+-]{1,30}-)?secret:)[a-z][\w+.-]{1,30}:\/\/[^\s/:?#]{0,256}:(?!\d{1,5}[?#,])([^\s/@]{1,256}(?:@[^\s/@?#,;&"']{1,256}){0,4})(?=@(?!sha256:))/dgi,
  // Go's drivers: `user:password@tcp(host)`, `user:password@dialer(host)/database` and `user:password@/database`. A time
  // before a parenthesis is none.
  /(?<![^\s"'])[^\s:/@]{1,256}:(\S{1,256})(?=@(?:tcp6?|udp|unix|cloudsql)\()/dgi,
  /(?<![^\s"'])(?!\d{1,2}:\d\d[@:])[^\s:/@]{1,256}:(\S{1,256})(?=@(?:[\w+.-]{0,32}\([^()\s]{0,256}\)|tcp6?|unix)\/)/dgi,
  /^[^\s:/@]{1,256}:([^\s:/@]{1,256})(?=@\/(?!\/))/dg,
  // Oracle's `user/password@host:port/service` and `user/password@tcps://host`.
  /(?<![^\s"'=])[\w$#]{1,128}\/([^\s@/]{1,256})(?=@(?:tcps?:\/\/|ldaps?:\/\/|\(DESCRIPTION=))/dgi,
  /^[\w$#]{1,128}\/([^\s@/]{1,256})(?=@(?:\/\/[\w.-]{1,255}(?::\d{1,5})?|[\w.-]{1,255}:\d{1,5})\/)/dgi,
  /\bjdbc:oracle:(?:thin|oci8?):[^\s/@:]{1,256}\/([^\s@]{1,256})(?=@)/dgi,
  // Drivers that separate their properties in other ways than `?`, `&` and `;`.
  /\bjdbc:(?:db2|informix-sqli|as400|derby)[^\s;]{1,1024}:(?:password|pwd)=([^\s;&]{1,256})/dgi,
  /\bjdbc:[a-z][^\s;]{1,1024}[(,/](?:password|pwd|logdata)=("[^"]{1,256}"|'[^']{1,256}'|[^\s),&;]{1,256})/dgi,
];

// A quotation contains its own last mark doubled.
const QUOTED = `"(?:[^"]|""){1,1024}"|'(?:[^']|''){1,1024}'|\\{(?:[^}]|\\}\\}){1,1024}\\}|<[^<>]{1,64}>`;
const NAME = "([a-z_](?:[\\w .:$[\\]-]|%5[bd]){0,63}?)";
// A key and its value, after `?`, `&`, `;` or `#`, or at the start of the text. A value may itself be a connection string.
const QUERY_PAIR = new RegExp(`[?&#]\\s{0,8}${NAME}\\s{0,8}=\\s{0,8}(?=(${QUOTED}|[^\\s;&]{1,4096}))`, "dgi");
const PROPERTY = new RegExp(`;\\s{0,8}${NAME}\\s{0,8}=\\s{0,8}(?=(${QUOTED}|[^\\s;]{1,4096}))`, "dgi");
const FIRST_PAIR = new RegExp(`^([a-z_][\\w.:$-]{0,63})=(${QUOTED}|[^\\s;&]{1,4096})`, "dgi");
// Extensions of LDAP's URLs are separated by commas, and `!` marks a critical one.
const BIND_EXTENSION = /[?,]!?((?:x-)?bind_?pw)=([^\s,;&?]{1,256})/dgi;
// Kafka: `…LoginModule required username="user" password="password";`.
const LOGIN_MODULE =
  /LoginModule\s[^;]{0,1024}?\s(\w{0,32}(?:password|secret|token))\s?=\s?("[^"]{1,1024}"|'[^']{1,1024}'|[^\s;"']{1,1024})/dgi;

// Texts of nothing but `key=value`, separated by spaces or commas, as libpq, PDO and clients of Redis write them.
const EACH_PAIR = /(?<=^|[\s,])([\w.-]{1,64})\s{0,8}=\s{0,8}("[^"]{1,1024}"|'[^']{1,1024}'|[^\s,'"]{1,1024})/dg;
const ONE_PAIR = `[\\w.-]{1,64}\\s{0,8}=\\s{0,8}(?:"[^"]{0,1024}"|'[^']{0,1024}'|[^\\s,'"]{0,1024})(?:[\\s,]+|$)`;
const ONLY_PAIRS = new RegExp(
  `^\\s*(?:[a-z]{2,20}:)?(?:(?:[\\w.-]{1,255}(?::\\d{1,5})?,)+(?:${ONE_PAIR})+|(?:${ONE_PAIR}){2,})$`,
);

const SECRET_WORDS =
  "pass(?:word|wd|phrase|code)?|pwd|bind_?pw|secret|token|jwt|credentials?|signature|authorization|" +
  "(?:account|pragma_|pvt|shared|access|secret|private|api|master|storage|function|subscription|signing|encryption|auth)[\\s_.-]?key";
const SHORT_NAMES = "pw|sig|psk|code";
const SECRET_NAME = new RegExp(`(?:${SECRET_WORDS})(?:\\]|%5d)?$|^(?:${SHORT_NAMES})$`, "i");
const ENDS_WITH_NAME = new RegExp(`(?:${SECRET_WORDS}|${SHORT_NAMES})(?:[\\]\\s]|%5d){0,8}$`, "i");
const LAST_OF_NAMES = /[degklnstwy\]\s]/i;
const HARMLESS_NAME = /(?:page|next|continuation|cursor|sync|csrf)[\s_.-]?token$/i;
// Filters, and the special tokens of language models.
const HARMLESS_WORDS =
  /(?:by|com|tres|over|under|(?:low|high|band|all|single|multi|first|second)[\s_.-]?)pass$|(?:^|[\s_.-])(?:pad|bos|eos|unk|sep|cls|mask|stop|start|end|special|image|audio)[\s_.-]?token(?:[\s_.-]?ids?)?$/i;

// A password has any length; the other names also have short values that are no secrets.
const SHORTEST: readonly (readonly [name: RegExp, length: number])[] = [
  [/^code$/i, 32],
  [/(?:jwt|credentials?)$/i, 12],
  [/(?:token|signature|sig|key|authorization)$/i, 8],
];

// What another program fills in, what states only whether there is a secret, and references to one.
const FILLED_IN =
  /^(?:\$[{(]|\$[A-Z_][A-Z0-9_]*$|%[A-Z_][A-Z0-9_]*%$|%[sdv]$|%\(|\{\{|<[^<>]*>$|__\w+__$|#\{|\{(?:\d|\w*(?:pass|pwd|secret|token|key)\w*)\}$)/;
const HIDDEN = /^(?:\*+|x{3,}|\.{3}|…)$|secret:\/\/|\(sensitive\)/i;
const STATEMENT = /^(?:true|false|yes|no|on|off|null|none|required|optional|enabled|disabled)$/i;

/** Whether a name ends like that of a secret and means something else, such as `low_pass` and `pad_token`. */
export function isHarmlessName(name: string): boolean {
  return HARMLESS_WORDS.test(name);
}

/** Whether a text contains a secret of a connection string, such as the password in a URL or after `;Pwd=`. */
export function hasConnectionSecret(text: string): boolean {
  return mayHaveConnectionSecret(text) && findSecrets(text).next().done === false;
}

/** A quick test of a text, or of a whole file: false if nothing in it is such a secret. */
export function mayHaveConnectionSecret(text: string): boolean {
  return mayHaveSecret(text) || (text.includes("%3") && ENCODED.test(text) && mayHaveSecret(decode(text)));
}

function mayHaveSecret(text: string): boolean {
  const hasAt = text.includes("@");
  if (!hasAt && !text.includes("=")) return false;
  for (let at = text.indexOf("="); at >= 0; at = text.indexOf("=", at + 1)) {
    // One letter tells most others apart, and the names are searched in few places.
    if (LAST_OF_NAMES.test(text.charAt(at - 1)) && ENDS_WITH_NAME.test(text.slice(Math.max(0, at - 32), at)))
      return true;
  }
  for (let at = hasAt ? text.indexOf("://") : -1; at >= 0; at = text.indexOf("://", at + 3)) {
    URL_USER.lastIndex = at;
    if (URL_USER.test(text)) return true;
  }
  return text.includes("jdbc:") || (hasAt && HOST.test(text));
}

/** The text with the secrets of its connection strings masked. */
export function redactConnectionSecrets(text: string): string {
  let shown = "";
  let end = 0;
  for (const { from, to } of [...findSecrets(text)].toSorted((a, b) => a.from - b.from)) {
    if (from >= end) shown += text.slice(end, from) + MASK;
    end = Math.max(end, to);
  }
  return shown + text.slice(end);
}

/** Whether a text is in a known credential format or contains a secret of a connection string. */
export function isSecretText(text: string): boolean {
  return isCredential(text) || hasConnectionSecret(text);
}

/** A name as outputs may show it: one that is itself a secret is masked. */
export function redactName(name: string): string {
  return isSecretName(name) ? MASK : name;
}

/** Whether a name is itself a secret. Almost no name is long enough. */
export function isSecretName(name: string): boolean {
  return name.length >= SHORTEST_CREDENTIAL && isSecretText(name);
}

const URL_USER = /:\/\/[^\s/:?#]{0,256}:[^\s/@]{1,256}@/y;
// Of Go's drivers and of Oracle, which write no scheme before the user.
const HOST = /@(?:\/|[\w+.-]{0,32}\(|(?:tcp6?|unix)\/|(?:tcp|ldap)s?:\/\/|[\w.-]{1,255}:\d{1,5}\/)/i;

type Span = { readonly from: number; readonly to: number };

// `=` or `:` of a connection string that is itself a value of a URL, as in `?odbc_connect=…%3BPWD%3D…`.
const ENCODED = /%3[ad]/i;

function* findSecrets(text: string): Generator<Span> {
  yield* findPlainSecrets(text);
  if (!ENCODED.test(text)) return;
  for (const { 0: part, index } of text.matchAll(/[^&\s]+/g)) {
    if (!ENCODED.test(part)) continue;
    const offsets = offsetsOf(part);
    for (const { from, to } of findPlainSecrets(decode(part))) {
      yield { from: index + (offsets[from] ?? 0), to: index + (offsets[to] ?? part.length) };
    }
  }
}

// Only ASCII is decoded, because no other character separates anything.
const ESCAPE = /%[0-7][\da-f]/gi;

function decode(text: string): string {
  return text.replace(ESCAPE, (found) => String.fromCharCode(Number.parseInt(found.slice(1), 16)));
}

// The offset in the text of each character of the decoded text, and of its end.
function offsetsOf(text: string): readonly number[] {
  const escapes = new Set([...text.matchAll(ESCAPE)].map(({ index }) => index));
  const offsets: number[] = [];
  for (let at = 0; at < text.length; at += escapes.has(at) ? 3 : 1) offsets.push(at);
  return [...offsets, text.length];
}

function* findPlainSecrets(text: string): Generator<Span> {
  const hasPairs = text.includes("=");
  if (text.includes("@") || (hasPairs && text.includes("jdbc:"))) {
    for (const pattern of PASSWORDS) yield* spansOf(text, pattern);
  }
  if (!hasPairs) return;
  const found = [QUERY_PAIR, PROPERTY, FIRST_PAIR, BIND_EXTENSION, LOGIN_MODULE].flatMap((pattern) => [
    ...spansOf(text, pattern),
  ]);
  yield* found;
  if (found.length === 0 && ONLY_PAIRS.test(text)) yield* spansOf(text, EACH_PAIR);
}

function* spansOf(text: string, pattern: RegExp): Generator<Span> {
  for (const match of text.matchAll(pattern)) {
    const name = match.length > 2 ? (match[1] ?? "") : "password";
    const [from, to] = match.indices?.at(-1) ?? [0, 0];
    if (isSecret(name, text.slice(from, to))) yield { from, to };
  }
}

function isSecret(name: string, value: string): boolean {
  if (!SECRET_NAME.test(name) || HARMLESS_NAME.test(name) || isHarmlessName(name)) return false;
  const bare = /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value;
  if (bare === "" || FILLED_IN.test(bare) || HIDDEN.test(bare) || STATEMENT.test(bare)) return false;
  return bare.length >= (SHORTEST.find(([names]) => names.test(name))?.[1] ?? 1);
}
