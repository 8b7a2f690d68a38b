import { isCredential, MASK } from "./credential.ts";

// Each of these ends with the secret.
const PASSWORDS = [
  // `scheme://user:password@host`. A user alone is shown, and so is a reference such as `secret://tenant:group:key`.
  /\b(?!(?:[a-z0-9.+-]{1,30}-)?secret:)[a-z][a-z0-9+.-]{1,30}:\/\/[^\s/:@]{0,256}:([^\s/@]{1,256})(?=@)/gi,
  // Go's drivers: `user:password@tcp(host)`.
  /^[^\s:/@]{1,256}:(\S{1,256})(?=@(?:tcp6?|udp|unix|cloudsql)\()/gi,
  /\bjdbc:oracle:(?:thin|oci8?):[^\s/@:]{1,256}\/([^\s@]{1,256})(?=@)/gi,
  // Drivers that separate their properties in other ways than `?`, `&` and `;`.
  /\bjdbc:(?:db2|informix-sqli|as400|derby)[^\s;]{1,1024}:(?:password|pwd)=([^\s;&]{1,256})/gi,
  /\bjdbc:(?:mysql|mariadb|oracle)[^\s;]{1,1024}[(,](?:password|pwd)=([^\s),&;]{1,256})/gi,
];

// A key and its value, after `?`, `&`, `;` or `#`, or at the start of the text.
const VALUE = `("[^"]{1,1024}"|'[^']{1,1024}'|\\{[^{}]{1,1024}\\}|<[^<>]{1,64}>|[^\\s;&]{1,4096})`;
const PAIR = new RegExp(`[?&;#]\\s{0,8}([a-z][\\w .:$-]{0,63}?)\\s{0,8}=\\s{0,8}${VALUE}`, "gi");
const FIRST_PAIR = new RegExp(`^([a-z][\\w.:$-]{0,63})=${VALUE}`, "gi");
// Kafka: `…LoginModule required username="user" password="password";`.
const LOGIN_MODULE = /LoginModule\s[^;]{0,1024}?\s(\w{0,32}(?:password|secret|token))\s?=\s?("[^"]{1,1024}")/gi;

// Texts of nothing but `key=value`, separated by spaces or commas, as libpq and clients of Redis write them.
const EACH_PAIR = /(?<=^|[\s,])([\w.-]{1,64})\s{0,8}=\s{0,8}("[^"]{1,1024}"|'[^']{1,1024}'|[^\s,'"]{1,1024})/g;
const ONE_PAIR = `[\\w.-]{1,64}\\s{0,8}=\\s{0,8}(?:"[^"]{0,1024}"|'[^']{0,1024}'|[^\\s,'"]{0,1024})(?:[\\s,]+|$)`;
const ONLY_PAIRS = new RegExp(`^\\s*(?:(?:[\\w.-]{1,255}(?::\\d{1,5})?,)+(?:${ONE_PAIR})+|(?:${ONE_PAIR}){2,})$`);

const SECRET_WORDS =
  "pass(?:word|wd|phrase|code)?|pwd|secret|token|signature|authorization|" +
  "(?:account|shared|access|secret|private|api|master|storage|function|subscription|signing|encryption|auth)[\\s_.-]?key";
const SHORT_NAMES = "pw|sig|psk|code";
const SECRET_NAME = new RegExp(`(?:${SECRET_WORDS})$|^(?:${SHORT_NAMES})$`, "i");
const ENDS_WITH_NAME = new RegExp(`(?:${SECRET_WORDS}|${SHORT_NAMES})\\s{0,8}$`, "i");
const LAST_OF_NAMES = /[degknstwy\s]/i;
const HARMLESS_NAME = /(?:page|next|continuation|cursor|sync|csrf)[\s_.-]?token$|(?:by|com|tres|over|under)pass$/i;

// A password has any length; the other names also have short values that are no secrets.
const SHORTEST: readonly (readonly [name: RegExp, length: number])[] = [
  [/^code$/i, 32],
  [/(?:token|signature|sig|key|authorization)$/i, 8],
];

// What another program fills in, what states only whether there is a secret, and references to one.
const FILLED_IN =
  /^(?:\$[{(]|\$[A-Z_][A-Z0-9_]*$|%[A-Z_][A-Z0-9_]*%$|%[sdv]$|%\(|\{\{|<[^<>]*>$|__\w+__$|#\{|\{(?:\d|\w*(?:pass|pwd|secret|token|key)\w*)\}$)/;
const HIDDEN = /^(?:\*+|x{3,}|\.{3}|…)$|secret:\/\/|\(sensitive\)/i;
const STATEMENT = /^(?:true|false|yes|no|on|off|null|none|required|optional|enabled|disabled)$/i;

/** Whether a text contains a secret of a connection string, such as the password in a URL or after `;Pwd=`. */
export function hasConnectionSecret(text: string): boolean {
  return mayHaveConnectionSecret(text) && findSecrets(text).next().done === false;
}

/** A quick test of a text, or of a whole file: false if nothing in it is such a secret. */
export function mayHaveConnectionSecret(text: string): boolean {
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
  return text.includes("jdbc:") || (hasAt && DRIVER_HOSTS.some((host) => text.includes(host)));
}

/** The text with the secrets of its connection strings masked. */
export function redactConnectionSecrets(text: string): string {
  let shown = "";
  let end = 0;
  for (const { from, to } of [...findSecrets(text)].toSorted((a, b) => a.from - b.from)) {
    if (from < end) continue;
    shown += text.slice(end, from) + MASK;
    end = to;
  }
  return shown + text.slice(end);
}

/** Whether a text is in a known credential format or contains a secret of a connection string. */
export function isSecretText(text: string): boolean {
  return isCredential(text) || hasConnectionSecret(text);
}

const URL_USER = /:\/\/[^\s/:@]{0,256}:[^\s/@]{1,256}@/y;
const DRIVER_HOSTS = ["@tcp", "@udp(", "@unix(", "@cloudsql("];

type Span = { readonly from: number; readonly to: number };

function* findSecrets(text: string): Generator<Span> {
  const hasPairs = text.includes("=");
  if (text.includes("@") || (hasPairs && text.includes("jdbc:"))) {
    for (const pattern of PASSWORDS) yield* spansOf(text, pattern);
  }
  if (!hasPairs) return;
  for (const pattern of [PAIR, FIRST_PAIR, LOGIN_MODULE]) yield* spansOf(text, pattern);
  if (ONLY_PAIRS.test(text)) yield* spansOf(text, EACH_PAIR);
}

function* spansOf(text: string, pattern: RegExp): Generator<Span> {
  for (const match of text.matchAll(pattern)) {
    const value = match.at(-1) ?? "";
    const name = match.length > 2 ? (match[1] ?? "") : "password";
    const to = match.index + match[0].length;
    if (isSecret(name, value)) yield { from: to - value.length, to };
  }
}

function isSecret(name: string, value: string): boolean {
  if (!SECRET_NAME.test(name) || HARMLESS_NAME.test(name)) return false;
  const bare = /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value;
  if (bare === "" || FILLED_IN.test(bare) || HIDDEN.test(bare) || STATEMENT.test(bare)) return false;
  return bare.length >= (SHORTEST.find(([names]) => names.test(name))?.[1] ?? 1);
}
