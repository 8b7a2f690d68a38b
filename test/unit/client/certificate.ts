import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** A certificate with its private key, both as PEM. */
export type Certificate = { readonly cert: string; readonly key: string };

/** An authority of the test's own, and a way to have it sign; X.509 by hand, since no program for it may be there. */
export function createAuthority(): {
  readonly cert: string;
  readonly issue: (name: string, end?: number) => Certificate;
} {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signed = (subject: string, key: KeyObject, extensions: Buffer, end = Date.now() + DAY) =>
    certificate({ subject, key, extensions, signer: privateKey, end });
  return {
    cert: signed("Test authority", publicKey, extension("551d13", sequence(Buffer.from("0101ff", "hex")))),
    issue: (name, end) => {
      const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const names = sequence(tagged(0x82, Buffer.from(name)), tagged(0x87, Buffer.from([127, 0, 0, 1])));
      return {
        cert: signed(name, pair.publicKey, extension("551d11", names), end),
        key: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      };
    },
  };
}

type Parts = {
  readonly subject: string;
  readonly key: KeyObject;
  readonly extensions: Buffer;
  readonly signer: KeyObject;
  readonly end: number;
};

const ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"));

const DAY = 86_400_000;

function certificate({ subject, key, extensions, signer, end }: Parts): string {
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    commonName("Test authority"),
    sequence(time(Date.now() - DAY), time(end)),
    commonName(subject),
    key.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(extensions)),
  );
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, signer)]));
  const encoded = sequence(body, ECDSA_SHA256, signature)
    .toString("base64")
    .replace(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${encoded}\n-----END CERTIFICATE-----\n`;
}

function commonName(name: string): Buffer {
  return sequence(tagged(0x31, sequence(oid("550403"), tagged(0x0c, Buffer.from(name)))));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), tagged(0x01, Buffer.from([0xff])), tagged(0x04, value));
}

function time(at: number): Buffer {
  return tagged(0x18, Buffer.from(`${new Date(at).toISOString().replace(/[-:T]|\.\d+/g, "")}`));
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

// Distinguished encoding: a tag, the length in the shortest form, the content.
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
